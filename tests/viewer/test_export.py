"""The same pages as a folder of files."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from html_pages import Page
from reviewgauge.api.view import view
from reviewgauge.core.errors import UserError
from reviewgauge.viewer.runs import find_runs
from viewed_runs import finds, misses, nothing, twin_run, write_run


def test_every_page_is_there_and_every_link_leads_to_one(tmp_path: Path) -> None:
    runs, out = tmp_path / "runs", tmp_path / "out"
    write_run(runs / "one", {"finder": finds, "half": misses})
    twin_run(runs / "below/twins")
    write_run(runs / "broken", {"silent": nothing}, metrics=())
    (runs / "broken/manifest.json").write_text("{")
    steps: list[str] = []
    made = view(runs, out=out, resamples=20, progress=lambda done, total, what: steps.append(f"{done}/{total} {what}"))
    pages = sorted(out.rglob("*"))
    files = [path for path in pages if path.is_file()]
    assert (made.runs, made.pages) == (3, len(files)) and {path.suffix for path in files} == {".html"}
    assert {path.name for path in (out / "r").iterdir()} == {slug for slug in find_runs([runs]) if "broken" not in slug}
    assert {"1/4 one", "4/4 one", "4/4 below/twins"} <= set(steps)
    for path in files:
        text = path.read_text(encoding="utf-8")
        page = Page(text)
        assert page.open == [] and "Content-Security-Policy" in text and 'action="label"' not in text
        for link in page.links:
            parts = urlsplit(link)
            assert not parts.scheme, link
            if parts.path:
                assert (path.parent / unquote(parts.path)).resolve() in files, f"{path.name}: {link}"
    listed = (out / "index.html").read_text(encoding="utf-8")
    assert "manifest.json" in listed and listed.count("/index.html") == 2, "a broken run says why, and has no page"


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"silent": nothing}, metrics=())
    (tmp_path / "full").mkdir()
    (tmp_path / "full/mine").touch()
    (tmp_path / "file").touch()
    for name in ("full", "file"):
        with pytest.raises(UserError, match=f"{name} is there already"):
            view(run, out=tmp_path / name)
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["mine"]
    (tmp_path / "empty").mkdir()
    assert view(run, out=tmp_path / "empty", resamples=20).runs == 1


def test_no_runs_make_no_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="found no runs here"):
        view(tmp_path, out=tmp_path / "out")
    with pytest.raises(UserError, match="is not a folder"):
        view(tmp_path / "nothing", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
