"""The cases of a pair: nothing but the code tells them apart, and no answer lies where a reviewer looks."""

from __future__ import annotations

from pathlib import Path

import pytest

from history_builder import Told
from reviewgauge.core.building import Candidate
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import ARM, PAIR, Arm, RequiredContext, Severity
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.repo.diff.diffs import parse_patch
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.mirrors.workspaces import workspace
from reviewgauge.stages.injection.arms import (
    Defect,
    product_files,
    repository_of,
    safe_twin,
    twin,
    with_defect,
    write_commit,
)
from reviewgauge.stages.recent_changes import RecentChanges

pytestmark = pytest.mark.processes

PATHS = ["a.py", 'with "quotes" and blank.py', "line\nend.py", "tab\t.py", "caf\udce9.py", "données.py"]
SOUND = "def f(a, b):\n    if a < b:\n        return a\n    return b\n"


def host(tmp_path: Path, path: str = "a.py", ending: str = "\n") -> Candidate:
    told = Told(tmp_path / "shop")
    told.commit("begin", {"README.md": "shop\n"})
    file = told.folder / path
    file.write_bytes(SOUND.replace("\n", ending).encode())
    file.chmod(0o755)
    told.commit("Add f\n\nThe smaller one.", {"notes.md": "f\n"})
    context = BuildFolder(tmp_path / "bench", (str(told.folder),))
    (found,) = (one for one in RecentChanges().apply((), context) if isinstance(one, Candidate))
    context.close()
    return found


def defect(item: Candidate, path: str = "a.py", line: int = 2) -> Defect:
    sound = product_files(item.case)[path]
    return Defect(
        path=path,
        sound=sound,
        defective=sound.replace(b"a < b", b"a <= b"),
        lines=(line, line),
        sound_lines=(line, line),
        body="Off by one: the wrong one is returned.",
        operator="boundary_moved",
        made="planted",
        severity=Severity.HIGH,
        needs=RequiredContext.DIFF,
        explanation="why",
    )


def put(item: Candidate, path: str = "a.py", key: str = "k", seed: int = 0) -> Candidate:
    made = with_defect(item, defect(item, path), key, seed)
    assert isinstance(made, Candidate)
    return made


@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("path", PATHS, ids=ascii)
def test_a_defect_changes_its_file_and_nothing_else(tmp_path: Path, path: str, ending: str) -> None:
    item = host(tmp_path, path, ending)
    (path,) = product_files(item.case)  # as records have it
    made = put(item, path)
    repository = repository_of(item.case)
    before, after = (
        {e.path: (e.mode, e.id) for e in repository.entries(one.case.change.head or "")} for one in (item, made)
    )
    assert [name for name in before | after if before.get(name) != after.get(name)] == [path]
    assert after[path][0] == "100755"
    code = repository.blob(made.case.change.head or "", path)
    assert code == SOUND.replace("a < b", "a <= b").replace("\n", ending).encode()
    (said,) = made.case.references
    assert said.resolution is not None and said.resolution.snippet is not None
    assert said.resolution.snippet.strip() == "if a < b:"
    (hunk,) = parse_patch(said.resolution.diff or "")
    assert [line.text.strip() for line in hunk.lines if line.kind != " "] == ["if a <= b:", "if a < b:"]
    for file in made.case.change.files:
        assert all(
            sum(line.kind != "-" for line in one.lines) == one.new_count for one in parse_patch(file.patch or "")
        )


def test_the_twin_differs_in_the_code_alone(tmp_path: Path) -> None:
    item = host(tmp_path)
    made = put(item)
    sound = twin(item, [made], 0)
    safe = safe_twin(item, made, SOUND.replace("a < b", "b > a").encode(), (2, 2), 0)
    repository = repository_of(item.case)
    shown = [one.case.change.model_dump(exclude={"head", "files"}) for one in (made, sound, safe)]
    assert shown[0] == shown[1] == shown[2]
    logs = set()
    for one in (made, sound, safe):
        head = one.case.change.head or ""
        words = repository.run("log", "-1", "--format=%P %an %ae %at %cn %ce %ct %B", head, "--").decode()
        logs.add(words)
        assert words.startswith(item.case.change.base or "-")
        assert head != item.case.change.head
    assert len(logs) == 1
    theirs = repository.run("log", "-1", "--format=%at", item.case.change.head or "", "--").decode().strip()
    assert f" {theirs} " in logs.pop()
    assert sound.case.change.files == item.case.change.files
    facts = [{name: fact for name, fact in one.case.facts.items() if name != ARM} for one in (made, sound, safe)]
    assert facts[0] == facts[1] == facts[2] and facts[0][PAIR]
    assert [one.case.facts[ARM] for one in (made, sound, safe)] == [Arm.DEFECT, Arm.TWIN, Arm.SAFE]


def test_what_is_said_of_a_defect_is_right_on_it_and_wrong_on_its_twins(tmp_path: Path) -> None:
    item = host(tmp_path)
    made = put(item)
    (said,) = made.case.references
    assert made.case.verdict is False and said.category == "defect" and said.severity is Severity.HIGH
    for one in (twin(item, [made], 0), safe_twin(item, made, SOUND.encode() + b"\n", (3, 3), 0)):
        assert one.case.verdict is None and not one.case.references
        (wrong,) = one.case.rejected
        assert (wrong.id, wrong.body) == (said.id, said.body) and wrong.span is not None
        assert (wrong.span.start, wrong.span.end) == ((2, 2) if one.case.facts[ARM] == Arm.TWIN else (3, 3))
    two = twin(item, [made, put(item, key="other")], 0)
    assert len({one.id for one in two.case.rejected}) == 2


def test_a_place_outside_of_the_diff_makes_no_case(tmp_path: Path) -> None:
    item = host(tmp_path)
    assert (
        with_defect(item, defect(item, line=40), "k", 0)
        == "its place is not in the diff with the defect and in the one without"
    )


def test_the_same_input_gives_the_same_bytes_and_another_seed_or_key_other_ids(tmp_path: Path) -> None:
    item = host(tmp_path)
    assert put(item).to_line() == put(item).to_line()
    ids = [put(item, key=key, seed=seed).id for key in "ab" for seed in (0, 1)] + [twin(item, [], 0).id]
    assert len(set(ids)) == 5
    assert all(len(name.rpartition("/")[2]) == 12 for name in ids)


def test_no_answer_lies_in_the_workspace(tmp_path: Path) -> None:
    item = host(tmp_path)
    made = put(item)
    (said,) = made.case.references
    secrets = [said.body, said.id, "boundary_moved", "planted", "injected", "if a < b", made.id.rpartition("/")[2]]
    repository, change = repository_of(made.case), made.case.change
    for history in (False, True):
        with workspace(repository, change.head or "", change.base, history=history) as at:
            texts = b"".join(file.read_bytes() for file in at.folder.rglob("*") if file.is_file())
            seen = Repository(at.folder)
            refs = seen.run("for-each-ref").decode()
            told = seen.run("log", "--all", "--format=%B%an%ae").decode() + refs
        assert not [word for word in secrets if word.encode() in texts or word in told]


def test_a_host_without_its_code_is_an_error(tmp_path: Path) -> None:
    item = host(tmp_path)
    with pytest.raises(UserError, match="its code is not at hand"):
        repository_of(item.with_change(git=None).case)


def test_a_link_and_a_test_are_no_product_files(tmp_path: Path) -> None:
    told = Told(tmp_path / "shop")
    told.commit("begin", {"README.md": "shop\n"})
    (told.folder / "link.py").symlink_to("a.py")
    told.commit("Add a", {"a.py": SOUND, "tests/test_a.py": SOUND})
    context = BuildFolder(tmp_path / "bench", (str(told.folder),))
    (found,) = (one for one in RecentChanges().apply((), context) if isinstance(one, Candidate))
    context.close()
    assert list(product_files(found.case)) == ["a.py"]


def test_a_commit_of_the_same_content_has_the_same_id(tmp_path: Path) -> None:
    item = host(tmp_path)
    base, head = item.case.change.base or "", item.case.change.head or ""
    refs = [f"refs/reviewgauge/injected/{n}" for n in range(2)]
    ids = [write_commit(repository_of(item.case), base, head, {"a.py": b"x = 1\n"}, ref) for ref in refs]
    assert ids[0] == ids[1]
