"""What goes wrong on a forge, each for a number of requests that a path matches, then no more."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import formatdate

DOCS = "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api"


@dataclass(frozen=True)
class Answer:
    """What goes back. Status 0 closes the connection without a word; `delay` is seconds before it goes out."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0


@dataclass
class Trouble:
    """Strikes requests whose path matches `on`, from the one after the first `after` on, `times` times."""

    answer: Answer
    on: str = ""
    times: int = 1
    after: int = 0
    revokes: str = ""
    dated: str = ""
    struck: int = 0
    seen: int = 0

    def strike(self, path: str, now: float, tokens: set[str]) -> Answer | None:
        """The answer that goes out instead of the right one; None where this does not strike."""
        if self.struck >= self.times or not re.search(self.on, path):
            return None
        self.seen += 1
        if self.seen <= self.after:
            return None
        self.struck += 1
        tokens.discard(self.revokes)
        headers = {"Date": formatdate(now, usegmt=True), **self.answer.headers}
        if self.dated:
            headers["X-RateLimit-Reset"] = str(int(now) + int(self.dated))
        return Answer(self.answer.status, self.answer.body, headers, self.answer.delay)


def _message(status: int, message: str, headers: Mapping[str, str] | None = None, delay: float = 0.0) -> Answer:
    body = json.dumps({"message": message, "documentation_url": DOCS, "status": str(status)}).encode()
    return Answer(status, body, headers or {}, delay)


def primary_limit(on: str = "", seconds: int = 600, times: int = 1, after: int = 0) -> Trouble:
    """The hour's requests are used up; they come back after so many seconds."""
    headers = {"X-RateLimit-Limit": "5000", "X-RateLimit-Remaining": "0", "X-RateLimit-Resource": "core"}
    answer = _message(403, "API rate limit exceeded for user ID 1.", headers)
    return Trouble(answer, on, times, after, dated=str(seconds))


def secondary_limit(on: str = "", retry_after: int | None = 60, times: int = 1, after: int = 0) -> Trouble:
    """Too many requests at once; GitHub names the seconds to wait, or does not."""
    headers = {"Retry-After": str(retry_after)} if retry_after is not None else {}
    words = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
    return Trouble(_message(403, words, headers), on, times, after)


def revoked(token: str, on: str = "", times: int = 1, after: int = 0) -> Trouble:
    """The token is taken back: this request is refused, and every later one with it."""
    return Trouble(_message(401, "Bad credentials"), on, times, after, revokes=token)


def missing(on: str, times: int = 10**9, after: int = 0) -> Trouble:
    """It is not there, or not for this token."""
    return Trouble(_message(404, "Not Found"), on, times, after)


def broken(on: str = "", status: int = 502, times: int = 1, after: int = 0) -> Trouble:
    """The server fails, with a page that is not JSON."""
    answer = Answer(status, b"<html><title>Unicorn!</title></html>", {"Content-Type": "text/html"})
    return Trouble(answer, on, times, after)


def refused_graphql(message: str, kind: str = "", times: int = 1, after: int = 0) -> Trouble:
    """GraphQL answers an error and no data, with status 200."""
    error = {"message": message, "path": ["repository", "pullRequest"], **({"type": kind} if kind else {})}
    return Trouble(Answer(200, json.dumps({"data": None, "errors": [error]}).encode()), "graphql", times, after)


def hung_up(on: str = "", times: int = 1, after: int = 0) -> Trouble:
    """The line dies before an answer."""
    return Trouble(Answer(0), on, times, after)


def slow(on: str, seconds: float, times: int = 1, after: int = 0) -> Trouble:
    """The server fails, and takes its time over it."""
    return Trouble(_message(504, "We couldn't respond to your request in time.", delay=seconds), on, times, after)
