"""What the REST API answers for one project: a document or a list for each address, made from script and commits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from fake_forge import timeline
from fake_forge.accounts import (
    Json,
    association,
    main_language,
    number_of,
    reactions,
    repository,
    speaker,
    stamp,
    user,
)
from fake_forge.diffs import FileDiff, diff
from fake_forge.git_side import MadeCommit, MadeProject, MadePull
from fake_forge.review_comments import review_comments
from fake_forge.script import Issue, Pull, Said

_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


class Documents:
    """The answers on one project. `root` is where the forge answers."""

    def __init__(self, made: MadeProject, root: str) -> None:
        self.made, self.root = made, root
        self.project = made.script
        self.base = f"{root}/repos/{self.project.name}"
        self._diffs: dict[tuple[str, str], list[FileDiff]] = {}
        self.kept: dict[str, Json | list[Json] | None] = {}

    def diff(self, base: str, head: str) -> list[FileDiff]:
        """The diff between two commits, made once."""
        if (base, head) not in self._diffs:
            self._diffs[base, head] = diff(self.made.git_dir, base, head)
        return self._diffs[base, head]

    # --- the repository ------------------------------------------------------------------------------------------

    def repository(self) -> Json:
        """`/repos/O/N`."""
        return repository(self.project, self.root, main_language(self.project.languages))

    def mentions(self, number: int) -> Iterator[tuple[Json, datetime, str]]:
        """Pull requests and issues whose words mention `number`, as issues; what stands in code does not count."""
        everything: list[Pull | Issue] = [*self.project.pulls, *self.project.issues]
        for one in everything:
            said = [(one.body, one.opened, one.author)]
            said += [(word.body, one.opened + timedelta(hours=word.hours), word.author) for word in one.talk]
            for text, when, who in said:
                if one.number != number and mentions(text, self.project.name, number):
                    yield (self.pull_as_issue(one) if isinstance(one, Pull) else self._issue(one)), when, who
                    break

    # --- issues --------------------------------------------------------------------------------------------------

    def issue(self, number: int) -> Json | None:
        """`/issues/N`: an issue, or a pull request seen as one."""
        for one in self.project.issues:
            if one.number == number:
                return self._issue(one)
        pull = self.made.pulls.get(number)
        return None if pull is None else self.pull_as_issue(pull.script)

    def _issue(self, one: Issue) -> Json:
        return {
            **self._issue_fields(one.number, one.title, one.body, one.author, one.opened, one.closed),
            "state_reason": "completed" if one.closed else None,
            "comments": len(one.talk),
        }

    def pull_as_issue(self, pull: Pull) -> Json:
        """A pull request as issues and searches show it."""
        closed = None if pull.end == "open" else pull.at(pull.ended)
        merged = closed if pull.end in ("merged", "squashed") else None
        return {
            **self._issue_fields(pull.number, pull.title, pull.body, pull.author, pull.opened, closed),
            "comments": len(pull.talk),
            "draft": pull.draft,
            "pull_request": {
                "url": f"{self.base}/pulls/{pull.number}",
                "html_url": f"https://github.com/{self.project.name}/pull/{pull.number}",
                "merged_at": stamp(merged),
            },
        }

    def _issue_fields(
        self, number: int, title: str, body: str, author: str, opened: datetime, closed: datetime | None
    ) -> Json:
        url = f"{self.base}/issues/{number}"
        return {
            "url": url,
            "repository_url": self.base,
            "comments_url": f"{url}/comments",
            "html_url": f"https://github.com/{self.project.name}/issues/{number}",
            "id": number_of("issue", self.project.name, str(number)),
            "node_id": f"I_{number_of('issue', self.project.name, str(number))}",
            "number": number,
            "title": title,
            "user": user(author),
            "labels": [],
            "state": "closed" if closed else "open",
            "locked": False,
            "assignee": None,
            "assignees": [],
            "milestone": None,
            "created_at": stamp(opened),
            "updated_at": stamp(closed or opened),
            "closed_at": stamp(closed),
            "author_association": association(author),
            "active_lock_reason": None,
            "body": body or None,
            "closed_by": user("mel") if closed else None,
            "reactions": reactions(url, 0),
            "performed_via_github_app": None,
        }

    def issue_comments(self, number: int) -> list[Json] | None:
        """`/issues/N/comments`, the conversation."""
        for one in self.project.issues:
            if one.number == number:
                return [self.issue_comment(number, said, one.opened, n) for n, said in enumerate(one.talk)]
        pull = self.made.pulls.get(number)
        if pull is None:
            return None
        return [self.issue_comment(number, said, pull.script.opened, n) for n, said in enumerate(pull.script.talk)]

    def issue_comment(self, number: int, said: Said, opened: datetime, index: int) -> Json:
        """One line of a conversation."""
        when = stamp(datetime.fromtimestamp(opened.timestamp() + said.hours * 3600, opened.tzinfo))
        identity = number_of("comment", self.project.name, str(number), str(index))
        url = f"{self.base}/issues/comments/{identity}"
        return {
            "url": url,
            "html_url": f"https://github.com/{self.project.name}/issues/{number}#issuecomment-{identity}",
            "issue_url": f"{self.base}/issues/{number}",
            "id": identity,
            "node_id": f"IC_{identity}",
            "user": speaker(said.author),
            "created_at": when,
            "updated_at": when,
            "author_association": association(said.author),
            "body": said.body,
            "reactions": reactions(url, said.thumbs),
            "performed_via_github_app": None,
        }

    # --- pull requests -------------------------------------------------------------------------------------------

    def pulls(self) -> list[Json]:
        """`/pulls`, without what only a single one shows."""
        return [self._short(made) for made in self.made.pulls.values()]

    def pull(self, number: int) -> Json | None:
        """`/pulls/N`."""
        made = self.made.pulls.get(number)
        if made is None:
            return None
        files = self.diff(made.merge_base().id, made.heads[-1].id)
        pull = made.script
        merged = pull.end in ("merged", "squashed")
        return {
            **self._short(made),
            "merged": merged,
            "mergeable": None if merged else True,
            "rebaseable": None,
            "mergeable_state": "unknown",
            "merged_by": user("mel") if merged else None,
            "comments": len(pull.talk),
            "review_comments": sum(len(thread.said) for thread in pull.threads),
            "maintainer_can_modify": False,
            "commits": len(made.commits()),
            "additions": sum(one.count("+") for one in files),
            "deletions": sum(one.count("-") for one in files),
            "changed_files": len(files),
        }

    def _short(self, made: MadePull) -> Json:
        pull = made.script
        url = f"{self.base}/pulls/{pull.number}"
        closed = None if pull.end == "open" else pull.at(pull.ended)
        merged = closed if pull.end in ("merged", "squashed") else None
        fork = {"full_name": f"{pull.author}/{self.project.name.split('/')[1]}", "fork": True}
        return {
            "url": url,
            "id": number_of("pull", self.project.name, str(pull.number)),
            "node_id": f"PR_{number_of('pull', self.project.name, str(pull.number))}",
            "html_url": f"https://github.com/{self.project.name}/pull/{pull.number}",
            "diff_url": f"https://github.com/{self.project.name}/pull/{pull.number}.diff",
            "patch_url": f"https://github.com/{self.project.name}/pull/{pull.number}.patch",
            "issue_url": f"{self.base}/issues/{pull.number}",
            "number": pull.number,
            "state": "closed" if closed else "open",
            "locked": False,
            "title": pull.title,
            "user": user(pull.author),
            "body": pull.body or None,
            "created_at": stamp(pull.opened),
            "updated_at": stamp(closed or pull.opened),
            "closed_at": stamp(closed),
            "merged_at": stamp(merged),
            "merge_commit_sha": made.merged_as.id if made.merged_as else None,
            "assignee": None,
            "assignees": [],
            "requested_reviewers": [],
            "requested_teams": [],
            "labels": [{"id": number_of("label", name), "name": name, "color": "ededed"} for name in pull.labels],
            "milestone": None,
            "draft": pull.draft,
            "head": {
                "label": f"{pull.author}:topic",
                "ref": "topic",
                "sha": made.heads[-1].id,
                "user": None if pull.author == "ghost" else user(pull.author),
                "repo": None if pull.fork_gone else fork,
            },
            "base": {
                "label": f"{self.project.name.split('/')[0]}:main",
                "ref": "main",
                "sha": made.bases[-1].id,
                "user": user(self.project.name.split("/")[0]),
                "repo": self.repository(),
            },
            "_links": {"self": {"href": url}},
            "author_association": association(pull.author),
            "auto_merge": None,
            "active_lock_reason": None,
        }

    def pull_commits(self, number: int) -> list[Json] | None:
        """`/pulls/N/commits`: those of the branch as it is now."""
        made = self.made.pulls.get(number)
        return None if made is None else [self.commit(one, with_files=False) for one in made.commits()]

    def pull_files(self, number: int) -> list[Json] | None:
        """`/pulls/N/files`."""
        made = self.made.pulls.get(number)
        if made is None:
            return None
        head = made.heads[-1].id
        return [self.file(one, head) for one in self.diff(made.merge_base().id, head)]

    def review_comments(self, number: int) -> list[Json] | None:
        """`/pulls/N/comments`."""
        made = self.made.pulls.get(number)
        return None if made is None else review_comments(self, made)

    def reviews(self, number: int) -> list[Json] | None:
        """`/pulls/N/reviews`."""
        made = self.made.pulls.get(number)
        return None if made is None else timeline.reviews(self, made)

    def timeline(self, number: int) -> list[Json] | None:
        """`/issues/N/timeline`."""
        made = self.made.pulls.get(number)
        if made is not None:
            return timeline.of_pull(self, made)
        issue = next((one for one in self.project.issues if one.number == number), None)
        return None if issue is None else timeline.of_issue(self, issue)

    # --- commits -------------------------------------------------------------------------------------------------

    def commit(self, one: MadeCommit, *, with_files: bool = True) -> Json:
        """`/commits/SHA`, or without its files, as lists show it."""
        person = {
            "name": one.author.title(),
            "email": f"{one.author.replace('[bot]', '-bot')}@example.invalid",
            "date": stamp(one.when),
        }
        found: Json = {
            "sha": one.id,
            "node_id": f"C_{one.id[:12]}",
            "commit": {
                "author": person,
                "committer": person,
                "message": one.message,
                "tree": {"sha": one.id, "url": f"{self.base}/git/trees/{one.id}"},
                "url": f"{self.base}/git/commits/{one.id}",
                "comment_count": 0,
                "verification": {"verified": False, "reason": "unsigned", "signature": None, "payload": None},
            },
            "url": f"{self.base}/commits/{one.id}",
            "html_url": f"https://github.com/{self.project.name}/commit/{one.id}",
            "comments_url": f"{self.base}/commits/{one.id}/comments",
            "author": speaker(one.author),
            "committer": speaker(one.author),
            "parents": [{"sha": p.id, "url": f"{self.base}/commits/{p.id}"} for p in one.parents],
        }
        if with_files:
            files = self.diff(one.parents[0].id, one.id) if one.parents else []
            added, deleted = sum(f.count("+") for f in files), sum(f.count("-") for f in files)
            found["stats"] = {"total": added + deleted, "additions": added, "deletions": deleted}
            found["files"] = [self.file(f, one.id) for f in files]
        return found

    def file(self, one: FileDiff, head: str) -> Json:
        """One changed file. A binary one has no patch."""
        found: dict[str, Any] = {
            "sha": one.blob,
            "filename": one.path,
            "status": one.status,
            "additions": one.count("+"),
            "deletions": one.count("-"),
            "changes": one.count("+") + one.count("-"),
            "blob_url": f"https://github.com/{self.project.name}/blob/{head}/{one.path}",
            "raw_url": f"https://github.com/{self.project.name}/raw/{head}/{one.path}",
            "contents_url": f"{self.base}/contents/{one.path}?ref={head}",
        }
        if one.patch:
            found["patch"] = one.patch
        if one.old_path:
            found["previous_filename"] = one.old_path
        return found

    def compare(self, base: str, head: str) -> Json | None:
        """`/compare/A...B`: what B has beyond where it left A."""
        commits = self.made.commits
        if base not in commits or head not in commits:
            return None
        ours = {one.id for one in _ancestors(commits[base])}
        own = [one for one in _ancestors(commits[head]) if one.id not in ours]
        theirs = {one.id for one in _ancestors(commits[head])}
        fork = next((one for one in _ancestors(commits[base]) if one.id in theirs), commits[base])
        behind = len(ours - theirs)
        words = {(True, True): "diverged", (True, False): "ahead", (False, True): "behind", (False, False): "identical"}
        return {
            "url": f"{self.base}/compare/{base}...{head}",
            "base_commit": self.commit(commits[base], with_files=False),
            "merge_base_commit": self.commit(fork, with_files=False),
            "status": words[bool(own), bool(behind)],
            "ahead_by": len(own),
            "behind_by": behind,
            "total_commits": len(own),
            "commits": [self.commit(one, with_files=False) for one in reversed(own)],
            "files": [self.file(one, head) for one in self.diff(fork.id, head)],
        }


def _ancestors(one: MadeCommit) -> list[MadeCommit]:
    """A commit and all before it, newest first."""
    found: dict[int, MadeCommit] = {}
    todo = [one]
    while todo:
        commit = todo.pop()
        if commit.mark not in found:
            found[commit.mark] = commit
            todo += commit.parents
    return sorted(found.values(), key=lambda commit: -commit.mark)


def prose(text: str) -> str:
    """A text without its code, in which nothing is a reference."""
    return _CODE.sub(" ", text)


def mentions(text: str, repo: str, number: int) -> bool:
    """Whether GitHub would link the text to an issue or pull request of `repo`."""
    words = prose(text)
    return bool(
        re.search(rf"(?<![\w/&])#{number}\b|\bgh-{number}\b", words, re.IGNORECASE)
        or re.search(rf"\b{re.escape(repo)}#{number}\b", words)
        or re.search(rf"github\.com/{re.escape(repo)}/(issues|pull)/{number}\b", words)
    )
