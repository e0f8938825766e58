"""References that leave a candidate, are put into other words or become several; findings stay findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reviewgauge.core.building import Candidate
from reviewgauge.core.findings import findings
from reviewgauge.core.records import Comment


def replace_references(item: Candidate, by_id: Mapping[str, Sequence[Comment]]) -> Candidate:
    """The candidate with each reference replaced by those under its id: itself, other words, several, or none.

    What is left of a finding stays one finding. A reference that became several is several findings.
    """
    kept: list[Comment] = []
    roots: dict[int, str] = {}
    for number, group in enumerate(findings(item.case.references)):
        for reference in group:
            made = by_id[reference.id]
            if len(made) != 1:
                kept += [part.model_copy(update={"same_as": None}) for part in made]
                continue
            root = roots.setdefault(number, made[0].id)
            kept.append(made[0].model_copy(update={"same_as": None if root == made[0].id else root}))
    order = {reference.id: at for at, reference in enumerate(item.case.references)}
    origin = {part.id: order[name] for name, made in by_id.items() for part in made if name in order}
    return item.with_case(references=tuple(sorted(kept, key=lambda comment: origin[comment.id])))


def left_out(comment: Comment, by: str, reason: str) -> Comment:
    """The comment as it stands among the neutral ones, with why it is not a reference."""
    return comment.model_copy(update={"same_as": None, "extra": {**comment.extra, "left_out": reason, "by": by}})
