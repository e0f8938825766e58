"""Put beside every change with a defect put in the same change without, in an order that tells nothing.

Source: ours; a yes-no task of signal detection (Green and Swets, 1966), where the same place is seen with and without.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from reviewgauge.core.building import BuildContext, Candidate, CardSection
from reviewgauge.core.protocols import Stage, StageOutput
from reviewgauge.core.records import ARM, Arm
from reviewgauge.stages.injection.arms import HOST, SOUND_HEAD, twin
from reviewgauge.stages.injection.likeness import likeness_section
from reviewgauge.stages.sampling.draws import draw_key


@dataclass(frozen=True)
class AddTwins(Stage):
    """One twin for all defects of a change; a change into which nothing was put leaves. `seed` shuffles the order.

    Of `most` pairs and more, the ones with the smallest hash stay (0: all).
    """

    needs_build: ClassVar[bool] = True

    seed: int = 0
    most: int = 0

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
