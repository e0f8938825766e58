"""What is written reads back as the same comments, as far as each format can say them."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from formats.conftest import Shop
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Format, Parsed
from reviewgauge.core.records import Change, Comment, Review, Severity, Side, Span
from reviewgauge.core.specs import load, names, plugin_name
from reviewgauge.formats.github import Github
from reviewgauge.formats.martian import Martian
from reviewgauge.formats.rdjson import Rdjson
from reviewgauge.formats.review_bench import ReviewBench
from reviewgauge.formats.sarif import Sarif
from reviewgauge.repo.diff.anchors import anchor_all, code_reader

SIMPLE = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=40)
BODIES = SIMPLE.map(lambda text: f"finding: {text}.")  # a body that is a command or blank is not a comment
SPANS = st.none() | st.builds(
    lambda path, start, extra, side: Span(path=path, start=start, end=start + extra if start else None, side=side),
    st.sampled_from(["src/app.py", "lib/prüf liste.py", "a%20b/#?&.c", "x/y:z.py"]),
    st.none() | st.integers(1, 500),
    st.integers(0, 9),
    st.sampled_from(Side),
)
COMMENTS = st.builds(
    lambda body, span, severity, category, suggestion, confidence, quote: Comment(
        id="-",
        body=body,
        span=span,
        severity=severity,
        category=category,
        suggestion=suggestion,
        confidence=confidence,
        quote=quote,
    ),
    BODIES,
    SPANS,
    st.none() | st.sampled_from(Severity),
    st.none() | st.sampled_from(["bug", "E501", "a b"]),
    st.none() | st.sampled_from(["", "x = 1", "``` fenced ```\n  y", "    indented"]),
    st.none() | st.floats(0, 1),
    st.none() | st.sampled_from(["x = 1", "a\nb"]),
)
REVIEWS = st.lists(COMMENTS, max_size=5).map(
    lambda comments: Review(
        case="owner/repo-1",
        system="my tool",
        comments=tuple(c.model_copy(update={"id": f"c{i}"}) for i, c in enumerate(comments)),
    )
)
Facts = Callable[[Comment], tuple[object, ...]]
CHANGES = {"owner/repo-1": Change(repo="r", url="https://github.com/o/r/pull/1", head="abc")}


def place(comment: Comment) -> tuple[object, ...]:
    """(path, start, end, side) of a span, or of a claim."""
    where = comment.span or comment.claimed
    assert where is not None or comment.span is None
    if where is None or where.path is None:
        return (None, None, None, Side.NEW)
    return (where.path, where.start, where.end, where.side or Side.NEW)


def same(form: Format, review: Review, facts: Facts) -> list[Parsed]:
    written = form.write([review], CHANGES)
    parsed = form.read(written, "written")
    comments = [comment for one in parsed for comment in one.comments]
    assert [facts(c) for c in comments] == [facts(c) for c in review.comments]
    assert form.write([review], CHANGES) == written
    if comments:
        assert form.recognises(written)
        others = [name for name in names("formats") if name != plugin_name(form)]
        assert [name for name in others if load(Format, name).recognises(written)] == []
    return parsed


@given(REVIEWS)
def test_sarif(review: Review) -> None:
    (parsed,) = same(
        Sarif(),
        review,
        lambda c: (c.body, place(c) if place(c)[1] else place(c)[:1], c.severity, c.category, c.confidence, c.quote),
    )
    assert (parsed.key, parsed.system) == (review.case, review.system)
    placed = Review(case="c", system="s", comments=tuple(c for c in review.comments if c.span and c.span.start))
    same(Sarif(), placed, lambda c: (c.suggestion,))


@given(REVIEWS)
def test_github(review: Review) -> None:
    parsed = same(
        Github(),
        review.model_copy(
            update={"comments": tuple(c for c in review.comments if c.suggestion is None or c.body.rstrip() == c.body)}
        ),
        lambda c: (c.body, place(c), c.severity, c.category, c.confidence, c.quote, c.suggestion),
    )
    assert all((p.key, p.system) == ("https://github.com/o/r/pull/1", "my tool") for p in parsed)


@given(REVIEWS, st.booleans())
def test_rdjson(review: Review, lines: bool) -> None:
    """No side, no confidence, three severities; a line of the old file is left out rather than misplaced."""
    coarse = {Severity.CRITICAL: Severity.HIGH, Severity.LOW: Severity.INFO}

    def facts(c: Comment) -> tuple[object, ...]:
        where = place(c)
        numbers = (None, None) if where[3] is Side.OLD else where[1:3]
        severity = coarse.get(c.severity, c.severity) if c.severity else None
        return c.body, where[0] or "", numbers, severity, c.category

    if lines and not review.comments:
        assert Rdjson(lines=True).write([review], CHANGES) == b""
        return
    new_only = [c for c in review.comments if c.span is None or c.span.side is Side.NEW]
    written = Rdjson(lines=lines).write([review], CHANGES)
    (parsed,) = Rdjson().read(written, "written")

    def claims(c: Comment) -> tuple[object, ...]:
        assert c.claimed is not None
        numbers = (c.claimed.start, c.claimed.end)
        return c.body, c.claimed.path or "", numbers, c.severity, c.category

    assert [claims(c) for c in parsed.comments] == [facts(c) for c in review.comments]
    assert parsed.system == "my tool"
    assert len(new_only) <= len(parsed.comments)


@given(REVIEWS)
def test_martian(review: Review) -> None:
    """One line and no side; a line of the old file is left out rather than misplaced."""
    (parsed,) = same(
        Martian(), review, lambda c: (c.body, place(c)[0], None if place(c)[3] is Side.OLD else place(c)[1])
    )
    assert (parsed.key, parsed.system) == ("https://github.com/o/r/pull/1", "my tool")
    item = {"text", "path", "line", "source"}
    document = json.loads(Martian().write([review], {}))
    assert all(set(entry) == item for entry in document["owner/repo-1"]["my tool"])


@given(REVIEWS)
def test_review_bench(review: Review) -> None:
    """No side: whole files and lines of the old file stand on line 1. A comment must name a file."""

    def facts(c: Comment) -> tuple[object, ...]:
        path, start, end, side = place(c)
        numbers = (start, end) if start and side is Side.NEW else (1, 1)
        return c.body, path, numbers, c.severity, c.category

    named = review.model_copy(update={"comments": tuple(c for c in review.comments if c.span is not None)})
    (parsed,) = same(ReviewBench(), named, facts)
    assert (parsed.key, parsed.system) == ("https://github.com/o/r/pull/1", "my tool")
    assert ReviewBench().write([review], CHANGES) == ReviewBench().write([named], CHANGES)
    document = json.loads(ReviewBench().write([named], CHANGES))
    assert document["pr"] == {"repo": "https://github.com/o/r", "pr_number": 1, "base": None, "head": "abc"}
    required = {"file", "start_line", "end_line", "message", "producer"}
    assert all(required <= set(entry) for entry in document["findings"])


def test_review_bench_holds_one_review_of_a_pull_request_with_an_address() -> None:
    reviews = [Review(case=case, system="s") for case in ("a", "b")]
    with pytest.raises(UserError, match="not 2"):
        ReviewBench().write(reviews, {})
    for changes in ({}, {"a": Change(repo="r")}, {"a": Change(repo="r", url="https://github.com/o/r")}):
        with pytest.raises(UserError, match="no pull request's address"):
            ReviewBench().write(reviews[:1], changes)


def test_real_spans_survive_every_format(shop: Shop) -> None:
    spans = (
        Span(path="src/app.py", start=12, end=13),
        Span(path="src/app.py", start=6, side=Side.OLD),
        Span(path="src/new_name.py", start=5),
        Span(path="lib/prüf liste.py", start=2, end=3),
    )
    review = Review(
        case="shop-7",
        system="mine",
        comments=tuple(Comment(id=f"c{i}", body=f"finding {i}", span=span) for i, span in enumerate(spans)),
    )
    for form in (Sarif(), Github()):
        (parsed,) = form.read(form.write([review], {"shop-7": shop.change}), "x")
        found = anchor_all(parsed.comments, shop.change, parsed.root, code_reader(shop.change))
        assert tuple(c.span for c in found) == spans
    entries = json.loads(Github().write([review], {"shop-7": shop.change}))
    assert entries[0]["diff_hunk"].endswith("\n+        amount += items[i]")
    assert entries[1]["diff_hunk"].endswith("\n-    return sum(items)")
    assert entries[0]["start_line"] == 12 and entries[0]["line"] == 13 and entries[0]["side"] == "RIGHT"
    assert entries[0]["original_commit_id"] == shop.change.head


def test_rdjson_refuses_two_changes_in_one_file() -> None:
    reviews = [Review(case=case, system="s") for case in ("a", "b")]
    with pytest.raises(UserError, match="which change"):
        Rdjson().write(reviews, {})
    for form in (Sarif(), Github(), Martian()):
        form.write(reviews, {})


def test_formats_that_are_only_read_say_so() -> None:
    writers = {name for name in names("formats") if load(Format, name).writes}
    assert writers == {"rdjson", "sarif", "github", "martian", "review_bench"}
    for name in set(names("formats")) - writers:
        with pytest.raises(UserError, match="read, not written"):
            load(Format, name).write([], {})
