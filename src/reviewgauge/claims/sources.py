"""The claims of a change from each source: `offline_claims` by its lines and by analysers, `model_claims` by a model.

Source of the issues of analysers: CRScore (arXiv:2409.19801), 3.2, which takes PyScent's smells, PMD and JSHint; here
every tool of `repo/analysers` that is installed. Rules about security and performance are sources of their own.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from reviewgauge.claims.by_line import SENTENCES, SOURCE, change_claims
from reviewgauge.claims.model import ask_claims
from reviewgauge.core.records import Change, Claim, Severity
from reviewgauge.models.text.words import raw_words, stem
from reviewgauge.repo.analysers.run import TOOLS, AnalyserSettings, Finding, analyse, installed, versions
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.processes import RecentlyUsed

EXACT = frozenset({SOURCE})  # sources whose sentences differ where what they say differs
ALIKE = 0.8  # Jaccard similarity of the stemmed words from which on two claims are one
MOST_ISSUES = 40  # issues of a change
SECURITY, PERFORMANCE = "security", "performance"
_SECURITY_RULE = re.compile(r"ruff:S\d")
_ORDER = {grade: number for number, grade in enumerate(Severity)}


def offline_claims(change: Change, *, tools: bool = True) -> tuple[Claim, ...]:
    """What the change does, line by line, and with `tools` what static analysers find where its code is at hand.

    The same for the same change, as long as the same analysers are installed. Raises AnalyserTimeout, AnalyserCrash.
    """

    def make() -> tuple[Claim, ...]:
        return merged(change_claims(change), finding_claims(change) if tools else ())

    key = f"{tools} {change.model_dump_json()}".encode("utf-8", "surrogatepass")
    return _MADE.of(hashlib.blake2b(key, digest_size=16).digest(), make, lambda claims: len(claims) + 1)


def offline_pins(*, tools: bool = True) -> Mapping[str, str]:
    """What the claims rest on: the version of the sentences, and with `tools` those of the analysers."""
    return {"sentences": SENTENCES, **(versions() if tools else {})}


def model_claims(change: Change, language: str, model: str) -> tuple[Claim, ...]:
    """What `model` says that the change does and implies. Raises Failed where no answer can be read."""
    return merged(ask_claims(change, language, model))


_MADE: RecentlyUsed[bytes, tuple[Claim, ...]] = RecentlyUsed(20_000)  # the reviews of one change come one by one


def merged(*sources: Sequence[Claim]) -> tuple[Claim, ...]:
    """The claims of all sources in order, with the ids "1", "2" ...

    Of claims with the same words, or nearly the same, the first stays, and its source names the others' too, joined
    with "+". Claims at different lines are different, and those of one exact source are as long as a sign differs.
    """
    kept: list[Claim] = []
    words: list[frozenset[str]] = []
    for claim in (one for source in sources for one in source):
        mine = frozenset(map(stem, raw_words(claim.body)))
        if not claim.body.strip():
            continue
        at = next((i for i, other in enumerate(kept) if _same(claim, other, mine, words[i])), None)
        if at is None:
            kept.append(claim)
            words.append(mine)
        else:
            names = dict.fromkeys([*kept[at].source.split("+"), *claim.source.split("+")])
            kept[at] = kept[at].model_copy(update={"source": "+".join(filter(None, names))})
    return tuple(claim.model_copy(update={"id": str(i)}) for i, claim in enumerate(kept, 1))


def _same(claim: Claim, other: Claim, mine: frozenset[str], theirs: frozenset[str]) -> bool:
    if claim.body == other.body:
        return True
    if claim.line and other.line and claim.line != other.line:
        return False
    if claim.source == other.source in EXACT or min(len(mine), len(theirs)) < ALIKE * max(len(mine), len(theirs), 1):
        return False
    shared = len(mine & theirs)
    return shared > 0 and shared >= ALIKE * (len(mine) + len(theirs) - shared)


def finding_claims(change: Change) -> tuple[Claim, ...]:
    """The findings on changed lines of the head version, the most severe first; none where no code is at hand.

    The sources are the tools that agree, and "security" or "performance" for such a rule, joined with "+". Raises
    AnalyserTimeout and AnalyserCrash.
    """
    if change.git is None or change.head is None or not change.has_diff:
        return ()
    settings = AnalyserSettings(tools=tuple(tool for tool in TOOLS if tool in installed()))
    found = analyse(Repository(Path(change.git)), change, settings).findings
    chosen = sorted(found, key=lambda one: _ORDER[one.severity])[:MOST_ISSUES]
    several = len(change.files) > 1
    return tuple(
        Claim(
            id=str(number),
            body=_sentence(one, several),
            kind="issue",
            source="+".join(dict.fromkeys(_sources(one))),
            line=one.start,
        )
        for number, one in enumerate(chosen, 1)
    )


def _sources(finding: Finding) -> Iterator[str]:
    yield finding.tool
    rules = [f"{finding.tool}:{finding.rule}", *finding.agree]
    yield from (rule.partition(":")[0] for rule in rules)
    if any(_SECURITY_RULE.match(rule) for rule in rules) or SECURITY in finding.category.lower():
        yield SECURITY
    if any(rule.startswith("ruff:PERF") for rule in rules) or PERFORMANCE in finding.category.lower():
        yield PERFORMANCE


def _sentence(finding: Finding, several: bool) -> str:
    message = " ".join(finding.message.replace("\x00", "").split()).rstrip(".")
    place = f"{finding.path}, line {finding.start}" if several else f"Line {finding.start}"
    if finding.rule == "cyclomatic" and finding.function:
        message = f"`{finding.function}` is hard to follow: {message}"
    elif finding.function and finding.tool != "smells":
        message += f" (in `{finding.function}`)"
    return f"{place}: {message}."
