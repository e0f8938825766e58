"""models.md: its program prints what it says, its commands run, and what it says of errors is what they say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from documented import commands, run, write_files
from reviewgauge.models.chat.ask import ASKS
from reviewgauge.models.providers import anthropic, rate_limits, retries
from reviewgauge.models.request import model_spec

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "models.md").read_text(encoding="utf-8")
OUTPUT = re.compile(r"```text\n(?P<text>.*?)```", re.DOTALL)
SAYS = re.compile(r"^\| (`.*?`) \| (?:request|budget|refusal|unreadable|timeout|network)(?:,| \|)", re.MULTILINE)


def test_the_program_prints_what_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVIEWGAUGE_CACHE", str(tmp_path / "cache"))
    write_files(PAGE, tmp_path)
    done = run("python ask.py", tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout in [found["text"] for found in OUTPUT.finditer(PAGE)]


def test_the_options_that_it_names_are_there(tmp_path: Path) -> None:
    told = "\n".join(line for line in commands(PAGE) if line.startswith("reviewgauge"))
    assert "reviewgauge review sample" in told
    shown = run("reviewgauge review --help", tmp_path).stdout
    for option in set(re.findall(r"(?<!-)--[a-z][a-z-]+", told + PAGE)) - {"--help", "--port", "--repeats"}:
        assert option in shown, option


def test_every_error_that_it_names_is_in_the_code() -> None:
    """The words of each row, around the parts that differ from case to case, stand in the code."""
    code = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "src/reviewgauge/models").glob("*.py")))
    rows = [word for row in SAYS.findall(PAGE) for word in re.findall(r"`([^`]+)`", row)]
    assert len(rows) > 15
    for said in rows:
        if said.isdigit():
            continue
        known = said.removeprefix("429 ..., ").replace("OPENAI_API_KEY ", "").replace("its certificate", "certificate")
        for part in re.split(r"temperature|\b\d+\b|\.\.\.|3 h 20 min", known):
            assert part.strip() in code, f"nothing says {part!r}"


def test_the_numbers_that_it_names_are_those_of_the_code() -> None:
    assert retries.TRIES == 6 and "up to six times" in PAGE
    assert ASKS == 3 and "no readable answer in 3 asks" in PAGE
    assert retries.THROTTLES == 20 and retries.EMPTY == 2 and retries.TIMEOUTS == 2
    assert f"by default {model_spec.MAX_TOKENS:,}" in PAGE
    assert f"by default {model_spec.ModelSpec('openai', 'm').timeout}" in PAGE
    shares = [f"{round(share * 100)}%" for share in anthropic._SHARE.values()]
    assert ", ".join(shares[:-1]) + " or " + shares[-1] in PAGE
    assert rate_limits._BLIP == 30 and "half a minute" in PAGE
    for name in ("temperature", "top_p", "top_k", "seed", "reasoning", "max_tokens", "timeout", "json"):
        assert f"| `{name}` |" in PAGE
