"""Title and description of a pull request as they were when people looked at one of its states.

What was written later may tell what was found: "use a lock, as Bob suggested". A forge tells of each title that was
taken away; of the description it tells only when it was changed last.
"""

from __future__ import annotations

from datetime import datetime

from reviewgauge.core.history import PullRequest, Revision
from reviewgauge.core.json_reader import when
from reviewgauge.repo.forge.timeline import RENAMED

NEVER = "never"


def looked_at(pull: PullRequest, revision: Revision) -> datetime | None:
    """When people began to speak about a state; else when it was there. None where neither is known."""
    said = [thread.remarks[0].created for thread in pull.threads if thread.commit == revision.head]
    said += [review.created for review in pull.reviews if review.commit == revision.head]
    return min((time for time in said if time is not None), default=revision.pushed)


def title_at(pull: PullRequest, revision: Revision) -> str:
    """The title that stood when people began to speak about a state; the last one where the forge does not tell."""
    then = looked_at(pull, revision)
    if then is None:
        return pull.title
    renamed = [(event.created, event.before) for event in pull.events if event.kind == RENAMED and event.before]
    later = [(time, before) for time, before in renamed if time is not None and time > then]
    return min(later, key=lambda one: one[0])[1] if later else pull.title


def description_edited(pull: PullRequest, revision: Revision) -> bool | None:
    """Whether the description was changed after people began to speak about a state; None where nobody says."""
    edited, then = pull.extra.get("edited"), looked_at(pull, revision)
    if edited == NEVER:
        return False
    last = when({"edited": edited}, "edited")
    return last > then if last is not None and then is not None else None
