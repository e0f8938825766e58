"""The thresholds of CRScore's paper and what they gave, on three languages with mxbai-embed-large-v1.

Source: arXiv:2409.19801, section 3.3 with footnote 6, Tables 4 and 18, Figure 5.
"""

from __future__ import annotations

from typing import NamedTuple

MODEL = "mxbai-embed-large-v1"
RULE = 0.7314  # by the reviews of GPT-3.5
REFERENCES = 0.6576  # by the comments of people
FIVE_SIGMA = 0.85
ITEMS = 9_869  # changes, annotated ones left out


class PublishedPoint(NamedTuple):
    """One threshold: Table 4 (links) and Table 18 (correlation of `rel` with people's)."""

    threshold: float
    precision: float
    recall: float
    f1: float
    kendall: float
    spearman: float


POINTS = (
    PublishedPoint(0.6, 0.4055, 0.9512, 0.5686, 0.3975, 0.4874),
    PublishedPoint(0.65, 0.4433, 0.8794, 0.5895, 0.4572, 0.5512),
    PublishedPoint(REFERENCES, 0.4475, 0.8665, 0.5902, 0.4437, 0.5405),
    PublishedPoint(0.7, 0.4832, 0.77, 0.5938, 0.4433, 0.5407),
    PublishedPoint(RULE, 0.5173, 0.6899, 0.5913, 0.4567, 0.5431),
    PublishedPoint(0.75, 0.5401, 0.633, 0.5828, 0.4473, 0.5277),
    PublishedPoint(0.8, 0.6223, 0.444, 0.5183, 0.3946, 0.4539),
)


def is_published(model: str) -> bool:
    """Whether a spec names the model of the paper."""
    return MODEL in model
