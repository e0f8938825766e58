"""The claims of a change: `offline_claims` without a model, `model_claims` with one."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from reviewgauge.claims.change import SENTENCES, change_claims
from reviewgauge.claims.findings import finding_claims
from reviewgauge.claims.merge import merged
from reviewgauge.claims.model import ask_claims
from reviewgauge.core.records import Change, Claim
from reviewgauge.repo.analysers.run import versions
from reviewgauge.repo.processes import RecentlyUsed


def offline_claims(change: Change, *, tools: bool = True) -> tuple[Claim, ...]:
    """What the change does, by its syntax, and with `tools` what static analysers find where its code is at hand.

    The same for the same change, as long as the same analysers are installed. Raises AnalyserTimeout, AnalyserCrash.
    """

    def make() -> tuple[Claim, ...]:
        return merged(change_claims(change), finding_claims(change) if tools else ())

    key = hashlib.blake2b(digest_size=16)
    focus = "" if change.focus is None else change.focus.model_dump_json()
    pieces = [str(tools), change.git or "", change.base or "", change.head or "", focus]
    pieces += [file.model_dump_json() for file in change.files]
    for piece in pieces:
        key.update(f"{len(piece)}:{piece}".encode("utf-8", "surrogatepass"))
    return _MADE.of(key.digest(), make, lambda claims: len(claims) + 1)


def offline_pins(*, tools: bool = True) -> Mapping[str, str]:
    """What the claims rest on: the version of the sentences, and with `tools` those of the analysers."""
    return {"sentences": SENTENCES, **(versions() if tools else {})}


def model_claims(change: Change, language: str, model: str) -> tuple[Claim, ...]:
    """What `model` says that the change does and implies. Raises Failed where no answer can be read."""
    return merged(ask_claims(change, language, model))


_MADE: RecentlyUsed[bytes, tuple[Claim, ...]] = RecentlyUsed(20_000)  # the reviews of one change come one by one
