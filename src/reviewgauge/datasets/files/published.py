"""Figures that papers print about agreement with people, to stand beside ours. Their rows may not be the same ones."""

from __future__ import annotations

from collections.abc import Iterator

from reviewgauge.core.reports.validity import PublishedFigure

CRSCORE = "CRScore, mxbai, tau .7314"
_GROUND_TRUTH_THRESHOLD = "CRScore, mxbai, tau .6576"
_EDIT = "Normalized Edit Distance (less is better)"

# Naik et al., arXiv:2409.19801. Kendall and Spearman with people: con, comp (Table 9), rel (Table 3), then rel on
# Python, Java and JavaScript (Table 11), and of the order of the systems by rel (Table 2).
_CRSCORE_AGREEMENT = f"""
BLEU                     | .0306 .0358 | -.0227 -.0293 | .0010 -.0001 | -.0017 -.0006 | -.0101 -.0150 | .0070 .0090 | -.1667 -.3000
BLEU without stop words  | .0632 .0776 | .0221 .0293 | .0425 .0542 | .0532 .0665 | .0350 .0442 | .0313 .0405 | -.0556 -.1500
BERTScore                | .1035 .1378 | .0622 .0813 | .0810 .1083 | .0696 .0942 | .0808 .1081 | .0846 .1128 | .2222 .3500
{_EDIT}                  | -.0146 -.0218 | .0443 .0584 | .0193 .0249 | .0367 .0460 | .0161 .0217 | .0109 .0129 | .0556 .1667
ROUGE-L                  | .0921 .1173 | .0577 .0758 | .0757 .0989 | .0935 .1201 | .0553 .0724 | .0750 .0981 | - .0167
chrF                     | .1236 .1628 | .1431 .1874 | .1484 .1966 | .1309 .1746 | .1573 .2077 | .1497 .1982 | .3889 .4833
chrF++                   | .1294 .1707 | .1496 .1959 | .1555 .2057 | .1387 .1848 | .1676 .2208 | .1531 .2021 | .4444 .6000
Magicoder as a judge     | - - | - - | .2464 .2748 | - - | - - | - - | .6667 .8000
GPT-4o as a judge        | - - | - - | .5247 .6050 | - - | - - | - - | .9444 .9833
{_GROUND_TRUTH_THRESHOLD}| .4168 .4750 | .4982 .5832 | .4437 .5405 | .4742 .5788 | .3889 .4738 | .4730 .5738 | - -
{CRSCORE}                | .4491 .5049 | .4974 .5754 | .4567 .5431 | .4746 .5666 | .4093 .4849 | .4904 .5816 | .8889 .9500
"""  # noqa: E501 - one line a row of the tables; Table 2 prints .556 for Kendall of ROUGE-L, beside a Spearman of .0167
_COLUMNS = (
    ("Table 9", "con", ""),
    ("Table 9", "comp", ""),
    ("Table 3", "rel", ""),
    ("Table 11", "rel", "language=python"),
    ("Table 11", "rel", "language=java"),
    ("Table 11", "rel", "language=javascript"),
    ("Table 2", "rel", "systems"),
)
# Table 10: the means by system, con, comp and rel of people and of the metric
_CRSCORE_MEANS = """
knn           .0301 .0112 .0163 0 0 0
lstm          .1048 .0361 .0515 .0372 .0123 .0179
codereviewer  .5146 .1692 .2311 .4639 .2413 .2974
stable_code   .3222 .1383 .1718 .3353 .2091 .2319
deepseekcoder .6108 .3153 .3797 .5037 .3989 .4043
magicoder     .4915 .3127 .3351 .4381 .4746 .4032
llama3        .6091 .3368 .4046 .3503 .3967 .3404
codellama_13b .1985 .1546 .1564 .2493 .2528 .2309
gpt3.5        .6564 .4132 .4759 .5622 .6301 .5507
"""
PEOPLE = "people"
# Appendix E.1 and section 5.4: scored in the lowest fifth though people gave 5, in the highest though they gave 1
_CRSCORE_ENDS = {"under": 0.0061, "over": 0.0374, "kendall": 0.5462, "spearman": 0.6431}
ENDS = "without opposite ends"

# Jiang et al., arXiv:2501.05176: Spearman with the grades
_GRADED = """
Table 3 | text-embedding-3-large   | .38
Table 3 | all-mpnet-base-v2        | .34
Table 3 | mxbai-embed-large-v1     | .32
Table 3 | UAE-Large-V1             | .32
Table 3 | CodeBERT                 | .12
Table 5 | METEOR                   | .21
Table 5 | BLEU                     | .22
Table 5 | ROUGE                    | .25
Table 5 | GPT-4o as a judge        | .47
Table 5 | DeepSeek-Coder as a judge| .49
"""


def published_figures(dataset: str) -> tuple[PublishedFigure, ...]:
    """What was printed about the recorded reviews of the data set of this name; nothing is known of most."""
    return tuple({"crscore_study": _crscore, "graded_reviews": _graded}.get(dataset, _nothing)())


def _nothing() -> Iterator[PublishedFigure]:
    yield from ()


def _cells(table: str) -> Iterator[list[str]]:
    return ([cell.strip() for cell in line.split("|")] for line in table.strip().splitlines())


def _graded() -> Iterator[PublishedFigure]:
    for table, metric, value in _cells(_GRADED):
        source = f"arXiv:2501.05176, {table}"
        yield PublishedFigure(source=source, dimension="grade", metric=metric, name="spearman", value=float(value))


def _crscore() -> Iterator[PublishedFigure]:
    for metric, *pairs in _cells(_CRSCORE_AGREEMENT):
        for (table, dimension, rows), pair in zip(_COLUMNS, pairs, strict=True):
            for name, value in zip(("kendall", "spearman"), pair.split(), strict=True):
                if value != "-":
                    yield _printed(table, dimension, metric, name, value, rows=rows)
    for system, *values in map(str.split, _CRSCORE_MEANS.strip().splitlines()):
        columns = ((metric, dimension) for metric in (PEOPLE, CRSCORE) for dimension in ("con", "comp", "rel"))
        for (metric, dimension), value in zip(columns, values, strict=True):
            yield _printed("Table 10", dimension, metric, "mean", value, rows=f"system={system}")
    for name, share_or_rho in _CRSCORE_ENDS.items():
        yield _printed("appendix E.1", "rel", CRSCORE, name, str(share_or_rho), rows=ENDS)


def _printed(where: str, dimension: str, metric: str, name: str, value: str, *, rows: str) -> PublishedFigure:
    source = f"arXiv:2409.19801, {where}"
    return PublishedFigure(source=source, dimension=dimension, metric=metric, name=name, value=float(value), rows=rows)
