"""CRScore: does a review speak about what the change does and what is wrong with it? It needs no reference.

Source: Naik, Alenius, Fried and Rose, "CRScore: Grounding Automated Evaluation of Code Review Comments in Code Claims
and Smells", NAACL 2025, arXiv:2409.19801, equations 1 to 3; the slip of its code is that of
github.com/atharva-naik/CRScore.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from reviewgauge.claims.sources import offline_claims, offline_pins
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Measured, Metric
from reviewgauge.core.records import Case, Claim, Comment, Review, findings
from reviewgauge.core.results import Bounds, Coverage, Failure, FailureKind, Link, Parts
from reviewgauge.core.specs import in_shell
from reviewgauge.core.trust import ModelName, Word
from reviewgauge.metrics.coverage.sentences import published_sentences, sentences
from reviewgauge.metrics.coverage.vectors import LEXICAL, Matrix, Texts, TextVectors, cosines, published_cosines
from reviewgauge.models.embeddings.embedder import Embedder, check_fitted_for
from reviewgauge.models.embeddings.load import embedder
from reviewgauge.models.text.idf import load_idf
from reviewgauge.repo.analysers.run import AnalyserCrash, AnalyserTimeout

# The thresholds that `validate --sweep` found, by the fingerprint of the model that they belong to.
#
# Fitted by CRScore's rule on the reviews of gpt3.5 in crscore_study, Python and Java: 507 sentences on 196 changes.
# When
# a shipped table of rare words changes, so does its fingerprint, and the threshold is to be fitted again.


CON, COMP, REL = "con", "comp", "rel"
NO_CLAIMS = "there is nothing to claim about the change"
NO_REFERENCES = "the case has no reference comment"
NO_DIFF = "the case has no claims and no diff to make them from; claims='references' takes the reference comments"
MOST_PAIRS = 1_000_000  # of a claim and a sentence in one review: under a second to assign
Pairs = tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]  # claims, sentences
_SILENT: Parts = {CON: 0.0, COMP: 0.0, REL: 0.0}


SHIPPED: Mapping[str, float] = {
    "8c64bfd359b5cbeace410ee27cea9b4b3d0ee4e8cc94d7130b1751ea50e1b47d": 0.313,  # words
    "7a517a3b242df5763069d1a2644c64e36f6d5c3e824873cf1eca830d2ff45487": 0.251,  # chars
    "ad25fda1ac1ca095be7d4e12e92fe9295fdf219b55881af69c342b7a03a1ec5c": 0.494,  # all-MiniLM-L6-v2
}


@dataclass(frozen=True)
class Crscore(Metric):
    """How much of a review is about the change (`con`), how much of the change it covers (`comp`), and both (`rel`).

    A change has claims: what it does, and what analysers say of it. Each sentence is paired with one claim at most, and
    each claim with one sentence, for the highest sum of cosines. `con` is that sum over the sentences, `comp` over the
    claims, `rel` their harmonic mean; 0 for a review without sentences. With `soft=False` they are shares: of the
    sentences close to a claim, of the claims close to a sentence, above `threshold`. `variant="closest"` is the mean of
    the closest cosines. `model` says what a cosine is taken of: "chars" or "words" (TF-IDF, offline), or an
    embedding model, whose token vectors are pooled without stop words. A threshold belongs to one model, which
    `threshold_of` names; "chars", "words" and all-MiniLM-L6-v2 have one (`validate --sweep` fits one for any other).
    `claims`: "auto" takes the case's own, or makes them from its diff without a model; "references" takes the
    sentences of the reference comments. `variant="published"` (not soft) cuts sentences and pools tokens as the
    published code does, with its slip.
    """

    model: ModelName = "words"
    soft: bool = True
    threshold: float | None = None
    threshold_of: Word = ""
    claims: Literal["auto", "references"] = "auto"
    variant: Literal["", "closest", "published"] = ""

    batch: ClassVar[int] = 1024
    headline: ClassVar[str] = REL
    reads_order: ClassVar[bool] = True
    estimate_note: ClassVar[str] = "about the change, not right about it: the diff told back scores high"

    def __post_init__(self) -> None:
        if not self.model:
            raise ValueError("a model is required: chars, words, or an embedding model")
        if self.soft and (self.threshold is not None or self.variant == "published"):
            raise ValueError("a threshold and variant='published' need soft=False")
        if not self.soft and self.variant == "closest":
            raise ValueError("variant='closest' is for soft=True: above a threshold, it is the closest that counts")
        if (self.threshold is None) != (not self.threshold_of):
            raise ValueError("a threshold needs the model that it was fitted for: threshold_of='MODEL'")
        if self.threshold is not None and not 0 <= self.threshold <= 1:
            raise ValueError(f"threshold={self.threshold} is not from 0 to 1, as cosines are")
        if self.variant == "published" and self._lexical:
            raise ValueError("variant='published' pools token vectors: name an embedding model")

    @property
    def _lexical(self) -> bool:
        return self.model in LEXICAL

    @cached_property
    def _embedder(self) -> Embedder:
        return embedder(self.model)

    def vectors(self, texts: Iterable[str]) -> TextVectors:
        """The vectors of texts, ready to be compared."""
        return TextVectors(texts, LEXICAL.get(self.model) or self._embedder)

    @cached_property
    def fingerprint(self) -> str:
        """What a threshold belongs to: the hash of the model's weights, or of the table of rare n-grams."""
        if lexical := LEXICAL.get(self.model):
            return load_idf(lexical)[1]
        return self._embedder.fingerprint

    @cached_property
    def limit(self) -> float | None:
        """The cosine above which a sentence is close to a claim; None with `soft`. Raises UserError where none fits."""
        if self.soft:
            return None
        fit_one = f"fit one: reviewgauge validate crscore_study {in_shell(f'crscore(model={self.model!r})')} --sweep"
        if self.threshold is None:
            if (shipped := SHIPPED.get(self.fingerprint)) is None:
                raise UserError(
                    f"no threshold is known for {self.model} (fingerprint {self.fingerprint[:12]})",
                    remedy=f"{fit_one}; soft=True needs none",
                )
            return shipped
        if self._lexical:
            if self.threshold_of not in (self.model, self.fingerprint[: max(8, len(self.threshold_of))]):
                raise UserError(
                    f"threshold={self.threshold} belongs to {self.threshold_of}, and this is {self.model}",
                    remedy=f"thresholds do not carry over between models; {fit_one}",
                )
        else:
            check_fitted_for(self._embedder, self.threshold_of, f"threshold={self.threshold}")
        return self.threshold

    def pins(self) -> Mapping[str, str]:
        """The fingerprint of the model, the threshold, and what makes claims for a case without its own."""
        found = {self.model: self.fingerprint}
        if self.limit is not None:
            found["threshold"] = f"{self.limit:g}"
        made = offline_pins() if self.claims == "auto" else {}
        return found | {f"claims: {name}": pin for name, pin in made.items()}

    def unmeasurable(self, case: Case) -> str:
        """There is nothing that a review could be compared with."""
        found = self.claims_of(case)
        return found if isinstance(found, str) else ""

    def bounds(self, case: Case) -> Bounds | None:
        """Nothing, and everything, covered."""
        if self.unmeasurable(case):
            return None
        return Bounds(worst=_SILENT, best={CON: 1.0, COMP: 1.0, REL: 1.0})

    def parts(self, case: Case, review: Review) -> Measured | str:
        """The three numbers of one review, with the sentences, the claims and what links them."""
        (found,) = self.parts_many([(case, review)])
        if isinstance(found, Failure):
            raise RuntimeError(found.message)
        return found

    def parts_many(self, items: Sequence[tuple[Case, Review]]) -> Iterator[Measured | str | Failure]:
        """The same in batches, so that no text is turned into a vector twice in one."""
        for start in range(0, len(items), self.batch):
            yield from self._measure(items[start : start + self.batch])

    def _measure(self, items: Sequence[tuple[Case, Review]]) -> Iterator[Measured | str | Failure]:
        cut: Callable[[str], tuple[str, ...]] = published_sentences if self.variant == "published" else sentences
        said = [cut("\n".join(comment.body for comment in review.comments)) for _, review in items]
        claims = [_bounded(self.claims_of(case), own) for (case, _), own in zip(items, said, strict=True)]
        texts = [
            Texts(tuple(claim.body for claim in own), spoken)
            for own, spoken in zip(claims, said, strict=True)
            if isinstance(own, tuple) and spoken
        ]
        matrices = self._cosines(texts)
        for own, spoken in zip(claims, said, strict=True):
            if isinstance(own, (str, Failure)):
                yield own
            elif not spoken:
                yield Measured(parts=_SILENT, coverage=Coverage(claims=own))
            else:
                yield self.guarded(partial(self._measured, own, spoken, next(matrices)))

    def _cosines(self, texts: Sequence[Texts]) -> Iterator[Matrix]:
        if self.variant == "published":
            return published_cosines(texts, self._embedder)
        return cosines(texts, LEXICAL.get(self.model) or self._embedder)

    def _measured(self, claims: tuple[Claim, ...], spoken: tuple[str, ...], cosines: Matrix) -> Measured:
        if self.soft and not self.variant:
            paired = pairs(cosines)
            parts, links = once(cosines, paired), linked(cosines, paired)
        else:
            parts, links = three_numbers(cosines, self.limit), linked(cosines)
        return Measured(
            parts=parts, coverage=Coverage(claims=claims, sentences=spoken, links=links, threshold=self.limit)
        )

    def claims_of(self, case: Case) -> tuple[Claim, ...] | str | Failure:
        """The claims that count for a case, or why there are none; a Failure where an analyser broke."""
        if self.claims == "references":
            return tuple(_told(group[0] for group in findings(case.references))) or NO_REFERENCES
        if case.claims:
            return tuple(claim for claim in case.claims if claim.body.strip()) or NO_CLAIMS
        if not any(file.patch for file in case.change.files):
            return NO_DIFF
        try:
            return offline_claims(case.change) or NO_CLAIMS
        except (AnalyserCrash, AnalyserTimeout) as error:
            return Failure(kind=FailureKind.CRASH, message=str(error))


def _told(references: Iterable[Comment]) -> Iterator[Claim]:
    """The sentences of references: a review that repeats them covers them all."""
    for one in references:
        line = None if one.span is None else one.span.start
        for number, body in enumerate(sentences(one.body), 1):
            yield Claim(id=one.id if number == 1 else f"{one.id}.{number}", body=body, source="reference", line=line)


def _bounded(claims: tuple[Claim, ...] | str | Failure, spoken: Sequence[str]) -> tuple[Claim, ...] | str | Failure:
    """The claims, or that there are too many pairs of a claim and a sentence."""
    if isinstance(claims, tuple) and len(claims) * len(spoken) > MOST_PAIRS:
        return f"too many to pair: {len(claims):,} claims with {len(spoken):,} sentences"
    return claims


def three_numbers(cosines: Matrix, threshold: float | None) -> Parts:
    """`con`, `comp` and `rel` of cosines (claims x sentences), above a threshold or, with None, of the closest ones."""
    by_sentence, by_claim = cosines.max(axis=0), cosines.max(axis=1)
    if threshold is None:
        con, comp = float(by_sentence.clip(0).mean()), float(by_claim.clip(0).mean())
    else:
        con, comp = float((by_sentence > threshold).mean()), float((by_claim > threshold).mean())
    return {CON: con, COMP: comp, REL: 2 * con * comp / (con + comp) if con + comp else 0.0}


def pairs(cosines: Matrix) -> Pairs:
    """The claims and the sentences of the pairs with the largest sum in which each of both stands once."""
    from scipy.optimize import linear_sum_assignment

    claims, spoken = linear_sum_assignment(cosines, maximize=True)
    return claims, spoken


def once(cosines: Matrix, paired: Pairs) -> Parts:
    """`con`, `comp` and `rel` of pairs in which each sentence and each claim stands once.

    With their sum T it is T / sentences, T / claims, and 2 T / (sentences + claims), their harmonic mean.
    """
    total = float(cosines[paired].clip(0).sum())
    claims, spoken = cosines.shape
    return {CON: total / spoken, COMP: total / claims, REL: 2 * total / (claims + spoken)}


def linked(cosines: Matrix, paired: Pairs | None = None) -> tuple[Link, ...]:
    """Each sentence with its closest claim, each claim with its closest sentence, and the pairs above 0, marked."""
    links = {(sentence, int(claim)) for sentence, claim in enumerate(cosines.argmax(axis=0))}
    links |= {(int(sentence), claim) for claim, sentence in enumerate(cosines.argmax(axis=1))}
    counted = set[tuple[int, int]]()
    if paired is not None:
        counted = {(int(s), int(c)) for c, s in zip(*paired, strict=True) if cosines[c, s] > 0}
    return tuple(
        Link(
            sentence=sentence,
            claim=claim,
            similarity=round(float(cosines[claim, sentence]), 4),
            paired=(sentence, claim) in counted,
        )
        for sentence, claim in sorted(links | counted)
    )
