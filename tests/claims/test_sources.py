"""The claims of a change without a model, and claims of several sources in one list."""

from __future__ import annotations

from reviewgauge.claims.sources import merged, offline_claims
from reviewgauge.core.records import Change, ChangedFile, Claim

PATCH = "@@ -3,2 +3,2 @@ def shipping(weight):\n-    if weight > 10:\n+    if weight >= 10:\n         return 5\n"


def test_a_changed_line_is_a_claim_with_its_line() -> None:
    change = Change(repo="o/r", files=(ChangedFile(path="a.xyz", patch=PATCH),))
    (claim,) = offline_claims(change)
    assert claim.body == "The line changes from `if weight > 10:` to `if weight >= 10:`."
    assert (claim.id, claim.kind, claim.source, claim.line) == ("1", "claim", "diff", 3)


def test_an_empty_change_has_no_claims() -> None:
    assert offline_claims(Change(repo="o/r")) == ()
    assert offline_claims(Change(repo="o/r", files=(ChangedFile(path="a.py", patch=""),))) == ()


def claim(body: str, source: str = "model", line: int | None = None) -> Claim:
    return Claim(id="x", body=body, source=source, line=line)


def test_the_same_thing_is_said_once_and_names_all_its_sources() -> None:
    found = merged(
        [claim("Line 3: Unused import `os`.", "ruff", 3)],
        [claim("Line 3: unused import os", "pmd", 3), claim("line 3, unused import: `os`", "ruff+security")],
    )
    assert [(one.id, one.body, one.source) for one in found] == [
        ("1", "Line 3: Unused import `os`.", "ruff+pmd+security")
    ]


def test_near_duplicates_are_one_and_others_are_not() -> None:
    first = claim("A new parameter named tax has been added to the function total in the shop module.")
    near = claim("A new parameter named tax was added to the functions total in the shop module.", "other")
    far = claim("The function total returns the sum.")
    assert [one.source for one in merged([first, near, far])] == ["model+other", "model"]


def test_what_differs_in_place_or_in_a_sign_stays_apart() -> None:
    assert len(merged([claim("Unused import.", "ruff", 3), claim("Unused import!", "ruff", 4)])) == 2
    signs = [
        claim("The condition `a > 1` becomes `a >= 1`.", "diff", 3),
        claim("The condition `a > 1` becomes `a < 1`.", "diff", 3),
    ]
    assert len(merged(signs)) == 2
    assert len(merged([signs[0]], [signs[0]])) == 1


def test_blank_claims_and_other_scripts() -> None:
    assert merged([claim(" "), claim("")]) == ()
    assert (
        len(
            merged(
                [
                    claim("\u53c2\u6570\u88ab\u6dfb\u52a0"),
                    claim("\u51fd\u6570\u88ab\u5220\u9664"),
                    claim("!!"),
                    claim("??"),
                ]
            )
        )
        == 4
    )
