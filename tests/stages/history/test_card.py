"""What the card of a build says of the fixes in its history."""

from __future__ import annotations

from reviewgauge.stages.history.card import Counts, fixes_section


def test_a_history_without_a_flawed_change_says_so_and_what_helps() -> None:
    (none,) = fixes_section(Counts(changes=800), {}).warnings
    assert (
        none.startswith("no fix was found among the 800 changes") and "--set limit" in none and "perhaps=true" in none
    )
    (untraced,) = fixes_section(Counts(changes=800), {"adds lines only": 3}).warnings
    assert untraced.startswith("3 fixes were found, and none mends a change that can be a case")
    assert not fixes_section(Counts(changes=800, labelled=1), {"traced": 1}).warnings
