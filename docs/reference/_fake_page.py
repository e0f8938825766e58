"""Writes the tables of fake.md from the code that they describe: `python _fake_page.py`."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from reviewgauge.models.fake.behaviours import MANNERS
from reviewgauge.models.fake.faults import FAULTS
from reviewgauge.models.fake.rules import RULES

PAGE = Path(__file__).parent / "fake.md"


def rules() -> str:
    """Each task with the docstring of its module."""
    parts = []
    for rule in RULES:
        said = (import_module(rule.reply.__module__).__doc__ or "").strip()
        parts.append(f"### {rule.task}\n\n{said}")
    return "\n\n".join(parts)


def manners() -> str:
    """The table of manners."""
    rows = [
        f"| `{name}{f'-{manner.number}' if manner.number else ''}` | {manner.about} |"
        for name, manner in MANNERS.items()
    ]
    return "\n".join(["| name | what it does |", "|---|---|", *rows])


def faults() -> str:
    """The table of faults."""
    return "\n".join(
        ["| fault | what happens |", "|---|---|", *(f"| `{name}` | {of} |" for name, of in FAULTS.items())]
    )


def page(text: str) -> str:
    """The page with its generated parts up to date."""
    for part in (rules, manners, faults):
        name, made = part.__name__, part()
        head, _, rest = text.partition(f"<!-- {name} -->\n")
        text = (
            f"{head}<!-- {name} -->\n\n{made}\n\n<!-- end of {name} -->" + rest.partition(f"<!-- end of {name} -->")[2]
        )
    return text


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
