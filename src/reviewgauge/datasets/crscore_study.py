"""Reviews of diffs by nine systems and a person, rated for conciseness, comprehensiveness and relevance.

Source: Naik et al., "CRScore: Grounding Automated Evaluation of Code Review Comments in Code Claims and Smells",
2025 (https://github.com/atharva-naik/CRScore), MIT; its diffs are from CodeReviewer's test set. Also
the claims that a review should address, which ones each review addresses, and whether generated ones are correct.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from typing_extensions import override

from reviewgauge.core.data_card import Card
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, Scale
from reviewgauge.core.protocols import Dataset
from reviewgauge.core.records import Case, Review
from reviewgauge.core.results import Drop
from reviewgauge.core.trust import FilePath
from reviewgauge.datasets.files.cards import read_card
from reviewgauge.datasets.files.crscore_judgements import (
    ADDRESSED,
    HUMAN,
    Block,
    Notes,
    accuracy_labels,
    agreement_labels,
    blocks,
    case_of,
    claim_counts,
    coded_claims,
    count_unrated,
    generated_claims,
    link_labels,
    necessary_labels,
    rating_labels,
    reviews_of,
)
from reviewgauge.datasets.files.crscore_tables import (
    LANGUAGES,
    Language,
    Pair,
    phase1_files,
    phase2_files,
    read_agreement,
    read_phase1,
    read_phase2,
)
from reviewgauge.datasets.files.local_files import locate

AGREEMENT_FILES = (
    "phase2/phase2_agreement_annot_last100_Marcus.csv",
    "phase2/phase2_agreement_annot_last100_Atharva.csv",
)
_LIKERT = {
    "con": "how much of the review is about the claims and issues: 1 none, 3 half, 5 all of it",
    "comp": "how many of the claims and issues the review covers: 1 none, 2 at least one, 3 half, 5 nearly all",
    "rel": "between the two, drawn to the lower one",
}


@dataclass(frozen=True)
class CrscoreStudy(Dataset):
    """The human study behind CRScore. `claims` chooses the list that the cases carry.

    "edited" is the list that the raters saw: correct claims, claims they added, and issues of static analysers.
    "generated" is what the model wrote, correct or not.
    """

    path: FilePath = ""
    claims: Literal["edited", "generated"] = "edited"

    @property
    @override
    def card(self) -> Card:
        return read_card("crscore_study")

    @property
    def human_systems(self) -> Sequence[str]:
        """`msg`, the comment of the person, which is also the reference."""
        return (HUMAN,)

    def scales(self) -> Mapping[str, Scale]:
        """Conciseness, comprehensiveness and relevance from 1 to 5; links from 0 over 0.5 (partly) to 1."""
        likert = {name: Scale(low=1, high=5, meaning=meaning) for name, meaning in _LIKERT.items()}
        return {**likert, ADDRESSED: Scale(low=0, high=1, step=0.5, meaning="whether the review addresses the claim")}

    def cases(self) -> Sequence[Case]:
        """One case per diff, by language and then in the order of the files."""
        return self._read().cases

    def recorded(self, **parameters: object) -> tuple[Sequence[Review], Sequence[Label]]:
        """Ten reviews per case (nine systems and `msg`), and every judgement of the study.

        Labels: con, comp and rel on reviews; `addressed` on a claim and a review; on claims `accuracy` (phase 1, with
        those that raters found missing), `error` (kinds of wrong ones) and `necessary` (phase 2). The reliability
        test, where both raters judged con, comp, rel and addressed, is the round `agreement`; labels without a round
        are the study, one rater per review.
        """
        if parameters:
            raise UserError(f"crscore_study's recorded reviews have no parameter {next(iter(parameters))!r}")
        read = self._read()
        return read.reviews, read.labels

    def claim_counts(self, language: str) -> Mapping[str, int]:
        """The row of the paper's Table 1 for a language, such as "python": its generated claims by their code."""
        known = {each.name: each for each in _available(self._folder)}
        if language not in known:
            raise UserError(f"{self._folder} has no files for {language!r}", remedy=f"available: {', '.join(known)}")
        return claim_counts(read_phase1(self._folder, known[language]))

    def counts(self) -> Mapping[str, int]:
        """Cases, claims, reviews, rated reviews, links and coded claims."""
        read = self._read()
        study = [label for label in read.labels if label.round is None]
        labels = Counter(label.dimension for label in study)
        found = {
            "changes": len(read.cases),
            "languages": len({case.facts["language"] for case in read.cases}),
            "references": sum(len(case.references) for case in read.cases),
            "claims": sum(len(case.claims) for case in read.cases),
            "systems": len({review.system for review in read.reviews}),
            "reviews": len(read.reviews),
            "rated reviews": labels["rel"],
            "rated reviews without msg": sum(
                label.dimension == "rel" and label.subject.system != HUMAN for label in study
            ),
            "coded claims": read.coded,
            "links": sum(label.dimension == ADDRESSED and label.value == 1 for label in study),
            "reviews rated twice": len(
                {label.subject for label in read.labels if label.dimension == "rel" and label.round}
            ),
        }
        return {name: count for name, count in found.items() if count}

    def notes(self) -> Sequence[Drop]:
        """Missing languages, unrated reviews and unreadable cells, counted."""
        return self._read().notes

    @property
    def _folder(self) -> Path:
        return locate("crscore_study", self.path)

    def _read(self) -> _Study:
        return _Study(self._folder, self.claims)


class _Study:
    """The content of the files, read once."""

    def __init__(self, folder: Path, claims: str) -> None:
        self._folder, self._claims = folder, claims
        self._notes = Notes()
        self._blocks: dict[str, dict[str, Block]] = {}
        self.cases: list[Case] = []
        self.reviews: list[Review] = []
        self.labels: list[Label] = []
        self.coded = 0  # claims, by either rater
        available = _available(folder)
        if not available:
            raise UserError(
                f"{folder} holds no files of the study",
                remedy="reviewgauge get crscore_study, or give the folder human_study",
            )
        for language in LANGUAGES:
            if language in available:
                self._read(language)
            else:
                self._notes.add(language.name, "none of its files is present: the language is left out")
        self._read_agreement()

    @cached_property
    def notes(self) -> tuple[Drop, ...]:
        """What was left out or corrected."""
        return tuple(self._notes.drops())

    def _read(self, language: Language) -> None:
        coded = read_phase1(self._folder, language)
        generated = generated_claims(coded)
        pairs = read_phase2(self._folder, language)
        rated, systems = Counter[str](), Counter[str]()
        own = self._blocks[language.code] = {}
        for block in blocks(language, pairs, generated, _added(coded), self._notes):
            own[block.change] = block
            issues = [claim for claim in block.claims if claim.kind == "issue"]
            shown = block.claims if self._claims == "edited" else [*generated.get(block.change, ()), *issues]
            self.cases.append(case_of(language, block, shown))
            ids = [claim.id for claim in block.claims]
            for rater, row, review in reviews_of(block, self._notes):
                self.reviews.append(review)
                scores = rating_labels(rater, row, review)
                links = list(link_labels(rater, row, review, ids, self._notes))
                if scores and not links and ids:
                    self._notes.add(f"{block.id} by {review.system}", "rated, but no links")
                self.labels += [*scores, *links]
                systems[block.id] += 1
                rated[block.id] += bool(scores)
            self.labels += necessary_labels(block)
        count_unrated(rated, own.values(), systems, self._notes)
        self.labels += accuracy_labels(language, coded)
        self.coded += coded_claims(coded)
        self._note_phase1(language, coded)

    def _note_phase1(self, language: Language, coded: Sequence[Pair]) -> None:
        counts = claim_counts(coded)
        for word, what in (
            ("incomplete", "coded -2 (incomplete)"),
            ("ambiguous", "coded 2 (ambiguous)"),
            ("uncoded", "without a code"),
        ):
            if counts[word]:
                reason = f"{what}: neither in Table 1 nor in the raters' list"
                self._notes.add(f"{language.name}: {counts[word]} generated claims", reason)
        for pair in coded:
            block = self._blocks[language.code].get(pair.row.case)
            diff = pair.row.text("diff")
            if block is not None and diff and diff != block.diff:
                self._notes.add(block.id, "the diff differs between the phases: that of phase 2 is used")

    def _read_agreement(self) -> None:
        there = [name for name in AGREEMENT_FILES if (self._folder / name).is_file()]
        if not there:
            self._notes.add("the reliability test", "its files are missing")
        elif "py" not in self._blocks:
            self._notes.add("the reliability test", "it is about Python, whose files are missing: left out")
        else:
            pairs = read_agreement(self._folder, AGREEMENT_FILES)
            self.labels += agreement_labels(pairs, self._blocks["py"], self._notes)


def _added(pairs: Sequence[Pair]) -> dict[str, set[str]]:
    """The claims that either rater found missing, by the change's index."""
    found: dict[str, set[str]] = {}
    for pair in pairs:
        for _, row in pair.copies():
            if body := row.word("additional claims"):
                found.setdefault(row.case, set()).add(body)
    return found


def _available(folder: Path) -> list[Language]:
    """The languages with any file in `folder`; a missing other file is refused on reading."""
    return [
        language
        for language in LANGUAGES
        if any((folder / name).is_file() for name in (*phase1_files(language), *phase2_files(language)))
    ]
