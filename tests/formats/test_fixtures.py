"""Each format's fixture, in the shape its tool prints, ends on the right lines of a real repository."""

from __future__ import annotations

from pathlib import Path

import pytest
from formats.conftest import FIXTURES, ROOT, Shop, read

from reviewgauge.core.errors import BadInput
from reviewgauge.core.protocols import Format
from reviewgauge.core.records import Severity
from reviewgauge.core.specs import load, names, plugin_name
from reviewgauge.formats.bitbucket import Bitbucket
from reviewgauge.formats.coderabbit import Coderabbit
from reviewgauge.formats.codex import Codex
from reviewgauge.formats.gerrit import Gerrit
from reviewgauge.formats.github import Github
from reviewgauge.formats.gitlab import Gitlab
from reviewgauge.formats.markdown import Markdown
from reviewgauge.formats.martian import Martian
from reviewgauge.formats.parsing.comments import detect
from reviewgauge.formats.plain import Plain
from reviewgauge.formats.pr_agent import PrAgent
from reviewgauge.formats.rdjson import Rdjson
from reviewgauge.formats.review_bench import ReviewBench
from reviewgauge.formats.sarif import Sarif
from reviewgauge.formats.tags import Tags

INVALID = (None, None, None, "invalid")
NOWHERE = (None, None, None, "none")


@pytest.mark.parametrize(("name", "form"), [
    ("ruff-0.17.5.rdjson", "rdjson"), ("reviewdog.rdjsonl", "rdjson"), ("ruff-0.17.5.sarif", "sarif"),
    ("analyser.sarif", "sarif"), ("eslint-10.15.0.sarif", "sarif"),
    ("github-rest-2022-11-28.json", "github"),
    ("codex-0.50.json", "codex"), ("codex-session.jsonl", "codex"), ("codex-review-0.155.txt", "codex"),
    ("coderabbit-0.4.jsonl", "coderabbit"),
    ("pr-agent-0.31.yaml", "pr_agent"),
    ("pr-agent-improve.yaml", "pr_agent"),
    ("aacr-agent.txt", "tags"), ("aacr-hunk.txt", "tags"), ("candidates.json", "martian"),
    ("review-bench.json", "review_bench"),
    ("review-bench-test-set.json", "review_bench"),
    ("gitlab-discussions-v4.json", "gitlab"),
    ("gerrit-comments.json", "gerrit"), ("bitbucket-2.0.json", "bitbucket"), ("plain.csv", "plain"),
    ("plain.json", "plain"), ("inspect-0.3.285.json", "inspect"), ("review.md", "markdown"),
])  # fmt: skip
def test_each_fixture_is_known_by_its_content(name: str, form: str) -> None:
    data = (FIXTURES / name).read_bytes()
    assert plugin_name(detect(data, "a file without a telling name")) == form
    others = [n for n in names("formats") if n not in (form, "markdown")]
    assert [n for n in others if load(Format, n).recognises(data)] == []
    (ids,) = {len({c.id for c in p.comments}) == len(p.comments) for p in read(load(Format, form), name)}
    assert ids


@pytest.mark.parametrize("data", [b"", b"  \n", b"\x00\x01\x02", b"{}", b'{"a": 1}', b"[1, 2]", b"\xff\xfe\xff"])
def test_a_file_in_no_format_is_refused_with_the_formats_there_are(data: bytes) -> None:
    with pytest.raises(BadInput, match="not in a known format"):
        detect(data, "file")


def test_ruff_rdjson(shop: Shop) -> None:
    (parsed,) = read(Rdjson(), "ruff-0.17.5.rdjson")
    assert parsed.system == "ruff"
    by_rule = [(c.category, place) for c, place in zip(parsed.comments, shop.places(parsed), strict=True)]
    assert sorted(by_rule) == [
        ("E702", ("lib/prüf liste.py", 2, 2, "as_given")), ("E711", ("lib/prüf liste.py", 3, 3, "as_given")),
        ("F401", ("lib/prüf liste.py", 2, 2, "as_given")), ("F401", ("src/app.py", 1, 1, "as_given")),
        ("F841", ("lib/prüf liste.py", 2, 2, "as_given")), ("S307", ("src/app.py", 7, 7, "as_given")),
        ("SIM115", ("src/app.py", 5, 5, "as_given")),
    ]  # fmt: skip
    comparison = next(c for c in parsed.comments if c.category == "E711")
    assert comparison.suggestion == "x is None"
    assert comparison.severity is Severity.MEDIUM


def test_ruff_sarif_says_the_same(shop: Shop) -> None:
    (lines,) = read(Rdjson(), "ruff-0.17.5.rdjson")
    (parsed,) = read(Sarif(), "ruff-0.17.5.sarif")
    assert parsed.system == "ruff"
    assert shop.places(parsed) == shop.places(lines)
    assert [c.category for c in parsed.comments] == [c.category for c in lines.comments]
    assert [c.body for c in parsed.comments] == [c.body for c in lines.comments]


def test_eslint_sarif(shop: Shop) -> None:
    (parsed,) = read(Sarif(), "eslint-10.15.0.sarif")
    assert parsed.system == "ESLint"
    assert [(c.category, place) for c, place in zip(parsed.comments, shop.places(parsed), strict=True)] == [
        ("no-unused-vars", ("web ui/cart.js", 1, 1, "as_given")),
        ("no-unused-vars", ("web ui/cart.js", 4, 4, "as_given")),
        ("prefer-const", ("web ui/cart.js", 4, 4, "as_given")),
        ("eqeqeq", ("web ui/cart.js", 5, 5, "as_given")),
    ]
    assert [c.severity for c in parsed.comments] == [Severity.HIGH, Severity.HIGH, Severity.HIGH, Severity.MEDIUM]


def test_reviewdog_lines(shop: Shop) -> None:
    (parsed,) = read(Rdjson(), "reviewdog.rdjsonl")
    assert parsed.system == "linty"
    assert shop.places(parsed) == [
        ("src/app.py", 12, 12, "as_given"),  # the end at column 1 is exclusive
        ("src/app.py", 5, 6, "as_given"),  # without columns it is inclusive
        ("src/app.py", None, None, "file_only"),
        ("lib/prüf liste.py", 2, 2, "as_given"),
    ]
    assert [c.severity for c in parsed.comments] == [Severity.HIGH, Severity.MEDIUM, None, Severity.INFO]
    assert parsed.comments[3].suggestion == "    é = 1"


def test_sarif_of_an_analyser(shop: Shop) -> None:
    (parsed,) = read(Sarif(), "analyser.sarif")
    assert (parsed.key, parsed.system, parsed.root) == ("shop-7", "CodeQL", "/home/dev/shop/")
    assert shop.places(parsed) == [
        ("src/app.py", 7, 7, "quote"),  # the snippet beats line 4
        ("src/app.py", 5, 5, "as_given"),
        ("lib/prüf liste.py", 3, 3, "as_given"),
        NOWHERE,
    ]
    assert parsed.comments[0].body == "A file flows into eval."
    assert [c.category for c in parsed.comments] == ["py/code-injection", "py/leak", "py/leak", "py/leak"]
    assert [c.severity for c in parsed.comments] == [Severity.CRITICAL, Severity.LOW, Severity.MEDIUM, Severity.LOW]
    assert [drop.reason for drop in parsed.skipped] == ["suppressed", "passed", "gone since the baseline"]


def test_github_comments(shop: Shop) -> None:
    bot, dev, unknown = read(Github(), "github-rest-2022-11-28.json")
    assert (bot.key, bot.system) == ("https://github.com/acme/shop/pull/7", "mantis[bot]")
    assert shop.places(bot) == [("src/app.py", 12, 12, "as_given"), NOWHERE]
    assert bot.comments[0].body == "This index runs past the end."
    assert bot.comments[0].suggestion == "    for i in range(len(items)):"
    assert bot.comments[0].commit == "2" * 40
    assert bot.comments[0].created is not None
    assert [drop.reason for drop in bot.skipped] == ["bot summary or status post", "says that there is nothing to say"]
    assert (dev.key, dev.system) == (bot.key, "dev")
    assert shop.places(dev) == [
        ("src/app.py", 5, 6, "as_given old"),
        ("src/new_name.py", None, None, "file_only"),
        ("src/app.py", 7, 7, "as_given"),
    ]
    assert [drop.reason for drop in dev.skipped] == ["reply", "command trigger", "command trigger"]
    assert unknown.comments == () and [drop.reason for drop in unknown.skipped] == ["check run"]


def test_github_comments_follow_their_lines_through_later_pushes(shop: Shop) -> None:
    """The comment was made when the loop stood on line 11: its diff_hunk says which line was meant."""
    data = b"""[{"path": "src/app.py", "body": "off by one", "original_line": 11, "side": "RIGHT",
      "diff_hunk": "@@ -5,2 +9,3 @@\\n \\n+def total(items):\\n+    for i in range(len(items) + 1):"}]"""
    assert shop.places(Github().read(data, "x")[0]) == [("src/app.py", 12, 12, "quote")]


def test_codex(shop: Shop) -> None:
    (parsed,) = read(Codex(), "codex-0.50.json")
    assert shop.places(parsed) == [
        ("src/app.py", 6, 7, "as_given"),
        ("src/app.py", 12, 12, "as_given"),
        ("src/new_name.py", 5, 5, "renamed"),
        INVALID,
    ]
    assert [c.severity for c in parsed.comments] == [Severity.HIGH, Severity.CRITICAL, Severity.LOW, Severity.MEDIUM]
    assert parsed.comments[0].confidence == 0.93
    assert parsed.comments[0].body.startswith("[P1] Stop evaluating file contents\n\n`eval(data)` runs")
    assert parsed.comments[3].claimed is not None and parsed.comments[3].claimed.path == f"{ROOT}/src/cache.py"
    assert [drop.item for drop in parsed.skipped] == ["overall_explanation"]


def test_codex_sessions_and_prose(shop: Shop) -> None:
    (parsed,) = read(Codex(), "codex-session.jsonl")
    assert parsed.root == ROOT
    assert shop.places(parsed) == [("src/app.py", 5, 5, "as_given")]
    answer = (FIXTURES / "codex-0.50.json").read_bytes()
    assert Codex().read(b"Here is {my} review:\n```json\n" + answer + b"```\n", "x") == read(Codex(), "codex-0.50.json")


def test_a_review_that_codex_printed(shop: Shop) -> None:
    (parsed,) = read(Codex(), "codex-review-0.155.txt")
    assert shop.places(parsed) == [("src/app.py", 5, 5, "as_given"), ("src/app.py", 7, 9, "as_given")]
    assert [c.severity for c in parsed.comments] == [Severity.CRITICAL, Severity.MEDIUM]
    assert parsed.comments[0].body == "[P0] Null deref\n\nFirst.\n\n- with a list below it"
    with pytest.raises(BadInput, match="the reviewer gave no answer"):
        detect(b"Reviewer failed to output a response.\n", "x").read(b"Reviewer failed to output a response.\n", "x")


def test_coderabbit(shop: Shop) -> None:
    (parsed,) = read(Coderabbit(), "coderabbit-0.4.jsonl")
    assert parsed.root == ROOT
    assert shop.places(parsed) == [
        ("src/app.py", 10, 12, "as_given"),
        ("src/app.py", 7, 7, "quote"),
        ("src/new_name.py", None, None, "file_only"),
        ("lib/prüf liste.py", 3, 3, "as_given"),
    ]
    assert [c.severity for c in parsed.comments] == [Severity.CRITICAL, Severity.HIGH, Severity.LOW, None]
    assert parsed.comments[0].body.startswith("In @src/app.py around lines")
    assert parsed.comments[1].body == "Never evaluate file contents."
    assert [drop.reason for drop in parsed.skipped] == [
        "event: review_context", "event: status", "event: status", "event: heartbeat", "event: complete",
    ]  # fmt: skip


def test_a_failed_coderabbit_review_is_no_review_without_findings() -> None:
    error = b'{"type":"error","errorType":"rate_limit","message":"Rate limit exceeded","recoverable":true}\n'
    with pytest.raises(BadInput, match="Rate limit exceeded"):
        Coderabbit().read(b'{"type":"status","phase":"setup","status":"x"}\n' + error, "x")
    (parsed,) = Coderabbit().read(error + b'{"type":"complete","status":"review_completed","findings":0}', "x")
    assert parsed.comments == ()
    with pytest.raises(BadInput, match="cut short"):
        Coderabbit().read(b'{"type":"status","phase":"setup","status":"x"}\n', "x")


def test_pr_agent(shop: Shop) -> None:
    (parsed,) = read(PrAgent(), "pr-agent-0.31.yaml")
    assert shop.places(parsed) == [("src/app.py", 12, 13, "as_given"), ("src/app.py", 5, 5, "as_given"), NOWHERE]
    assert [c.category for c in parsed.comments] == ["Possible Bug", "Resource Leak", "security"]
    (parsed,) = read(PrAgent(), "pr-agent-improve.yaml")
    assert shop.places(parsed) == [("src/app.py", 12, 13, "quote")]
    assert (parsed.comments[0].suggestion or "").startswith("for item in items:")


def test_pr_agent_answers_that_forget_block_scalars() -> None:
    data = b"""review:
  key_issues_to_review:
    - relevant_file: src/app.py
      issue_header: Bug: two colons
      issue_content: it fails: `a: b` is not a key
      start_line: 3
  security_concerns: No
"""
    (parsed,) = PrAgent().read(data, "x")
    assert parsed.comments[0].body == "Bug: two colons\n\nit fails: `a: b` is not a key"
    assert [drop.reason for drop in parsed.skipped] == ["says that there is nothing to say"]
    with pytest.raises(BadInput, match=r"review.key_issues_to_review\[0\], field start_line"):
        PrAgent().read(data.replace(b"start_line: 3", b"start_line: three"), "x")


def test_tags(shop: Shop) -> None:
    (parsed,) = read(Tags(), "aacr-agent.txt")
    assert shop.places(parsed) == [
        ("src/app.py", 12, 13, "as_given"),
        ("src/app.py", 6, 6, "as_given old"),
        INVALID,
        ("gone.py", None, None, "file_only old"),
    ]
    assert parsed.comments[0].body == "The loop reads past the end.\n\nIt should stop at len(items)."
    assert parsed.comments[3].extra == {"from": "one", "cut": "the note has no end"}
    (parsed,) = read(Tags(), "aacr-hunk.txt")
    assert shop.places(parsed) == [("src/app.py", 6, 7, "quote"), ("src/app.py", 6, 6, "quote old")]
    assert Tags().read(b"<end />\n", "x")[0].comments == ()
    with pytest.raises(BadInput, match="neither"):
        Tags().read(b"no tags here", "x")


def test_review_bench(shop: Shop) -> None:
    (parsed,) = read(ReviewBench(), "review-bench.json")
    assert (parsed.key, parsed.system) == ("https://github.com/acme/shop/pull/7", "acme-reviewer")
    assert shop.places(parsed) == [("src/app.py", 5, 7, "as_given"), ("web ui/cart.js", 5, 5, "as_given"), INVALID]
    first, second, _ = parsed.comments
    assert (first.severity, first.category, first.author) == (Severity.HIGH, "reliability", "acme-reviewer")
    assert second.author == "acme-reviewer:second-pass"
    assert first.commit == "2" * 40
    assert [(drop.item, drop.reason) for drop in parsed.skipped] == [("findings[3]", "empty")]


def test_review_bench_test_set() -> None:
    one, silent = read(ReviewBench(), "review-bench-test-set.json")
    assert (one.key, one.system, silent.key, silent.comments) == (
        "acme_shop_7-22222222", None, "acme_shop_8-33333333", (),
    )  # fmt: skip
    (comment,) = one.comments
    assert comment.severity is Severity.HIGH


def test_martian() -> None:
    parsed = read(Martian(), "candidates.json")
    assert [(p.key, p.system, len(p.comments)) for p in parsed] == [
        ("https://github.com/acme/shop/pull/7", "mantis", 2),
        ("https://github.com/acme/shop/pull/7", "quiet", 0),
        ("https://github.com/acme/shop/pull/8", "mantis", 1),
    ]
    first, second = parsed[0].comments
    assert first.claimed is not None and first.claimed.path is None
    assert second.claimed is not None and (second.claimed.path, second.claimed.start) == ("src/app.py", 7)


def test_the_published_candidates_are_read(shared_data: Path) -> None:
    files = sorted(shared_data.glob("martian/results/*/candidates.json"))
    assert len(files) == 3
    for file in files:
        data = file.read_bytes()
        assert plugin_name(detect(data, file.name)) == "martian"
        parsed = Martian().read(data, file.name)
        assert len({p.key for p in parsed}) == 30
        assert sum(len(p.comments) for p in parsed) > 500


def test_markdown(shop: Shop) -> None:
    (parsed,) = read(Markdown(), "review.md")
    assert shop.places(parsed) == [
        ("src/app.py", 12, 13, "as_given"),
        ("src/app.py", 5, 5, "quote"),
        INVALID,  # lib/prüf_liste.py is not the file's name
        ("src/app.py", 7, 7, "as_given"),
    ]
    assert [c.severity for c in parsed.comments] == [Severity.CRITICAL, Severity.HIGH, None, None]
    assert (parsed.comments[0].suggestion or "").startswith("for item in items:\n    amount")
    assert all(c.extra["split"] == "rules" for c in parsed.comments)
    *skipped, how = (drop.reason for drop in parsed.skipped)
    assert skipped == ["section 'Summary'", "section 'Conclusion'", "prose between findings"]
    assert how.startswith("read as free text and split by rules, without a model")


@pytest.mark.parametrize(("text", "expected"), [
    ("The loop in src/app.py#L12-L13 is wrong.", [("src/app.py", 12, 13)]),
    ("See https://github.com/a/b/blob/abc123/src/app.py#L12 please", [("src/app.py", 12, 12)]),
    ("- src/app.py:12:5: bad\n- `lib/x.go` lines 3 to 9: worse", [("src/app.py", 12, 12), ("lib/x.go", 3, 9)]),
    ("Use self.items e.g. in v1.2 of foo.bar", [(None, None, None)]),
    ("First thought.\n\nSecond thought.", [(None, None, None), (None, None, None)]),
    ("No issues found.", []), ("LGTM!", []),
    ("### a.py\n\n- line 3: x is wrong\n- line 9: y is wrong", [("a.py", 3, 3), ("a.py", 9, 9)]),
])  # fmt: skip
def test_places_in_prose(text: str, expected: list[tuple[str | None, int | None, int | None]]) -> None:
    (parsed,) = Markdown().read(text.encode(), "x")
    claims = [c.claimed for c in parsed.comments if c.claimed is not None]
    assert [(c.path, c.start, c.end) for c in claims] == expected


OFF_BY_ONE = ("src/app.py", 11, 12, "as_given")
BEFORE = ("src/app.py", 6, 6, "as_given old")


def test_gitlab_discussions(shop: Shop) -> None:
    bot, dev = read(Gitlab(), "gitlab-discussions-v4.json")
    assert (bot.system, shop.places(bot)) == ("mantis-bot", [OFF_BY_ONE])
    first = bot.comments[0]
    assert (first.body, first.suggestion) == ("This index runs past the end.", "    for i in range(len(items)):")
    assert (first.commit, first.extra["resolved"]) == ("2" * 40, True)
    assert shop.places(dev) == [BEFORE, ("src/new_name.py", None, None, "file_only"), NOWHERE]
    assert [drop.reason for drop in dev.skipped] == ["reply", "system note"]


def test_gitlab_pages_one_after_the_other_and_in_a_list() -> None:
    data = (FIXTURES / "gitlab-discussions-v4.json").read_bytes()
    whole = Gitlab().read(data, "x")
    assert Gitlab().read(b"[" + data + b", []]", "x") == whole
    assert Gitlab().read(data + b"[]", "x") == whole
    assert plugin_name(detect(b"[" + data + b"]", "x")) == "gitlab"


def test_gerrit_comments(shop: Shop) -> None:
    dev, robot = read(Gerrit(), "gerrit-comments.json")
    assert (robot.system, shop.places(robot)) == ("mantis", [OFF_BY_ONE])
    assert robot.comments[0].suggestion == "    for i in range(len(items)):"
    assert robot.comments[0].created is not None and robot.comments[0].extra["unresolved"] is True
    assert shop.places(dev) == [NOWHERE, BEFORE, ("src/app.py", None, None, "file_only")]
    assert [drop.reason for drop in dev.skipped] == ["reply"]
    (silent,) = Gerrit().read(b")]}'\n{}", "x")
    assert silent.comments == () and plugin_name(detect(b")]}'\n{}", "x")) == "gerrit"


def test_gerrit_ranges_that_end_before_the_first_character_of_a_line() -> None:
    data = b"""{"a.py": [{"message": "m", "updated": "2025-03-01 10:00:00.000000000", "line": 3,
        "range": {"start_line": 1, "start_character": 0, "end_line": 3, "end_character": 0}}]}"""
    (parsed,) = Gerrit().read(data, "x")
    claimed = parsed.comments[0].claimed
    assert claimed is not None and (claimed.start, claimed.end) == (1, 2)


def test_bitbucket_cloud(shop: Shop) -> None:
    bot, dev = read(Bitbucket(), "bitbucket-2.0.json")
    assert (bot.key, bot.system) == ("https://bitbucket.org/acme/shop/pull-requests/7", "mantis-bot")
    assert shop.places(bot) == [OFF_BY_ONE]
    assert shop.places(dev) == [BEFORE, NOWHERE]
    assert [drop.reason for drop in dev.skipped] == ["reply", "deleted"]


def test_bitbucket_data_center(shop: Shop) -> None:
    data = b"""{"size": 3, "limit": 25, "isLastPage": true, "start": 0, "values": [
      {"id": 1, "action": "APPROVED", "user": {"name": "dev"}},
      {"id": 2, "action": "COMMENTED", "commentAction": "ADDED", "user": {"name": "dev"},
       "comment": {"id": 9, "text": "off by one", "author": {"name": "mantis"}, "createdDate": 1740823200000,
                   "comments": [{"id": 10, "text": "Done"}]},
       "commentAnchor": {"fromHash": "1", "toHash": "2", "line": 12, "lineType": "ADDED", "fileType": "TO",
                         "path": "src/app.py", "diffType": "EFFECTIVE"}},
      {"id": 3, "action": "COMMENTED", "comment": {"id": 11, "text": "why not sum?", "author": {"name": "mantis"}},
       "commentAnchor": {"line": 6, "lineType": "REMOVED", "fileType": "FROM", "path": "src/app.py"}}]}"""
    (parsed,) = Bitbucket().read(data, "x")
    assert plugin_name(detect(data, "x")) == "bitbucket"
    assert (parsed.system, shop.places(parsed)) == ("mantis", [("src/app.py", 12, 12, "as_given"), BEFORE])
    assert parsed.comments[0].created is not None and parsed.comments[0].commit == "2"


@pytest.mark.parametrize("end", [b'"next": "https://api.bitbucket.org/2.0/x?page=2"', b'"isLastPage": false'])
def test_a_cut_bitbucket_file_is_refused(end: bytes) -> None:
    page = b'{"pagelen": 50, "values": [], ' + end + b"}"
    with pytest.raises(BadInput, match="ends before the last page"):
        Bitbucket().read(page, "x")
    (parsed,) = Bitbucket().read(b"[" + page + b', {"pagelen": 50, "values": []}]', "x")
    assert parsed.comments == ()


def test_plain_tables(shop: Shop) -> None:
    mantis, dev, other = read(Plain(), "plain.csv")
    assert [(one.key, one.system) for one in (mantis, dev, other)] == [
        ("shop-7", "mantis"),
        ("shop-7", "dev"),
        ("other-1", "mantis"),
    ]
    assert shop.places(mantis) == [("src/app.py", 12, 13, "as_given"), ("src/app.py", 7, 7, "as_given")]
    assert mantis.comments[0].body == "This index runs past the end,\nby one."
    assert [c.severity for c in mantis.comments] == [Severity.HIGH, Severity.CRITICAL]
    (parsed,) = read(Plain(), "plain.json")
    assert (parsed.key, parsed.system) == (None, None)
    assert shop.places(parsed) == [*shop.places(mantis), *shop.places(dev)]


@pytest.mark.parametrize(("data", "extra"), [
    (b"Line;Path;Body\n7;src/app.py;no eval\n", {}),
    (b"body\tpath\tline\nno eval\tsrc/app.py\t7\n\n", {}),
    (b"path,line,body,rule\nsrc/app.py,7,no eval,S307\n", {"rule": "S307"}),
    (b'{"path": "src/app.py", "line": 7, "body": "no eval", "rule": 3}\n', {"rule": 3}),
])  # fmt: skip
def test_plain_columns_are_found_by_the_header(shop: Shop, data: bytes, extra: dict[str, object]) -> None:
    (parsed,) = Plain().read(data, "x")
    assert shop.places(parsed) == [("src/app.py", 7, 7, "as_given")]
    assert parsed.comments[0].extra == extra
    assert Plain().recognises(data) is not bool(extra)
