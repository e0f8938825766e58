"""What the place of a comment says about its meaning. The location rule itself: `judges/_location.py`."""

from __future__ import annotations

from reviewgauge.core.results import Pair
from reviewgauge.judges.pairs.location import in_words, locate

__all__ = ["ON_THE_LINES", "in_words", "locate", "weigh"]

ON_THE_LINES = 0.54
"""P(same concern | the comment stands on the reference's lines): AACR-Bench, Table 9, semantic over line recall.

Mean of its 20 settings of five models, from .34 to .77 (arXiv:2601.19494). Their judge was a model.
"""


def weigh(probability: float, pair: Pair, base_rate: float | None) -> float | None:
    """`probability` with the place weighed in by Bayes' rule: odds times (odds on the lines / odds of the base rate).

    None where nothing is to be weighed: not on the reference's lines, or a judge without a base rate. Never lower
    than `probability`, whatever base rate a judge was fitted with: wrong lines must not beat right ones.
    """
    if pair.located is not True or base_rate is None or not 0 < probability < 1 or not 0 < base_rate < 1:
        return None
    ratio = (ON_THE_LINES / (1 - ON_THE_LINES)) / (base_rate / (1 - base_rate))
    odds = probability / (1 - probability) * max(1.0, ratio)
    return odds / (1 + odds)
