"""embedders.md: its programs print what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from documented import commands, run, write_files

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "embedders.md").read_text(encoding="utf-8")
OUTPUT = re.compile(r"```text\n(?P<text>.*?)```", re.DOTALL)


def test_the_programs_print_what_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVIEWGAUGE_CACHE", "off")
    write_files(PAGE, tmp_path)
    told = commands(PAGE)
    assert told == ["python closest.py", "python count.py"]
    for command, output in zip(told, OUTPUT.finditer(PAGE), strict=False):
        done = run(command, tmp_path)
        assert done.returncode == 0, done.stderr
        assert done.stdout == output["text"]


def test_what_the_page_says_of_limits_is_what_the_code_does() -> None:
    from reviewgauge.models.cache import vector_cache
    from reviewgauge.models.embeddings import openai_endpoint

    assert (
        f"at most {openai_endpoint._TEXTS_AT_ONCE} texts or {openai_endpoint._CHARACTERS_AT_ONCE:,} characters" in PAGE
    )
    assert openai_endpoint.ATTEMPTS == 6 and "tried six times" in PAGE
    assert f"At {vector_cache.LARGEST // 1024**3} GiB the oldest quarter goes" in PAGE
