"""All rules of the fake model: the opening words that name a task, and the reply."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from reviewgauge.models.fake.rules import classes, pairs, points, reviews
from reviewgauge.models.request.messages import Request


class Rule(NamedTuple):
    """How the fake model answers one task. Only prompts of this task hold the words of `opening`.

    The docstring of `reply` describes the rule; docs/reference/fake.md quotes its first line.
    """

    task: str
    opening: str
    reply: Callable[[Request], str]


RULES: tuple[Rule, ...] = (
    Rule("review", reviews.REVIEW, reviews.review),
    Rule("same_concern", pairs.SAME_CONCERN, pairs.same_concern),
    Rule("golden", pairs.GOLDEN, pairs.golden),
    Rule("points_extract", points.EXTRACT, points.extract),
    Rule("points_hit", points.HIT, points.hit),
    Rule("grade", pairs.GRADE, pairs.grade),
    Rule("relevance", pairs.RELEVANCE, pairs.relevance),
    Rule("class_category", classes.CATEGORY, classes.category),
    Rule("class_context", classes.CONTEXT, classes.context),
    Rule("class_domain", classes.DOMAIN, classes.domain),
    Rule("class_type", classes.TYPE, classes.change_type),
    Rule("low_value", reviews.LOW_VALUE, reviews.low_value),
    Rule("augment", reviews.AUGMENT, reviews.augment),
    Rule("change_points", points.CHANGE_POINTS, points.change_points),
)
