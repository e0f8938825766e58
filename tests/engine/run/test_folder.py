from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine_small import make_case, make_cases
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.records import Case, Comment, Review
from reviewgauge.core.results import Failure, FailureKind, Outcome, Score
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.engine.run.manifest import FORMAT, benchmark_hash


def create(folder: Path, cases: Sequence[Case] | None = None, *, dataset: str = "small", seed: int = 0) -> RunFolder:
    known = make_cases(3) if cases is None else cases
    return RunFolder.create(folder, dataset=dataset, dataset_path="../data/small", cases=known, seed=seed)


def said(case: int, system: str = "s", attempt: int = 1, body: str = "words") -> Outcome:
    name = make_case(case).id
    review = Review(case=name, system=system, attempt=attempt, comments=(Comment(id="c", body=body),))
    return Outcome(case=name, system=system, attempt=attempt, review=review)


def failed(case: int, message: str = "no answer") -> Outcome:
    failure = Failure(kind=FailureKind.TIMEOUT, message=message)
    return Outcome(case=make_case(case).id, system="s", failure=failure)


def scored(case: int, metric: str = "m", value: float = 1.0) -> Score:
    return Score(case=make_case(case).id, system="s", metric=metric, benchmark="b", parts={"n": value})


def test_what_is_written_is_read(tmp_path: Path) -> None:
    with create(tmp_path / "run", seed=7) as run:
        run.append_outcome(said(0))
        run.append_outcome(failed(1))
        run.append_score(scored(0))
        run.add_systems({"s": {"weights": "abc"}}, "echo(delay=0.0)")
    run = RunFolder.open(tmp_path / "run")
    manifest = run.manifest
    assert (manifest.format, manifest.dataset, manifest.dataset_path) == (FORMAT, "small", "../data/small")
    assert (manifest.seed, manifest.cases, manifest.benchmark) == (7, 3, benchmark_hash(make_cases(3)))
    assert manifest.python == ".".join(map(str, sys.version_info[:3]))
    assert set(manifest.libraries) == {"numpy", "pydantic", "scipy"}
    assert manifest.created.utcoffset() is not None
    assert manifest.systems["s"].signature == "echo(delay=0.0)"
    assert manifest.systems["s"].pins == {"weights": "abc"}
    assert run.cases() == make_cases(3)
    assert run.outcomes() == [said(0), failed(1)]
    assert run.scores() == [scored(0)]
    assert sorted(p.name for p in (tmp_path / "run").iterdir()) == [
        "cases.jsonl", "lock", "manifest.json", "reviews.jsonl", "scores.jsonl",
    ]  # fmt: skip


# --- keys ----------------------------------------------------------------------------------------------------------


def test_a_failure_gives_way_to_a_later_review_and_to_a_later_failure(tmp_path: Path) -> None:
    with create(tmp_path) as run:
        for outcome in (failed(0), said(1), failed(0, "again"), said(0)):
            run.append_outcome(outcome)
        assert run.outcomes() == [said(0), said(1)]


@pytest.mark.parametrize("second", [said(0), said(0, body="others"), failed(0)])
def test_two_outcomes_after_a_review_are_an_error(tmp_path: Path, second: Outcome) -> None:
    with create(tmp_path) as run:
        run.append_outcome(said(0))
        run.append_outcome(second)
        with pytest.raises(BadInput, match=r"reviews.jsonl, line 2: is a second outcome for case case-000, s, att"):
            run.outcomes()


def test_the_last_score_of_a_key_wins(tmp_path: Path) -> None:
    with create(tmp_path) as run:
        for score in (scored(0), scored(0, "other"), scored(0, value=2)):
            run.append_score(score)
        assert run.scores() == [scored(0, value=2), scored(0, "other")]
        assert run.scores("other") == [scored(0, "other")]
        assert run.scores()[0] is run.scores()[0]  # read once


def test_lines_about_unknown_cases_and_half_outcomes_are_refused(tmp_path: Path) -> None:
    with create(tmp_path) as run:
        run.append_outcome(said(9))
        with pytest.raises(BadInput, match=r"line 1, field case: case 'case-009' is not in cases.jsonl"):
            run.outcomes()
        run.append_score(scored(9))
        with pytest.raises(BadInput, match=r"scores.jsonl, line 1, field case"):
            run.scores()
    (tmp_path / "reviews.jsonl").write_bytes(Outcome(case="case-000", system="s").to_line())
    with pytest.raises(BadInput, match="either a review or a failure"):
        RunFolder.open(tmp_path).outcomes()


# --- torn and broken lines -----------------------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.booleans())
def test_a_last_line_cut_anywhere_is_moved_aside(tmp_path_factory: pytest.TempPathFactory, cut: int, nul: bool) -> None:
    folder = tmp_path_factory.mktemp("run")
    with create(folder) as run:
        run.append_outcome(said(0, body="ä\u2028ö"))
        run.append_outcome(said(1))
    path = folder / "reviews.jsonl"
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    length = first + cut % (len(whole) - first)  # from nothing of the last line to all but its newline
    torn = whole[first:length]
    path.write_bytes(whole[:length] + (b"\x00" * 9 if nul else b""))
    assert RunFolder.open(folder).outcomes() == [said(0, body="ä\u2028ö")]  # a reader moves nothing
    assert not (folder / "reviews.jsonl.torn").exists()
    with create(folder) as run:
        assert run.outcomes() == [said(0, body="ä\u2028ö")]
        run.append_outcome(said(1))
        assert run.outcomes() == [said(0, body="ä\u2028ö"), said(1)]
    assert path.read_bytes() == whole
    aside = folder / "reviews.jsonl.torn"
    assert (aside.read_bytes() if aside.exists() else b"") == (torn + b"\x00" * 9 * nul + b"\n" if torn or nul else b"")


def test_a_broken_line_in_the_middle_names_file_line_and_field(tmp_path: Path) -> None:
    with create(tmp_path) as run:
        for number in range(3):
            run.append_outcome(said(number))
    path = tmp_path / "reviews.jsonl"
    good = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(good[0] + good[1][:40] + b"\n" + good[2])
    with pytest.raises(BadInput, match=r"reviews\.jsonl, line 2: is not valid JSON"):
        RunFolder.open(tmp_path).outcomes()
    path.write_bytes(good[0] + good[1].replace(b'"attempt"', b'"attempts"').replace(b'"body"', b'"bodi"') + good[2])
    with pytest.raises(BadInput, match=r"line 2, field review\.comments\[0\]"):
        RunFolder.open(tmp_path).outcomes()


# --- opening -------------------------------------------------------------------------------------------------------


def test_the_same_run_is_resumed_and_another_refused_by_name(tmp_path: Path) -> None:
    with create(tmp_path) as run:
        run.append_outcome(said(0))
        made = run.manifest
    with create(tmp_path, cases=list(reversed(make_cases(3)))) as run:
        assert run.outcomes() == [said(0)]
        assert run.manifest == made
    with pytest.raises(UserError, match=r"holds a run on small \(benchmark \w{12}\); this is other \(benchmark"):
        create(tmp_path, dataset="other", cases=make_cases(4))
    with pytest.raises(UserError, match="the data changed since"):
        create(tmp_path, cases=make_cases(4))
    with pytest.raises(UserError, match="seed 0, not 1"):
        create(tmp_path, seed=1)
    RunFolder.open(tmp_path, write=True).close()  # no refusal left a lock behind


def test_the_code_is_where_the_data_set_has_it_now(tmp_path: Path) -> None:
    """A benchmark's folder can be moved; and a run of others names no repository of this machine."""
    cases = [make_case(1), make_case(2)]

    def placed(git: str | None) -> list[Case]:
        return [case.model_copy(update={"change": case.change.model_copy(update={"git": git})}) for case in cases]

    for git in ("/before/shop.git", "/after/shop.git", None):
        with RunFolder.create(tmp_path / "run", dataset="small", dataset_path="", cases=placed(git)) as run:
            assert [case.change.git for case in run.cases()] == [git, git]


def test_a_foreign_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(UserError, match=r"is not a run folder: it holds thesis.tex"):
        create(tmp_path)
    with pytest.raises(UserError, match="is a file, not a folder"):
        create(tmp_path / "thesis.tex")
    for write in (False, True):
        with pytest.raises(UserError, match=r"is not a run folder \(no manifest.json\)"):
            RunFolder.open(tmp_path, write=write)
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_creation_that_was_killed_is_done_again(tmp_path: Path) -> None:
    for name in ("lock", "cases.jsonl", "cases.jsonl.tmp", "manifest.json.tmp"):
        (tmp_path / name).write_text("{half")
    with create(tmp_path) as run:
        assert run.cases() == make_cases(3)


def test_another_format_is_refused(tmp_path: Path) -> None:
    create(tmp_path).close()
    path = tmp_path / "manifest.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | {"format": FORMAT + 1, "a_new_field": 1}))
    actions: list[Callable[[], RunFolder]] = [lambda: RunFolder.open(tmp_path), lambda: create(tmp_path)]
    for action in actions:
        with pytest.raises(UserError, match=r"another version of ReviewGauge \(format 3, not 2\)"):
            action()


@pytest.mark.parametrize(("change", "message"), [
    (b"", "is not valid JSON"), (b"[]", "manifest.json"),
    (b'{"format": 2}', "field reviewgauge: is missing"),
    (b'{"format": "1"}', "field format"),
    (b"\xff\xfe", "is not UTF-8"),
])  # fmt: skip
def test_a_spoilt_manifest_is_one_clear_line(tmp_path: Path, change: bytes, message: str) -> None:
    create(tmp_path).close()
    (tmp_path / "manifest.json").write_bytes(change)
    with pytest.raises(BadInput, match=message):
        RunFolder.open(tmp_path)


def test_cases_that_were_edited_are_noticed(tmp_path: Path) -> None:
    create(tmp_path).close()
    path = tmp_path / "cases.jsonl"
    path.write_bytes(path.read_bytes().replace(b"finding 0", b"finding O", 1))
    with pytest.raises(BadInput, match="does not hold the cases that the run was made on"):
        RunFolder.open(tmp_path).cases()
    path.unlink()
    with pytest.raises(BadInput, match="cannot be read"):
        RunFolder.open(tmp_path).cases()


def test_cases_must_be_there_and_be_told_apart(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="small holds no cases"):
        create(tmp_path / "a", cases=[])
    with pytest.raises(UserError, match="case id 'case-001' occurs twice"):
        create(tmp_path / "b", cases=[make_case(1), make_case(1)])
    assert list(tmp_path.iterdir()) == []


def test_one_name_stands_for_one_reviewer(tmp_path: Path) -> None:
    with create(tmp_path) as run:
        run.add_systems({"s": {"w": "1"}}, "a(k=3, of=1)")  # a name without a review stands for nobody yet
        run.add_systems({"s": {"w": "1"}}, "a(k=1, of=1)")
        run.append_outcome(failed(0))
        run.add_systems({"s": {"w": "1"}}, "a(k=1, of=1)")
        with pytest.raises(UserError, match=r's was run with k=1, and has k=2 now \(to keep both, .*name="new"'):
            run.add_systems({"s": {"w": "1"}}, "a(k=2, of=1)")
        with pytest.raises(UserError, match="s rested on another w"):
            run.add_systems({"s": {"w": "2"}}, "a(k=1, of=1)")
        assert run.add_systems({"s": {"w": "2"}}, "a(k=1, of=1)", mixed=True) == {"s": 0}  # a failure is no answer
        assert run.manifest.systems["s"].pins == {"w": "2"}
        run.append_outcome(said(1))
        assert run.add_systems({"s": {"w": "3"}}, "a(k=1, of=1)", mixed=True) == {"s": 1}
        assert run.manifest.systems["s"].pins == {"w": "2 | 3"}
        assert run.add_systems({"s": {"w": "3"}}, "a(k=1, of=1)") == {}  # known to be mixed: goes on


def test_what_json_cannot_carry_is_refused_and_leaves_no_trace(tmp_path: Path) -> None:
    with create(tmp_path) as run:
        run.append_outcome(said(0))
        with pytest.raises(UserError, match="cannot be stored"):
            run.append_outcome(said(1, body="\ud800"))
        with pytest.raises(UserError, match="cannot be stored"):
            run.append_score(scored(1, value=float("nan")))
        assert run.outcomes() == [said(0)]
        assert run.scores() == []
    with pytest.raises(UserError, match="cannot be stored"):
        create(tmp_path / "b", cases=[make_case(1).model_copy(update={"facts": {"x": float("nan")}})])


def test_a_line_about_one_review_that_holds_another_is_refused(tmp_path: Path) -> None:
    with create(tmp_path) as run:
        run.append_outcome(said(0).model_copy(update={"system": "someone-else"}))
        with pytest.raises(BadInput, match=r"reviews\.jsonl, line 1, field review: holds a review of case"):
            run.outcomes()


def test_a_reading_run_writes_nothing(tmp_path: Path) -> None:
    create(tmp_path).close()
    run = RunFolder.open(tmp_path)
    with pytest.raises(UserError, match="open for reading only"):
        run.append_outcome(said(0))
    with pytest.raises(UserError, match="open for reading only"):
        run.add_systems({"s": {}}, "a")


# --- one writer ----------------------------------------------------------------------------------------------------


def test_a_second_writer_is_refused_and_a_reader_is_not(tmp_path: Path) -> None:
    with create(tmp_path) as run:
        run.append_outcome(said(0))
        actions: list[Callable[[], RunFolder]] = [
            lambda: RunFolder.open(tmp_path, write=True),
            lambda: create(tmp_path),
        ]
        for action in actions:
            with pytest.raises(UserError, match="is being written by this process"):
                action()
        assert RunFolder.open(tmp_path).outcomes() == [said(0)]
        assert (tmp_path / "lock").read_text() == f"{os.getpid()}\n"
    create(tmp_path).close()


def test_a_program_that_was_started_does_not_keep_the_lock(tmp_path: Path) -> None:
    run = create(tmp_path)
    sleeper = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, close_fds=False)
    try:
        run.close()
        create(tmp_path).close()
    finally:
        sleeper.communicate(b"\n")


# --- a full disk ---------------------------------------------------------------------------------------------------

FILL = """
import resource, signal, sys
sys.path.insert(0, {tests!r})
from reviewgauge.core.errors import UserError
from reviewgauge.engine.run.folder import RunFolder
sys.path.insert(0, {here!r})
from test_folder import said
from engine_small import make_cases
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
limit = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
recorded = 0
try:
    with RunFolder.create(sys.argv[1], dataset="small", dataset_path="", cases=make_cases(40)) as run:
        for number in range(40):
            run.append_outcome(said(number, body="x" * 3000))
            recorded += 1
except UserError as error:
    print(recorded, error)
    sys.exit(2)
"""


def fill(folder: Path, limit: int) -> tuple[int, str]:
    program = FILL.format(tests=str(Path(__file__).parents[2] / "toys"), here=str(Path(__file__).parent))
    done = subprocess.run(
        [sys.executable, "-B", "-c", program, str(folder), str(limit)],  # -B: no compiled file cut in half
        check=False,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (2, "")
    assert done.stdout.count("\n") == 1
    recorded, _, message = done.stdout.partition(" ")
    return int(recorded), message


@pytest.mark.parametrize("limit", [50_000, 33_333])
@pytest.mark.slow
def test_a_file_that_may_not_grow_loses_nothing_recorded(tmp_path: Path, limit: int) -> None:
    recorded, message = fill(tmp_path, limit)
    assert recorded > 5
    assert "reviews.jsonl: no room left to write" in message
    assert "nothing recorded before is lost" in message
    assert (tmp_path / "reviews.jsonl").read_bytes().endswith(b"\n")
    with create(tmp_path, cases=make_cases(40)) as run:
        assert run.outcomes() == [said(number, body="x" * 3000) for number in range(recorded)]
        run.append_outcome(said(recorded))
    assert not (tmp_path / "reviews.jsonl.torn").exists()


@pytest.mark.slow
def test_no_room_for_the_cases_leaves_a_folder_that_can_be_used_again(tmp_path: Path) -> None:
    recorded, message = fill(tmp_path, 5_000)
    assert recorded == 0
    assert "cases.jsonl: no room left to write" in message
    create(tmp_path).close()


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Path:
    folder = tmp_path / "disk"
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(folder)], check=False, capture_output=True, text=True
    )
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.partition(chr(10))[0]}")
    return folder


@pytest.mark.slow
def test_a_full_disk_loses_nothing_recorded(tiny_disk: Path) -> None:
    try:
        recorded, message = fill(tiny_disk / "run", 1_000_000)
        assert 5 < recorded < 40
        assert "No space left on device" in message
        assert RunFolder.open(tiny_disk / "run").outcomes() == [
            said(number, body="x" * 3000) for number in range(recorded)
        ]
        (tiny_disk / "run" / "lock").unlink()  # the lock may be gone or empty: it is made again
        with create(tiny_disk / "run", cases=make_cases(40)) as run:  # opening needs no room
            assert len(run.outcomes()) == recorded
    finally:
        subprocess.run(["umount", str(tiny_disk)], check=True)


# --- reading once --------------------------------------------------------------------------------------------------


def test_what_was_added_by_anybody_is_seen_at_once(tmp_path: Path) -> None:
    with create(tmp_path / "run") as run:
        reader = RunFolder.open(tmp_path / "run")
        assert reader.outcomes() == []
        run.append_outcome(said(0))
        assert run.outcomes() == reader.outcomes() == [said(0)]
        with (tmp_path / "run" / "reviews.jsonl").open("ab") as stream:
            stream.write(said(1).to_line())
        assert run.outcomes() == reader.outcomes() == [said(0), said(1)]


@pytest.mark.parametrize("metric", ["m", "bleu(variant='sacrebleu')", 'a "quoted" name', "größe", "back\\slash"])
def test_scores_of_one_metric_are_found_however_their_lines_are_written(tmp_path: Path, metric: str) -> None:
    with create(tmp_path / "run") as run:
        for case, name in enumerate((metric, "mm", f"{metric}2")):
            run.append_score(scored(case, name))
        assert run.scores(metric) == [scored(0, metric)]
        assert len(run.scores()) == 3
    path = tmp_path / "run" / "scores.jsonl"
    path.write_text("".join(json.dumps(json.loads(line)) + "\n" for line in path.read_text("utf-8").splitlines()))
    assert RunFolder.open(tmp_path / "run").scores(metric) == [scored(0, metric)]
