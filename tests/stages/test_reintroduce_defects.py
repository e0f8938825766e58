"""Faults put back: real histories in which a fix can be taken back today, and those where it cannot."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from git_project import Files
from history_builder import Told
from reviewgauge.core.building import Candidate
from reviewgauge.core.protocols import Stage
from reviewgauge.core.records import Arm, Case, Origin, RequiredContext
from reviewgauge.core.specs import load
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.repo.git.repository import Repository
from reviewgauge.stages.recent_changes import RecentChanges
from reviewgauge.stages.reintroduce_defects import PUT_BACK, ReintroduceDefects

pytestmark = pytest.mark.processes

GONE = "its lines are not there any more"
TOTAL = (
    "def total(items):\n    amount = 0\n    for item in items{}:\n        amount += item.price\n    return amount\n\n\n"
)
NEW = "def cheapest(items):\n    found = min(items, key=price)\n    print(found)\n    return found\n\n\n"
PAD = "".join(f"def pad_{n}(a):\n    return a + {n}\n\n\n" for n in range(5))
HIDDEN = "its place is not in the diff with the defect and in the one without"
MORE = ("    amount = 0\n", "    seen = 0\n    last = 0\n    amount = 0\n")
SOUND, FAULTY = TOTAL.format(""), TOTAL.format("[1:]")


def put_back(told: Told, out: Path, newest: int = 0, **options: object) -> tuple[list[Candidate], Mapping[str, int]]:
    """The cases that the stage makes, and what became of the fixes."""
    context = BuildFolder(out, (str(told.folder),))
    hosts = [item for item in RecentChanges(newest=newest).apply((), context) if isinstance(item, Candidate)]
    found = list(ReintroduceDefects(**options).apply(hosts, context))  # type: ignore[arg-type]
    assert found[: len(hosts)] == hosts
    context.close()
    (section,) = [one for one in context.sections if one.by == "reintroduce_defects"]
    cases = [item for item in found[len(hosts) :] if isinstance(item, Candidate)]
    assert section.figures["put back"] == len(cases)
    assert bool(section.warnings) == (not cases)
    return cases, {str(row[0]): int(str(row[1])) for row in section.rows}


def shop(folder: Path, before: Files, fixed: Files, *later: Files, title: str = "Fix total without the first") -> Told:
    told = Told(folder)
    told.commit("begin", {"README.md": "shop\n"})
    told.commit("Add a shop", before)
    told.commit(title, fixed)
    for number, files in enumerate(later, 1):
        told.commit(f"Change {number}", files)
    return told


def code(case: Case, path: str) -> bytes:
    assert case.change.git is not None and case.change.head is not None
    found = Repository(Path(case.change.git)).blob(case.change.head, path)
    assert found is not None
    return found


def test_a_fix_is_taken_back_once_near_what_a_change_adds(tmp_path: Path) -> None:
    test = {"tests/test_cart.py": "from shop.cart import total\n"}
    told = shop(
        tmp_path / "shop",
        {"shop/cart.py": FAULTY + PAD},
        {"shop/cart.py": SOUND + PAD, **test},
        {"shop/cart.py": NEW + SOUND + PAD},  # near it
        {"shop/cart.py": NEW + SOUND + PAD + NEW.replace("cheapest", "last")},  # newer, and far away
        {"shop/other.py": NEW},  # newest, and another file
        title="Fix total that forgets the first item\n\nIt is too small then.\n\nFixes #12",
    )
    cases, outcomes = put_back(told, tmp_path / "bench")
    assert outcomes == {PUT_BACK: 1}
    (case,) = (item.case for item in cases)
    assert (case.change.title, case.verdict, case.facts["arm"]) == ("Change 1", False, Arm.DEFECT)
    (said,) = case.references
    at = (NEW + FAULTY).split("\n").index("    for item in items[1:]:") + 1
    assert code(case, "shop/cart.py").decode() == NEW + FAULTY + PAD
    assert said.model_dump(include={"body", "category", "origin", "needs"}) == {
        "body": "Total that forgets the first item\n\nIt is too small then.",
        "category": "defect",
        "origin": Origin.INJECTED,
        "needs": RequiredContext.FILE,
    }
    assert said.span is not None and said.resolution is not None
    assert (said.span.path, said.span.start, said.span.end) == ("shop/cart.py", at, at)
    assert said.resolution.snippet == "    for item in items:"
    assert said.resolution.explanation == "Fix total that forgets the first item\n\nIt is too small then.\n\nFixes #12"
    assert said.resolution.commit == told.git("log", "--format=%H", "--grep=forgets").strip()
    assert (said.extra["made"], said.extra["operator"]) == ("reintroduced", "reintroduced")
    (file,) = case.change.files
    assert "-    for item in items:\n+    for item in items[1:]:" in (file.patch or "")


CHECK = "def name(user):\n{}    return user.name\n\n\n"
UNCHECKED, CHECKED = CHECK.format(""), CHECK.format("    if user is None:\n        return ''\n")


@pytest.mark.parametrize(("before", "fixed", "today", "lines"), [
    pytest.param(UNCHECKED, CHECKED, NEW + CHECKED, (7, 8), id="what it adds goes: the lines around"),
    pytest.param(CHECKED, UNCHECKED, NEW + UNCHECKED, (8, 9), id="what it takes away comes back"),
    pytest.param(FAULTY, SOUND, SOUND.replace(*MORE), (5, 5), id="the change is above"),
    pytest.param(FAULTY, SOUND, SOUND + PAD + NEW, (), id="the change is far: its twin does not show the place"),
    pytest.param(FAULTY, SOUND, (SOUND + NEW).replace("    ", "\t"), None, id="other blanks today"),
    pytest.param(*(text.replace("    ", "\t") for text in (FAULTY, SOUND, SOUND.replace(*MORE))), (5, 5),
        id="tabs since ever"),
])  # fmt: skip
def test_the_place_is_where_the_fix_was(
    tmp_path: Path, before: str, fixed: str, today: str, lines: tuple[int, ...] | None
) -> None:
    told = shop(tmp_path / "shop", {"a.py": before}, {"a.py": fixed}, {"a.py": today})
    cases, outcomes = put_back(told, tmp_path / "bench")
    assert outcomes == {PUT_BACK if lines else GONE if lines is None else HIDDEN: 1}
    spans = [one.span for item in cases for one in item.case.references]
    assert [(span.start, span.end) for span in spans if span] == ([lines] if lines else [])


USE = "def use(a):\n    b = {}(a)\n    print(b)\n    print(a)\n    return b\n\n\n"
END = "\n\nlet(end)\nend(it)\n"
OF = "def of(a):\n    return 1\n\n\n"


@pytest.mark.parametrize(("path", "before", "fixed", "today", "outcome"), [
    ("a.py", FAULTY, SOUND, NEW + SOUND.replace("items", "goods"), GONE),
    ("a.py", FAULTY, SOUND, NEW + SOUND.replace(" = 0", " = 1"), "its lines were changed since"),
    ("a.py", FAULTY, SOUND, None, "no change here edits its file"),
    ("a.py", FAULTY, SOUND, "RATE = 1\n" + SOUND, "is larger than 0.5 of the changes there"),
    ("a.py", FAULTY, SOUND, NEW + SOUND + "def broken(:\n", "it does not parse"),
    ("a.js", "f(1 ;\n" + END, "f(1);\n" + END, "f(1);\n" + END + 4 * "let a = 1;\n", "it does not parse"),
    ("a.kt", "val a = 1 - 1\n" + END, "val a = 1 + 1\n" + END, "val a = 1 + 1\n" + END * 3, "no grammar"),
    ("a.py", "a: int = 1\n\n\n", "a: str = 1\n\n\n", "a: str = 1\n\n\n" + NEW, "changes nothing that runs"),
    ("a.py", FAULTY, OF + SOUND, OF + SOUND + PAD + USE.format("of"), "later code builds on it"),
    ("a.py", OF + USE.format("of"), OF + USE.format(""), NEW + USE.format(""), "names what is not there any more"),
    ("a.py", FAULTY + "é = 1\n", SOUND + "é = 1\n", NEW + SOUND + "é = 1\n", PUT_BACK),
    ("données/ä b.py", FAULTY, SOUND, NEW + SOUND, PUT_BACK),
])  # fmt: skip
def test_where_a_fix_cannot_be_taken_back_it_is_counted(
    tmp_path: Path, path: str, before: str, fixed: str, today: str | None, outcome: str
) -> None:
    later = {"other.py": NEW} if today is None else {path: today}
    told = shop(tmp_path / "shop", {path: before}, {path: fixed}, later)
    cases, outcomes = put_back(told, tmp_path / "bench", newest=1)
    assert [name for name in outcomes if outcome in name], outcomes
    assert len(cases) == (outcome == PUT_BACK)


@pytest.mark.parametrize(
    ("name", "put"), [(b"caf\xe9.py", True), (b"a.py", True)], ids=["a name that is not UTF-8", "CRLF"]
)
def test_bytes_stay_as_they_are(tmp_path: Path, name: bytes, put: bool) -> None:
    told = Told(tmp_path / "shop")
    told.commit("begin", {"README.md": "shop\n"})
    file = told.folder / name.decode("utf-8", "surrogateescape")
    for message, text in (("Add", FAULTY), ("Fix total without the first", SOUND), ("More", NEW + SOUND)):
        file.write_bytes(text.replace("\n", "\r\n").encode())
        told.commit(message, {})
    (case,), outcomes = put_back(told, tmp_path / "bench")
    assert outcomes == {PUT_BACK: 1}
    (path,) = (file.path for file in case.case.change.files)
    assert code(case.case, path) == (NEW + FAULTY).replace("\n", "\r\n").encode()


def test_contents_that_are_not_utf_8_a_file_that_is_gone_and_a_history_without_fixes(tmp_path: Path) -> None:
    latin = {"a.py": ("# é\n" + FAULTY).encode("latin-1")}, {"a.py": ("# é\n" + SOUND).encode("latin-1")}
    told = shop(tmp_path / "latin", *latin, {"a.py": ("# é\n" + NEW + SOUND).encode("latin-1")})
    assert put_back(told, tmp_path / "1")[1] == {"it is not UTF-8": 1}
    told = shop(tmp_path / "gone", {"a.py": FAULTY}, {"a.py": SOUND}, {"a.py": None}, {"b.py": NEW})
    assert put_back(told, tmp_path / "2")[1] == {GONE: 1}
    told = shop(tmp_path / "sound", {"a.py": FAULTY}, {"a.py": NEW + FAULTY}, title="Add cheapest")
    assert put_back(told, tmp_path / "3")[1] == {}


def test_a_fix_of_a_folder_that_was_renamed_is_found_by_its_lines(tmp_path: Path) -> None:
    moved = {"cart/a.py": None, "src/cart/a.py": SOUND}
    told = shop(tmp_path / "shop", {"cart/a.py": FAULTY}, {"cart/a.py": SOUND}, moved, {"src/cart/a.py": NEW + SOUND})
    (case,), outcomes = put_back(told, tmp_path / "bench")
    assert outcomes == {PUT_BACK: 1}
    assert code(case.case, "src/cart/a.py").decode() == NEW + FAULTY


def test_the_seed_decides_which_fix_a_change_takes_and_the_same_gives_the_same(tmp_path: Path) -> None:
    names = ["price", "weight", "tax", "rest"]
    faulty, sound = ("".join(text.replace("total", name) for name in names) for text in (FAULTY, SOUND))
    told = Told(tmp_path / "shop")
    told.commit("begin", {"README.md": "shop\n"})
    text = faulty
    told.commit("Add a shop", {"a.py": text})
    for name in names:
        text = text.replace(FAULTY.replace("total", name), SOUND.replace("total", name))
        told.commit(f"Fix {name} without the first item", {"a.py": text})
    told.commit("Count more", {"a.py": sound.replace(*MORE)})
    made = {seed: put_back(told, tmp_path / f"bench{seed}", seed=seed) for seed in range(6)}
    assert put_back(told, tmp_path / "again", seed=0)[0][0].case.references == made[0][0][0].case.references
    assert all(outcomes[PUT_BACK] == 1 for _, outcomes in made.values())
    said = {cases[0].case.references[0].body for cases, _ in made.values()}
    assert len(said) > 1
    assert len({cases[0].id for cases, _ in made.values()}) == 6
    assert len(put_back(told, tmp_path / "more", per_change=3)[0]) == 3


def test_wrong_parameters_are_named() -> None:
    for words in ("share=0", "share=2", "per_change=0"):
        with pytest.raises(Exception, match=words.split("=")[0]):
            load(Stage, f"reintroduce_defects({words})")
