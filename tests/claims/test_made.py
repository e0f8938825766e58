"""The claims of a change without a model."""

from __future__ import annotations

from reviewgauge.claims.made import offline_claims
from reviewgauge.core.records import Change, ChangedFile

PATCH = "@@ -3,2 +3,2 @@ def shipping(weight):\n-    if weight > 10:\n+    if weight >= 10:\n         return 5\n"


def test_a_changed_line_is_a_claim_with_its_line() -> None:
    change = Change(repo="o/r", files=(ChangedFile(path="a.xyz", patch=PATCH),))
    (claim,) = offline_claims(change)
    assert claim.body == "The line changes from `if weight > 10:` to `if weight >= 10:`."
    assert (claim.id, claim.kind, claim.source, claim.line) == ("1", "claim", "syntax", 3)


def test_an_empty_change_has_no_claims() -> None:
    assert offline_claims(Change(repo="o/r")) == ()
    assert offline_claims(Change(repo="o/r", files=(ChangedFile(path="a.py", patch=""),))) == ()
