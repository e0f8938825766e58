"""The prompt reviewer, asked through the door: on real answers of the fake model, and on recorded ones."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Reviewer
from reviewgauge.core.records import Anchoring, Change, ChangedFile, FileStatus, Side, Span
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.core.specs import load, signature
from reviewgauge.models.chat.client import ChatClient, call_key, track_usage
from reviewgauge.models.request.messages import FENCE_NOTE, Answer, Call, Repeat, Request, assistant, load_prompt, user
from reviewgauge.models.request.model_spec import ChatSettings, parse_model
from reviewgauge.reviewers.prompt import Prompt
from reviewgauge.reviewers.reading.change_text import pieces_of

MODEL = "openai:unused"
FIRST = "@@ -1,2 +1,3 @@\n a = 1\n+b = eval(a)\n c = 3"
SECOND = "@@ -10,2 +11,2 @@\n-old = 1\n+new = 1\n same"
CHANGE = Change(
    id="c1",
    repo="o/r",
    title="Add b",
    description="because",
    files=(ChangedFile(path="a.py", patch=f"{FIRST}\n{SECOND}"), ChangedFile(path="i.png", binary=True)),
)


def record(path: Path, reviewer: Prompt, said: list[list[str]], change: Change = CHANGE) -> ChatClient:
    """A door behind which the model has said this, a list a piece: one text for each time it is asked."""
    spec, lines = parse_model(MODEL), []
    for piece, texts in zip(reviewer._pieces(change).pieces, said, strict=True):
        first = talk = reviewer._messages(change, piece)
        for ask, text in enumerate(texts, 1):
            request = Request(messages=talk)
            key = call_key(spec, request, Repeat(ask=ask))
            lines.append(Call(key=key, model=MODEL, ask=ask, request=request, answer=Answer(text=text)).to_line())
            talk = (*first, assistant(text), user(f"That answer cannot be used: {reason(text)}."))
    path.write_bytes(b"".join(lines))
    return ChatClient(ChatSettings(replay=path))


def reason(text: str) -> str:
    from reviewgauge.models.answers.readers import Unreadable
    from reviewgauge.reviewers.reading.model_answers import read_notes

    try:
        read_notes(text)
    except Unreadable as error:
        return str(error)
    return ""


def note(code: str, body: str, side: str = "right") -> str:
    return f"<diff>\n{code}\n</diff>\n<side>{side}</side>\n<note>\n{body}\n</note>\n<notesplit />\n"


@pytest.mark.parametrize("form", ["fenced", "published"])
@pytest.mark.parametrize("scope", ["hunk", "change"])
def test_the_fake_model_reviews_by_its_rule(scope: str, form: str) -> None:
    reviewer = load(Reviewer, f'prompt(model="fake:rules", scope="{scope}", prompt="{form}")')
    with ChatClient(ChatSettings()), track_usage() as tracker:
        review = reviewer.review(CHANGE)
    (comment,) = review.comments
    assert comment.span == Span(path="a.py", start=2, end=2, side=Side.NEW)
    assert comment.anchoring is Anchoring.QUOTE
    assert comment.body == "eval runs whatever the text says. Parse the value instead."
    assert review.trace == "i.png: a binary file has no hunks"
    assert tracker.fake
    assert tracker.usage.calls == (2 if scope == "hunk" else 1)
    assert load(Reviewer, signature(reviewer)) == reviewer


def test_the_published_prompt_is_the_papers_and_the_fenced_one_has_the_same_words() -> None:
    published = load_prompt("reviewgauge.reviewers", "aacr").parts[0][1]
    fenced = load_prompt("reviewgauge.reviewers", "aacr_fenced").parts[0][1]
    assert fenced.replace(f"{FENCE_NOTE}\n\n", "").replace(":**\n{{", ":** {{") == published
    assert published.startswith("You are an expert code reviewer. Your task is to review the following code changes")
    assert published.endswith("\n\nNow provide your review:")
    (message,) = Prompt("fake:rules", prompt="published")._messages(CHANGE, pieces_of(CHANGE, "hunk").pieces[0])
    assert (
        f"**Title:** Add b\n\n**Description:** because\n\n## Code Changes to Review\n\n```diff\n{FIRST}\n```"
        in message.text
    )
    (message,) = Prompt("fake:rules")._messages(CHANGE, pieces_of(CHANGE, "hunk").pieces[0])
    assert re.search(r"<<<DATA (\w+)>>>\n@@ -1,2 [^<]*\n c = 3\n<<<END \1>>>\n```", message.text)


def test_notes_are_located_in_their_hunk_and_what_is_invented_is_kept_without_a_place(tmp_path: Path) -> None:
    reviewer = Prompt(MODEL)
    first = note("+b = eval(a)", "no eval") + note("+ d = 4", "invented") + note("+b = eval(a)", "no eval") + "<end />"
    second = note("-old = 1", "why", "left") + note("b = eval(a)", "of the other hunk") + "<end />"
    with record(tmp_path / "calls.jsonl", reviewer, [[first], [second]]):
        review = reviewer.review(CHANGE)
    places = [(c.body, c.span and (c.span.start, c.span.side), c.anchoring) for c in review.comments]
    assert places == [
        ("no eval", (2, Side.NEW), Anchoring.QUOTE),
        ("invented", None, Anchoring.INVALID),
        ("no eval", (2, Side.NEW), Anchoring.QUOTE),
        ("why", (10, Side.OLD), Anchoring.QUOTE),
        ("of the other hunk", None, Anchoring.INVALID),
    ]
    ids = [c.id for c in review.comments]
    assert ids[2] == f"{ids[0]}-2"
    assert len(set(ids)) == 5
    assert review.comments[1].extra == {"about": "a.py @@ -1,2 +1,3 @@"}


def test_a_piece_without_an_answer_fails_the_review_and_keeps_the_raw_text(tmp_path: Path) -> None:
    reviewer = Prompt(MODEL)
    with (
        record(tmp_path / "calls.jsonl", reviewer, [["<end />"], ["LGTM", "fine", "ok <end />"]]),
        pytest.raises(
            Failed, match=r"1 of 2 pieces have no answer, first a\.py @@ -10,2 \+11,2 @@: unused: no readable"
        ) as caught,
    ):
        reviewer.review(CHANGE)
    assert (caught.value.kind, caught.value.raw, caught.value.stops) == (FailureKind.UNREADABLE, "ok <end />", False)


@pytest.mark.parametrize(("change", "said"), [
    (CHANGE.model_copy(update={"files": CHANGE.files[1:]}), "no hunk of text to show: i.png: a binary file"),
    (Change(repo="r", files=(ChangedFile(path="b", old_path="a", status=FileStatus.RENAMED, patch=""),)),
        "b: renamed, without a changed line"),
    (Change(repo="r", files=(ChangedFile(path="a.py"),)), "needs the code under review"),
])  # fmt: skip
def test_a_change_that_cannot_be_read_is_a_failure_never_an_empty_review(change: Change, said: str) -> None:
    with pytest.raises(Failed) as caught:
        Prompt("fake:rules").review(change)
    assert said in str(caught.value)
    assert not caught.value.stops


def test_prepare_names_what_cannot_be_read_and_refuses_what_is_no_model() -> None:
    bare, binary = Change(id="bare", repo="r"), CHANGE.model_copy(update={"id": "bin", "files": CHANGE.files[1:]})
    drops = {drop.item: drop.reason for drop in Prompt("fake:rules").prepare([CHANGE, bare, binary])}
    assert drops == {
        "c1 i.png": "a binary file has no hunks: not shown to the model",
        "bare": "no diff is at hand: the case will be a failure",
        "bin": "no hunk of text: the case will be a failure",
    }
    patch = "@@ -0,0 +1 @@\n+" + "x" * 400_001
    large = CHANGE.model_copy(update={"id": "large", "files": (ChangedFile(path="a", patch=patch),)})
    (warning,) = Prompt("fake:rules").prepare([large])
    assert warning.item == "large" and warning.reason.startswith("more than 100,000 tokens of code by estimate: ")
    assert Prompt("fake:rules", truncate=9_000).prepare([large]) == ()
    with pytest.raises(UserError, match="is not a model"):
        Prompt("gpt-5").prepare([CHANGE])
    with pytest.raises(UserError, match="must not be negative"):
        Prompt("fake:rules", truncate=-1).prepare([CHANGE])


def test_the_prompt_with_context_is_the_papers_and_without_any_it_is_the_other() -> None:
    plain = load_prompt("reviewgauge.reviewers", "aacr").parts[0][1]
    shown = load_prompt("reviewgauge.reviewers", "aacr_context").parts[0][1]
    assert shown == plain.replace(
        "## Instructions\n", "## Relevant Code Context\n\n{{ contexts }}\n\n## Instructions\n", 1
    )
    fenced = load_prompt("reviewgauge.reviewers", "aacr_context_fenced").parts[0][1]
    assert fenced.replace(f"{FENCE_NOTE}\n\n", "").replace(":**\n{{", ":** {{") == shown
    reviewer = Prompt("fake:rules", context=("issue", "pr"))
    piece = pieces_of(CHANGE, "hunk").pieces[0]
    given = reviewer._context_of(CHANGE, piece)
    (message,) = reviewer._messages(CHANGE, piece, given.text)
    mark = re.search(
        r"## Relevant Code Context\n\n<<<DATA (\w+)>>>\n### the pull request\n\n```\nAdd b\n\nbecause\n```\n<<<END \1",
        message.text,
    )
    assert mark is not None
    bare = CHANGE.model_copy(update={"title": "", "description": ""})
    assert reviewer._context_of(bare, piece).text == ""
    assert "Relevant Code Context" not in reviewer._messages(bare, piece)[0].text


def test_a_context_goes_through_a_review_and_the_trace_says_what_was_left_out() -> None:
    wordy = CHANGE.model_copy(update={"description": "+ eval(x)\n" * 9})
    reviewer = load(Reviewer, "prompt(model='fake:rules', context='pr', budget=30)")
    assert load(Reviewer, signature(reviewer)) == reviewer
    assert set(reviewer.pins()) == {"prompt", "prompt with context"}
    with ChatClient(ChatSettings()), track_usage():
        review = reviewer.review(wordy)
    assert [one.span and one.span.start for one in review.comments] == [2]  # none about the context
    assert review.trace is not None
    assert review.trace.splitlines()[1:] == [
        "a.py @@ -1,2 +1,3 @@: context pr: the pull request: cut to 5 of 11 lines",
        "a.py @@ -10,2 +11,2 @@: context pr: the pull request: cut to 5 of 11 lines",
    ]


@pytest.mark.parametrize(("spec", "said"), [
    ("prompt(model='fake:rules', context='files')", "no context is called 'files'"),
    ("prompt(model='fake:rules', context=('pr', 'hits'))", "no context is called 'hits'"),
    ("prompt(model='fake:rules', context='pr(k=3)')", "pr has no parameter 'k'"),
    ("prompt(model='fake:rules', context=3)", "is not of type"),
])  # fmt: skip
def test_a_context_that_is_not_one_is_named(spec: str, said: str) -> None:
    with pytest.raises(UserError, match=re.escape(said)):
        load(Reviewer, spec)


def test_a_template_of_ones_own_is_fenced_pinned_and_checked(tmp_path: Path) -> None:
    own = tmp_path / "own.txt"
    own.write_text(
        "[user]\nYou review a pull request and write a review report. {{ fence_note }}\nDiff:\n{{ diff_hunk }}\n"
    )
    reviewer = load(Reviewer, f'prompt(model="fake:rules", preset="swr", template={str(own)!r})')
    before = dict(reviewer.pins())
    assert reviewer.prepare([]) == ()
    own.write_text(own.read_text().replace("{{ fence_note }}", "{{ password }}"))
    assert dict(reviewer.pins()) != before
    with pytest.raises(UserError, match=r"no slot \{\{ password \}\}; there are .*reviewgauge info prompt --show swr"):
        reviewer.prepare([])
    for slip in ("{{ contexts }", "{{  contexts  }}", "{{ contexts", "{{ pasword }"):
        own.write_text(f"[user]\n{slip}\n{{{{ fence_note }}}} {{{{ diff_hunk }}}} {{{{ }}}} style={{{{ color: 1\n")
        with pytest.raises(UserError, match=r"is not a slot: write it as \{\{ name \}\}"):
            reviewer.prepare([])
    own.write_text(" \n")
    with pytest.raises(UserError, match="is empty"):
        reviewer.prepare([])
    own.unlink()
    with pytest.raises(UserError, match="cannot read"):
        reviewer.prepare([])


@pytest.mark.parametrize(
    "text", ["Look for holes. \\1 {x}", "Look for holes in\n{{ diff_hunk }}", "[user]\nLook for holes."]
)
@pytest.mark.parametrize("preset", ["aacr", "swr", "crscore"])
def test_a_plain_text_file_is_a_prompt(tmp_path: Path, text: str, preset: str) -> None:
    own = tmp_path / "own.txt"
    own.write_text(text)
    reviewer = load(Reviewer, f'prompt(model="fake:rules", preset="{preset}", template={str(own)!r}, context="pr")')
    assert isinstance(reviewer, Prompt) and reviewer.prepare([CHANGE]) == Prompt("fake:rules").prepare([CHANGE])
    piece = pieces_of(CHANGE, "hunk").pieces[0]
    sent = "\n".join(message.text for message in reviewer._messages(CHANGE, piece, "more"))
    assert text.removeprefix("[user]\n").partition("\n")[0] in sent and FENCE_NOTE in sent and "{{" not in sent
    assert sent.count(f">>>\n{FIRST}\n<<<END") == 1 and sent.count("more") == 1
    assert not text.startswith("Look for holes.") or ("Focus on" not in sent and "Report the problems" not in sent)
    if preset != "crscore" and not text.startswith("["):
        assert ("<note>" if preset == "aacr" else "Its only key is findings") in sent
