from __future__ import annotations

import numpy as np
from rich.cells import cell_len
from rich.console import Console

from reviewgauge.analysis.raters import AgreementSettings, agreement_report
from reviewgauge.core.labels import Label, RaterKind, Subject, SubjectKind
from reviewgauge.core.reports.agreement import AgreementReport
from reviewgauge.views.agreement import agreement_document
from reviewgauge.views.terminal.documents import document_view

NASTY = "[red]x[/red] \x1b[31mred\x1b]8;;http://evil\x07 \u202eabc"


def printed(report: AgreementReport, width: int = 100) -> list[str]:
    console = Console(width=width, force_terminal=False, color_system=None, legacy_windows=False)
    with console.capture() as capture:
        console.print(document_view(agreement_document(report)))
    return capture.get().splitlines()


def report(raters: int, *, models: int = 0, name: str = "rater", batches: int = 1) -> AgreementReport:
    rng = np.random.default_rng(0)
    labels = [
        Label(
            subject=Subject(kind=SubjectKind.REVIEW, case=f"c{at}", system="bot"),
            rater=f"{name} {rater}",
            rater_kind=RaterKind.MODEL if rater >= raters else RaterKind.HUMAN,
            dimension="severity",
            value=int(np.clip(at % 10 + rng.integers(-1, 2), 1, 10)),
            batch=f"{name} batch {at * batches // 30}",
        )
        for at in range(30)
        for rater in range(raters + models)
    ]
    return agreement_report(labels, source="mine", settings=AgreementSettings(resamples=20))


def test_it_fits_and_holds_no_escapes() -> None:
    for made in (report(2), report(3, models=2, batches=3), report(20), report(3, name=NASTY)):
        for width in (100, 80, 60, 40):
            lines = printed(made, width)
            assert max(cell_len(line) for line in lines) <= width
            assert not any("\x1b" in line or "\x07" in line or "\u202e" in line for line in lines)


def test_the_matrix_has_what_is_corrected_above_and_plain_agreement_below() -> None:
    made = report(3, models=1)
    lines = printed(made)
    at = next(i for i, line in enumerate(lines) if line.startswith("pairs of raters"))
    assert lines[at] == "pairs of raters: Krippendorff's alpha (ordinal) above the diagonal, within 1 below"
    pair = next(p for p in made.dimensions[0].pairs if (p.first, p.second) == ("rater 0", "rater 3"))
    known = {c.name: c.figure.value or 0 for c in pair.coefficients}
    alpha = known["Krippendorff's alpha (ordinal)"]
    first, last = lines[at + 2].split(), lines[at + 5].split()
    assert first[-1] == f"{alpha:.2f}".removeprefix("0")
    assert last[:4] == ["4", "rater", "3", "*"]
    assert last[4] == f"{known['within 1']:.2f}".removeprefix("0")
    assert last[-1] == "·"


def test_many_raters_have_their_matrix_in_pieces() -> None:
    lines = printed(report(20), 60)
    heads = [line.split()[1:] for line in lines if line.split()[:1] == ["rater"]]
    assert len(heads) > 1 and [at for head in heads for at in head] == [str(at) for at in range(1, 21)]


def test_two_raters_need_no_matrix_and_batches_have_a_row_each() -> None:
    lines = printed(report(2, batches=3))
    assert not any("pairs of raters" in line for line in lines)
    assert sum(line.startswith("rater batch") for line in lines) == 3


def test_what_is_undefined_is_said_once() -> None:
    subject = Subject(kind=SubjectKind.REVIEW, case="c", system="bot")
    alone = [Label(subject=subject, rater="Ada", dimension="severity", value=3)]
    text = "\n".join(printed(agreement_report(alone, source="mine", settings=AgreementSettings(resamples=0))))
    assert text.count("only one rater: agreement needs two") == 1
    assert "no intervals: no resamples" in text
    same = [*alone, Label(subject=subject, rater="Bo", dimension="severity", value=3)]
    text = "\n".join(printed(agreement_report(same, source="mine", settings=AgreementSettings(resamples=0))))
    assert "nan" not in text.lower()
    assert "every label is 3, so agreement beyond chance is undefined" in " ".join(text.split())
    assert "percent agreement              1.0000" in text
    other = [one.model_copy(update={"subject": subject.model_copy(update={"system": "b"})}) for one in same]
    varied = [*same, *(one.model_copy(update={"value": 5}) for one in other)]
    text = " ".join("\n".join(printed(agreement_report(varied, source="mine"))).split())
    assert "! all of these: only one cluster, so no interval" in text
