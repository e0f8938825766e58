"""Which document a path of the REST API names, lists in pages, and where renamed repositories went."""

from __future__ import annotations

import base64
import json
import re
import urllib.parse
from collections.abc import Callable, Mapping, Sequence

from fake_forge.accounts import Json, number_of
from fake_forge.documents import Documents
from fake_forge.troubles import Answer

NOT_FOUND = {"message": "Not Found", "documentation_url": "https://docs.github.com/rest", "status": "404"}


def answer(
    projects: Mapping[str, Documents], moved: Mapping[str, str], found: Sequence[Json], root: str, path: str
) -> Answer:
    """The answer to a GET."""
    where, _, query = path.partition("?")
    wanted = dict(urllib.parse.parse_qsl(query))
    if where == "/rate_limit":
        return _json({"resources": {}, "rate": {}})
    if where == "/search/repositories":
        return _search(found, wanted, root, path)
    if where == "/search/issues":
        return _count(projects, found, wanted)
    hidden = {str(one["full_name"]): one for one in found}
    if (match := re.fullmatch(r"/repos/([^/]+/[^/]+)/languages", where)) is not None and match[1] in hidden:
        return _json(hidden[match[1]].get("_languages", {}))
    by_id = {str(number_of("repo", name)): name for name in projects}
    if (match := re.fullmatch(r"/repositories/(\d+)(/.*)?", where)) is not None and match[1] in by_id:
        where = f"/repos/{by_id[match[1]]}{match[2] or ''}"
    match = re.fullmatch(r"/repos/([^/]+/[^/]+)(/.*)?", where)
    if match is None:
        return _json(NOT_FOUND, 404)
    name, rest = match[1], urllib.parse.unquote(match[2] or "").strip("/")
    if name in moved:
        target = f"{root}/repositories/{number_of('repo', moved[name])}/{rest}".rstrip("/")
        words = {"message": "Moved Permanently", "url": target, "documentation_url": "https://docs.github.com/rest"}
        return _json(words, 301, {"Location": target + (f"?{query}" if query else "")})
    if name not in projects:
        return _json(NOT_FOUND, 404)
    documents = projects[name]
    key = f"{rest}?{query if rest == 'pulls' or rest.startswith('contents/') else ''}"
    if key not in documents.kept:
        documents.kept[key] = _document(documents, rest, wanted)
    document = documents.kept[key]
    if document is None:
        return _json(NOT_FOUND, 404)
    return _paged(document, wanted, root, path) if isinstance(document, list) else _json(document)


Of = Callable[[Documents, int], Json | list[Json] | None]
_BY_NUMBER: dict[str, Of] = {
    r"pulls/(\d+)": Documents.pull,
    r"pulls/(\d+)/commits": Documents.pull_commits,
    r"pulls/(\d+)/files": Documents.pull_files,
    r"pulls/(\d+)/comments": Documents.review_comments,
    r"pulls/(\d+)/reviews": Documents.reviews,
    r"issues/(\d+)": Documents.issue,
    r"issues/(\d+)/comments": Documents.issue_comments,
    r"issues/(\d+)/timeline": Documents.timeline,
}


def _document(documents: Documents, rest: str, wanted: Mapping[str, str]) -> Json | list[Json] | None:
    if not rest:
        return documents.repository()
    if rest == "languages":
        return dict(documents.project.languages)
    if rest == "pulls":
        return _pulls(documents, wanted)
    for pattern, of in _BY_NUMBER.items():
        if (match := re.fullmatch(pattern, rest)) is not None:
            return of(documents, int(match[1]))
    if (match := re.fullmatch(r"issues/(\d+)/events", rest)) is not None:
        events = documents.timeline(int(match[1]))
        hidden = ("cross-referenced", "commented", "reviewed", "committed")
        return None if events is None else [one for one in events if one["event"] not in hidden]
    commits = documents.made.commits
    if (match := re.fullmatch(r"commits/([0-9a-f]{40})", rest)) is not None:
        return documents.commit(commits[match[1]]) if match[1] in commits else None
    if (match := re.fullmatch(r"compare/([0-9a-f]{40})\.\.\.([0-9a-f]{40})", rest)) is not None:
        return documents.compare(match[1], match[2])
    if rest.startswith("contents/"):
        return _content(documents, rest.removeprefix("contents/"), wanted.get("ref", documents.made.main[-1].id))
    return None


def _pulls(documents: Documents, wanted: Mapping[str, str]) -> list[Json]:
    state = wanted.get("state", "open")
    found = [one for one in documents.pulls() if state in ("all", one["state"])]
    by = {"created": "created_at", "updated": "updated_at"}.get(wanted.get("sort", "created"), "created_at")
    newest = wanted.get("direction", "desc" if "sort" not in wanted or by == "created_at" else "asc") == "desc"
    return sorted(found, key=lambda one: (one[by], one["number"]), reverse=newest)


def _content(documents: Documents, path: str, ref: str) -> Json | None:
    commit = documents.made.commits.get(ref)
    if commit is None or path not in commit.tree:
        return None
    text = commit.tree[path]
    return {
        "type": "file",
        "encoding": "base64",
        "size": len(text),
        "name": path.rpartition("/")[2],
        "path": path,
        "content": base64.encodebytes(text).decode(),
    }


def _search(found: Sequence[Json], wanted: Mapping[str, str], root: str, path: str) -> Answer:
    asked = re.findall(r'language:("[^"]+"|\S+)', wanted.get("q", ""))
    language = asked[0].strip('"').lower() if asked else ""
    hits = [one for one in found if language in ("", str(one["language"]).lower())]
    hits.sort(key=lambda one: -int(one["stargazers_count"]))
    size, page = min(100, int(wanted.get("per_page", 30))), int(wanted.get("page", 1))
    shown = [
        {name: value for name, value in one.items() if not name.startswith("_")}
        for one in hits[(page - 1) * size : page * size]
    ]
    headers = _links(len(hits), size, page, root, path)
    return _json({"total_count": len(hits), "incomplete_results": False, "items": shown}, 200, headers)


def _count(projects: Mapping[str, Documents], found: Sequence[Json], wanted: Mapping[str, str]) -> Answer:
    """How many issues or pull requests a repository has; refused: one that is gone, and a search that says not which.

    Of a repository that is only found in searches, a third are issues.
    """
    words = re.fullmatch(r"repo:(\S+)((?: is:(?:issue|pull-request))?)", wanted.get("q", ""))
    kind = words[2].strip() if words is not None else ""
    if words is None or not kind:
        problem = {"message": "Query must include 'is:issue' or 'is:pull-request'", "field": "q", "code": "invalid"}
        return _json({"message": "Validation Failed", "errors": [problem]}, 422)
    name, issues = words[1], kind == "is:issue"
    for one in found:
        if one["full_name"] == name:
            part = int(one["_items"]) // 3
            count = part if issues else int(one["_items"]) - part
            return _json({"total_count": count, "incomplete_results": False, "items": []})
    if name not in projects:
        return _json({"message": "Validation Failed", "errors": [{"code": "invalid"}]}, 422)
    count = len(projects[name].project.issues if issues else projects[name].project.pulls)
    return _json({"total_count": count, "incomplete_results": False, "items": []})


def _paged(items: list[Json], wanted: Mapping[str, str], root: str, path: str) -> Answer:
    size = min(100, int(wanted.get("per_page", 30)))
    page = int(wanted.get("page", 1))
    return _json(items[(page - 1) * size : page * size], 200, _links(len(items), size, page, root, path))


def _links(count: int, size: int, page: int, root: str, path: str) -> dict[str, str]:
    last = max(1, -(-count // size))
    rels = {"prev": page - 1, "next": page + 1, "last": last, "first": 1}
    if page <= 1:
        rels = {name: n for name, n in rels.items() if name in ("next", "last")}
    if page >= last:
        rels = {name: n for name, n in rels.items() if name in ("prev", "first")}
    if not rels or last == 1:
        return {}
    where, _, query = path.partition("?")
    wanted = dict(urllib.parse.parse_qsl(query))
    links = [
        f'<{root}{where}?{urllib.parse.urlencode({**wanted, "page": n})}>; rel="{name}"' for name, n in rels.items()
    ]
    return {"Link": ", ".join(links)}


def _json(value: Json | list[Json], status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    return Answer(status, json.dumps(value).encode(), headers or {})
