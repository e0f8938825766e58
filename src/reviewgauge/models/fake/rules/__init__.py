"""The rules of the fake model, one file a task: the opening words that name the task, and the reply."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from reviewgauge.models.fake.rules import (
    augment,
    change_points,
    class_category,
    class_context,
    class_domain,
    class_type,
    golden,
    grade,
    low_value,
    points_extract,
    points_hit,
    relevance,
    review,
    same_concern,
)
from reviewgauge.models.request.messages import Request


class Rule(NamedTuple):
    """How the fake model answers one task. `opening` are words that only this task's prompts hold."""

    task: str
    opening: str
    reply: Callable[[Request], str]


RULES: tuple[Rule, ...] = (
    Rule("review", review.OPENING, review.reply),
    Rule("same_concern", same_concern.OPENING, same_concern.reply),
    Rule("golden", golden.OPENING, golden.reply),
    Rule("points_extract", points_extract.OPENING, points_extract.reply),
    Rule("points_hit", points_hit.OPENING, points_hit.reply),
    Rule("grade", grade.OPENING, grade.reply),
    Rule("relevance", relevance.OPENING, relevance.reply),
    Rule("class_category", class_category.OPENING, class_category.reply),
    Rule("class_context", class_context.OPENING, class_context.reply),
    Rule("class_domain", class_domain.OPENING, class_domain.reply),
    Rule("class_type", class_type.OPENING, class_type.reply),
    Rule("low_value", low_value.OPENING, low_value.reply),
    Rule("augment", augment.OPENING, augment.reply),
    Rule("change_points", change_points.OPENING, change_points.reply),
)
