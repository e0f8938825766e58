"""The type that the rule of points_extract gives a change-point with the words of the comment."""

from __future__ import annotations

from reviewgauge.models.fake.rules.points_extract import kind_of
from reviewgauge.models.fake.rules.slots import last_slot
from reviewgauge.models.request.messages import Request

OPENING = "You sort code review comments by the type of change"


def reply(request: Request) -> str:
    """The code of the type."""
    return kind_of(last_slot(request, "Review comment:\n", "\n\nAnswer with the code alone"))
