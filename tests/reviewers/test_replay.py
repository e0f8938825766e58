from __future__ import annotations

import json
import os
import pickle
import subprocess
from pathlib import Path

import pytest

from git_project import between, commit, run_git
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.records import Anchoring, Change, Review
from reviewgauge.repo.analysers.run import installed
from reviewgauge.reviewers.reading.review_files import names_change
from reviewgauge.reviewers.replay import Replay

BASE = {"app/shop.py": "import os\n\n\ndef price(n):\n    return n\n", "app/cart.py": "def add(a):\n    return a\n"}
FIRST = {"app/shop.py": "import os\n\n\ndef price(n):\n    return n == None\n"}
SECOND = {"app/cart.py": "import sys\n\n\ndef add(a):\n    return a\n"}


@pytest.fixture
def changes(tmp_path: Path) -> list[Change]:
    """Two pull requests, one after the other."""
    folder = tmp_path / "shop"
    commits = [commit(folder, BASE), commit(folder, FIRST), commit(folder, SECOND)]
    urls = ["https://github.com/acme/shop/pull/1", "https://github.com/acme/shop/pull/2"]
    names = ["acme/shop#1", "acme/shop#2"]
    return [between(folder, commits[i], commits[i + 1], names[i]).model_copy(update={"url": urls[i]}) for i in range(2)]


def sarif_of_ruff(folder: Path, *paths: str) -> bytes:
    """What the real ruff writes for a checkout, with its absolute file addresses."""
    command = [installed(["ruff"])["ruff"], "check", "--isolated", "--no-cache", "--exit-zero", "--select=E7,F"]
    done = subprocess.run([*command, "--output-format=sarif", *paths], cwd=folder, capture_output=True, check=True)
    return done.stdout


def rdjson(*diagnostics: tuple[str, str, int]) -> str:
    entries = [
        {"message": message, "location": {"path": path, "range": {"start": {"line": line}}}}
        for message, path, line in diagnostics
    ]
    return json.dumps({"source": {"name": "tool"}, "diagnostics": entries})


def replay_all(reviewer: Replay, changes: list[Change]) -> list[Review]:
    reviewer.prepare(changes)
    return [reviewer.review(change) for change in changes]


def places(review: Review) -> list[tuple[str, int | None]]:
    return sorted((c.span.path, c.span.start) for c in review.comments if c.span)


def reasons(reviewer: Replay, changes: list[Change]) -> dict[str, str]:
    return {drop.item: drop.reason for drop in reviewer.prepare(changes)}


# --- one file per change -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("template", ["{case}.sarif", "by-head/{head}.sarif", "{case}/out.sarif"])
def test_a_real_sarif_file_for_each_change(tmp_path: Path, changes: list[Change], template: str) -> None:
    folder = Path(changes[0].git or "")
    for change in changes:
        run_git(folder, "checkout", "-q", change.head or "")
        name = template.replace("{case}", (change.id or "").replace("/", "_").replace("#", "_"))
        target = tmp_path / "out" / name.replace("{head}", (change.head or "")[:10])
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(sarif_of_ruff(folder, *(file.path for file in change.files)))
    reviewer = Replay(path=f"{tmp_path}/out/{template}")
    assert reviewer.prepare(changes) == ()
    first, second = replay_all(reviewer, changes)
    assert places(first) == [("app/shop.py", 1), ("app/shop.py", 5)]
    assert places(second) == [("app/cart.py", 1)]
    near = {c.span.start: c.anchoring for c in first.comments if c.span}
    assert near == {1: Anchoring.OUTSIDE, 5: Anchoring.AS_GIVEN}
    assert (first.case, first.system) == ("acme/shop#1", reviewer.system)


def test_a_folder_holds_files_named_by_case_or_commit(tmp_path: Path, changes: list[Change]) -> None:
    out = tmp_path / "my-bot"
    out.mkdir()
    (out / "acme_shop_1.rdjson").write_text(rdjson(("odd", "app/shop.py", 5)))
    (out / f"{changes[1].head}.rdjson").write_text(rdjson(("odd", "app/cart.py", 1)))
    (out / ".hidden.rdjson").write_text("not read")
    reviewer = Replay(path=str(out))
    assert reviewer.system == "my-bot"
    assert [places(review) for review in replay_all(reviewer, changes)] == [[("app/shop.py", 5)], [("app/cart.py", 1)]]


def test_a_change_without_a_file_fails_and_is_no_empty_review(tmp_path: Path, changes: list[Change]) -> None:
    (tmp_path / "acme_shop_2.rdjson").write_text(rdjson())
    reviewer = Replay(path=f"{tmp_path}/{{case}}.rdjson")
    assert reasons(reviewer, changes) == {"1 change": "no file: each is a failure (acme/shop#1)"}
    with pytest.raises(BadInput, match="has no file for acme/shop#1"):
        reviewer.review(changes[0])
    assert reviewer.review(changes[1]).comments == ()


def test_a_broken_file_fails_its_own_change(tmp_path: Path, changes: list[Change]) -> None:
    (tmp_path / "acme_shop_1.rdjson").write_text('{"diagnostics": [{"message": 3}]}')
    (tmp_path / "acme_shop_2.rdjson").write_text(rdjson(("odd", "app/cart.py", 1)))
    reviewer = Replay(path=str(tmp_path), format="rdjson")
    assert "message" in reasons(reviewer, changes)["acme/shop#1"]
    with pytest.raises(BadInput):
        reviewer.review(changes[0])
    assert len(reviewer.review(changes[1]).comments) == 1


def test_one_file_name_for_two_changes_is_refused(tmp_path: Path, changes: list[Change]) -> None:
    (tmp_path / "acme_shop_1.rdjson").write_text(rdjson())
    twins = [changes[0], changes[1].model_copy(update={"id": "acme#shop#1"})]
    with pytest.raises(UserError, match="matches both acme/shop#1 and acme#shop#1"):
        Replay(path=f"{tmp_path}/{{case}}.rdjson").prepare(twins)
    (tmp_path / "acme_shop_1.json").write_text(rdjson())
    with pytest.raises(UserError, match="several files for acme_shop_1"):
        Replay(path=str(tmp_path)).prepare(changes)


# --- one file that names its changes -------------------------------------------------------------------------------


def martian(*entries: tuple[str, str, list[str]]) -> str:
    result: dict[str, dict[str, object]] = {}
    for url, tool, texts in entries:
        result.setdefault(url, {})[tool] = [{"text": t, "path": None, "line": None, "source": "x"} for t in texts]
    return json.dumps(result)


def test_a_file_that_names_its_changes_by_address(tmp_path: Path, changes: list[Change]) -> None:
    file = tmp_path / "candidates.json"
    one, two = (change.url or "" for change in changes)
    gone = "https://github.com/acme/shop/pull/99"
    file.write_text(martian((f"{one}/files", "a", ["x", "y"]), (one, "b", ["z"]), (two, "b", []), (gone, "a", ["q"])))
    with pytest.raises(UserError, match="holds the reviews of a, b"):
        Replay(path=str(file)).prepare(changes)
    reviewer = Replay(path=str(file), tool="a")
    assert reasons(reviewer, changes) == {
        "1 change, 1 comment": "not in this benchmark",
        "1 change": "not named in the file: each is a failure",
    }
    assert [c.body for c in reviewer.review(changes[0]).comments] == ["x", "y"]
    with pytest.raises(BadInput, match="does not name acme/shop#2"):
        reviewer.review(changes[1])
    quiet = Replay(path=str(file), tool="a", missing="silent")
    assert "each is a review without comments" in str(reasons(quiet, changes))
    assert quiet.review(changes[1]).comments == ()
    other = Replay(path=str(file), tool="b")
    assert [len(review.comments) for review in replay_all(other, changes)] == [1, 0]


def test_a_file_that_names_other_changes_only_is_an_error(tmp_path: Path, changes: list[Change]) -> None:
    file = tmp_path / "candidates.json"
    file.write_text(martian(("https://github.com/acme/shop/pull/99", "a", ["x"])))
    with pytest.raises(UserError, match="does not name any of 2 changes"):
        Replay(path=str(file)).prepare(changes)


HEAD = "0123456789abcdef0123456789abcdef01234567"
NAMED = Change(id="acme/shop#1", repo="acme/shop", head=HEAD, url="https://github.com/acme/shop/pull/1")


@pytest.mark.parametrize(("key", "same"), [
    ("acme/shop#1", True), ("acme_shop_1", True), (HEAD[:7], True), (HEAD[:6], False),
    ("HTTPS://www.github.com/acme/shop/pull/1/", True),
    ("https://github.com/acme/shop/pull/1/files?w=1#r3", True),
    ("https://github.com/acme/shop/pull/10", False),
])  # fmt: skip
def test_the_names_of_a_change(key: str, same: bool) -> None:
    assert names_change(key, NAMED) is same
    assert not names_change(key, Change(repo="other"))


# --- one scan of the whole repository ------------------------------------------------------------------------------


def test_one_scan_goes_to_the_changes_on_whose_lines_it_falls(tmp_path: Path, changes: list[Change]) -> None:
    folder = Path(changes[0].git or "")
    run_git(folder, "checkout", "-q", changes[1].head or "")
    file = tmp_path / "my-tool.sarif"
    file.write_bytes(sarif_of_ruff(folder, "."))
    reviewer = Replay(path=str(file))
    said = reasons(reviewer, changes)
    assert list(said) == ["1 of 3 comments left out", "2 of 3 comments kept"]
    assert "lines may have moved" in said["2 of 3 comments kept"]
    first, second = (reviewer.review(change) for change in changes)
    assert [c.body for c in first.comments] == ["Comparison to `None` should be `cond is None`"]
    assert places(first) == [("app/shop.py", 5)]
    assert places(second) == [("app/cart.py", 1)]
    assert first.system == "my-tool"
    across = pickle.loads(pickle.dumps(reviewer))  # as a process of the engine gets it
    assert across.review(changes[0]) == first


def sarif(*runs: tuple[str, str, str, int]) -> str:
    entries = [
        {
            "tool": {"driver": {"name": tool}},
            "automationDetails": {"id": name},
            "results": [
                {
                    "message": {"text": f"odd, says {tool}"},
                    "locations": [
                        {"physicalLocation": {"artifactLocation": {"uri": path}, "region": {"startLine": line}}}
                    ],
                }
            ],
        }
        for tool, name, path, line in runs
    ]
    return json.dumps({"version": "2.1.0", "runs": entries})


def test_an_automation_id_that_names_no_change_leaves_a_scan_a_scan(tmp_path: Path, changes: list[Change]) -> None:
    file = tmp_path / "one.sarif"
    runs = [("one", "nightly/1", "app/shop.py", 5), ("two", "nightly/2", "app/cart.py", 1)]
    file.write_text(sarif(*runs))
    together = Replay(path=str(file))
    said = reasons(together, changes)
    assert said["2 tools"] == "taken together as one reviewer: one, two"
    assert [places(together.review(c)) for c in changes] == [[("app/shop.py", 5)], [("app/cart.py", 1)]]
    alone = Replay(path=str(file), tool="two")
    assert [places(review) for review in replay_all(alone, changes)] == [[], [("app/cart.py", 1)]]


def test_runs_that_name_their_case_go_there(tmp_path: Path, changes: list[Change]) -> None:
    file = tmp_path / "mine.sarif"
    file.write_text(sarif(("t", "acme/shop#1", "app/shop.py", 5), ("t", "acme/shop#2", "app/nowhere.py", 5)))
    first, second = replay_all(Replay(path=str(file)), changes)
    assert places(first) == [("app/shop.py", 5)]
    assert [c.anchoring for c in second.comments] == [Anchoring.INVALID]  # it stays a comment


def test_the_comments_of_one_bot_among_other_authors(tmp_path: Path, changes: list[Change]) -> None:
    def comment(number: int, who: str, body: str, path: str, line: int) -> dict[str, object]:
        page = f"{changes[0].url}#discussion_r{number}"
        return {"id": number, "user": {"login": who}, "body": body, "path": path, "line": line, "html_url": page}

    comments = [
        comment(1, "bot[bot]", "This compares with None by ==.", "app/shop.py", 5),
        comment(2, "ann", "Thanks, will do better", "app/shop.py", 5),
        comment(3, "ann", "@bot review", "app/shop.py", 5),
    ]
    file = tmp_path / "dump.json"
    file.write_text(json.dumps(comments))
    with pytest.raises(UserError, match=r"holds the reviews of ann, bot\[bot\]"):
        Replay(path=str(file), format="github").prepare(changes)
    reviewer = Replay(path=str(file), format="github", tool="bot[bot]")
    assert reasons(reviewer, changes) == {"1 change": "not named in the file: each is a failure"}
    (found,) = reviewer.review(changes[0]).comments
    assert (found.body, found.author) == ("This compares with None by ==.", "bot[bot]")
    human = reasons(Replay(path=str(file), format="github", tool="ann"), changes)
    assert human["1 entry"] == "command trigger"


def test_a_scan_of_one_repository_does_not_speak_of_others(tmp_path: Path, changes: list[Change]) -> None:
    other = tmp_path / "other"
    commits = [commit(other, {"lib.js": "a\n", "app/shop.py": "x\n"}), commit(other, {"lib.js": "b\n"})]
    foreign = between(other, commits[0], commits[1], "acme/other#1").model_copy(update={"repo": "acme/other"})
    file = tmp_path / "flake8.txt"
    file.write_text("app/shop.py:5:12: E711 comparison to None\napp/cart.py:1:1: F401 'sys' imported but unused\n")
    file.write_text(file.read_text() + "README.md:1:1: X1 odd\n" + "app/shop.py:1:1: F401 'os' imported but unused\n")
    reviewer = Replay(path=str(file))
    both = [*changes, foreign]
    assert reasons(reviewer, both)["1 change"] == "the file does not speak of acme/other: each is a failure"
    assert [places(reviewer.review(change)) for change in changes] == [[("app/shop.py", 5)], [("app/cart.py", 1)]]
    with pytest.raises(BadInput, match="does not speak of acme/other"):
        reviewer.review(foreign)
    assert replay_all(Replay(path=str(file), missing="silent"), both)[2].comments == ()
    file.write_text("elsewhere/x.py:5:12: E711 comparison to None\n")
    with pytest.raises(UserError, match="names no file of"):
        Replay(path=str(file)).prepare(both)
    file.write_text("garbage\n")
    with pytest.raises(BadInput, match="names no place in code: 'garbage'"):
        Replay(path=str(file)).prepare(changes)


# --- reading -------------------------------------------------------------------------------------------------------


def test_absolute_paths_lie_below_root(tmp_path: Path, changes: list[Change]) -> None:
    file = tmp_path / "a.rdjson"
    file.write_text(rdjson(("odd", "/build/agent7/app/shop.py", 5)))
    (comment,) = Replay(path=str(file), root="/build/agent7").review(changes[0]).comments
    assert comment.span is not None
    assert (comment.span.path, comment.span.start) == ("app/shop.py", 5)


def test_foreign_paths_are_named_with_their_remedy(tmp_path: Path, changes: list[Change]) -> None:
    """What lies beside a changed file is not foreign: its end says where the repository lay."""
    file = tmp_path / "a.rdjson"
    known = [("odd", "/build/agent7/app/shop.py", 5), ("odd", "/build/agent7/setup.py", 1)]
    file.write_text(rdjson(*known, ("odd", "/home/ci/app/lost.py", 1)))
    assert "1 of 3 comments" in reasons(Replay(path=str(file)), changes)
    assert 'root="/home/ci/app"' in reasons(Replay(path=str(file)), changes)["1 of 3 comments"]
    assert "1 of 3 comments" in reasons(Replay(path=str(file)), changes[:1])
    assert "1 of 3 comments" not in reasons(Replay(path=str(file), root="/home/ci"), changes)
    file.write_text(rdjson(("odd", "/home/ci/app/lost.py", 1)))
    with pytest.raises(UserError, match=r'such as /home/ci/app/lost.py, and no others.*root="/home/ci/app"'):
        Replay(path=str(file)).prepare(changes)
    folder = tmp_path / "each"
    folder.mkdir()
    (folder / "acme_shop_1.rdjson").write_text(rdjson(*known[:1], ("odd", "C:\\ci\\lost.py", 1)))
    assert "such as /ci/lost.py" in reasons(Replay(path=str(folder)), changes)["1 of 2 comments"]


def test_a_broken_scan_is_an_error_before_the_run(tmp_path: Path, changes: list[Change]) -> None:
    whole = sarif(("t", "x", "app/shop.py", 5)).encode()
    file = tmp_path / "scan.sarif"
    file.write_bytes(whole[:-20])
    with pytest.raises(BadInput, match=r"scan\.sarif: is not valid JSON"):
        Replay(path=str(file)).prepare(changes)
    file.write_bytes(whole)
    with pytest.raises(BadInput, match="field body: is missing"):
        Replay(path=str(file), format="github").prepare(changes)
    file.write_text('{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "t"}}, "results": []}]}')
    assert [review.comments for review in replay_all(Replay(path=str(file)), changes)] == [(), ()]


def test_a_file_that_changes_is_read_again(tmp_path: Path, changes: list[Change]) -> None:
    file = tmp_path / "a.rdjson"
    file.write_text(rdjson(("one", "app/shop.py", 5)))
    reviewer = Replay(path=str(file))
    before = reviewer.pins()
    assert [c.body for c in reviewer.review(changes[0]).comments] == ["one"]
    file.write_text(rdjson(("another", "app/shop.py", 5)))
    os.utime(file, ns=(1, 1))
    assert [c.body for c in reviewer.review(changes[0]).comments] == ["another"]
    assert reviewer.pins() != before


def test_a_path_that_is_not_there_or_not_given_is_one_line(tmp_path: Path, changes: list[Change]) -> None:
    with pytest.raises(UserError, match="cannot read"):
        Replay(path=str(tmp_path / "gone.sarif")).prepare(changes)
    with pytest.raises(UserError, match="needs a path"):
        Replay().prepare(changes)
    (tmp_path / "a.txt").write_text("x")
    with pytest.raises(UserError, match="sariff"):
        Replay(path=str(tmp_path / "a.txt"), format="sariff").prepare(changes)


@pytest.mark.parametrize(("path", "name"), [
    ("my-tool.sarif", "my-tool"),
    ("../out/my-tool.v2.json", "my-tool.v2"),
    ("reviews/", "reviews"), ("reviews/{case}.json", "reviews"), ("reviews/{case}/out.json", "out"),
    ("{head}.json", "replay"), ("", "replay"), ("..", "replay"),
])  # fmt: skip
def test_the_system_is_named_by_its_file(path: str, name: str) -> None:
    assert Replay(path=path).system == name
    assert Replay(path=path, name="mine").system == "mine"


@pytest.mark.parametrize("head", ["../secret/notes", "..", "/etc/passwd", "a/../../secret/notes"])
def test_a_head_that_climbs_out_of_the_folder_names_no_file(tmp_path: Path, head: str) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "notes.md").write_text("- `app.py:1` is wrong\n")
    (tmp_path / "notes.md").write_text("- `app.py:1` is wrong\n")
    (tmp_path / "out" / "a").mkdir(parents=True)
    for template in ("out/{head}.md", "out/{head}/notes.md"):
        reviewer = Replay(path=str(tmp_path / template))
        with pytest.raises(BadInput, match="has no file for"):
            reviewer.review(Change(id="one", repo="r", head=head))
