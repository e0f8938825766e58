"""Money: what calls may cost at worst, what they did cost, and the budget that stops before it is broken."""

from __future__ import annotations

from pathlib import Path

from reviewbench.models.messages import Answer, Request
from reviewbench.models.model_spec import ModelSpec


class Ledger:
    """Adds up dollars. Used on the background loop only."""

    def __init__(self, budget: float | None = None, spent: float = 0.0, prices: Path | None = None) -> None:
        self.budget, self.spent = budget, spent

    async def reserve(self, spec: ModelSpec, request: Request) -> float:
        """Put aside the most that a call may cost; waits for calls in flight where that would break the budget.

        Raises Failed (it stops the run) where it would break it with nothing in flight, or where a budget was given
        and the model's price is not known.
        """
        return 0.0

    def settle(self, spec: ModelSpec, reserved: float, answer: Answer | None) -> float | None:
        """Give back what was put aside and book what `answer` cost (None: nothing came); the dollars, if known."""
        return None
