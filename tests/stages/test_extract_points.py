"""Change-points of a pull request over a real repository: what counts, what must agree, what is asked."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from git_project import commit as make_commit
from reviewed_pulls import AUTHOR, BOT, FAKE, OTHER, REVIEWER, START, made, said, the_one
from reviewgauge.core.building import Candidate
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Stage
from reviewgauge.core.pull_requests import PullCommit, PullRequest, Remark, Revision, Thread
from reviewgauge.core.records import Anchoring, Case, Change, ChangedFile, FileStatus, Span
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.core.specs import load
from reviewgauge.models.request.messages import Call, fence
from reviewgauge.repo.git.repository import Repository
from reviewgauge.stages.asking.change_points import NO_COMMITS, NO_DIFF, NO_REVIEWER
from reviewgauge.stages.extract_points import FORCED, NO_CODE, NOTHING, ExtractPoints
from scripted_models import Messages, scripted

pytestmark = pytest.mark.usefixtures("calls")

LOOP = "The loop is wrong: it never ends for an empty list"
NAME = "The name says little, rename it"
BEFORE = "def total(rows):\n    return 0\n"
FIRST = "def total(rows):\n    while rows:\n        pass\n    return 0\n"
FINAL = {"final_commits": 3, "final_files": 3, "final_added": 4, "final_deleted": 1}
FIXED = "def total(rows):\n    for row in rows:\n        pass\n    return 0\n"


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """base, then the three commits of a pull request: the change, the answer to a remark, a further file."""
    folder = tmp_path_factory.mktemp("shop")
    ids = [
        make_commit(folder, {"a.py": BEFORE, "b.py": "x = 1\n"}),
        make_commit(folder, {"a.py": FIRST}),
        make_commit(folder, {"a.py": FIXED, "c.py": "late = 1\n"}),
        make_commit(folder, {"b.py": "x = 2\n"}),
    ]
    return folder, ids


def item_of(repository: tuple[Path, list[str]], *threads: Thread, patches: bool = True, **more: object) -> Candidate:
    folder, ids = repository
    git = Repository(folder)
    commits = tuple(
        PullCommit(
            id=name,
            message=f"step {at}",
            author=AUTHOR,
            parents=(ids[at - 1],),
            committed=START + timedelta(hours=2 * at),
            files=git.changed_files(ids[at - 1], name) if patches else None,
        )
        for at, name in enumerate(ids[1:], 1)
    )
    given: dict[str, object] = {
        "repo": "acme/shop", "number": 12, "author": AUTHOR, "title": "Sum up", "url": "https://example.com/12",
        "threads": threads, "commits": commits, "base": ids[0], "head": ids[-1], "git": str(folder),
    }  # fmt: skip
    pull = PullRequest.model_validate({**given, **more})
    files = git.changed_files(ids[0], ids[-1])
    change = Change(repo="acme/shop", base=ids[0], head=ids[-1], title="Sum up", files=files, git=str(folder))
    facts = {"size": "XXL", "year": 2024, "commits": 3}
    return Candidate(case=Case(id="acme/shop/pull/12", change=change, facts=facts), pull=pull)


def thread(name: str, *remarks: Remark | str, commit: str | None, path: str = "a.py", line: int = 2) -> Thread:
    spoken = tuple(said(one, hours=3) if isinstance(one, str) else one for one in remarks)
    return Thread(id=name, path=path, line=line, commit=commit, remarks=spoken)


# --- by the fake's rule --------------------------------------------------------------------------------------------


def test_a_suggestion_that_a_later_commit_does_is_a_change_point(
    repository: tuple[Path, list[str]], calls: list[Call]
) -> None:
    _, ids = repository
    item = item_of(repository, thread("7", LOOP, said("Right.", AUTHOR, 4), commit=ids[1]))
    (kept,), drops, (decision,) = made(ExtractPoints(FAKE), item)
    assert not drops
    (point,) = kept.case.references
    assert (point.body, point.category) == (LOOP, "F.2 Logic")
    assert point.span == Span(path="a.py", start=2)
    assert (point.author, point.commit, point.created) == ("bob", ids[1], START + timedelta(hours=3))
    assert point.resolution is not None
    assert point.resolution.commit == ids[2]
    assert "+    for row in rows:" in (point.resolution.snippet or "")
    assert point.extra == {"original": LOOP, "said_in": "thread 7", "thread": "7"}
    assert kept.case.verdict is False
    assert decision.decided == f"F.2 Logic: {LOOP}"
    assert decision.reason == f"C2 changes it (request 2: {LOOP}; request 3: {LOOP})"
    assert f"resolved by {ids[2]}\nstep 2" in decision.shown
    assert sorted(call.trial for call in calls) == [1, 2, 3], "three requests, each a call of its own"


def test_the_change_is_cut_back_to_before_its_first_answer(repository: tuple[Path, list[str]]) -> None:
    _, ids = repository
    kept = the_one(ExtractPoints(FAKE), item_of(repository, thread("7", LOOP, commit=ids[1]))).case
    assert (kept.change.base, kept.change.head) == (ids[0], ids[1])
    assert [file.path for file in kept.change.files] == ["a.py"]
    assert "for row" not in (kept.change.files[0].patch or "")
    assert kept.facts == {
        "year": 2024, "commits": 1, "changed_files": 1, "changed_lines": 2, "hunks": 1, "language": "Python",
        "size": "XS", **FINAL,
    }  # fmt: skip


def test_both_classes_state_what_the_whole_pull_request_is(repository: tuple[Path, list[str]]) -> None:
    """SWR-Bench's Table II compares them at one state; a change one is cut back, a clean one is not."""
    _, ids = repository
    changed = the_one(ExtractPoints(FAKE), item_of(repository, thread("7", LOOP, commit=ids[1]))).case
    with scripted(['{"points": []}'] * 3) as model:
        clean = the_one(ExtractPoints(model.spec), item_of(repository, thread("7", "Nice.", commit=ids[1]))).case
    assert (changed.clean, clean.clean) == (False, True)
    for case in (changed, clean):
        assert {name: value for name, value in case.facts.items() if name.startswith("final_")} == FINAL


def test_what_is_about_later_code_or_was_answered_before_is_left_out(repository: tuple[Path, list[str]]) -> None:
    _, ids = repository
    entries = [
        {"mention": "T1", "introduced": "C1", "resolved": "C2", "point": LOOP, "type": "F.2"},
        {"mention": "T2", "introduced": "C2", "resolved": "C3", "point": NAME, "type": "E.1.1"},
    ]
    item = item_of(repository, thread("7", LOOP, commit=ids[1]), thread("8", NAME, commit=ids[2], path="c.py", line=1))
    with scripted([answer(*entries)]) as model:
        early = the_one(ExtractPoints(model.spec), item).case
        assert [one.body for one in early.references] == [LOOP]


def test_nothing_in_all_requests_is_clean(repository: tuple[Path, list[str]]) -> None:
    _, ids = repository
    item = item_of(repository, thread("7", "Fine by me", commit=ids[3], path="a.py"))
    (kept,), _, (decision,) = made(ExtractPoints(FAKE), item)
    assert kept.case.clean
    assert kept.case.change == item.case.change
    assert (decision.decided, decision.shown) == (NOTHING, "https://example.com/12\n\nreviewer: Fine by me")


def test_one_commit_alone_cannot_answer_and_is_not_asked_about(
    repository: tuple[Path, list[str]], calls: list[Call]
) -> None:
    _, ids = repository
    item = item_of(repository, thread("7", LOOP, commit=ids[1]))
    assert item.pull is not None
    alone = item.model_copy(update={"pull": item.pull.model_copy(update={"commits": item.pull.commits[:1]})})
    kept, _, decisions = made(ExtractPoints(FAKE), alone)
    assert kept[0].case.clean
    assert (decisions, calls) == ([], [])


def test_a_force_push_hides_answers_so_nothing_is_called_clean(repository: tuple[Path, list[str]]) -> None:
    _, ids = repository
    pushed = (Revision(head=ids[1]), Revision(head=ids[3], forced=True))
    quiet = item_of(repository, thread("7", "Fine by me", commit=ids[3]), revisions=pushed)
    _, (drop,), _ = made(ExtractPoints(FAKE), quiet)
    assert drop.reason == FORCED
    assert the_one(ExtractPoints(FAKE), item_of(repository, thread("7", LOOP, commit=ids[1]), revisions=pushed))


def test_what_cannot_be_known_is_dropped_and_says_so(repository: tuple[Path, list[str]], calls: list[Call]) -> None:
    folder, ids = repository
    good = item_of(repository, thread("7", LOOP, commit=ids[1]))
    assert good.pull is not None
    by_bot = thread("7", said(LOOP, BOT), said("ok", AUTHOR), commit=ids[1])
    for item, reason in (
        (good.model_copy(update={"pull": None}), "no pull request behind it"),
        (item_of(repository), NO_REVIEWER),
        (item_of(repository, by_bot), NO_REVIEWER),
        (item_of(repository, thread("7", said(" "), commit=ids[1])), NO_REVIEWER),
        (item_of(repository, *good.pull.threads, commits=()), NO_COMMITS),
        (item_of(repository, *good.pull.threads, patches=False, git=None).with_change(git=None), NO_DIFF),
    ):
        kept, (drop,), _ = made(ExtractPoints(FAKE), item)
        assert (kept, drop.reason) == ([], reason)
    assert not calls
    lost = item_of(repository, *good.pull.threads, git=None).with_change(git=None)
    assert made(ExtractPoints(FAKE), lost)[1][0].reason == NO_CODE
    away = item_of(repository, *good.pull.threads, git=str(folder / "nowhere"))
    assert made(ExtractPoints(FAKE), away)[1][0].reason == NO_CODE


def test_diffs_are_read_from_git_where_the_forge_gave_none(
    repository: tuple[Path, list[str]], calls: list[Call]
) -> None:
    _, ids = repository
    there = item_of(repository, thread("7", LOOP, commit=ids[1]))
    kept = the_one(ExtractPoints(FAKE), item_of(repository, thread("7", LOOP, commit=ids[1]), patches=False))
    assert [one.body for one in kept.case.references] == [LOOP]
    the_one(ExtractPoints(FAKE), there)
    assert len({call.key for call in calls}) == 3, "the same question, so the cache answers the second time"


# --- what is asked -------------------------------------------------------------------------------------------------


def asked(calls: list[Call]) -> str:
    return calls[0].request.messages[1].text


def test_labels_roles_and_times_stand_outside_the_fences_and_no_name_anywhere(
    repository: tuple[Path, list[str]], calls: list[Call]
) -> None:
    _, ids = repository
    item = item_of(
        repository,
        thread("7", said(LOOP, hours=3), said("Why?", AUTHOR, 4), said("style", BOT, 5), commit=ids[1]),
        thread("8", said(NAME, OTHER, 1), commit="f" * 40),
        conversation=(said("Thanks for this", OTHER, 9), said("Welcome", AUTHOR, 10)),
        reviews=(said("See below", REVIEWER, 3).model_copy(update={"state": "CHANGES_REQUESTED"}), said(" ")),
    )
    made(ExtractPoints(FAKE), item)
    text = asked(calls)
    for line in (
        "C1, 2024-03-01 12:00",
        "C3, 2024-03-01 16:00",
        "T1, a thread",
        "T1.1 reviewer 2, 2024-03-01 11:00",
        "T2, a thread said on C1",
        "T2.1 reviewer 1, 2024-03-01 13:00",
        "T2.2 author, 2024-03-01 14:00",
        "T2.3 bot, 2024-03-01 15:00",
        "R1 reviewer 1, 2024-03-01 13:00, asks for changes",
        "M1 reviewer 2, 2024-03-01 19:00",
        "M2 author, 2024-03-01 20:00",
    ):
        assert f"\n{line}\n<<<DATA " in text, line
    for body in (LOOP, NAME, "Welcome", "step 1", "a.py, line 2"):
        assert fence(body) in text
    assert not any(login in text for login in ("ann", "bob", "cora", "lint[bot]"))
    assert "F.2 Logic" in text and "- E.1 Documentation" not in text


def test_merges_renames_binary_files_and_missing_patches_are_said(
    repository: tuple[Path, list[str]], calls: list[Call]
) -> None:
    _, ids = repository
    files = (
        ChangedFile(path="new.py", old_path="old.py", status=FileStatus.RENAMED),
        ChangedFile(path="x.png", binary=True),
        ChangedFile(path="large.py"),
    )
    commits = (
        PullCommit(id="1" * 40, message="one", files=files),
        PullCommit(id="2" * 40, message="two", parents=("a", "b")),
        PullCommit(id="3" * 40, message="three", files=()),
    )
    made(ExtractPoints(FAKE), item_of(repository, thread("7", "Fine", commit=ids[1]), commits=commits))
    text = asked(calls)
    assert "=== new.py (renamed, before: old.py)" in text
    assert "=== x.png (modified)\n(a binary file)" in text
    assert "=== large.py (modified)\n(no patch is at hand: an empty file, or a change too large to be shown)" in text
    assert f"C2, merges another branch\n{fence('two')}\n\nC3" in text
    assert fence("(no file changes)") in text


# --- answers -------------------------------------------------------------------------------------------------------


def answer(*entries: dict[str, str]) -> str:
    usual = {"point": LOOP, "type": "F.2", "mention": "T1", "introduced": "C1", "resolved": "C2", "explanation": "so"}
    return json.dumps({"points": [{**usual, "code": None, **entry} for entry in entries]})


ONE = answer({})


@pytest.fixture
def item(repository: tuple[Path, list[str]]) -> Candidate:
    return item_of(repository, thread("7", LOOP, commit=repository[1][1]))


def test_a_disagreement_drops_and_names_the_request_that_differs(item: Candidate, calls: list[Call]) -> None:
    with scripted([ONE, answer(), ONE]) as model:
        kept, (drop,), decisions = made(ExtractPoints(model.spec), item)
    assert (kept, decisions) == ([], [])
    assert drop.reason == "the requests disagree on how many change-points there are"
    (odd,) = (call.trial for call in calls if call.answer.text == answer())
    said_by = ("none" if trial == odd else "F.2 resolved by C2" for trial in (1, 2, 3))
    assert drop.detail == "; ".join(f"request {at}: {one}" for at, one in enumerate(said_by, 1))


def test_an_unreadable_answer_is_asked_again_and_then_a_failure_never_clean(item: Candidate) -> None:
    wrong = answer({"resolved": "C9"})
    with scripted([wrong, ONE]) as model:
        assert len(the_one(ExtractPoints(model.spec, requests=1), item).case.references) == 1
        assert "\"resolved\" of point 1 is 'C9', and there are C1, C2, C3" in model.asked[1][-1]["content"]

    def torn(messages: Messages) -> str:
        return "I see no change-points in this pull request."

    with scripted(torn) as model, pytest.raises(Failed, match="3 of 3 questions have no answer") as broken:
        made(ExtractPoints(model.spec), item)
    assert broken.value.kind is FailureKind.UNREADABLE


@pytest.mark.parametrize(("said_on", "code", "span", "anchoring"), [
    (1, None, Span(path="a.py", start=2), Anchoring.AS_GIVEN),  # on the revision: its lines, whatever is quoted
    (3, "while rows:", Span(path="a.py", start=2), Anchoring.QUOTE),
    (3, "nothing of the sort", Span(path="a.py"), Anchoring.FILE_ONLY),
    (3, None, Span(path="a.py"), Anchoring.FILE_ONLY),
])  # fmt: skip
def test_a_point_stands_at_the_lines_of_its_thread_or_where_its_code_is(
    repository: tuple[Path, list[str]], said_on: int, code: str | None, span: Span, anchoring: Anchoring
) -> None:
    item = item_of(repository, thread("7", LOOP, commit=repository[1][said_on]))
    with scripted([json.dumps({"points": [{**json.loads(ONE)["points"][0], "code": code}]})]) as model:
        (point,) = the_one(ExtractPoints(model.spec), item).case.references
    assert (point.span, point.anchoring) == (span, anchoring)


def test_a_point_of_the_conversation_has_a_place_where_its_code_is_found(repository: tuple[Path, list[str]]) -> None:
    item = item_of(repository, conversation=(said(LOOP),))
    entry = {**json.loads(ONE)["points"][0], "mention": "M1", "code": "while rows:"}
    with scripted([json.dumps({"points": [entry]})]) as model:
        (point,) = the_one(ExtractPoints(model.spec), item).case.references
    assert point.span == Span(path="a.py", start=2)
    assert "thread" not in point.extra


def test_it_is_refused_without_sense() -> None:
    assert ExtractPoints(FAKE).models == (FAKE,)
    assert ExtractPoints(FAKE).pins() == ExtractPoints("openai:gpt-5").pins()
    for spec, problem in (
        ("extract_points", "needs model"),
        ("extract_points(model='gpt-5')", "is not a model"),
        ("extract_points(model='fake:rules', requests=0)", "requests=0"),
    ):
        with pytest.raises(UserError, match=problem):
            load(Stage, spec)
