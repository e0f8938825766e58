"""A crawl of a real HTTP forge over a real git repository: what comes out, what is asked, kills, dumps, troubles."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from recorded_forge import TOKEN, Forge, Trouble, broken, missing, refused_graphql, revoked, secondary_limit, serve
from reviewgauge.core.building import BuildContext, Candidate
from reviewgauge.core.errors import UserError
from reviewgauge.core.results import Drop, Failed
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.forges.github import Github
from reviewgauge.repo.forge.client import Forge as ForgeClient
from reviewgauge.repo.forge.replies import Clock
from reviewgauge.stages.from_forge import DUMP, FOLDER, FromForge

NAME = "acme/shop"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forge]:
    with serve(tmp_path_factory.mktemp("forge"), "crawl") as forge:
        yield forge


@pytest.fixture
def context(tmp_path: Path) -> Iterator[BuildFolder]:
    made = BuildFolder(tmp_path / "bench", f"github:{NAME}")
    yield made
    made.close()


class Quick(Clock):
    """A thousandth of a second for each second of a wait."""

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds / 1000)


class Impatient(FromForge):
    """It does not wait long before it asks again."""

    def open_forge(self, context: BuildContext) -> ForgeClient:
        return ForgeClient(context.folder / FOLDER, Github(), api=self.api, token=self.auth_variable, clock=Quick())


def run(stage: FromForge, folder: Path, source: str = f"github:{NAME}") -> tuple[list[Candidate], list[Drop]]:
    where = BuildFolder(folder, source)
    try:
        made = list(stage.apply((), where))
    finally:
        where.close()
    return [m for m in made if isinstance(m, Candidate)], [m for m in made if isinstance(m, Drop)]


def without_git(found: Iterable[Candidate]) -> list[object]:
    return [one.case.model_copy(update={"change": one.case.change.model_copy(update={"git": None})}) for one in found]


# --- what comes out ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_pull_requests_become_candidates_with_their_final_state(forge: Forge, context: BuildFolder) -> None:
    second, first = FromForge(api=forge.url).apply((), context)
    assert isinstance(first, Candidate) and isinstance(second, Candidate)
    (section,) = context.sections
    assert section.figures["requests"] == len(forge.asked) and "requests" in section.text
    for file in context.folder.rglob("*"):
        assert not file.is_file() or TOKEN.encode() not in file.read_bytes(), "no token is written anywhere"
    assert [one.case.id for one in (first, second)] == [f"{NAME}/pull/1", f"{NAME}/pull/2"], "open ones stay out"
    case, pull = first.case, first.pull
    assert pull is not None
    assert (pull.merged, pull.number, pull.repo, len(pull.commits), len(pull.threads)) == (True, 1, NAME, 2, 3)
    assert case.change.title == "Discounts for apples"
    assert [issue.title for issue in case.change.issues] == ["Apples cost too much"], "what merging it closes"
    assert [issue.issue.number for issue in pull.issues] == [41]
    assert pull.repo_languages == {"Python": 9000, "Shell": 300}
    assert case.facts["language"] == "Python" and case.facts["year"] == 2025 and case.facts["commits"] == 2
    assert case.change.git is not None and Path(case.change.git).is_dir()
    assert [remark.body for remark in pull.conversation] == ["When is this out?"]
    said = [(one.state, one.author.login) for one in pull.reviews]
    assert said == [("CHANGES_REQUESTED", "bob"), ("COMMENTED", "ann"), ("APPROVED", "mel")], (
        "an answer is a review too"
    )
    assert second.pull is not None and second.pull.fork_gone and not second.pull.merged
    early, late = pull.revisions
    assert early.base == late.base == case.change.base
    assert late.commits[:1] == early.commits and late.head == case.change.head
    assert early.pushed is not None and late.pushed is not None and early.pushed < late.pushed
    assert {thread.commit for thread in pull.threads} == {early.head}


@pytest.mark.slow
def test_references_of_the_final_state_are_those_whose_lines_still_stand(forge: Forge, tmp_path: Path) -> None:
    (first,), _ = run(FromForge(api=forge.url, numbers=(1,)), tmp_path)
    case = first.case
    patch = case.change.files[0].patch or ""
    assert len(case.references) == 2, "the third thread's line was changed after it"
    for comment in case.references:
        assert comment.span is not None and comment.span.start is not None
        line = _line(first, comment.span.start)
        assert line in patch
        assert ("Decimal" in comment.body and "rate = percent" in line) or "int(row[1])" in line
        assert comment.id == f"thread-{comment.extra['thread']}" and comment.author == "bob"
    assert case.verdict is False


def _line(item: Candidate, number: int) -> str:
    from reviewgauge.repo.git.repository import Repository

    change = item.case.change
    assert change.git is not None and change.head is not None
    blob = Repository(Path(change.git)).blob(change.head, change.files[0].path)
    assert blob is not None
    return blob.decode().split("\n")[number - 1]


@pytest.mark.slow
def test_a_clone_on_this_machine_holds_the_commits_too(forge: Forge, tmp_path: Path) -> None:
    usual, _ = run(FromForge(api=forge.url), tmp_path / "a")
    forge.asked.clear()
    cloned, _ = run(FromForge(api=forge.url, clone=str(forge.git_dir)), tmp_path / "b")
    assert without_git(cloned) == without_git(usual)
    assert not forge.paths("compare")


@pytest.mark.slow
def test_a_choice_by_time_state_number_and_count(forge: Forge, tmp_path: Path) -> None:
    def ids(**choice: object) -> list[int]:
        stage = replace(FromForge(api=forge.url, issues=False), **choice)  # type: ignore[arg-type]
        return [one.pull.number for one in run(stage, tmp_path)[0] if one.pull is not None]

    everything = ("open", "closed", "merged")
    assert ids(states=everything) == [3, 2, 1]
    assert ids(states=("open",)) == [3]
    assert ids(states=("closed",)) == [2]
    assert ids(states=everything, since="2025-01-08") == [3, 2]
    assert ids(states=everything, until="2025-01-08") == [2, 1]
    assert ids(states=everything, limit=2) == [3, 2]
    assert ids(numbers=(1, 3)) == [1, 3], "what is named is read in any state"


@pytest.mark.slow
def test_a_renamed_repository_is_read_under_its_present_name(forge: Forge, tmp_path: Path) -> None:
    found, _ = run(FromForge(api=forge.url), tmp_path, "github:acme/store")
    assert [one.case.change.repo for one in found] == [NAME, NAME]


# --- what is asked -------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_second_build_asks_only_whether_something_changed(forge: Forge, tmp_path: Path) -> None:
    stage = FromForge(api=forge.url)
    first = run(stage, tmp_path)
    count = len(forge.asked)
    assert run(stage, tmp_path) == first
    again = forge.asked[count:]
    assert {one.status for one in again} == {304}, "nothing of the limit is spent"
    assert not any("/pulls/1" in one.path for one in again)


@pytest.mark.parametrize("at", [1, 2, 5, 9, 14, 18])
@pytest.mark.slow
def test_a_crawl_that_is_killed_at_any_request_goes_on_there(at: int, forge: Forge, tmp_path: Path) -> None:
    stage = FromForge(api=forge.url, states=("merged", "closed", "open"))
    whole = run(stage, tmp_path / "whole")
    asked = [one.path for one in forge.asked if one.method == "GET" and one.status == 200]
    forge.asked.clear()
    forge.troubles.append(revoked(TOKEN, after=at))
    with pytest.raises(Failed, match="refuses the token in GITHUB_TOKEN"):
        run(stage, tmp_path / "killed")
    assert not (tmp_path / "killed" / FOLDER / DUMP).exists(), "a dump that is there is whole"
    forge.tokens = {TOKEN}
    assert without_git(run(stage, tmp_path / "killed")[0]) == without_git(whole[0])
    answered = [one.path for one in forge.asked if one.method == "GET" and one.status == 200]
    assert sorted(answered) == sorted(asked), "each was answered once, over both runs"


@pytest.mark.slow
def test_enterprise_is_asked_under_its_own_paths(forge: Forge, tmp_path: Path) -> None:
    usual, _ = run(FromForge(api=forge.url), tmp_path / "a")
    forge.asked.clear()
    found, _ = run(FromForge(api=f"{forge.url}/api/v3"), tmp_path / "b")
    assert without_git(found) == without_git(usual)
    assert found[0].case.change.git is not None, "git is asked at the host itself"
    assert forge.paths("/repos/") and forge.paths("/graphql")


# --- troubles ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_what_is_gone_is_a_counted_drop(forge: Forge, tmp_path: Path) -> None:
    forge.troubles.append(missing(r"/pulls/2$"))
    found, drops = run(FromForge(api=forge.url), tmp_path)
    assert [one.case.id for one in found] == [f"{NAME}/pull/1"]
    assert [(drop.item, drop.reason) for drop in drops] == [(f"{NAME}/pull/2", "deleted, or not open to this token")]
    forge.troubles.clear()
    assert not run(FromForge(api=forge.url), tmp_path)[1], "it is asked for again, and may be back"


@pytest.mark.slow
def test_a_repository_that_is_gone_does_not_end_the_build(forge: Forge, tmp_path: Path) -> None:
    found, drops = run(FromForge(api=forge.url, repos=("acme/nothing", NAME)), tmp_path)
    assert len(found) == 2
    assert [(drop.item, drop.reason) for drop in drops] == [
        ("acme/nothing", "repository deleted, or not open to this token")
    ]


@pytest.mark.slow
def test_one_pull_request_that_the_forge_fails_on_is_left_for_next_time(forge: Forge, tmp_path: Path) -> None:
    forge.troubles += [secondary_limit("languages", retry_after=0), broken(r"/pulls/2/commits", times=99)]
    stage = Impatient(api=forge.url)
    found, drops = run(stage, tmp_path)
    assert [one.case.id for one in found] == [f"{NAME}/pull/1"]
    assert [drop.reason for drop in drops] == ["the forge does not manage to answer: asked again next time"]
    forge.troubles.clear()
    assert len(run(stage, tmp_path)[0]) == 2


@pytest.mark.slow
def test_a_server_without_these_graphql_fields_is_read_by_rest_alone(forge: Forge, tmp_path: Path) -> None:
    usual, _ = run(FromForge(api=forge.url), tmp_path / "a")
    forge.troubles.append(missing("graphql"))
    plain, _ = run(FromForge(api=forge.url), tmp_path / "b")
    assert len(plain) == len(usual)
    for one, other in zip(plain, usual, strict=True):
        assert one.pull is not None and other.pull is not None
        assert all(thread.resolved is None for thread in one.pull.threads)
        assert [t.outdated for t in one.pull.threads] == [t.outdated for t in other.pull.threads]
        assert {e.kind for e in other.pull.events} <= {e.kind for e in one.pull.events}
        assert one.case.references == tuple(
            c.model_copy(update={"extra": {k: v for k, v in c.extra.items() if k != "resolved"}})
            for c in other.case.references
        )


def told(found: Iterable[Candidate]) -> dict[int, bool]:
    """By pull request, whether the forge said which threads were resolved and which issues it closes."""
    pulls = [one.pull for one in found if one.pull is not None]
    return {
        pull.number: "closes" in pull.extra and all(thread.resolved is not None for thread in pull.threads)
        for pull in pulls
    }


@pytest.mark.parametrize(("trouble", "asked"), [
    (refused_graphql("Something is wrong with this pull request"), 3),
    (refused_graphql("Resource not accessible", "FORBIDDEN", after=1), 4),  # its threads alone
])  # fmt: skip
@pytest.mark.slow
def test_a_refusal_of_graphql_is_of_one_pull_request(
    forge: Forge, context: BuildFolder, trouble: Trouble, asked: int
) -> None:
    """The newest comes first, so that number 2 is the one that is refused."""
    forge.troubles.append(replace(trouble))
    found = [one for one in FromForge(api=forge.url).apply((), context) if isinstance(one, Candidate)]
    assert told(found) == {1: True, 2: False}
    first = next(one.pull for one in found if one.pull is not None and one.pull.merged)
    assert "merged" in {event.kind for event in first.events}, "REST tells the rest"
    assert len(forge.paths("graphql")) == asked
    (card,) = context.sections
    assert card.figures["pull requests without an answer of GraphQL"] == 1
    assert "GraphQL gave no answer for 1 pull requests" in card.text
    again = [one for one in FromForge(api=forge.url).apply((), context) if isinstance(one, Candidate)]
    assert told(again) == {1: True, 2: True}, "it is asked again the next time"


@pytest.mark.slow
def test_a_change_that_is_too_large_is_left_out_unread(forge: Forge, tmp_path: Path) -> None:
    found, drops = run(FromForge(api=forge.url, max_lines=5), tmp_path)
    assert not found
    assert {drop.reason for drop in drops} == {"more than 5 changed lines"}


def test_wrong_parameters_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="states are of merged, closed, open"):
        FromForge(states=("done",))
    for word in ("yesterday", "2024", "20240131", "2024-W05-3"):
        with pytest.raises(ValueError, match=f"since='{word}' is not a day, which is written as 2024-01-31"):
            FromForge(since=word)
    with pytest.raises(ValueError, match="month"):
        FromForge(until="2024-13-01")
    with pytest.raises(UserError, match="no repository is named"):
        run(FromForge(), tmp_path / "a", "")
    with pytest.raises(UserError, match="is not the name of a repository"):
        run(FromForge(repos=("../..",)), tmp_path / "b")
    with pytest.raises(UserError, match="there is no archive"):
        run(FromForge(archive=str(tmp_path / "none.jsonl")), tmp_path / "c")


@pytest.mark.slow
def test_names_in_hostile_words_lead_nowhere(forge: Forge, tmp_path: Path) -> None:
    words = "Fixes a/..#1, ../..#9, x/.#3, https://github.com/../../etc/issues/4, acme/shop#41 and o/n#99999999"
    with serve(tmp_path / "other", "crawl") as other:
        other.documents["pulls/1"]["body"] = words
        other.graph["1"]["closingIssuesReferences"]["nodes"] = []
        (one,), drops = run(FromForge(api=other.url, numbers=(1,)), tmp_path / "bench")
        asked = other.paths("/issues/")
    assert not drops and one.pull is not None
    assert [issue.issue.number for issue in one.pull.issues] == [41]
    assert all(path.startswith(("/repos/acme/shop/issues/", "/repos/o/n/issues/")) for path in asked), asked


def test_without_a_token_the_card_says_what_is_not_known(
    forge: Forge, context: BuildFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_TOKEN")
    (first,) = list(FromForge(api=forge.url, numbers=(1,)).apply((), context))
    assert isinstance(first, Candidate) and first.pull is not None
    assert all(thread.resolved is None for thread in first.pull.threads)
    assert "asked without a token" in context.sections[0].text
    assert not forge.paths("graphql") and len(first.pull.revisions) == 2


@pytest.mark.slow
def test_a_force_push_leaves_both_states(forge: Forge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    with serve(tmp_path / "other", "forced") as other:
        (one,), _ = run(FromForge(api=other.url), tmp_path / "bench")
    assert one.pull is not None
    early, late = one.pull.revisions
    assert (early.forced, late.forced) == (False, True)
    assert early.base != late.base and late.base == one.case.change.base
    assert [file.path for file in one.case.change.files] == ["shop/drums.py"], "the base's own commit is not a part"
    assert early.pushed is not None and one.pull.created is not None and early.pushed >= one.pull.created
    assert json.loads(one.pull.model_dump_json())["revisions"][1]["forced"]
