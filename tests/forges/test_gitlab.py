"""A crawl of a GitLab that speaks its real shapes, over real git: what comes out, what is asked, and cut pages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fake_clock import LeapingClock
from gitlab_server import NAME, TOKEN, Gitlab, Sent, serve
from reviewgauge.api.build import build
from reviewgauge.api.review import review
from reviewgauge.api.score import score
from reviewgauge.core.building import BuildContext, Candidate
from reviewgauge.core.errors import UserError
from reviewgauge.core.pull_requests import AccountType, PullRequest
from reviewgauge.core.results import Drop, Failed
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.forges import gitlab
from reviewgauge.repo.forge.client import Forge
from reviewgauge.stages.from_forge import FOLDER, FromForge
from reviewgauge.stages.link_issues import fixed_issues

SOURCE = f"gitlab:{NAME}"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gitlab]:
    with serve(tmp_path_factory.mktemp("gitlab")) as forge:
        yield forge


@pytest.fixture
def forge(running: Gitlab, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gitlab]:
    monkeypatch.setenv("GITLAB_TOKEN", TOKEN)
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_not_for_gitlab")
    documents = json.dumps(running.documents)
    running.asked.clear()
    yield running
    running.documents, running.tamper = json.loads(documents), lambda path, sent: sent


class Leaping(FromForge):
    """Its clock leaps over waits."""

    def open_forge(self, context: BuildContext) -> Forge:
        return Forge(context.folder / FOLDER, self._kind(context), api=self.api, clock=LeapingClock())


def run(stage: FromForge, folder: Path, source: str = SOURCE) -> tuple[list[Candidate], list[Drop]]:
    where = BuildFolder(folder, source)
    try:
        made = list(stage.apply((), where))
    finally:
        where.close()
    return [m for m in made if isinstance(m, Candidate)], [m for m in made if isinstance(m, Drop)]


def one(forge: Gitlab, folder: Path) -> tuple[Candidate, PullRequest]:
    (found,), drops = run(FromForge(api=forge.url), folder)
    assert not drops and found.pull is not None
    return found, found.pull


# --- what comes out ------------------------------------------------------------------------------------------------


def test_a_merge_request_with_its_history(forge: Gitlab, tmp_path: Path) -> None:
    item, pull = one(forge, tmp_path)
    assert (pull.repo, pull.number, pull.merged, pull.title) == (NAME, 1, True, "Sum by hand"), "the open one stays out"
    assert (pull.author.login, pull.labels, pull.base_ref) == ("ann", ("pricing",), "main")
    assert (pull.base, pull.head) == (forge.base, forge.heads[1])
    assert [commit.id for commit in pull.commits] == forge.heads
    assert pull.repo_languages == {"Python": 9750, "Shell": 250}
    early, late = pull.revisions
    assert (early.head, late.head, late.commits) == (*forge.heads, tuple(forge.heads))
    assert early.pushed is not None and early.pushed.isoformat() == "2025-03-01T09:00:00+00:00"
    assert not early.forced and not late.forced
    assert [(event.kind, event.before) for event in pull.events] == [
        ("review_requested", ""),
        ("renamed", "Draft: Sum"),
        ("pushed", ""),
    ]
    assert [(one.state, one.author.login) for one in pull.reviews] == [("APPROVED", "mel"), ("APPROVED", "joe")]
    assert pull.reviews[1].created is not None
    assert [remark.body for remark in pull.conversation] == ["When is this out?"]
    assert item.case.change.url == f"https://gitlab.example.com/{NAME}/-/merge_requests/1"
    assert item.case.id == f"{NAME}/pull/1"
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or TOKEN.encode() not in file.read_bytes(), "no token is written anywhere"


def test_discussions_on_lines_with_their_resolution(forge: Gitlab, tmp_path: Path) -> None:
    _, pull = one(forge, tmp_path)
    gone, stands = pull.threads
    assert (gone.path, gone.start, gone.line, gone.commit) == ("app.py", 3, 3, forge.heads[0])
    assert (gone.outdated, gone.resolved, gone.resolved_by and gone.resolved_by.login) == (True, True, "ann")
    assert [remark.body for remark in gone.remarks] == ["This reads past the end.", "Fixed."]
    assert gone.remarks[0].url.endswith("/-/merge_requests/1#note_201")
    assert (stands.start, stands.line, stands.commit) == (4, 5, forge.heads[0]), "led back to the push it was made on"
    assert (gone.now_line, stands.now_line) == (None, 7)
    assert (stands.outdated, stands.resolved, stands.resolved_by) == (False, False, None)


def test_an_issue_that_it_closes_is_read_and_linked(forge: Gitlab, tmp_path: Path) -> None:
    item, pull = one(forge, tmp_path)
    (issue,) = pull.issues
    assert (issue.issue.number, issue.issue.title, issue.state) == (41, "Totals are wrong", "closed")
    assert [remark.body for remark in issue.comments] == ["It happens on Mondays."]
    assert issue.references == (f"{NAME}#1",)
    assert [one.title for one in item.case.change.issues] == ["Totals are wrong"]


def test_an_issue_may_have_the_number_of_the_merge_request(forge: Gitlab, tmp_path: Path) -> None:
    issue, talk = (forge.documents.pop(f"/issues/41{part}") for part in ("", "/discussions"))
    forge.documents |= {"/issues/1": {**issue, "iid": 1}, "/issues/1/discussions": talk}
    forge.documents["/merge_requests/1/closes_issues"] = []
    words = f"Closes https://gitlab.example.com/{NAME}/-/issues/1"
    forge.documents["/merge_requests/1"] |= {"description": words}
    _, pull = one(forge, tmp_path)
    (linked,), _ = fixed_issues(pull)
    assert (linked.issue.number, linked.issue.title) == (1, "Totals are wrong")


def test_a_gitlab_without_approvals_tells_them_in_notes(forge: Gitlab, tmp_path: Path) -> None:
    del forge.documents["/merge_requests/1/approvals"]
    assert [review.author.login for review in one(forge, tmp_path)[1].reviews] == ["mel"]


@pytest.mark.parametrize("place", ["old", "file", "image"])
def test_places_that_are_not_new_lines(forge: Gitlab, tmp_path: Path, place: str) -> None:
    note = forge.documents["/merge_requests/1/discussions"][1]["notes"][0]
    note["position"] |= {"new_line": None, "line_range": None, "position_type": "text" if place == "old" else place}
    note["position"]["old_line"] = 2 if place == "old" else None
    thread = one(forge, tmp_path)[1].threads[1]
    assert (thread.start, thread.line, thread.whole_file) == ((2, 2, False) if place == "old" else (None, None, True))
    assert thread.side.value == ("old" if place == "old" else "new")


def test_a_push_that_does_not_go_on_from_the_one_before_was_forced(forge: Gitlab, tmp_path: Path) -> None:
    versions = forge.documents["/merge_requests/1/versions"]
    versions[0]["head_commit_sha"], versions[1]["head_commit_sha"] = forge.heads
    forge.documents["/merge_requests/1"]["diff_refs"]["head_sha"] = forge.heads[0]
    _, pull = one(forge, tmp_path)
    assert [revision.forced for revision in pull.revisions] == [False, True]


@pytest.mark.parametrize("name", ["project_5_bot_0a1b", "group_12_bot", "service_account_group_1_x", "gitlab-bot"])
def test_bots_are_known_by_name(forge: Gitlab, tmp_path: Path, name: str) -> None:
    forge.documents["/merge_requests/1/discussions"][1]["notes"][0]["author"]["username"] = name
    assert one(forge, tmp_path)[1].threads[1].opened_by.standing is AccountType.BOT


# --- what is asked -------------------------------------------------------------------------------------------------


def test_the_same_command_asks_again_for_nothing_that_did_not_change(forge: Gitlab, tmp_path: Path) -> None:
    first, _ = run(FromForge(api=forge.url), tmp_path)
    asked = len(forge.asked)
    again, _ = run(FromForge(api=forge.url), tmp_path)
    later = forge.asked[asked:]
    assert again[0].case == first[0].case
    assert not [path for path in later if "/merge_requests/1" in path]


def test_pages_are_followed_by_their_links(forge: Gitlab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = one(forge, tmp_path / "a")[1]
    ask = Forge.pages

    def small(self: Forge, path: str, params: object = None, *, version: str = "") -> object:
        return ask(self, path, {**(params or {}), "per_page": 1}, version=version)  # type: ignore[dict-item]

    monkeypatch.setattr(Forge, "pages", small)
    paged = one(forge, tmp_path / "b")[1]
    assert paged.model_copy(update={"git": None}) == whole.model_copy(update={"git": None})
    assert sum("discussions" in path and "merge_requests" in path for path in forge.asked) == 1 + 7


def test_without_a_token_nothing_is_asked(forge: Gitlab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITLAB_TOKEN")
    with pytest.raises(UserError, match=r"export GITLAB_TOKEN=\.\.\."):
        run(FromForge(api=forge.url), tmp_path)
    monkeypatch.setenv("MINE", TOKEN)
    assert run(FromForge(api=forge.url, auth_variable="MINE"), tmp_path)[0]


def test_a_limit_is_waited_for_as_long_as_it_says(forge: Gitlab, tmp_path: Path) -> None:
    struck: list[str] = []

    def limit(path: str, sent: Sent) -> Sent:
        if "/discussions" in path and not struck:
            struck.append(path)
            return 429, {"Retry-After": "30"}, {"message": "Too many requests"}
        return sent

    forge.tamper = limit
    found, drops = run(Leaping(api=forge.url), tmp_path)
    assert struck and not drops and len(found) == 1


def _short(sent: Sent) -> Sent:
    return sent[0], sent[1], sent[2][:-1]


def _without_link(sent: Sent) -> Sent:
    return sent[0], {**sent[1], "X-Next-Page": "2", "X-Total-Pages": "2", "Link": ""}, sent[2]


@pytest.mark.parametrize(("on", "how", "says"), [
    ("/merge_requests?", _short, "page 1 holds 1 of the 2 items that it counts"),
    ("/commits", _short, "page 1 holds 1 of the 2 items that it counts"),
    ("/versions", _without_link, "it says that there is another page, and not where"),
    ("/1/discussions", _short, "has 4 notes, and 3 are listed"),
    ("/1/discussions", _without_link, "it says that there is another page, and not where"),
])  # fmt: skip
def test_pages_that_are_cut_are_never_fewer_results(
    forge: Gitlab, tmp_path: Path, on: str, how: object, says: str
) -> None:
    forge.tamper = lambda path, sent: how(sent) if on in path else sent  # type: ignore[operator]
    try:
        found, drops = run(Leaping(api=forge.url), tmp_path)
    except Failed as error:
        assert on == "/merge_requests?" and says in str(error)
        return
    assert found == [] and says in drops[0].detail


def test_over_ten_thousand_items_there_is_no_total(forge: Gitlab, tmp_path: Path) -> None:
    def bare(path: str, sent: Sent) -> Sent:
        return sent[0], {name: value for name, value in sent[1].items() if "Total" not in name}, sent[2]

    forge.tamper = bare
    assert len(run(FromForge(api=forge.url), tmp_path)[0]) == 1


def test_a_project_that_is_gone(forge: Gitlab, tmp_path: Path) -> None:
    found, (drop,) = run(FromForge(api=forge.url), tmp_path, "gitlab:acme/other")
    assert not found and drop.item == "acme/other" and drop.reason == "repository deleted, or not open to this token"


# --- names and addresses -------------------------------------------------------------------------------------------


def test_a_host_stands_in_the_source_alone(forge: Gitlab, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"repos names the host https://git\.acme\.org"):
        run(FromForge(repos=("gitlab:git.acme.org/a/b",)), tmp_path)
    with pytest.raises(UserError, match=r"the source is on https://git\.acme\.org, and api is http://127"):
        run(FromForge(api=forge.url), tmp_path, f"gitlab:git.acme.org/{NAME}")
    assert forge.asked == []


def test_words_of_system_notes_are_read_whole() -> None:
    def told(body: str) -> str:
        found = gitlab._kind({"body": body, "system": True})
        return found[0] if found else ""

    assert told("mentioned in merge request acme/shop!12") == "cross-referenced"
    assert told("requested changes") == "changes_requested"
    assert told("changed target branch from `main` to `next`") == "base_ref_changed"
    assert told("added ~bug label") == told("approved this merge request, he said") == ""


# --- from end to end -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_benchmark_is_built_again_and_from_its_dump(forge: Gitlab, tmp_path: Path) -> None:
    made = build(SOURCE, out=tmp_path / "bench", settings={"api": repr(forge.url)})
    assert made.card is not None and made.card.recipe == "pull_requests"
    (line,) = (tmp_path / "bench" / "cases.jsonl").read_text().splitlines()
    case = json.loads(line)
    assert case["change"]["head"] == forge.heads[0], "the state with the most comments on lines"
    reference, other = case["references"]
    assert other["span"]["start"] == 4 and other["extra"]["adopted"] is False
    assert (reference["span"]["path"], reference["span"]["start"]) == ("app.py", 3)
    assert reference["resolution"]["commit"] == forge.heads[1] and reference["extra"]["adopted"] is True
    asked = len(forge.asked)
    again = build(SOURCE, out=tmp_path / "bench", settings={"api": repr(forge.url)})
    assert again.card is not None and again.card.benchmark == made.card.benchmark
    assert len(forge.asked) - asked <= 4
    dumped = tmp_path / "bench" / "forge" / "pulls.jsonl.gz"
    read, _ = run(replace(FromForge(archive=str(dumped), clone=str(forge.git_dir))), tmp_path / "dump", SOURCE)
    assert [one.case.id for one in read] == [f"{NAME}/pull/1"]


@pytest.mark.slow
def test_a_benchmark_of_a_recipe_with_a_model_is_reviewed_and_scored(forge: Gitlab, tmp_path: Path) -> None:
    settings = {"api": forge.url, "model": "fake:example", "reviewers": ("silent",), "comments": 1}
    settings |= {"since": "", "until": ""}
    said = {name: repr(value) for name, value in settings.items()}
    made = build(SOURCE, out=tmp_path / "bench", recipe="aacr_bench", settings=said)
    assert made.card is not None and made.card.counts["findings"] >= 1
    review(str(tmp_path / "bench"), "prompt(model='fake:example')", run=tmp_path / "run")
    (totals,) = score(tmp_path / "run", "hits").totals
    assert totals.done == 1 and not totals.failed
