"""The card of a build as people read it: warnings first, and nothing of what a repository says can take effect."""

from __future__ import annotations

import io
import re
from datetime import UTC, datetime

from rich.console import Console

from reviewgauge.core.building import CardSection
from reviewgauge.core.reports.build_card import BuildCard, FunnelRow, Spread
from reviewgauge.views.markdown import funnel_table, markdown

HOSTILE = "<img src=x onerror=alert(1)> [x](javascript:y) **b** | `c` \x1b[31mred\n# head\n\n| a | b |\n<!-- "


def card(**fields: object) -> BuildCard:
    usual: dict[str, object] = {
        "title": "T", "recipe": "local", "source": "shop", "built": datetime(2026, 1, 2, tzinfo=UTC),
        "reviewgauge": "0",
    }  # fmt: skip
    return BuildCard.model_validate({**usual, **fields})


def test_what_a_repository_says_takes_no_effect() -> None:
    page = markdown(
        card(
            title=HOSTILE,
            source=HOSTILE,
            counts={HOSTILE: 3},
            funnel=(FunnelRow(stage=HOSTILE, why=HOSTILE, kept=1, reasons={HOSTILE: 2}),),
            distributions={HOSTILE: {HOSTILE: 1}},
            spreads={HOSTILE: Spread(n=1, smallest=1, lower=1, median=1, upper=1, largest=1, mean=1)},
            licences={HOSTILE: HOSTILE},
            sections=(
                CardSection(by="x", title=HOSTILE, text=HOSTILE, columns=(HOSTILE,), rows=((HOSTILE,),)),
                CardSection(by="y", title="f", figures={HOSTILE: HOSTILE}),
            ),
            parameters={HOSTILE: HOSTILE},
            warnings=(HOSTILE,),
        )
    )
    assert "\x1b" not in page
    assert not re.search(r"(?<!\\)[<>`\[\]]", page), "HTML, code and links are escaped"
    headings = [line.lstrip("# ").split(" ")[0] for line in page.splitlines() if line.startswith("#")]
    assert headings == ["\\<img", "Funnel", "Sizes", "\\<img", "f", "What", "Licences", "How"]
    for line in page.splitlines():
        if line.startswith("|"):
            assert line.endswith(" |")
    heads = [line.count(" | ") for line in page.splitlines() if line.startswith("| stage |")]
    rows = [line.count(" | ") for line in page.splitlines() if line.startswith("| \\<img") and "– |" in line]
    assert heads == rows == [4], "a pipe in a text makes no column"


def test_warnings_stand_before_any_figure() -> None:
    page = markdown(card(warnings=("shop is a shallow clone",), fake=True, counts={"changes": 7}))
    assert page.index("(fake)") < page.index("**Warning.** shop is a shallow clone") < page.index("| changes | 7 |")


def test_the_terminal_names_the_first_reasons_and_counts_the_rest() -> None:
    rows = [
        FunnelRow(stage="a", kept=1, dropped=10, reasons={"one": 4, "two": 3, "three": 2, "[red]four": 1}),
        FunnelRow(
            stage="b[/]", entered=1, kept=1, dropped=15, reasons=dict(zip("abcde", (5, 4, 3, 2, 1), strict=True))
        ),
    ]
    out = io.StringIO()
    Console(file=out, width=160).print(funnel_table(rows))
    said = out.getvalue()
    assert "4 one; 3 two; 2 three; 1 more reason\n" in re.sub(" +\n", "\n", said)
    assert "5 a; 4 b; 3 c; 2 more reasons" in said and "b[/]" in said
