"""All rules of the fake model: the opening words that name a task, and the reply."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import NamedTuple

from fake_rules.claim_rules import claims
from fake_rules.prompt_rules import choose, reflect, vary
from fake_rules.request_text import FENCED, last_slot, prompt_of
from fake_rules.review_rules import comment, locate, merge, plain_review, ranked_report, report, review
from reviewgauge.models.request.messages import Request
from reviewgauge.models.text.lexical import dice, profile

WordTable = tuple[tuple[str, tuple[str, ...]], ...]


def first_named(table: WordTable, text: str) -> str | None:
    """The first name of a table with a word that begins a word of the text, in any case."""
    begins = (name for name, words in table for w in words if re.search(rf"\b{re.escape(w)}", text, re.IGNORECASE))
    return next(begins, None)


# --- rules that compare two texts ---------------------------------------------------------------------------------

SAME_FROM = 0.3  # the Dice coefficient of two comments that are the same
GRADES = ((1.0, 5), (0.7, 4), (0.4, 3), (0.15, 2), (0.0, 1))  # (least Dice coefficient, grade)
RIGHT_FROM = 3  # the relevance of a finding that is right
RELEVANCES = ((0.8, 5), (0.6, 4), (0.4, 3), (0.2, 2), (0.0, 1))  # (least share, score)

_ONE, _TWO = FENCED.format("one"), FENCED.format("two")
_COMMENTS = (
    re.compile(f"Review Comment 1:\n{_ONE}\n\nReview Comment 2:\n{_TWO}\n\n-Task-", re.DOTALL),
    re.compile(
        "Review Comment 1:\n(?P<one_text>.*?)\n\nReview Comment 2:\n(?P<two_text>.*?)\n\n-Task-\nDetermine", re.DOTALL
    ),
)
_CANDIDATE = (re.compile(f"Golden comment:\n{_ONE}\n\nCandidate comment:\n{_TWO}\n", re.DOTALL),)
_REVIEWS = (
    re.compile(f"Generated Code Review:\n{_ONE}\n\nReference Code Review:\n{_TWO}", re.DOTALL),
    re.compile('Generated Code Review: "(?P<one_text>.*?)"\n\nReference Code Review: "(?P<two_text>.*)"', re.DOTALL),
)
_CHANGE = (
    re.compile(f"Code Change:\n{_ONE}\n\nReview:\n{_TWO}", re.DOTALL),
    re.compile("\n\nCode Change: (?P<one_text>.*)\n\nReview: (?P<two_text>.*)\n\nYour score:\\Z", re.DOTALL),
)

_FINDING = (re.compile(f"\n\nDiff:\n{_ONE}\n\nPlace of the finding:\n.*\n\nFinding:\n{_TWO}\n", re.DOTALL),)


def same_concern(request: Request) -> str:
    """Do two comments express the same concern? Yes when the Dice coefficient of their content words is at least .3."""
    texts = _texts(request, _COMMENTS)
    if texts is None:
        return "I cannot find two review comments."
    return "yes" if overlap(*texts) >= SAME_FROM else "no"


def golden(request: Request) -> str:
    """Does a candidate raise the golden issue? Yes from a Dice coefficient of .3 of their content words on."""
    texts = _texts(request, _CANDIDATE)
    if texts is None:
        return "I cannot find a golden comment and a candidate."
    shared = overlap(*texts)
    answer = {"reasoning": f"Dice {shared:.2f}", "match": shared >= SAME_FROM, "confidence": confidence(shared)}
    return json.dumps(answer)


def grade(request: Request) -> str:
    """The grade of a review against its reference: 5, 4, 3, 2 or 1 by the Dice coefficient of their content words."""
    texts = _texts(request, _REVIEWS)
    if texts is None:
        return "I cannot find a generated and a reference review."
    return f"Grade={grade_of(*texts)}"


def relevance(request: Request) -> str:
    """The relevance of a review to a code change: 5, 4, 3."""
    texts = _texts(request, _CHANGE)
    if texts is None:
        return "I cannot find a code change and a review."
    return str(relevance_of(*texts))


def finding_right(request: Request) -> str:
    """Is a finding right? Yes when the diff beside it has at least .4 of its words."""
    texts = _texts(request, _FINDING)
    if texts is None:
        return "I cannot find a diff and a finding."
    right = relevance_of(*texts) >= RIGHT_FROM
    return json.dumps({"reasoning": f"relevance {relevance_of(*texts)}", "right": right})


def _texts(request: Request, patterns: tuple[re.Pattern[str], ...]) -> tuple[str, str] | None:
    """The two texts of the prompt, by the first pattern that matches."""
    prompt = prompt_of(request)
    found = next((match for pattern in patterns if (match := pattern.search(prompt))), None)
    return (found["one_text"], found["two_text"]) if found else None


def overlap(one: str, other: str) -> float:
    """The Dice coefficient of their content words; 1 for equal texts."""
    return 1.0 if one.split() == other.split() else dice(one, other)


def confidence(shared: float) -> float:
    """How sure the rule `golden` is of its answer, by the Dice coefficient."""
    return round(0.5 + shared / 2 if shared >= SAME_FROM else 1 - shared, 2)


def grade_of(generated: str, reference: str) -> int:
    """The grade by the rule `grade`."""
    shared = dice(generated, reference)
    return next(value for least, value in GRADES if shared >= least)


def relevance_of(diff: str, text: str) -> int:
    """The score by the rule `relevance`."""
    words, held = profile(text).content, profile(diff).content
    share = len(words & held) / len(words) if words else 0.0
    return next(value for least, value in RELEVANCES if share >= least)


# --- rules about what was said of a change ----------------------------------------------------------------------------

NO_ISSUES = "No code issues identified."
SETTLED = ("not an issue", "no issue", "false alarm", "never mind", "by design", "works as intended")
_ROLE = r"(?:author|bot|reviewer(?: \d+)?)"
_FENCED_HUNK = re.compile(rf"{FENCED.format('hunk')}\n\nConversation:\n", re.DOTALL)
_TURN_FENCED = re.compile(rf"^{_ROLE}:\n{FENCED.format('turn')}$", re.MULTILINE | re.DOTALL)
_TURN_BARE = re.compile(rf"^{_ROLE}: (?P<turn_text>.*?)(?=\n\n{_ROLE}: |\Z)", re.MULTILINE | re.DOTALL)
_THREAD_PRAISE = re.compile(r"\s*(?:LGTM|thanks|nice|great|good)\b", re.IGNORECASE)
_ITEM = re.compile(r"^[ \t]*(?:[-*]|\d{1,2}[.)])[ \t]+(.+)$", re.MULTILINE)

MIN_WORDS = 3
_PRAISE = re.compile(r"\s*(?:LGTM|\+1|thanks|thank you|nice|great|done|good)\b", re.IGNORECASE)


def augment(request: Request) -> str:
    """A review thread as one comment: the words of its first message; as bullet points where it has two list items."""
    material = prompt_of(request).partition("\nDiff Hunk:\n")[2]
    fenced = _FENCED_HUNK.match(material)
    conversation = material[fenced.end() :] if fenced else material.partition("\n\nConversation:\n")[2]
    pattern = _TURN_FENCED if fenced or "<<<DATA " in conversation else _TURN_BARE
    first, *later = [found["turn_text"] for found in pattern.finditer(conversation)] or [""]
    if not first.strip() or _THREAD_PRAISE.match(first):
        return NO_ISSUES
    if any(words in turn.lower() for turn in later for words in SETTLED):
        return NO_ISSUES
    items = [" ".join(item.split()) for item in _ITEM.findall(first)]
    return "\n".join(f"- {item}" for item in items) if len(items) > 1 else " ".join(first.split())


def describe_defect(request: Request) -> str:
    """What was wrong before a fix: "When this code runs", and the first line of the message; null without one."""
    message = last_slot(request, "Message of the fix:\n", "\n\nWhat was written about it elsewhere:")
    title = message.strip().partition("\n")[0].rstrip(".")
    return json.dumps({"sentence": f"When this code runs: {title}." if title else None})


def low_value(request: Request) -> str:
    """Is a comment of value to its code? Low below three content words, or where it begins with praise; else high."""
    comment = last_slot(request, "Review comment:\n", "\n\nAnswer with one JSON object")
    words = len(profile(comment).content)
    low = words < MIN_WORDS or _PRAISE.match(comment) is not None
    return json.dumps({"reasoning": f"{words} content words", "relevance": "low" if low else "high"})


# --- rules about change-points ------------------------------------------------------------------------------------

TYPE_WORDS: WordTable = (
    ("F.4", ("check", "validate", "null", "none", "boundary", "overflow", "missing case")),
    ("F.3", ("leak", "close", "lock", "memory", "resource", "race", "thread")),
    ("F.1", ("signature", "interface", "argument", "parameter", "caller")),
    ("F.5", ("library", "dependency", "version", "upgrade")),
    ("F.6", ("not implemented", "whole feature", "rewrite")),
    ("F.2", ("wrong", "bug", "logic", "incorrect", "crash", "injection", "error", "fails", "loop")),
    ("E.1.1", ("comment", "docstring", "documentation", "typo", "rename", "name")),
    ("E.1.2", ("type hint", "annotation", "const", "final")),
    ("E.2", ("indent", "whitespace", "format", "blank line", "style")),
    ("E.3.1", ("move", "duplicate", "unused", "dead code", "remove")),
    ("E.3.2", ("test", "refactor", "simplify", "complex")),
)
GRAVE = ("crash", "security", "injection", "data loss", "deadlock", "corrupt")
_COMMENT = re.compile(r"^Comment (\d+)\n<<<DATA (\w+)>>>\n(.*?)\n<<<END \2>>>$", re.MULTILINE | re.DOTALL)
_POINT_ITEM = re.compile(r"^[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]+(.+)$", re.MULTILINE)
_PLACE_LINE = re.compile(r"\A\[[^\]\n]+\]\n")

OTHERWISE = "\nIn other words:\n"
HIT_FROM = 0.3
_BLOCK = re.compile(r"^([KP]\d+)\n<<<DATA (\w+)>>>\n(.*?)\n<<<END \2>>>$", re.MULTILINE | re.DOTALL)

_COMMIT = re.compile(
    rf"^(?P<label>C\d+)(?:, [\d: -]+)?\n{FENCED.format('message')}\n{FENCED.format('diff')}$", re.MULTILINE | re.DOTALL
)
_THREAD = re.compile(
    rf"^(?P<label>T\d+), a thread(?: said on (?P<on>C\d+))?\n{FENCED.format('place')}$", re.MULTILINE | re.DOTALL
)
_TURN = re.compile(
    rf"^(?P<label>T\d+)\.\d+ reviewer(?: \d+)?(?:, [\d: -]+)?\n{FENCED.format('turn')}$", re.MULTILINE | re.DOTALL
)
_PLACE = re.compile(r"(?P<path>.*?)(?:, lines? \d+(?: to \d+)?(?: before the change)?)?\Z")


def extract(request: Request) -> str:
    """A comment with list items is one point an item, any other is one point as it stands."""
    points = []
    for number, _, text in _COMMENT.findall(request.messages[1].text):
        body = _PLACE_LINE.sub("", text)
        for point in _POINT_ITEM.findall(body) or [body]:
            words = " ".join(point.split())
            kind = type_of(words)
            points.append({"comment": int(number), "point": words, "type": kind, "severity": severity_of(words, kind)})
    unique = {json.dumps(point): point for point in points}
    return json.dumps({"points": list(unique.values())})


def rate(request: Request) -> str:
    """Each point has the type and severity that the rule points_extract gives its words."""
    rated = []
    for name, _, text in _BLOCK.findall(request.messages[1].text):
        kind = type_of(text)
        rated.append({"prediction": name, "type": kind, "severity": severity_of(text, kind)})
    return json.dumps({"ratings": rated})


def severity_of(text: str, kind: str) -> int:
    """9 for a text with one of the words of `GRAVE`, 6 for a functional type, else 3."""
    return 9 if any(word in text.lower() for word in GRAVE) else 6 if kind.startswith("F") else 3


def type_of(text: str) -> str:
    """The first type with a word that begins a word of the text."""
    return first_named(TYPE_WORDS, text) or "E.3.2"


def hit(request: Request) -> str:
    """A prediction hits a known point if its content words' Dice overlap with one of the phrasings is at least .3."""
    texts = {name: text for name, _, text in _BLOCK.findall(request.messages[1].text)}
    known, predicted = ([name for name in texts if name[0] == kind] for kind in "KP")
    hits = [{"known": k, "predictions": [p for p in predicted if _alike(texts[k], texts[p])]} for k in known]
    return json.dumps({"hits": hits})


def _alike(known: str, predicted: str) -> bool:
    phrasings = _PLACE_LINE.sub("", known).split(OTHERWISE)
    return any(dice(phrasing, predicted) >= HIT_FROM for phrasing in phrasings)


def change_points(request: Request) -> str:
    """A review thread is a change-point where a later commit changes its line; the first such commit resolves it."""
    prompt = prompt_of(request)
    commits = {found["label"]: found["diff_text"] for found in _COMMIT.finditer(prompt)}
    first_words: dict[str, str] = {}
    for turn in _TURN.finditer(prompt):
        first_words.setdefault(turn["label"], turn["turn_text"])
    points = []
    for thread in _THREAD.finditer(prompt):
        where, _, hunk = thread["place_text"].partition("\n")
        place = _PLACE.match(where)
        words = first_words.get(thread["label"])
        if place is None or words is None or not commits:
            continue
        written_on = thread["on"] or next(iter(commits))
        answer = _resolution(commits, place["path"], hunk.rpartition("\n")[2][1:], written_on)
        if answer is not None:
            introduced, resolved = answer
            point = " ".join(words.split())
            origin = {"mention": thread["label"], "introduced": introduced, "resolved": resolved}
            why = {"code": None, "explanation": f"{resolved} changes it"}
            points.append({"point": point, "type": type_of(words), **origin, **why})
    return json.dumps({"points": points})


def _resolution(commits: dict[str, str], path: str, line: str, written_on: str) -> tuple[str, str] | None:
    """(the commit that brought the file's code, the later one that changed the line); None where none did."""
    number = int(written_on[1:])
    touching = {label: part for label, diff in commits.items() if (part := _of_file(diff, path))}
    before = [label for label in touching if int(label[1:]) <= number]
    later = [label for label, part in touching.items() if int(label[1:]) > number and (not line or f"-{line}" in part)]
    return ((before[-1] if before else next(iter(commits))), later[0]) if later else None


def _of_file(diff: str, path: str) -> list[str]:
    """The lines of one file in a diff."""
    parts = re.split(r"^(?==== )", diff, flags=re.MULTILINE)
    return next((part.split("\n") for part in parts if part.startswith(f"=== {path} (")), [])


# --- rules that sort comments and changes by tables of words --------------------------------------------------------

CATEGORY_WORDS: WordTable = (
    ("Security Vulnerability", ("security", "injection", "attack", "vulnerab", "secret", "password", "token", "XSS")),
    ("Performance", ("performance", "slow", "latency", "inefficient", "O(n", "cache", "allocation", "redundant")),
    ("Code Defect", ("bug", "wrong", "crash", "error", "incorrect", "fail", "null", "none", "leak", "race", "never")),
)
CONTEXT_WORDS: WordTable = (
    ("repo", ("caller", "other file", "elsewhere", "other module", "other places", "codebase", "repository")),
    ("file", ("this file", "the file", "the class", "other function", "above", "below")),
)
DOMAIN_WORDS: WordTable = (
    ("SV", ("security", "CVE", "vulnerab")),
    ("BF", ("fix", "bug", "crash", "correct", "repair")),
    ("DE", ("bump", "upgrade", "dependenc")),
    ("TC", ("test", "CI", "coverage")),
    ("DU", ("doc", "readme", "typo")),
    ("PO", ("speed", "performance", "faster", "cache", "optimi")),
    ("CA", ("refactor", "clean", "move", "rename", "extract", "split")),
    ("CLF", ("lint", "format", "style")),
)


def category(request: Request) -> str:
    """The first category with a word that begins a word of the comment, else Maintainability and Readability."""
    comment = last_slot(request, "Review Comment:\n", "\n=====\nOutput:")
    return first_named(CATEGORY_WORDS, comment) or "Maintainability and Readability"


def context(request: Request) -> str:
    """Repo or file, the first with a word such as "caller" that begins a word of the comment, else diff."""
    return first_named(CONTEXT_WORDS, last_slot(request, "Review comment:\n", "\n\nAnswer with one word")) or "diff"


def domain(request: Request) -> str:
    """The first domain with a word that begins a word of the title, else NFA, a new feature."""
    return first_named(DOMAIN_WORDS, last_slot(request, "PR Title:\n", "\n\nPR Description:")) or "NFA"


def change_type(request: Request) -> str:
    """The type that the rule points_extract gives a change-point with the words of the comment."""
    return type_of(last_slot(request, "Review comment:\n", "\n\nAnswer with the code alone"))


class Rule(NamedTuple):
    """How the fake model answers one task. Only prompts of this task hold the words of `opening`."""

    task: str
    opening: str
    reply: Callable[[Request], str]


RULES: tuple[Rule, ...] = (
    # These come first: their requests hold the prompts of others.
    Rule("reflect", "You improve the prompt of a code reviewer by what it did.", reflect),
    Rule("vary", "You write a variant of the prompt of a code reviewer.", vary),
    Rule("choose_context", "You choose what a code reviewer is shown beside a change.", choose),
    Rule("review", "You are an expert code reviewer. Your task is to review the following code changes", review),
    Rule("assess", "You decide whether one part of a pull request can be merged as it is.", merge),
    Rule("locate", "You name the lines of a hunk that most need a reviewer's comment.", locate),
    Rule("comment", "You write the review comment on given lines of a hunk.", comment),
    Rule("plain_review", "You are shown a change as a diff and answer with one review comment", plain_review),
    Rule("report", "You review a pull request and write a review report.", report),
    Rule("ranked_report", "You report few problems, and only those that you would block the merge for.", ranked_report),
    Rule("same_concern", "Determine whether two given review comments express the same concern", same_concern),
    Rule("golden", "Does the candidate comment raise the issue of the golden comment?", golden),
    Rule("points_extract", "You list the change-points of a code review.", extract),
    Rule("points_hit", "You compare the change-points that a code review predicted", hit),
    Rule("points_rate", "You rate the change-points that a code review predicted", rate),
    Rule("grade", "Scenario Matching: I am going to give you a generated code review", grade),
    Rule("relevance", "You will be asked to rate the relevance of reviews for given", relevance),
    Rule("class_category", "classify the reported issue into exactly one of the following categories", category),
    Rule("class_context", "You judge how much code a reviewer must see", context),
    Rule("class_domain", "classifying GitHub Pull Requests based on their Title and Description", domain),
    Rule("class_type", "You sort code review comments by the type of change", change_type),
    Rule("finding_right", "Is the finding below right about this change?", finding_right),
    Rule("low_value", "Is the review comment below of high or of low relevance to its code?", low_value),
    Rule("augment", "You are a senior code reviewer tasked with summarizing code review discussions.", augment),
    Rule("describe_defect", "You say in one sentence what was wrong in code that a later fix mended.", describe_defect),
    Rule("claims", "You list what a code change does and what may follow from it.", claims),
    Rule("change_points", "You read the history of a pull request and list its change-points.", change_points),
)
