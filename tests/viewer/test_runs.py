"""Which runs there are below some folders, and what a list says of them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reviewgauge.api.review import review
from reviewgauge.api.score import score
from reviewgauge.core.errors import UserError
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.metrics.hits import Hits
from reviewgauge.viewer.pages import runs_page
from reviewgauge.viewer.runs import Found, RunCard, find_runs, glance, stamp_of
from reviewgauge.viewer.selection import Shelf, card_with_answer
from viewed_runs import finds, misses, nothing, write_run


def touch_run(folder: Path) -> Path:
    """What looks like a run: a folder with a manifest."""
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text("{}")
    return folder


def names(*given: Path) -> list[str]:
    return sorted(one.name for one in find_runs(given).values())


def test_runs_are_found_at_and_below_a_folder(tmp_path: Path) -> None:
    for path in ("a", "b/c/d", "x y/ü", "a/inside"):
        touch_run(tmp_path / path)
    assert names(tmp_path) == ["a", "b/c/d", "x y/ü"], "nothing is looked for inside of a run"
    assert names(tmp_path / "a") == ["a"]
    assert names(tmp_path / "b", tmp_path / "a") == ["a", "c/d"]
    assert names() == []


@pytest.mark.parametrize("path", [".hidden/run", "__pycache__/run", "node_modules/run", "1/2/3/4/5/6/7", "link"])
def test_what_is_hidden_far_down_or_behind_a_link_is_left_out(tmp_path: Path, path: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    if path == "link":
        touch_run(tmp_path / "elsewhere/run")
        (root / "link").symlink_to(tmp_path / "elsewhere")
        (root / "circle").symlink_to(root)
    else:
        touch_run(root / path)
    assert names(root) == []


def test_a_run_that_is_named_twice_is_one(tmp_path: Path) -> None:
    touch_run(tmp_path / "a")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert len(find_runs([tmp_path, tmp_path / "a", tmp_path / "link", f"{tmp_path}/./a"])) == 1


def test_parts_of_addresses_are_plain_and_differ(tmp_path: Path) -> None:
    odd = ("a b", "a+b", "a:b", "a<b>", "a?b#c", "-", "ü", "%2e", "x" * 200, "a..b", "a\nb", "\udcff")
    for name in odd:
        touch_run(tmp_path / name)
        touch_run(tmp_path / "below" / name)
    found = find_runs([tmp_path])
    assert len(found) == 2 * len(odd)
    assert all(set(slug) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") for slug in found)
    assert all(0 < len(slug) < 60 for slug in found)


def test_what_is_no_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name in ("file", "nothing"):
        with pytest.raises(UserError, match=f"{name} is not a folder"):
            find_runs([tmp_path / name])


def card(folder: Path) -> tuple[Found, str, str]:
    (run,) = find_runs([folder]).values()
    made = card_with_answer(run, Shelf(100, 0).read)
    return run, made.state, made.headline


def test_a_run_that_is_done(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "done", {"silent": nothing, "half": misses, "finder": finds})
    (run,) = find_runs([folder]).values()
    made = card_with_answer(run, Shelf(100, 0).read)
    assert (made.state, made.dataset, made.cases, made.reviews, made.problem) == ("done", "toy", 4, 12, "")
    assert (made.systems, made.metrics) == (("silent", "half", "finder"), ("hits",))
    assert made.headline == "finder: 1.00 F1, not surely above a baseline", "who leads, baselines apart"
    assert made.dollars == 3.0
    assert glance(run).cases == 4 and glance(run).state == "done"


def test_a_metric_that_cannot_be_read_leaves_the_others(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", {"finder": finds}, metrics=(Hits(judge="exact"),))
    scores = (folder / "scores.jsonl").read_text()
    own = json.dumps({**json.loads(scores.splitlines()[0]), "metric": "nowhere.Mine()"})
    (folder / "scores.jsonl").write_text(f"{scores}{own}\n")
    (run,) = find_runs([folder]).values()
    made = card_with_answer(run, Shelf(100, 0).read)
    assert made.metrics == ("hits(judge='exact')", "nowhere.Mine()")
    assert made.headline.startswith("finder") and not made.problem


@pytest.mark.usefixtures("own_cache")
def test_what_a_run_paid_stands_beside_what_it_is_worth_where_they_differ(tmp_path: Path) -> None:
    cards = []
    for name in ("first", "again"):
        review("sample", "prompt(model='fake:example')", run=tmp_path / name, limit=6)
        (run,) = find_runs([tmp_path / name]).values()
        cards.append(card_with_answer(run, Shelf(100, 0).read))
    first, again = cards
    assert first.dollars is not None and first.dollars > 0.01
    assert first.paid == pytest.approx(first.dollars) == again.dollars and again.paid == 0
    assert " paid</span>" not in runs_page([first]) and "invented: a fake model" in runs_page([first])
    assert f"${again.dollars:.2f}, <span" in runs_page([again]) and ">$0.00 paid</span>" in runs_page([again])


def test_many_runs_are_searched_by_name_benchmark_and_system(tmp_path: Path) -> None:
    cards = [
        RunCard(
            Found(f"s{at}", tmp_path, f"run-{at}"), "done", datetime.now(UTC), "sample", systems=(f"tool-{at % 2}",)
        )
        for at in range(11)
    ]
    assert 'type="search"' in runs_page(cards) and 'type="search"' not in runs_page(cards[:10])
    found = runs_page(cards, "SAMPLE tool-1 run-1")
    assert found.count('class="words leader"') == 1 and 'value="SAMPLE tool-1 run-1"' in found
    assert "No run fits." in runs_page(cards, "nowhere")
    assert 'type="search"' not in runs_page(cards, live=False)


@pytest.mark.usefixtures("own_cache")
def test_a_fake_model_leads_as_one(tmp_path: Path) -> None:
    review("sample", "prompt(model='fake:example', name='mine')", run=tmp_path, limit=6)
    score(tmp_path, "hits", resamples=20)
    assert card(tmp_path)[2].startswith("mine (fake): ")


def test_what_baselines_alone_did_leads_nowhere(tmp_path: Path) -> None:
    _, state, headline = card(write_run(tmp_path / "run", {"silent": nothing}, metrics=()))
    assert (state, headline) == ("not scored", "")


def test_a_run_that_is_being_written(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", {"finder": finds}, metrics=())
    with RunFolder.open(folder, write=True):
        assert card(folder)[1] == "running"
    assert card(folder)[1] == "not scored"
    (folder / "lock").write_text("999999999")  # of a process that was killed
    assert card(folder)[1] == "not scored"


@pytest.mark.parametrize(("file", "text", "said"), [
    ("manifest.json", "", "manifest.json"),
    ("manifest.json", "{", "manifest.json"),
    ("manifest.json", json.dumps({"format": 999}), "another version"),
    ("cases.jsonl", "{}\n", "cases.jsonl"),
    ("reviews.jsonl", "nonsense\n", "reviews.jsonl"),
])  # fmt: skip
def test_a_run_that_is_broken_says_why(tmp_path: Path, file: str, text: str, said: str) -> None:
    folder = write_run(tmp_path / "run", {"finder": finds})
    (folder / file).write_text(text)
    (run,) = find_runs([folder]).values()
    made = card_with_answer(run, Shelf(100, 0).read)
    assert made.state == "broken" and said in made.problem and not made.headline


def test_scores_that_cannot_be_read_are_a_problem_of_the_card(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", {"finder": finds})
    (folder / "scores.jsonl").write_text("nonsense\n")
    (run,) = find_runs([folder]).values()
    assert "scores.jsonl" in card_with_answer(run, Shelf(100, 0).read).problem


def test_a_stamp_changes_with_any_file_and_is_none_of_what_is_gone(tmp_path: Path) -> None:
    folder, seen = write_run(tmp_path / "run", {"finder": finds}), []
    for name in ("reviews.jsonl", "scores.jsonl", "labels.jsonl", "manifest.json", "lock"):
        seen.append(stamp_of(folder))
        with (folder / name).open("a") as out:
            out.write("\n")
    assert len({*seen, stamp_of(folder)}) == 6
    assert set(stamp_of(tmp_path / "gone")) == {(0, 0)}
    assert glance(Found("x", tmp_path / "gone", "x")).state == "broken"
