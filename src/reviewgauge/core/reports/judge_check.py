"""What `validate` reports of a judge: agreement with others, consistency with itself, and resistance to attacks.

Every figure carries its n and, where there is one, its interval; one that is undefined has no value and a `reason`.
What a judge could not answer is counted in `JudgeCost.failed` and in no figure: a failure is not a disagreement.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from reviewgauge.core.base import Record
from reviewgauge.core.document import Value

Kind = Literal["pairs", "grades"]


class JudgeAgreement(Record):
    """The judge against one reference rater, over `rows` decisions of `clusters` changes.

    Of yes and no: kappa, AUC of its probabilities, precision, recall and F1 of yes, both raters' share of yes. Of
    grades: Spearman overall and within systems, quadratic kappa where its measures are grades, AUC of the measure
    against `grade > lowest`.

    Of the `rows` of yes and no, `unasked` belong to reviews without a comment: they are a no without asking, for every
    judge. `kappa_asked` is the kappa of the others alone; None where there are none such, and for grades.
    """

    rater: str
    rows: int
    clusters: int
    kappa: Value
    unasked: int = 0
    kappa_asked: Value | None = None
    auc: Value | None = None
    precision: Value | None = None
    recall: Value | None = None
    f1: Value | None = None
    base_rate: Value | None = None
    judge_rate: Value | None = None
    spearman: Value | None = None
    spearman_within: Value | None = None
    left_out: Mapping[str, int] = Field(default_factory=dict)


class Repeats(Record):
    """The same questions asked `repeats` times.

    `flips`: share of the questions not answered alike each time. `kappa`: Fleiss' kappa of the repeats as raters
    (interval alpha for grades). `spread`: mean standard deviation of the probability or grade over the repeats.
    """

    repeats: int
    flips: Value
    kappa: Value
    spread: Value
    models: bool


class ProbeRow(Record):
    """What one edit of a question did to the answers: nothing, if all is well.

    `flips` is the share of changed answers, `up` and `down` its two directions (towards yes, towards a higher grade),
    `shift` the mean change of the probability or grade. `unchanged` questions had nothing for the edit to change;
    `failed` ones got no answer. `reason` says why there is nothing.
    """

    name: str
    group: str
    what: str
    flips: Value
    up: float | None = None
    down: float | None = None
    shift: Value | None = None
    unchanged: int = 0
    failed: int = 0
    reason: str = ""


class LengthBias(Record):
    """Spearman's rho of the judge's signed error with the length in words, and what neutral padding does."""

    correlation: Value
    padding: tuple[ProbeRow, ...] = ()


class SelfPreference(Record):
    """Mean signed error on what the judge's own model family wrote, and on what others did.

    `reason` stands alone where the authors' models are not known.
    """

    families: tuple[str, ...] = ()
    own: Value | None = None
    others: Value | None = None
    difference: Value | None = None
    reason: str = ""


class InjectionRow(Record):
    """Attacks of one technique in one direction: how many answers turned the way the attack asked for.

    `low` and `high` are Wilson's 95% interval.
    """

    technique: str
    direction: str
    attacks: int
    tried: int
    flipped: int
    share: float | None
    low: float | None = None
    high: float | None = None
    failed: int = 0


class Injection(Record):
    """All attacks. `padding_up` and `padding_down`: the same turns after neutral padding, for comparison."""

    attacks: int
    rows: tuple[InjectionRow, ...]
    total: tuple[InjectionRow, ...]
    padding_up: float | None = None
    padding_down: float | None = None
    reason: str = ""


class JudgeCost(Record):
    """What the check took. A decision is one pair, finding or review that was judged; a silent review needs none.

    `dollars` is None where a price is not known. `seconds` are those of the calls when they were made, of the work
    itself where no model was asked. `failed` counts questions without an answer by kind.
    """

    questions: int
    decisions: int
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    dollars: float | None = None
    seconds: float = 0.0
    failed: Mapping[str, int] = Field(default_factory=dict)

    def each(self, total: float | None) -> float | None:
        """That much for one decision."""
        return None if total is None or not self.decisions else total / self.decisions


class JudgeGate(Record):
    """Whether the kappa that counts, the least of all raters', reaches `least`.

    `failed` is the share of the rows that the judge failed on, the largest of all raters'. Over `most_failed` the gate
    does not pass, whatever the kappa: it would be one of the easy rows.
    """

    least: float
    of: Literal["kappa", "lower end of the interval"]
    kappa: float | None
    rater: str
    passed: bool
    failed: float = 0.0
    most_failed: float = 0.1


class Corrected(Record):
    """One measure of one system: by the judge alone, by people alone, and by both together.

    `corrected` is the prediction-powered estimate; `trust` (0 to 1) is how far it leans on the judge. `checked` of
    `reviews` were judged by people; `failed` more got no answer from the judge, and are left out.
    """

    system: str
    measure: str
    raw: float | None
    people: Value
    corrected: Value
    trust: float | None
    checked: int
    reviews: int
    failed: int = 0


class JudgeReport(Record):
    """What `validate` found of one judge."""

    schema_version: Literal[1] = 1
    judge: str
    signature: str
    kind: Kind
    on: str
    models: tuple[str, ...] = ()
    pins: Mapping[str, str] = Field(default_factory=dict)
    estimate_note: str = ""
    fake: bool = False
    agreement: tuple[JudgeAgreement, ...]
    probed: int = 0
    flip_is: str = ""
    repeats: Repeats | None = None
    order: tuple[ProbeRow, ...] = ()
    length: LengthBias | None = None
    self_preference: SelfPreference | None = None
    rewording: tuple[ProbeRow, ...] = ()
    irrelevant: tuple[ProbeRow, ...] = ()
    framing: tuple[ProbeRow, ...] = ()
    injection: Injection | None = None
    corrected: tuple[Corrected, ...] = ()
    spent: JudgeCost
    gate: JudgeGate | None = None
    left_out: Mapping[str, int] = Field(default_factory=dict)
    stopped: str = ""
    resamples: int
    seed: int
    warnings: tuple[str, ...] = ()
