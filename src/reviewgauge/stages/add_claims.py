"""Add what a review could say: changed lines, static analysers' issues, and a model's claims if one is named.

Source: CRScore (arXiv:2409.19801), 3.2: its pseudo-references are a model's claims and implications, and issues of
analysers. The claims by lines are ours; they need no model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from reviewgauge.claims.model import claims_prompt
from reviewgauge.claims.sources import merged, model_claims, offline_claims, offline_pins
from reviewgauge.core.building import BuildContext, Candidate, Decision, DecisionKind
from reviewgauge.core.protocols import StageOutput
from reviewgauge.core.trust import ModelName
from reviewgauge.repo.syntax.languages import case_language
from reviewgauge.stages.asking.stage import AskingStage, decision, prompt_pins


@dataclass(frozen=True)
class AddClaims(AskingStage):
    """Writes `claims`, each with its kind (claim, implication or issue), source and line; the card counts the sources.

    Each line that the hunks add, remove or alter is a claim. With `tools` every analyser that is installed, where the
    code of the change is at hand. A `model` lists claims and implications; with one, the claims by line are left out,
    as they would say much of it twice. A case that has claims keeps them, and a change without a diff has none.
    """

    needs_model: ClassVar[bool] = False
    model: ModelName = ""
    tools: bool = True

    @override
    def pins(self) -> Mapping[str, str]:
        asked = prompt_pins(claims_prompt()) if self.model else {}
        return {**offline_pins(tools=self.tools), **asked}

    @override
    def each(self, item: Candidate, context: BuildContext) -> StageOutput:
        change = item.case.change
        if item.case.claims:
            yield item
            return
        found = offline_claims(change, tools=self.tools)
        if self.model:
            asked = model_claims(change, case_language(item.case), self.model)
            shown = "\n".join(f"{file.path}\n{file.patch}" for file in change.files if file.patch)
            for one in asked:
                yield decision(self, item, shown=shown, decided=f"{one.kind}: {one.body}").on(DecisionKind.CLAIM)
            found = merged(asked, [one for one in found if one.kind == "issue"])
        yield item.with_case(claims=found)

    @override
    def overruled(
        self, before: Candidate, after: Candidate, kept: Sequence[Decision], wrong: Sequence[Decision]
    ) -> Candidate:
        """Without these claims."""
        refused = {one.decided for one in wrong}
        return after.with_case(claims=[one for one in after.case.claims if f"{one.kind}: {one.body}" not in refused])
