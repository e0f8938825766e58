"""What the tests of text metrics share: pairs as cases and reviews, measures, odd texts, and the rules for them all."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hypothesis import strategies as st

from reviewgauge.analysis.stats.arrays import MatrixAggregate, measures_of
from reviewgauge.core.protocols import Measured, Metric
from reviewgauge.core.records import Case, Change, Comment, Review
from reviewgauge.core.results import Parts
from reviewgauge.core.specs import load, signature
from reviewgauge.metrics.texts.text_metric import TextPair

BLANK = ("", " ", "\n\t \u2003\r\n")
ODD = (
    "Fix",  # one word
    "!",
    "This lock is never released: call close() in a finally block.",
    "Это нужно исправить до слияния", "この変数は使われていません。", "请检查空指针 null 的情况",
    "هذا المتغير غير مستخدم", "यह चर प्रयोग में नहीं है", "ตัวแปรนี้ไม่ได้ใช้", "👍", "👩‍💻 🎉 nice!",
    "```python\nif x == 1:\n    return user_id[0]\n```",
    "`a<b>` &amp; &quot;c&quot; <skipped> 1,000.5 ..5 3-4 -1 --x",
    "is it that",  # stop words only
    "e\u0301 \u200b \ufeff", "x" * 5_000,
)  # fmt: skip
VOCABULARY = ("the", "lock", "is", "not", "released", "Release", "it", "null", "user_id", "userId", "1.5", "a-b", "..5",
              "don't", "Fix", "?", "...", "`x`", "変数", "é", "👍", "&lt;")  # fmt: skip
texts = st.one_of(
    st.lists(st.sampled_from(VOCABULARY), max_size=12).map(" ".join),
    st.lists(st.sampled_from((*VOCABULARY, ".", ",", "-", " ", "\n", "7", "A")), max_size=12).map("".join),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40),
)
references = st.lists(texts.filter(lambda text: bool(text.strip())), min_size=1, max_size=3).map(tuple)


def item(pair: TextPair) -> tuple[Case, Review]:
    """The pair as one comment on a change with one finding, in as many phrasings as there are references."""
    same = [Comment(id=f"r{i}", body=text, same_as="r0" if i else None) for i, text in enumerate(pair.references)]
    said = (Comment(id="c", body=pair.hypothesis),) if pair.hypothesis else ()
    review = Review(case="case", system="s", comments=said)
    return Case(id="case", change=Change(repo="shop"), references=tuple(same)), review


def parts_of(metric: Metric, said: str, *wanted: str) -> Parts:
    """The parts of one measurement, by the door that the engine uses."""
    (found,) = metric.parts_many([item(TextPair(said, wanted))])
    assert isinstance(found, Measured), found
    return found.parts


def read(metric: Metric, parts: Sequence[Parts]) -> dict[str, float]:
    """The measures of these measurements together."""
    return {name: float(values[0]) for name, values in measures_of(metric, MatrixAggregate.of(parts)).items()}


def value(metric: Metric, said: str, *wanted: str) -> float:
    """The headline of one measurement."""
    return read(metric, [parts_of(metric, said, *wanted)])[metric.headline]


def check_rules(metric: Metric, most: float) -> None:
    """What holds for every text metric whose headline runs from 0 to `most`, more being better."""
    assert load(Metric, signature(metric)) == metric
    pairs = [TextPair(said, (wanted,)) for said in (*BLANK, *ODD) for wanted in ODD]
    pairs += [TextPair(said, ODD[i : i + 3]) for i, said in enumerate((*BLANK, *ODD[:-3]))]
    items = [item(pair) for pair in pairs]
    together = list(metric.parts_many(items))
    for pair, (case, review), found in zip(pairs, items, together, strict=True):
        assert isinstance(found, Measured), (pair, found)
        assert found == metric.parts(case, review)
        measures = read(metric, [found.parts])
        assert all(math.isfinite(number) for number in measures.values()), (pair, measures)
        assert 0 <= measures[metric.headline] <= most + 1e-9, (pair, measures)
        bounds = metric.bounds(case)
        assert bounds is not None
        if not pair.hypothesis.strip():
            assert measures[metric.headline] == read(metric, [bounds.worst])[metric.headline] == 0, pair
        if pair.hypothesis == pair.references[0]:
            assert measures == read(metric, [bounds.best]), pair
    for bodies, reason in (((), "the case has no reference comment"), ((" \n",), "the reference is empty")):
        comments = tuple(Comment(id=f"r{i}", body=body) for i, body in enumerate(bodies))
        case = Case(id="case", change=Change(repo="shop"), references=comments)
        assert list(metric.parts_many([(case, items[-1][1])])) == [reason]
        assert metric.parts(case, items[-1][1]) == reason
        assert metric.bounds(case) is None
