"""Put beside every change with a defect put in the same change without, in an order that tells nothing.

Source: ours; a yes-no task of signal detection (Green and Swets, 1966), where the same place is seen with and without.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.building import BuildContext, Candidate, CardSection
from reviewgauge.core.parameters import Count
from reviewgauge.core.protocols import Stage, StageOutput
from reviewgauge.core.records import ARM, Arm, Case, Side
from reviewgauge.repo.diff.diffs import changed_lines, count_changed, hunk_count
from reviewgauge.stages.injection.arms import HOST, SOUND_HEAD, twin
from reviewgauge.stages.sampling.draws import Row, draw_key


@dataclass(frozen=True)
class AddTwins(Stage):
    """One twin for all defects of a change; a change into which nothing was put leaves. `seed` shuffles the order.

    Of `most` pairs and more, the ones with the smallest hash stay (0: all).
    """

    needs_build: ClassVar[bool] = True

    seed: int = 0
    most: Count = 0

    @override
    def apply(self, items: Iterable[Candidate], context: BuildContext) -> StageOutput:
        from reviewgauge.stages.injection.traces import traces_section  # needs scipy

        hosts: dict[str, Candidate] = {}
        arms: defaultdict[str, list[Candidate]] = defaultdict(list)
        for item in items:
            if ARM in item.case.facts:
                arms[str(item.case.facts[HOST])].append(item)
            else:
                hosts[item.id] = item
        chosen = sorted(set(arms) & set(hosts), key=lambda host: draw_key(self.seed, host))[: self.most or None]
        made: list[Candidate] = []
        for done, name in enumerate(chosen):
            context.progress("making twins", done, len(chosen))
            defects = [one for one in arms[name] if one.case.facts[ARM] == Arm.DEFECT]
            if defects:
                made += [*arms[name], twin(hosts[name], defects, self.seed)]
        kept = {str(one.case.facts[HOST]) for one in made}
        for name in hosts:
            if name not in kept:
                yield self.drop(name, "not drawn" if name in arms else "no defect was put into it")
        context.report(_section(made))
        context.report(traces_section(made))
        context.report(likeness_section(made, hosts.values()))
        told = (HOST, SOUND_HEAD)
        kept_facts = ({name: fact for name, fact in one.case.facts.items() if name not in told} for one in made)
        made = [one.with_case(facts=facts) for one, facts in zip(made, kept_facts, strict=True)]
        yield from sorted(made, key=lambda one: (draw_key(self.seed, "order", one.id), one.id))


def _section(made: Iterable[Candidate]) -> CardSection:
    arms = [one.case.facts[ARM] for one in made]
    defects, safe = arms.count(Arm.DEFECT), arms.count(Arm.SAFE)
    return CardSection(
        by="add_twins",
        title="Pairs",
        text="Each change with a defect has a twin without it: a reviewer who says the same on both has said nothing.",
        figures={"changes with a defect": defects, "twins": len(arms) - defects - safe, "safe twins": safe},
        warnings=() if defects else ("no defect could be put into any change: the benchmark is empty",),
    )


def likeness_section(made: Iterable[Candidate], recent: Iterable[Candidate]) -> CardSection:
    """Medians of the changes with a defect, of their twins, and of all recent changes that were considered."""
    cases = [one.case for one in made]
    groups = (
        ("with a defect", [case for case in cases if case.facts[ARM] == Arm.DEFECT]),
        ("twins", [case for case in cases if case.facts[ARM] == Arm.TWIN]),
        ("all recent changes", [one.case for one in recent]),
    )
    return CardSection(
        by="add_twins",
        title="How like real changes they are",
        text=(
            "Medians. Such defects do not show how a reviewer sees a bad design, a missing feature, or a broken "
            "convention: only what one small edit can break."
        ),
        columns=("changes", "n", "changed lines", "hunks", "share of added lines"),
        rows=tuple(_row(name, group) for name, group in groups),
    )


def _row(name: str, cases: Sequence[Case]) -> Row:
    sizes = [count_changed(case.change.files) for case in cases]
    added = [sum(len(changed_lines(file, Side.NEW)) for file in case.change.files) for case in cases]
    shares = [part / whole for part, whole in zip(added, sizes, strict=True) if whole]
    hunks = [hunk_count(case.change) or 0 for case in cases]
    return name, len(cases), *(round(median(of), 3) if of else None for of in (sizes, hunks, shares))
