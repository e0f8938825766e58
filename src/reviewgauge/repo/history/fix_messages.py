"""Reads commit messages: which say that they fix a defect, which only sound like it, which commits they revert.

Keywords and closing words as in Śliwerski, Zimmermann and Zeller (MSR 2005) and GitHub's "linking a pull request to
an issue". What people call a fix is often not one (a typo, a test, the build): Herzig, Just and Zeller (ICSE 2013)
found that a third of the issues filed as bugs were not bugs. Such messages are recognised here, each with a reason.
Words are English; the commonest words of ten further languages count as a hint, which never makes a label.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from reviewgauge.repo.tables import pattern, read_table

LONGEST_READ = 20_000  # characters of a message that are looked at
_LONGEST_TITLE = 300


class FixKind(StrEnum):
    """How sure a message makes us that its commit fixes a defect."""

    YES = "yes"
    PERHAPS = "perhaps"  # enough to doubt that the code it changes was right, too little for a label
    NO = "no"


@dataclass(frozen=True, slots=True)
class FixSigns:
    """The signs of a fix in a message. `reason` is one of few, so that it can be counted.

    `reverts` are commit ids as the text has them. `is_revert`: the title says so; the commit restores code and fixes
    by undoing. `issues` are those that the message says it closes, `reverted_pulls` the pull requests it takes back.
    """

    kind: FixKind
    reason: str
    reverts: tuple[str, ...] = ()
    is_revert: bool = False
    issues: tuple[int, ...] = ()
    reverted_pulls: tuple[int, ...] = ()


_LISTS = read_table(__package__, "fix_messages")

_CLOSING = r"(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)"
_REPO = r"(?:[\w.-]{1,100}/[\w.-]{1,100})?"
_NUMBER = rf"(?:{_REPO}#|gh-|https?://[\w.-]{{1,200}}/[\w./-]{{1,200}}/(?:issues|pull)/)(\d{{1,9}})\b"
_CLOSES = re.compile(rf"\b{_CLOSING}:?\s++(?:(?:issue|bug|ticket)s?\s*+:?\s*+)?{_NUMBER}", re.IGNORECASE)
_NAMED = re.compile(r"\b(?:issue|bug|ticket|defect)s?\s*+(?:no\.?\s*+)?[:#]?\s*+#?(\d{1,9})\b", re.IGNORECASE)
_ANY = re.compile(rf"(?<![\w/#]){_NUMBER}", re.IGNORECASE)

_REVERT = pattern(_LISTS["revert"])
_REVERTED_PULLS = pattern(_LISTS["reverted_pulls"])
_MARKS = re.compile(r"(?:\[[^\]]{0,60}\]\s*)+")  # "[PR #12/3f backport][3.11] "
_REVERT_TITLE = re.compile(r"(?:revert(?:s|ed|ing)?\b[:\s]|back(?:ed)?[ -]?out\b|undo\b)", re.IGNORECASE)
_CONVENTIONAL = re.compile(r"([a-z]{2,12})(?:\(([^()]{0,60})\))?!?:\s+\S", re.IGNORECASE)
_FIX_TYPES = {"fix", "bugfix", "hotfix", "bug"}


def _words(*words: str) -> re.Pattern[str]:
    """Any of the words; `_` stands for a blank, a hyphen or `_` inside of one."""
    each = "|".join(word.replace("_", "[ _-]") for word in words)
    return re.compile(rf"(?<!\w)(?:{each})(?!\w)", re.IGNORECASE)


_NO_FIX_TYPES: dict[str, str] = _LISTS["no_fix_types"]
# What the title is about, in the order in which it is tried. Only the title: bodies mention everything.
_NO_FIX = {reason: _words(*words) for reason, words in _LISTS["no_fix"].items()}
_MAY_FIX = {"tests or CI", "porting", "refactoring"}  # where code changes too, a word of fixing makes a doubt
_WORDS = _words(*_LISTS["fix"])
_HINTS = _words(*_LISTS["hints"])
_EASTERN_HINTS = re.compile(r"修复|修正|不具合|缺陷|バグ|버그|수정")
_FEATURES = pattern(_LISTS["features"])
_COMPLAINTS = _words(*_LISTS["complaints"])
_OPTIONS = _words(*_LISTS["options"])
_TO_FIX = pattern(_LISTS["to_fix"])
_BESIDE_CODE = _words(*_LISTS["beside_code"])
_WISH = "feature that closes or mentions a defect"
CLOSES_AN_ISSUE = "closes an issue"  # the only sign: a feature may close one as well
_ASIDE = pattern(_LISTS["aside"])
_VAGUE = pattern(_LISTS["vague"])
_ONLY_WHERE = pattern(_LISTS["only_where"])
_SEVERAL = pattern(_LISTS["several"])
_BULLET = re.compile(r"(?m)^[^\S\n]*[*-]\s.*$")  # a squashed pull request lists its commits
_TANGLED = _words(*_LISTS["tangled"])
_SECOND = pattern(_LISTS["second"])
_PULL_TITLE = re.compile(r"Merge pull request #\d+ from \S+\s*", re.IGNORECASE)
_NOT_A_FIX_OF_CODE = pattern(_LISTS["not_a_fix_of_code"])


def read_message(message: str) -> FixSigns:
    """The signs of a fix in the message of a commit, or of the merge of a pull request."""
    message = message[:LONGEST_READ]
    title, _, body = _pull_title(message).strip().partition("\n")
    title = title.strip()[:_LONGEST_TITLE]
    ids = (commit for found in _REVERT.findall(message) for commit in re.findall(r"[0-9a-f]{7,40}", found.lower()))
    reverted = tuple(dict.fromkeys(ids))
    issues = issue_numbers(message, closed=True)
    numbers = (int(n) for found in _REVERTED_PULLS.findall(message) for n in re.findall(r"\d+", found))
    pulls = tuple(dict.fromkeys(numbers))

    def signs(kind: FixKind, reason: str, is_revert: bool = False) -> FixSigns:
        return FixSigns(kind, reason, reverted, is_revert, issues, pulls)

    if _REVERT_TITLE.match(bare := _MARKS.sub("", title, count=1) if title.startswith("[") else title):
        if re.match(r"revert[\s:]+[\"'“]?revert\b", bare, re.IGNORECASE):
            return signs(FixKind.NO, "revert of a revert")
        return signs(FixKind.YES if reverted else FixKind.PERHAPS, "revert", True)
    prefix = found[1].lower() if (found := _CONVENTIONAL.match(title)) else ""
    if prefix in _NO_FIX_TYPES:
        return signs(FixKind.NO, f"no bug fix: {_NO_FIX_TYPES[prefix]}")
    about = _ASIDE.sub("", title)  # "fix the parser and add tests" is about the parser
    if other := _other_work(about, closes=bool(issues), fixes=prefix in _FIX_TYPES):
        return signs(*other)
    plain = _NOT_A_FIX_OF_CODE.sub(" ", _CLOSES.sub(" ", about))  # "Add a pool, fixes #12" ends a wish
    named = prefix in _FIX_TYPES or _WORDS.search(plain) is not None
    if (named or _WORDS.search(about)) and not says_what(message):
        return signs(FixKind.PERHAPS, "does not say what it fixes")
    if named and _FEATURES.match(plain.strip(" :;-.,()")) and not _TO_FIX.search(about):
        return signs(FixKind.PERHAPS, _WISH)
    if named:
        return signs(*_named_fix(plain, f"{about}\n{_BULLET.sub('', body)}", conventional=prefix in _FIX_TYPES))
    if _FEATURES.match(plain.strip(" :;-.,()")):
        hinted = bool(issues) or _WORDS.search(body) or _HINTS.search(title)
        return signs(FixKind.PERHAPS, _WISH) if hinted else _none(issues)
    if _closes_a_bug(message):
        if _OPTIONS.search(about) or not _COMPLAINTS.search(plain):
            return signs(FixKind.PERHAPS, _WISH)
        return signs(FixKind.YES, CLOSES_AN_ISSUE)
    if _WORDS.search(_NOT_A_FIX_OF_CODE.sub(" ", body)) or _HINTS.search(plain) or _EASTERN_HINTS.search(plain):
        return signs(FixKind.PERHAPS, "word that may mean a defect")
    return _none(issues)


def _other_work(about: str, *, closes: bool, fixes: bool) -> tuple[FixKind, str] | None:
    """What a title is about that is not the behaviour of code, and whether it may be a fix even so."""
    reason = next((reason for reason, words in _NO_FIX.items() if words.search(about)), "")
    if reason in _MAY_FIX and _WORDS.search(about):
        return FixKind.PERHAPS, f"{reason}, with a word of fixing"
    if reason and (fixes or (_BESIDE_CODE.search(about) and (closes or _WORDS.search(about)))):
        return FixKind.PERHAPS, f"{reason}, with a word of fixing"
    return (FixKind.NO, f"no bug fix: {reason}") if reason else None


def _named_fix(plain: str, text: str, *, conventional: bool) -> tuple[FixKind, str]:
    """What a title that calls itself a fix is."""
    if _SEVERAL.search(plain):
        return FixKind.PERHAPS, "several fixes at once"
    if _TANGLED.search(text) or _SECOND.search(plain):
        return FixKind.PERHAPS, "fixes one thing and changes others"
    return FixKind.YES, "conventional commit" if conventional else "word in the title"


def speaks_of_a_defect(text: str) -> bool:
    """Whether any word of a text may mean that something was wrong."""
    return any(words.search(text[:LONGEST_READ]) for words in (_WORDS, _HINTS, _COMPLAINTS))


def says_what(message: str) -> bool:
    """Whether a message says more than that something was fixed: "fixes", "Fix #12" and "minor fixes" do not."""
    title, _, body = _pull_title(message[:LONGEST_READ]).strip().partition("\n")
    title = title.strip()[:_LONGEST_TITLE]
    body = re.sub(r"(?m)^[^\S\n]*[\w-]+-by:.*$", "", body)
    if not _is_vague(body):
        return True
    return not _is_vague(title) and _ONLY_WHERE.fullmatch(title) is None


def _is_vague(text: str) -> bool:
    return _VAGUE.fullmatch(re.sub(r"@\w+|https?://\S+", "", _ASIDE.sub("", text))) is not None


def _none(issues: tuple[int, ...]) -> FixSigns:
    return FixSigns(FixKind.NO, "says nothing of a defect", issues=issues)


def _pull_title(message: str) -> str:
    """The message; for the merge of a pull request, what follows its first line: the pull request's title."""
    found = _PULL_TITLE.match(message)
    rest = message[found.end() :].strip() if found else ""
    return rest or message


def _closes_a_bug(message: str) -> bool:
    """`Fixes #12` says that something was broken; `Closes #12` may end any wish."""
    return any(found[0].lower().startswith("fix") for found in _CLOSES.finditer(message)) or bool(
        re.search(r"\b(?:bug|defect)s?\s*#?\d", message, re.IGNORECASE)
    )


def issue_numbers(message: str, closed: bool = False) -> tuple[int, ...]:
    """The numbers of the issues that a message refers to, in its order, or only of those that it says it closes.

    `#12`, `GH-12`, `owner/name#12`, an address that ends in `/issues/12`, `issue 12`, `bug 12`; closing words are
    GitHub's nine. The number that GitHub puts behind the title of a squashed pull request, `(#12)`, does not count.
    """
    first, _, rest = message[:LONGEST_READ].partition("\n")
    text = re.sub(r"\((?:#\d+(?:,\s*)?)+\)\s*$", "", first) + "\n" + rest
    text = _PULL_TITLE.sub("", text)
    patterns = (_CLOSES,) if closed else (_CLOSES, _NAMED, _ANY)
    found = sorted((match.start(1), int(match[1])) for pattern in patterns for match in pattern.finditer(text))
    return tuple(dict.fromkeys(number for _, number in found))
