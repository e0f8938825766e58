"""The pages under docs/adding are followed word for word, in a package outside the tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from documented import commands, run, write_files

PAGES = sorted((Path(__file__).parents[2] / "docs" / "guides" / "adding").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page_works_word_for_word(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    write_files(text, tmp_path)
    found = commands(text)
    assert found, f"{page.name} shows no command"
    for command in found:
        assert command.startswith("reviewgauge ")
        done = run(command, tmp_path)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        assert done.stdout.strip(), f"{command} printed nothing"
