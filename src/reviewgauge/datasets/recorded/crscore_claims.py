"""Phase 1 of the CRScore study: is each generated claim about a change correct, and which were missing?

The codes are those of the files: 1 correct, 0 incorrect, -1 unverifiable, -2 incomplete; 2 occurs where a rater could
not decide (the paper's codebook has 2, ambiguous, and no -2). The rates of Table 1 rest on 1, 0 and -1 alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reviewgauge.core.json_reader import build
from reviewgauge.core.labels import Label, Subject, SubjectKind
from reviewgauge.core.records import Claim
from reviewgauge.datasets.recorded.crscore_tables import Language, Pair

ACCURACY = "accuracy"
WORDS = {1: "correct", 0: "incorrect", -1: "unverifiable", -2: "incomplete", 2: "ambiguous"}
# The rows behind the paper's Cohen's kappa: the last 100 of the 115 that both raters coded.
KAPPA_ROWS = {"py": range(395, 495)}


@dataclass(frozen=True, slots=True)
class ClaimRates:
    """What became of a language's generated claims: the row of Table 1 in the paper."""

    correct: int
    incorrect: int
    unverifiable: int
    added: int
    incomplete: int
    ambiguous: int
    uncoded: int

    @property
    def n(self) -> int:
        """The claims that the rates are of: correct, incorrect and unverifiable ones."""
        return self.correct + self.incorrect + self.unverifiable

    @property
    def accuracy(self) -> float | None:
        """The share of correct claims; None without claims."""
        return self.correct / self.n if self.n else None

    @property
    def error_rate(self) -> float | None:
        """The share of incorrect claims."""
        return self.incorrect / self.n if self.n else None

    @property
    def unverifiable_rate(self) -> float | None:
        """The share of claims that nothing confirms or contradicts."""
        return self.unverifiable / self.n if self.n else None

    @property
    def missing_rate(self) -> float | None:
        """Claims that the raters added, per coded claim."""
        return self.added / self.n if self.n else None


def claim_rates(pairs: Sequence[Pair]) -> ClaimRates:
    """The rates of one language, each claim by the rater whose copy counts."""
    codes = Counter(_code(pair, pair.rater) for pair in pairs)
    added = sum(bool(pair.row.word("additional claims")) for pair in pairs)
    counts = {word: codes[code] for code, word in WORDS.items()}
    return ClaimRates(**counts, added=added, uncoded=codes[None])


def generated_claims(pairs: Sequence[Pair]) -> dict[str, list[Claim]]:
    """The claims that the model wrote about each change, by its index, with their status; ids g1, g2 and so on."""
    found: dict[str, list[Claim]] = {}
    for pair in pairs:
        body = pair.row.text("claim")
        if not body:
            continue
        own = found.setdefault(pair.row.case, [])
        code = _code(pair, pair.rater)
        own.append(
            build(
                Claim,
                pair.row.at,
                id=f"g{len(own) + 1}",
                body=body,
                source="model",
                status=None if code is None else WORDS[code],
            )
        )
    return found


def accuracy_labels(language: Language, pairs: Sequence[Pair]) -> Iterator[Label]:
    """Every code that either rater gave; where both coded a claim, both are independent labels of it.

    In words, since the numbers of the files have no order: nobody can take their mean, or a weighted kappa.
    """
    counted: Counter[str] = Counter()
    batch = KAPPA_ROWS.get(language.code, range(0))
    for pair in pairs:
        if not pair.row.text("claim"):
            continue
        counted[pair.row.case] += 1
        subject = Subject(
            kind=SubjectKind.CLAIM, case=f"{language.code}-{pair.row.case}", claim=f"g{counted[pair.row.case]}"
        )
        for rater, _ in pair.copies():
            code = _code(pair, rater)
            if code is not None:
                inside = pair.row.number in batch
                yield Label(
                    subject=subject,
                    rater=rater,
                    dimension=ACCURACY,
                    value=WORDS[code],
                    batch=f"{batch[0]}-{batch[-1]}" if inside else None,
                )


def _code(pair: Pair, rater: str) -> int | None:
    row = dict(pair.copies())[rater]
    return row.whole("Correctness", -2, 2)
