"""Which change-points does the report raise, and which known ones do they hit? A model reads it, as in SWR-Bench.

Source: Zeng et al., "Benchmarking and Studying the LLM-based Code Review" (SWR-Bench), arXiv:2509.01494, section
III-B and Table I. The paper prints neither of its two prompts: these are our own, and no result with them is published.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from reviewgauge.core.errors import UserError
from reviewgauge.core.findings import groups_of
from reviewgauge.core.protocols import Aggregate, Measured, Metric
from reviewgauge.core.records import Case, Review, Task
from reviewgauge.core.results import Bounds, Vote
from reviewgauge.metrics.change_points.asking_points import LEAST, MOST, extract, extraction_prompt, hits_prompt, vote
from reviewgauge.metrics.change_points.point_table import Table
from reviewgauge.models.chat.client import chat_model
from reviewgauge.models.request.model_spec import parse_model

if TYPE_CHECKING:
    from reviewgauge.core.protocols import Numbers


@dataclass(frozen=True)
class Points(Metric):
    """Two questions to `model`: the change-points of the review with type and severity, then who hits which known one.

    The default counts each prediction for at most one known point. `variant="published"` counts as the paper does:
    true positives are known points, false positives predictions. `trials` asks the second question several times (an
    odd number) and lets the majority decide on each pair.
    """

    model: str = ""
    variant: Literal["", "published"] = ""
    trials: int = 1
    prompt: Literal["own"] = "own"

    headline: ClassVar[str] = "f1"
    units: ClassVar[Mapping[str, str]] = {
        "count": "points per change",
        "functional_count": "points per change",
        "severity": "from 1 to 10",
        "functional_severity": "from 1 to 10",
    }
    lower_is_better: ClassVar[frozenset[str]] = frozenset({"duplicate_share"})

    def __post_init__(self) -> None:
        if self.model:
            parse_model(self.model)
        if self.trials < 1 or self.trials % 2 == 0:
            raise ValueError(f"trials={self.trials} must be an odd number, so that no vote ties")

    @property
    def models(self) -> tuple[str, ...]:
        """The one model that answers both questions."""
        return (self.model,) if self.model else ()

    def pins(self) -> Mapping[str, str]:
        """The words of the two prompts."""
        return {"extraction prompt": extraction_prompt().digest, "hits prompt": hits_prompt().digest}

    def unmeasurable(self, case: Case) -> str:
        """Why the case cannot be measured; empty where it can."""
        if case.change.task is not Task.REVIEW:
            return f"the task is {case.change.task}, not review"
        if not case.references and not case.clean:
            return "no references, and not known to be clean"
        return ""

    def parts(self, case: Case, review: Review) -> Measured | str:
        """The counts of one review's points against one case.

        Raises Failed, and UserError where no model is named.
        """
        if reason := self.unmeasurable(case):
            return reason
        if not self.model:
            raise UserError("points needs a chat model", remedy='points(model="openai:gpt-5")')
        model = chat_model(self.model)
        found = extract(model, review)
        ballots, fake = vote(model, case, found.points, self.trials)
        table = Table(case, found.points, ballots, self.variant == "published", self.model)
        listed = Vote(rater=f"{self.model} (extraction)", value=len(found.points), reason=found.raw)
        return Measured(
            parts=table.parts(),
            facets=table.facets(),
            matching=table.matching(),
            votes=(listed,) if found.raw else (),
            fake=review.fake or found.fake or fake,
        )

    def combine(self, bag: Aggregate) -> Mapping[str, Numbers]:
        """Micro-averaged readings: every total is summed over the changes before anything is divided.

        precision = right / said: matched / (matched + false), or TP / (TP + FP) as published; recall = hit / known
        points. The functional ones are undefined where no known point has a type. `severity` is a mean over points.
        """
        total, ratio = bag.total, bag.ratio
        typed = total("typed_changes") > 0
        return {
            "precision": ratio(total("right"), total("said")),
            "recall": ratio(total("hit"), total("references")),
            "f1": _f1(bag, ""),
            "count": ratio(total("predicted"), total("changes")),
            "severity": ratio(total("severity"), total("predicted")),
            "functional_precision": np.where(typed, ratio(total("functional_right"), total("functional_said")), np.nan),
            "functional_recall": ratio(total("functional_hit"), total("functional_references")),
            "functional_f1": np.where(typed, _f1(bag, "functional_"), np.nan),
            "functional_count": ratio(total("functional_predicted"), total("changes")),
            "functional_severity": ratio(total("functional_severity"), total("functional_predicted")),
            "duplicate_share": ratio(total("duplicate"), total("predicted")),
            "typed": ratio(total("typed"), total("references")),
            "clean_left_alone": ratio(total("clean_quiet"), total("clean")),
        }

    def bounds(self, case: Case) -> Bounds:
        """At worst: everything missed and as many false points (at least one). At best: all hit, none false."""
        if self.unmeasurable(case):
            return Bounds(worst={}, best={})
        n = float(len(groups_of(case.references)))
        wrong = max(1.0, n)
        table = Table(case, (), (), published=True, rater=self.model)
        shared = {name: value for name, value in table.parts().items() if value and name != "clean_quiet"}
        worst = {**shared, **dict.fromkeys(("predicted", "false", "said"), wrong), "severity": LEAST * wrong}
        best = {**shared, **dict.fromkeys(("predicted", "matched", "right", "said", "hit"), n), "severity": MOST * n}
        best |= {"missed": 0.0, "clean_quiet": float(case.clean)}
        worst |= {"functional_predicted": wrong, "functional_severity": LEAST * wrong}
        if "functional_said" in table.parts():
            own = shared.get("functional_references", 0.0)
            worst |= dict.fromkeys(("functional_false", "functional_said"), wrong)
            names = ("predicted", "matched", "right", "said", "hit")
            best |= {f"functional_{name}": own for name in names}
            best |= {"functional_missed": 0.0, "functional_severity": MOST * own}
        return Bounds(worst=worst, best=best)


def _f1(bag: Aggregate, prefix: str) -> Numbers:
    """The harmonic mean of precision and recall; 0 where nothing was hit though there was something to hit."""
    hit, known = bag.total(f"{prefix}hit"), bag.total(f"{prefix}references")
    precision = bag.ratio(bag.total(f"{prefix}right"), bag.total(f"{prefix}said"))
    recall = bag.ratio(hit, known)
    harmonic = bag.ratio(2 * precision * recall, precision + recall)
    return np.where((hit == 0) & (known > 0), 0.0, harmonic)
