"""What was measured of runs is kept: never when anything changed since, never from a damaged file, never in part."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from reviewgauge import score
from reviewgauge.analysis.compare.leaderboard import leaderboard
from reviewgauge.contexts.code.store import keep_arrays, read_arrays
from reviewgauge.core.errors import BadInput
from reviewgauge.core.labels import Label, RaterKind, Subject, SubjectKind
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.kept import kept
from reviewgauge.engine.run.scored_run import ScoredRun, read_scored_runs
from reviewgauge.engine.score import score as measure
from reviewgauge.metrics.exact_match import ExactMatch
from reviewgauge.viewer.selection import Selection
from viewed_runs import finds, misses, nothing, selected, write_run

MEASURED = ("systems", "metric", "verdict", "misses", "sliced", "facts", "problem", "rows", "keys")


@pytest.fixture
def cache(own_cache: Path) -> Iterator[Path]:
    """Where everything is kept, however fast it was made."""
    with patch("reviewgauge.engine.run.kept.LONG", 0.0):
        yield own_cache / "contexts"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_run(
        tmp_path / "run", {"finder": finds, "half": misses, "silent": nothing}, broken=[("shop-2", "half")]
    )


def seen(chosen: Selection) -> dict[str, object]:
    """All that pages are made of."""
    records = {name: list(getattr(chosen, name)) for name in ("cases", "outcomes", "scores")}
    boards = [(one.board, one.table) for one in chosen.boards]
    return {"boards": boards, **records, **{name: getattr(chosen, name) for name in MEASURED}}


def afresh(*runs: Path) -> dict[str, object]:
    """The same, with nothing kept."""
    with patch.dict("os.environ", REVIEWGAUGE_CACHE="off"):
        return seen(selected(*runs))


def runs_of(make: Callable[[ScoredRun], float], run: Path) -> float:
    return kept(make, read_scored_runs([run])[0])


def test_what_is_kept_is_what_was_made(cache: Path, run: Path) -> None:
    first = seen(selected(run))
    assert list(cache.glob("run-*.npz"))
    with patch("reviewgauge.engine.run.indexes.parse_record", side_effect=AssertionError("a record is read again")):
        again = selected(run)
        assert {name: getattr(again, name) for name in MEASURED}.items() <= first.items()
    assert seen(again) == first == afresh(run)


def test_two_runs_together_have_figures_of_their_own(cache: Path, run: Path, tmp_path: Path) -> None:
    two = write_run(tmp_path / "two", {"half": finds})
    alone, both = seen(selected(run)), seen(selected(run, two))
    assert both == seen(selected(run, two)) == afresh(run, two) != alone
    assert seen(selected(two, run)) == afresh(two, run) != both


def later_review(run: Path) -> None:
    write_run(run, {"late": finds})


def another_metric(run: Path) -> None:
    with RunFolder.open(run, write=True) as folder:
        measure(folder, ExactMatch())


def fewer_scores(run: Path) -> None:
    lines = (run / "scores.jsonl").read_bytes().splitlines(keepends=True)
    (run / "scores.jsonl").write_bytes(b"".join(lines[:-1]))


def changed_in_place(run: Path) -> None:
    """As long as before, and of the same time."""
    about, text = (run / "scores.jsonl").stat(), (run / "scores.jsonl").read_text()
    assert '"state":"false"' in text
    (run / "scores.jsonl").write_text(text.replace('"false":1.0', '"false":3.0'))
    os.utime(run / "scores.jsonl", ns=(about.st_atime_ns, about.st_mtime_ns))


def another_seed(run: Path) -> None:
    manifest = json.loads((run / "manifest.json").read_text())
    manifest["dataset"] = "other"
    (run / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize("change", [later_review, another_metric, fewer_scores, changed_in_place, another_seed])
def test_a_change_is_seen(cache: Path, run: Path, change: Callable[[Path], None]) -> None:
    before = seen(selected(run))
    change(run)
    after = seen(selected(run))
    assert after == afresh(run) != before


def test_a_run_that_grows_takes_no_more_room(cache: Path, run: Path) -> None:
    seen(selected(run))
    files = set(cache.iterdir())
    fewer_scores(run)
    seen(selected(run))
    assert set(cache.iterdir()) == files


def test_a_line_that_breaks_later_is_an_error(cache: Path, run: Path) -> None:
    seen(selected(run))
    with (run / "reviews.jsonl").open("ab") as out:
        out.write(b'{"case": "shop-1"}\n')
    for read in (lambda: RunFolder.open(run).outcomes(), lambda: selected(run)):
        with pytest.raises(BadInput, match=r"reviews\.jsonl, line 13"):
            read()


def test_labels_change_no_figure_and_are_shown(cache: Path, run: Path) -> None:
    before = seen(selected(run))
    about = Subject(kind=SubjectKind.COMMENT, case="shop-1", system="half", comment="n5")
    said = Label(subject=about, rater="ada", rater_kind=RaterKind.HUMAN, dimension="false_positive", value=True)
    with RunFolder.open(run, write=True) as folder:
        folder.add_labels([said])
    files = {one: one.stat().st_mtime_ns for one in cache.iterdir()}
    chosen = selected(run)
    assert chosen.people_of(chosen.case(1)) == [said] and chosen.people_of(chosen.case(2)) == []
    assert chosen.verdict == before["verdict"]
    assert {one: one.stat().st_mtime_ns for one in cache.iterdir()} == files, "nothing was made again"
    with RunFolder.open(run, write=True) as folder:
        folder.add_labels([said.model_copy(update={"subject": Subject(kind=SubjectKind.CHANGE, case="shop-1")})])
    assert seen(selected(run)) == afresh(run)
    assert {one: one.stat().st_mtime_ns for one in cache.iterdir()} != files


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "nothing": lambda raw: b"",
    "half": lambda raw: raw[: len(raw) // 2],
    "a bit": lambda raw: raw[:-9] + bytes([raw[-9] ^ 1]) + raw[-8:],
    "something else": lambda raw: b"\x80\x04\x95 not an index" * 40,
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_not_read(cache: Path, run: Path, damage: str) -> None:
    first = seen(selected(run))
    for file in cache.iterdir():
        file.write_bytes(DAMAGE[damage](file.read_bytes()))
    assert seen(selected(run)) == first


@pytest.mark.parametrize("text", [b"null", b"[[0],[9],[[]]]", b'[1, "a"]', b"not JSON", b"\xff"])
def test_a_file_that_holds_something_else_is_not_read(cache: Path, run: Path, text: bytes) -> None:
    """Whole, for this very run, and no figures."""
    first = seen(selected(run))
    for file in cache.iterdir():
        arrays = read_arrays(file.stem)
        assert arrays is not None
        keep_arrays(file.stem, {"of": arrays["of"], "made": np.frombuffer(text, dtype=np.uint8)})
    assert seen(selected(run)) == first


def test_another_version_of_the_code_makes_its_own(cache: Path, run: Path) -> None:
    made = []

    def count(scored: ScoredRun) -> float:
        made.append(scored.origin)
        return 0.5

    assert [runs_of(count, run) for _ in range(3)] == [0.5] * 3 and len(made) == 1
    with patch("reviewgauge.engine.run.kept.code", return_value="later"):
        runs_of(count, run)
    assert len(made) == 2


def test_what_json_cannot_say_is_made_each_time(cache: Path, run: Path) -> None:
    def undefined(scored: ScoredRun) -> float:
        return float("nan")

    assert [str(runs_of(undefined, run)) for _ in range(2)] == ["nan", "nan"]


def test_figures_of_a_part_of_a_run_are_not_those_of_the_run(cache: Path, run: Path) -> None:
    (whole,) = read_scored_runs([run])
    board = kept(leaderboard, whole, resamples=50)
    part = whole.only(["finder"])
    assert part.origin is None
    assert [row.system for row in kept(leaderboard, part, resamples=50).systems] == ["finder"]
    assert kept(leaderboard, whole, resamples=50) == board != kept(leaderboard, whole, resamples=60)


def test_what_code_outside_the_package_measured_is_not_kept(cache: Path, tmp_path: Path) -> None:
    with patch("reviewgauge.engine.run.scored_run.is_ours", lambda text: "hits" not in text):
        (scored,) = read_scored_runs([write_run(tmp_path / "run", {"finder": finds})])
    assert scored.origin is None


def test_several_readers_at_once_see_the_same(cache: Path, run: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda at: seen(selected(run)), range(8)))
    assert found == [afresh(run)] * 8


def test_a_run_that_was_moved_or_copied_is_read_anew(cache: Path, run: Path, tmp_path: Path) -> None:
    first = seen(selected(run))
    copy = Path(shutil.copytree(run, tmp_path / "copy"))
    fewer_scores(run)
    assert seen(selected(copy)) == first != seen(selected(run))


def test_score_makes_what_view_shows_first(cache: Path, run: Path) -> None:
    score(run, "hits", resamples=50)
    never = AssertionError("measured again")
    with (
        patch("reviewgauge.viewer.rows.change_rows", side_effect=never),
        patch("reviewgauge.analysis.costs.review_costs", side_effect=never),
    ):
        chosen = selected(run)
        assert chosen.verdict is not None and len(chosen.rows) == 4 and chosen.boards
