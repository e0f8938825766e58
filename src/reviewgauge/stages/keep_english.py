"""Keep changes whose title and description are English.

Source: AACR-Bench's language standard (arXiv:2601.19494, appendix A): "the title and description of the PR must be
written in English". The paper does not say how it knows; here by letters and small words, without a model.
"""

from __future__ import annotations

from dataclasses import dataclass

from reviewgauge.core.protocols import Stage
from reviewgauge.core.records import Case
from reviewgauge.stages.asking.english import judge_text


@dataclass(frozen=True)
class KeepEnglish(Stage):
    """Judge title and description apart; code, links, quoted markup and names of the code are not read.

    A title that cannot be judged ("v2.1.0") is kept where the description is English. An empty description says
    nothing against English. `foreign`: the share of letters that may be of another script (people's names).
    """

    foreign: float = 0.1

    def keep(self, case: Case) -> Case | str:
        """The case, or which text is not English."""
        title = judge_text(case.change.title, self.foreign)
        description = judge_text(case.change.description, self.foreign)
        if title == "other":
            return "the title is not English"
        if description == "other":
            return "the description is not English"
        if "english" not in (title, description):
            return "neither title nor description shows its language"
        return case
