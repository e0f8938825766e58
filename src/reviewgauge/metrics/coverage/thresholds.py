"""The thresholds that `validate --sweep` found, by the fingerprint of the model that they belong to.

Fitted by CRScore's rule on the reviews of gpt3.5 in crscore_study, Python and Java: 507 sentences on 196 changes. When
a shipped table of rare words changes, so does its fingerprint, and the threshold is to be fitted again.
"""

from __future__ import annotations

from collections.abc import Mapping

SHIPPED: Mapping[str, float] = {
    "8c64bfd359b5cbeace410ee27cea9b4b3d0ee4e8cc94d7130b1751ea50e1b47d": 0.313,  # words
    "7a517a3b242df5763069d1a2644c64e36f6d5c3e824873cf1eca830d2ff45487": 0.251,  # chars
    "ad25fda1ac1ca095be7d4e12e92fe9295fdf219b55881af69c342b7a03a1ec5c": 0.494,  # all-MiniLM-L6-v2
}
