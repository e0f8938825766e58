"""Review comments as GitHub has them: where they were said (`original_*`), and where they stand now, if they do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fake_forge.accounts import Json, association, number_of, reactions, speaker, stamp
from fake_forge.diffs import line_now, line_of
from fake_forge.git_side import MadePull
from fake_forge.script import Thread

if TYPE_CHECKING:
    from fake_forge.documents import Documents


@dataclass(frozen=True)
class Placed:
    """Where a thread was said and where it is now. Lines are None for a whole file, `position` too once outdated."""

    commit: str
    now_commit: str
    line: int | None
    start: int | None
    position: int | None
    now_line: int | None
    now_start: int | None
    now_position: int | None
    hunk: str

    @property
    def outdated(self) -> bool:
        """Whether the final diff no longer has its line."""
        return self.line is not None and self.now_position is None


def place(documents: Documents, made: MadePull, thread: Thread) -> Placed:
    """Find a thread's line in the state that it was said on, and follow it to the last one."""
    head, last = made.heads[thread.on], made.heads[-1]
    base, last_base = made.merge_base(thread.on), made.merge_base()
    files = {one.path: one for one in documents.diff(base.id, head.id)}
    if thread.path not in files:
        raise ValueError(f"#{made.script.number}: push {thread.on} does not change {thread.path}")
    there = files[thread.path]
    if not thread.at:
        return Placed(head.id, last.id, None, None, None, None, None, 1, "")
    left = thread.side == "LEFT"
    before = base.tree[there.old_path or thread.path] if left else head.tree[thread.path]
    end = line_of(before, thread.until or thread.at)
    start = line_of(before, thread.at) if thread.until else None
    final = {one.path: one for one in documents.diff(last_base.id, last.id)}.get(thread.path)
    after = (last_base if left else last).tree.get(thread.path)
    now = line_now(before, after, end) if final is not None else None
    now_start = line_now(before, after, start) if start is not None and now is not None else None
    position = final.position(now, thread.side) if final is not None and now is not None else None
    return Placed(
        commit=head.id,
        now_commit=last.id if position is not None else head.id,
        line=end,
        start=start,
        position=there.position(end, thread.side),
        now_line=now if position is not None else None,
        now_start=now_start if position is not None else None,
        now_position=position,
        hunk=there.hunk_until(end, thread.side),
    )


def comment_id(documents: Documents, made: MadePull, thread: Thread, index: int) -> int:
    """The id of one message of a thread."""
    at = made.script.threads.index(thread)
    return number_of("review comment", documents.project.name, str(made.script.number), str(at), str(index))


def review_of(documents: Documents, made: MadePull, author: str, on: int) -> int:
    """The id of the review that a comment belongs to: one for each reviewer and push."""
    return number_of("review", documents.project.name, str(made.script.number), author, str(on))


def review_comments(documents: Documents, made: MadePull) -> list[Json]:
    """Every message of every thread, in the order of their time."""
    found: list[tuple[float, Json]] = []
    for thread in made.script.threads:
        placed = place(documents, made, thread)
        for index, said in enumerate(thread.said):
            found.append((said.hours, _comment(documents, made, thread, placed, index)))
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]


def _comment(documents: Documents, made: MadePull, thread: Thread, placed: Placed, index: int) -> Json:
    said, number = thread.said[index], made.script.number
    identity = comment_id(documents, made, thread, index)
    when = stamp(made.script.at(said.hours))
    url = f"{documents.base}/pulls/comments/{identity}"
    found: Json = {
        "url": url,
        "pull_request_review_id": review_of(documents, made, said.author, thread.on),
        "id": identity,
        "node_id": f"PRRC_{identity}",
        "diff_hunk": placed.hunk,
        "path": thread.path,
        "commit_id": placed.now_commit,
        "original_commit_id": placed.commit,
        "user": speaker(said.author),
        "body": said.body,
        "created_at": when,
        "updated_at": when,
        "html_url": f"https://github.com/{documents.project.name}/pull/{number}#discussion_r{identity}",
        "pull_request_url": f"{documents.base}/pulls/{number}",
        "author_association": association(said.author),
        "_links": {"self": {"href": url}},
        "reactions": reactions(url, said.thumbs),
        "start_line": placed.now_start,
        "original_start_line": placed.start,
        "start_side": thread.side if thread.until else None,
        "line": placed.now_line,
        "original_line": placed.line,
        "side": thread.side,
        "original_position": placed.position if thread.at else 1,
        "position": placed.now_position,
        "subject_type": "line" if thread.at else "file",
    }
    if index:
        found["in_reply_to_id"] = comment_id(documents, made, thread, 0)
    return found
