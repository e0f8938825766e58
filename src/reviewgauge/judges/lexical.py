"""Two comments raise the same thing when a small logistic model over their shared words says so; needs no model call.

Source: own model over 24 lexical features, fitted on the recorded verdicts of three model judges (Martian,
https://github.com/withmartian/code-review-benchmark, MIT) and on human claim-review links (CRScore, Naik et al. 2025,
MIT). Probabilities by Platt scaling (Platt 1999). A change of a repository that the fit has seen is judged by a fit on
the others. Card and figures: docs/explanation/offline-judge.md.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import ClassVar

from reviewgauge.core.protocols import Judge
from reviewgauge.core.records import Case, Change, Comment, Origin, Review, groups_of
from reviewgauge.core.results import Verdict
from reviewgauge.core.trust import FilePath
from reviewgauge.judges.pairs.fixes import FixText, added_words, fix_text, proposes
from reviewgauge.judges.pairs.lexical_model import LexicalModel, check_band, load_weights, most_by_words
from reviewgauge.models.text.lexical import profile, shared_words
from reviewgauge.models.text.words import prose, raw_words, stem, tokens

SAME_WORDS = 0.999  # the probability of two comments whose words are the same
PROPOSED = 0.9  # of a comment that proposes a line of the fix: of 317 fixes 78% do, told back, and of others 0.2%
SAME_FAULT = 0.8  # the least of one that speaks of the same kind of fault as an injected defect
VerdictTable = Sequence[Sequence[Verdict | None]]


@dataclass(frozen=True)
class Lexical(Judge):
    """The offline judge. Its figures estimate those of a model judge.

    A probability from `low` to `high` is *unsure*. `cut` replaces the fitted threshold. `weights` is the file of
    one's own fit (benchmarks/fit_lexical_judge.py); empty means the one that is shipped. Changes of a repository in
    the training data are judged, threshold included, by the fit in that file that has not seen the repository.
    """

    low: float = 0.1
    high: float = 0.9
    cut: float | None = None
    weights: FilePath = ""

    kind: ClassVar[str] = "judges"
    estimate: ClassVar[str] = "offline estimate"

    def __post_init__(self) -> None:
        check_band(self.low, self.high, self.cut, "probability")

    @property
    def threshold(self) -> float:
        """The threshold of the final fit, or `cut`. The `same` of a verdict uses the threshold of its own fit."""
        return load_weights(self.weights)[0].threshold if self.cut is None else self.cut

    @property
    def sure(self) -> float:
        """The upper end of the unsure band."""
        return self.high

    @property
    def penalty(self) -> float:
        """How far a reference that loses its best comment falls below its own maximum."""
        return load_weights(self.weights)[0].penalty

    @property
    def base_rate(self) -> float | None:
        """Share of the references that were hit in the reviews behind the calibration."""
        return load_weights(self.weights)[0].base_rate

    def pins(self) -> Mapping[str, str]:
        """The hash of the file of weights: the final fit and the held-out ones."""
        return {"lexical weights": load_weights(self.weights)[1][:16]}

    def judge(
        self, case: Case, comments: Sequence[Comment], references: Sequence[Comment], review: Review
    ) -> VerdictTable:
        """A Verdict for every pair, by weights that have not seen the case's repository."""
        model = self._model(case)
        cut = model.weights.threshold if self.cut is None else self.cut
        said = [[added_words(c, r, case.change) for r in references] for c in comments]
        table = model.first(said, [fix_text(r) or r.body for r in references], finding_names(references))
        return [
            [self._verdict(p, (c, r, case.change), cut) for p, r in zip(row, references, strict=True)]
            for row, c in zip(table, comments, strict=True)
        ]

    def refine(
        self, case: Case, tables: Mapping[str, VerdictTable], reviews: Mapping[str, Review]
    ) -> Mapping[str, VerdictTable]:
        """The second stage: agreement with the other systems' comments. With one system nothing changes.

        Columns are the case's references, neutral and rejected comments, in this order, or the first of them.
        """
        judged = {system: table for system, table in tables.items() if len(table)}
        known = (*case.references, *case.neutral, *case.rejected)
        widths = {len(row) for table in judged.values() for row in table}
        if len(judged) < 2 or len(widths) != 1 or max(widths) > len(known):
            return tables
        columns = known[: max(widths)]
        before = {s: [[v.probability if v else 0.0 for v in row] for row in table] for s, table in judged.items()}
        comments = {system: reviews[system].comments for system in judged}
        bodies = {system: [c.body for c in said] for system, said in comments.items()}
        model = self._model(case)
        after = model.second(before, bodies, finding_names(columns))
        cut = model.weights.second_threshold if self.cut is None else self.cut
        refined: dict[str, VerdictTable] = dict(tables)
        for system, table in judged.items():
            refined[system] = [
                [
                    old and self._verdict(p, (c, column, case.change), cut, old.probability)
                    for old, p, column in zip(row, new, columns, strict=True)
                ]
                for row, new, c in zip(table, after[system], comments[system], strict=True)
            ]
        return refined

    def _model(self, case: Case) -> LexicalModel:
        return _ready(self.weights, load_weights(self.weights)[0].fold(case.change.repo))

    def _verdict(
        self, probability: float, pair: tuple[Comment, Comment, Change], cut: float, before: float | None = None
    ) -> Verdict:
        comment, reference, change = pair
        if same_words(comment.body, reference.body):
            return Verdict(probability=SAME_WORDS, same=True, reason="the same words")
        if proposes(comment, reference, change):
            return Verdict(probability=max(probability, PROPOSED), same=True, reason="proposes a line of the fix")
        if reference.origin is Origin.INJECTED:
            return self._of_injected(probability, added_words(comment, reference, change), reference, cut)
        told = " ".join(fix_text(reference) or (reference.body,))
        enough = probability >= self.low
        reason = _reason(added_words(comment, reference, change), told) if enough else "little in common"
        if before is not None and abs(before - probability) >= 0.1:
            direction = "more" if probability > before else "less"
            reason += f"; {direction} likely given the other systems' comments ({before:.2f} before)"
        return Verdict(
            probability=round(probability, 4),
            same=probability >= cut,
            unsure=self.low < probability < self.high,
            reason=reason,
        )

    def _of_injected(self, probability: float, said: str, reference: Comment, cut: float) -> Verdict:
        """The verdict on an injected defect, whose place is known exactly: the kind of fault is enough.

        Empty words share neither a kind nor a rarer word with the operator's sentence.
        """
        kind = same_fault(said, reference)
        most = most_by_words(said, FixText(reference.body, ""))
        probability = round(max(probability, SAME_FAULT) if kind else min(probability, most), 4)
        reason = f"the same kind of fault: {kind}" if kind else _reason(said, reference.body)
        return Verdict(
            probability=probability,
            same=probability >= cut,
            unsure=self.low < probability < self.high,
            reason=reason if probability >= self.low else "little in common",
        )


@lru_cache(maxsize=64)
def _ready(path: str, fold: str) -> LexicalModel:
    stored = load_weights(path)[0]
    return LexicalModel(stored.held_out[fold] if fold else stored)


def finding_names(references: Sequence[Comment]) -> list[str]:
    """The finding of each reference, named by the id of its first phrasing."""
    names = [""] * len(references)
    for indices in groups_of(references):
        for i in indices:
            names[i] = references[indices[0]].id
    return names


def same_words(one: str, other: str) -> bool:
    """Whether two texts are equal but for white space and letter case."""
    return one == other or _plain(one) == _plain(other)


@lru_cache(maxsize=8192)
def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def _reason(comment: str, reference: str) -> str:
    """The rarest words that both texts hold, as the reference writes them; names of code in backticks."""
    written: dict[str, str] = {}
    for word in raw_words(prose(reference)):
        written.setdefault(stem(word), word)
    one, other = profile(comment), profile(reference)
    names = sorted(one.identifiers & other.identifiers, key=lambda name: (-len(name), name))[:2]
    rare = [written.get(word, word) for word in shared_words(one, other, 6)]
    parts = [f"`{name}`" for name in names] + [word for word in rare if not any(word in name for name in names)][:3]
    return f"shares {', '.join(parts)}" if parts else "shares no content word"


# --- kinds of fault: by them a comment on an injected defect means it or something else -------------------------------


def _phrase(text: str) -> str:
    """The stems of a text in a row, between blanks."""
    return f" {' '.join(tokens(text))} "


_KINDS: dict[str, frozenset[str]] = {
    kind: frozenset(map(_phrase, listed.split("|")))
    for kind, listed in tomllib.loads(
        files("reviewgauge.judges.pairs").joinpath("faults.toml").read_text("utf-8")
    ).items()
}


@lru_cache(maxsize=4096)
def faults(text: str) -> frozenset[str]:
    """The kinds of fault in a text."""
    row = _phrase(text)
    return frozenset(kind for kind, phrases in _KINDS.items() if any(phrase in row for phrase in phrases))


def same_fault(said: str, defect: Comment) -> str:
    """A kind of fault that a text and the sentence of an injected defect both speak of; empty where there is none."""
    operator = str(defect.extra.get("operator") or "")
    return min(faults(said) & faults(f"{defect.body}\n{operator}"), default="")
