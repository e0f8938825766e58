"""The forge that other tests ask: its JSON agrees with its git, and it fails as a real one does."""

from __future__ import annotations

import json
import re
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from unidiff.patch import PatchSet

from fake_forge import troubles
from fake_forge.project import NAME, WHY, main_project, search_results
from fake_forge.server import TOKEN, Forge, serve

PULLS = f"/repos/{NAME}/pulls"
THREADS = """query($n: Int!, $after: String) { repository(owner: "acme", name: "shop") { pullRequest(number: $n) {
  reviewThreads(first: 2, after: $after) { totalCount pageInfo { hasNextPage endCursor }
    nodes { ...T } } } } }
fragment T on PullRequestReviewThread { isResolved isOutdated comments(first: 1) { nodes { databaseId } } }"""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forge]:
    with serve(tmp_path_factory.mktemp("forge"), main_project()) as started:
        yield started


@pytest.fixture
def forge(running: Forge) -> Iterator[Forge]:
    """The same forge for each test, without the troubles of the one before."""
    yield running
    running.troubles.clear()
    running.limits.clear()
    running.found.clear()
    running.tokens = {TOKEN}


def ask(
    forge: Forge, path: str, body: Any = None, token: str = TOKEN, **headers: str
) -> tuple[int, dict[str, str], Any]:
    sent = None if body is None else json.dumps(body).encode()
    given = {"Authorization": f"Bearer {token}"} if token else {}
    request = urllib.request.Request(forge.url + path, sent, {**given, **headers})
    try:
        with urllib.request.urlopen(request) as answer:
            status, raw, found = answer.status, answer.read(), answer.headers
    except urllib.error.HTTPError as error:
        status, raw, found = error.code, error.read(), error.headers
    plain = raw if "json" not in found.get("Content-Type", "") or not raw else json.loads(raw)
    return status, {name.lower(): value for name, value in found.items()}, plain


def graphql(forge: Forge, query: str, **variables: Any) -> Any:
    return ask(forge, "/graphql", {"query": query, "variables": variables})[2]


# --- JSON and git agree --------------------------------------------------------------------------------------------


def git(forge: Forge, *args: str) -> str:
    done = subprocess.run(["git", *args], cwd=forge.git_dir(NAME), capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.parametrize("number", sorted(WHY))
def test_files_and_positions_are_those_of_the_commits(forge: Forge, number: int) -> None:
    pull = ask(forge, f"{PULLS}/{number}")[2]
    head = git(forge, "rev-parse", f"refs/pull/{number}/head").strip()
    assert pull["head"]["sha"] == head
    base = git(forge, "merge-base", pull["base"]["sha"], head).strip()
    files = ask(forge, f"{PULLS}/{number}/files")[2]
    names = git(forge, "diff", "--name-only", "-M", base, head).split()
    assert [one["filename"] for one in files] == names
    for one in files:
        if "patch" in one:
            before, after = one.get("previous_filename", one["filename"]), one["filename"]
            parsed = PatchSet(f"--- a/{before}\n+++ b/{after}\n{one['patch']}\n")[0]
            assert (parsed.added, parsed.removed) == (one["additions"], one["deletions"])
    for comment in ask(forge, f"{PULLS}/{number}/comments")[2]:
        if comment["subject_type"] == "line":
            _check_place(forge, comment, files)


def _check_place(forge: Forge, comment: Any, files: list[Any]) -> None:
    shown = comment["diff_hunk"].split("\n")[-1]
    assert shown[0] in ("-" if comment["side"] == "LEFT" else "+ ")
    if comment["side"] == "RIGHT":
        text = git(forge, "show", f"{comment['original_commit_id']}:{comment['path']}").split("\n")
        assert text[comment["original_line"] - 1] == shown[1:]
    if comment["position"] is None:
        assert comment["line"] is None
        return
    patch = next(one["patch"] for one in files if one["filename"] == comment["path"]).split("\n")
    assert patch[comment["position"]] == shown, "the line is where its position says, in the final diff"


def test_bases_are_not_where_the_branch_began(forge: Forge) -> None:
    pull = ask(forge, f"{PULLS}/103")[2]
    compared = ask(forge, f"/repos/{NAME}/compare/{pull['base']['sha']}...{pull['head']['sha']}")[2]
    assert compared["merge_base_commit"]["sha"] != pull["base"]["sha"]
    assert compared["status"] == "diverged"
    assert [one["sha"] for one in compared["commits"]] == [one["sha"] for one in ask(forge, f"{PULLS}/103/commits")[2]]


def test_outdated_forced_gone_and_binary(forge: Forge) -> None:
    assert {one["position"] for one in ask(forge, f"{PULLS}/121/comments")[2]} == {None}
    forced = [e for e in ask(forge, f"/repos/{NAME}/issues/122/timeline")[2] if e["event"] == "head_ref_force_pushed"]
    assert forced[0]["commit_id"] == ask(forge, f"{PULLS}/122")[2]["head"]["sha"]
    left = ask(forge, f"{PULLS}/122/comments")[2][0]["original_commit_id"]
    assert git(forge, "cat-file", "-t", left).strip() == "commit", "the state before a forced push can still be had"
    assert left not in git(forge, "rev-list", "--all")
    assert ask(forge, f"{PULLS}/131/comments")[2][0]["user"] is None
    gone = ask(forge, f"{PULLS}/132")[2]
    assert (gone["user"]["login"], gone["head"]["repo"]) == ("ghost", None)
    by_name = {one["filename"]: one for one in ask(forge, f"{PULLS}/137/files")[2]}
    assert "patch" not in by_name["logo.png"]
    assert by_name["shop/rates.py"]["previous_filename"] == "shop/prices.py"
    assert by_name["VERSION"]["patch"].endswith("\\ No newline at end of file")
    sides = {one["side"] for one in ask(forge, f"{PULLS}/104/comments")[2]}
    assert sides == {"LEFT", "RIGHT"}


def test_mentions_make_events_but_not_in_code(forge: Forge) -> None:
    def sources(issue: int) -> list[int]:
        events = ask(forge, f"/repos/{NAME}/issues/{issue}/timeline")[2]
        return [e["source"]["issue"]["number"] for e in events if e["event"] == "cross-referenced"]

    assert sources(501) == [101]
    assert sources(527) == [], "in code"
    assert sources(528) == [128]
    assert sources(529) == [129], "in a comment"
    assert sources(102) == [502], "an issue that names a pull request"


# --- HTTP ----------------------------------------------------------------------------------------------------------


def test_pages_etags_limits_and_renames(forge: Forge) -> None:
    seen: list[int] = []
    path = f"{PULLS}?state=all&per_page=10&sort=created&direction=asc"
    while path:
        status, headers, body = ask(forge, path)
        assert status == 200
        seen += [one["number"] for one in body]
        following = re.search(r'<[^>]*?(/repos[^>]*)>; rel="next"', headers.get("link", ""))
        path = following[1] if following else ""
    assert seen == sorted(WHY)
    assert [one["number"] for one in ask(forge, PULLS)[2]] == [111], "open ones, unless asked"
    _, first, _ = ask(forge, f"{PULLS}/101")
    status, again, body = ask(forge, f"{PULLS}/101", **{"If-None-Match": first["etag"]})
    assert (status, body) == (304, b"") or (status, body) == (304, None)
    assert again["x-ratelimit-remaining"] == first["x-ratelimit-remaining"], "what did not change costs nothing"
    assert ask(forge, f"{PULLS}/101")[1]["x-ratelimit-remaining"] == str(int(first["x-ratelimit-remaining"]) - 1)
    assert ask(forge, "/repos/acme/old-shop")[2]["full_name"] == NAME, "the client was sent on"
    assert ask(forge, "/api/v3/repos/acme/shop")[0] == 200, "as GitHub Enterprise has it"
    assert ask(forge, "/repos/acme/nothing")[0] == ask(forge, f"{PULLS}/1")[0] == ask(forge, "/nothing")[0] == 404
    assert ask(forge, f"{PULLS}/101", token="wrong")[0] == 401
    assert ask(forge, f"{PULLS}/101", token="")[1]["x-ratelimit-limit"] == "60"


def test_commits_contents_events_languages_and_search(forge: Forge) -> None:
    merged = ask(forge, f"{PULLS}/101")[2]["merge_commit_sha"]
    commit = ask(forge, f"/repos/{NAME}/commits/{merged}")[2]
    assert len(commit["parents"]) == 2
    assert commit["files"][0]["filename"] == "shop/apples.py"
    assert "content" in ask(forge, f"/repos/{NAME}/contents/shop/apples.py?ref={merged}")[2]
    kinds = {one["event"] for one in ask(forge, f"/repos/{NAME}/issues/101/events")[2]}
    assert kinds == {"merged", "closed"}
    assert ask(forge, f"/repos/{NAME}/languages")[2] == {"Python": 9000, "Shell": 300}
    for kind in ("issue", "pull-request"):
        assert ask(forge, f"/search/issues?q=repo:{NAME}+is:{kind}")[2]["total_count"] == len(WHY)
    assert ask(forge, "/search/issues?q=repo:acme/nothing+is:issue")[0] == 422
    status, _, refused = ask(forge, f"/search/issues?q=repo:{NAME}")
    assert (status, refused["errors"][0]["message"]) == (422, "Query must include 'is:issue' or 'is:pull-request'")
    states = [one["state"] for one in ask(forge, f"{PULLS}/101/reviews")[2]]
    assert states[0] == "CHANGES_REQUESTED"
    assert "APPROVED" in states
    forge.found.extend(search_results())
    found = ask(forge, "/search/repositories?q=language:Python+stars:%3E1&sort=stars&per_page=2")
    assert [one["full_name"] for one in found[2]["items"]] == ["acme/slow", NAME]
    assert found[2]["total_count"] == 5
    small = [ask(forge, f"/search/issues?q=repo:acme/small+is:{kind}")[2] for kind in ("issue", "pull-request")]
    assert sum(one["total_count"] for one in small) == 5000
    assert ask(forge, "/repos/acme/mixed/languages")[2] == {"Python": 6000, "Shell": 4000}
    assert 'rel="next"' in found[1]["link"]


def test_troubles_strike_as_often_as_scripted(forge: Forge) -> None:
    forge.troubles += [
        troubles.primary_limit("/pulls/101$", seconds=30),
        troubles.secondary_limit("/pulls/101$", retry_after=7),
        troubles.broken("/pulls/101$"),
        troubles.missing("/pulls/102$"),
        troubles.revoked(TOKEN, "/pulls/103$", after=1),
    ]
    limited = ask(forge, f"{PULLS}/101")
    assert (limited[0], limited[1]["x-ratelimit-remaining"]) == (403, "0")
    paused = ask(forge, f"{PULLS}/101")
    assert (paused[0], paused[1]["retry-after"]) == (403, "7")
    assert ask(forge, f"{PULLS}/101")[0] == 502
    assert ask(forge, f"{PULLS}/101")[0] == 200
    assert ask(forge, f"{PULLS}/102")[0] == ask(forge, f"{PULLS}/102")[0] == 404
    assert ask(forge, f"{PULLS}/103")[0] == 200
    assert ask(forge, f"{PULLS}/103")[0] == ask(forge, f"{PULLS}/101")[0] == 401, "from then on"


def test_the_hours_requests_run_out(forge: Forge) -> None:
    now = [1_000_000.0]
    forge.clock = lambda: now[0]
    forge.limit(TOKEN, "core").remaining = 1
    assert ask(forge, f"{PULLS}/101")[0] == 200
    refused = ask(forge, f"{PULLS}/101")
    assert (refused[0], refused[1]["x-ratelimit-reset"]) == (403, "1003600")
    now[0] += 3601
    assert ask(forge, f"{PULLS}/101")[0] == 200


# --- GraphQL and git -----------------------------------------------------------------------------------------------


def test_graphql_pages_and_agrees_with_rest(forge: Forge) -> None:
    first = graphql(forge, THREADS, n=101)["data"]["repository"]["pullRequest"]["reviewThreads"]
    assert (first["totalCount"], first["pageInfo"]["hasNextPage"]) == (3, True)
    rest = graphql(forge, THREADS, n=101, after=first["pageInfo"]["endCursor"])
    last = rest["data"]["repository"]["pullRequest"]["reviewThreads"]
    assert not last["pageInfo"]["hasNextPage"]
    nodes = [*first["nodes"], *last["nodes"]]
    comments = {one["id"]: one for one in ask(forge, f"{PULLS}/101/comments")[2]}
    assert [one["isOutdated"] for one in nodes] == [
        comments[one["comments"]["nodes"][0]["databaseId"]]["position"] is None for one in nodes
    ]
    assert [one["isResolved"] for one in nodes] == [True, False, False]


def test_graphql_refuses_what_github_refuses(forge: Forge) -> None:
    def error(inner: str) -> str:
        found = graphql(forge, f'{{ repository(owner: "acme", name: "shop") {{ {inner} }} }}')
        assert "data" not in found
        return str(found["errors"][0]["message"])

    assert error("colour") == "Field 'colour' doesn't exist on type 'Repository'"
    assert "to properly paginate" in error("pullRequests { totalCount }")
    assert "to properly paginate" in error("pullRequests(first: 101) { totalCount }")
    assert "doesn't accept these arguments" in error("pullRequest(id: 1) { number }")
    assert "must have selections" in error("pullRequest(number: 101)")
    assert "can't be made on scalars" in error("pullRequest(number: 101) { title { a } }")
    unknown = "pullRequest(number: 101) { timelineItems(first: 1) { nodes { ... on ConnectedEvent { colour } } } }"
    assert error(unknown) == "Field 'colour' doesn't exist on type 'ConnectedEvent'"
    missing = graphql(forge, '{ repository(owner: "a", name: "b") { id } }')
    assert missing["data"] == {"repository": None}
    assert missing["errors"][0]["type"] == "NOT_FOUND"
    assert ask(forge, "/graphql", {"query": "{ viewer { login } }"}, token="")[0] == 401


def test_graphql_tells_both_ends_of_a_forced_push(forge: Forge) -> None:
    query = """{ repository(owner: "acme", name: "shop") { pullRequest(number: 122) {
      closingIssuesReferences(first: 5) { nodes { number } }
      timelineItems(first: 9, itemTypes: [HEAD_REF_FORCE_PUSHED_EVENT]) { nodes {
        __typename ... on HeadRefForcePushedEvent { beforeCommit { oid } afterCommit { oid } } } } } } }"""
    pull = graphql(forge, query)["data"]["repository"]["pullRequest"]
    assert pull["closingIssuesReferences"]["nodes"] == [{"number": 522}]
    (event,) = pull["timelineItems"]["nodes"]
    assert event["afterCommit"]["oid"] == ask(forge, f"{PULLS}/122")[2]["head"]["sha"]
    assert event["beforeCommit"]["oid"] == ask(forge, f"{PULLS}/122/comments")[2][0]["original_commit_id"]


def test_git_is_served_over_http(forge: Forge, tmp_path: Path) -> None:
    address = f"{forge.url}/{NAME}.git"
    subprocess.run(["git", "clone", "-q", "--bare", address, str(tmp_path / "c")], check=True, capture_output=True)
    left = ask(forge, f"{PULLS}/122/comments")[2][0]["original_commit_id"]
    done = ["git", "-C", str(tmp_path / "c"), "fetch", "-q", address, "refs/pull/122/head", left]
    subprocess.run(done, check=True, capture_output=True)
