"""Put small defects into recent changes, by operators that know syntax.

Source: ours, on mutation testing at review (Petrović and Ivanković, ICSE-SEIP 2018): only on lines that a change adds,
never where code does not matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, NamedTuple

from typing_extensions import override

from reviewgauge.core.base import Share
from reviewgauge.core.building import BuildContext, Candidate, CardSection
from reviewgauge.core.errors import UserError, crash_message
from reviewgauge.core.parameters import Positive
from reviewgauge.core.protocols import Stage, StageOutput
from reviewgauge.core.records import ARM, Side
from reviewgauge.core.results import Drop
from reviewgauge.core.specs import load, names, short_spec
from reviewgauge.core.trust import PluginSpec
from reviewgauge.operators.code.operator import Code, Edit, Operator, Plant, applied
from reviewgauge.repo.diff.diffs import changed_lines
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.syntax.languages import not_product
from reviewgauge.repo.syntax.tree import SyntaxTree, parse
from reviewgauge.stages.injection.arms import HOST, Defect, product_files, repository_of, safe_twin, with_defect
from reviewgauge.stages.injection.past_fixes import count_undone, histories, past_fixes
from reviewgauge.stages.sampling.draws import draw_key

MADE = "planted"
_MOST_OF_ONE, _FEW = 0.4, 5  # the share of all defects that may be of one operator, and so many in any case
_MOST_OTHERS = 20  # other files that are read for one name


class Offer(NamedTuple):
    """A defect that an operator can put into a file of a host. `at` counts the operator's offers in that host."""

    operator: Operator
    tree: SyntaxTree
    plant: Plant
    at: int


@dataclass(frozen=True)
class PlantDefects(Stage):
    """`per_change` defects for each change that can hold one, and a `safe` share of harmless edits at their places.

    `operators`: the ones to draw from; none named: all. Each change takes the operator that was drawn least so far for
    its share: that of the fixes of this history, of the newest 500, which undid such a fault (plus one, so that rare
    faults are there, too), or the same for all where `even`. A change into which an earlier stage put a defect takes
    none here, unless `beside`.
    """

    needs_build: ClassVar[bool] = True

    operators: tuple[PluginSpec, ...] = ()
    per_change: Positive = 1
    safe: Share = 0.5
    even: bool = False
    beside: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        for spec in self.operators:
            load(Operator, spec)

    @override
    def apply(self, items: Iterable[Candidate], context: BuildContext) -> StageOutput:
        drawn: Counter[str] = Counter()
        skipped: Counter[str] = Counter()
        operators = [load(Operator, spec) for spec in self.operators or names(Operator.kind)]
        undone: Counter[str] = Counter()
        for repository, tip in histories(
            item for item in items if ARM not in item.case.facts and not self.even
        ).values():
            undone += count_undone(repository, past_fixes(repository, tip, context).fixes, operators, context)
        hosts = sorted(items, key=lambda item: draw_key(self.seed, item.id))
        taken = {host.case.facts[HOST] for host in hosts if ARM in host.case.facts and not self.beside}
        for done, host in enumerate(hosts):
            context.progress("planting defects", done, len(hosts))
            yield host
            if ARM not in host.case.facts and host.id not in taken:
                yield from self._planted(host, operators, undone, drawn, skipped)
        context.report(_section(undone, drawn, skipped))

    def _planted(
        self,
        host: Candidate,
        operators: Sequence[Operator],
        undone: Mapping[str, int],
        drawn: Counter[str],
        skipped: Counter[str],
    ) -> Iterator[Candidate | Drop]:
        try:
            offers = list(_offers(host, operators, skipped))
        except UserError as error:
            yield self.drop(host.id, "its code cannot be read", str(error))
            return
        except Exception as error:  # a bug of an operator costs its host, which is counted, and never the build
            yield self.drop(host.id, "an operator breaks on its code", crash_message(error))
            return
        left, most = self.per_change, max(_MOST_OF_ONE, 1.5 / len(operators))
        keys = {offer: draw_key(self.seed, host.id, short_spec(offer.operator), offer.at) for offer in offers}
        lacking = {name: (drawn[name] + 1) / (undone.get(name, 0) + 1) for name in map(short_spec, operators)}
        offers.sort(key=lambda one: (lacking[short_spec(one.operator)], keys[one]), reverse=True)
        while offers and left:
            offer = offers.pop()
            if drawn[short_spec(offer.operator)] >= max(_FEW, most * (drawn.total() + 1)):
                skipped[f"more than {most:.0%} would be of one operator"] += 1
                continue
            made = list(self._cases(host, offer))
            if not made:
                skipped["the file does not parse with it, or the diff does not show it"] += 1
                continue
            yield from made
            drawn[short_spec(offer.operator)] += 1
            left -= 1

    def _cases(self, host: Candidate, offer: Offer) -> Iterator[Candidate]:
        """The case with the defect, perhaps with its safe twin; none where it does not hold up."""
        tree, plant, operator = offer.tree, offer.plant, offer.operator
        changed = _changed(tree, plant.edits)
        if changed is None:
            return
        code, lines = changed
        name = short_spec(operator)
        key = f"{name}:{offer.at}"
        defect = Defect(
            path=tree.path,
            sound=tree.source,
            defective=code,
            lines=lines,
            sound_lines=_lines(tree, plant.edits),
            body=plant.body,
            operator=name,
            made=MADE,
            category=operator.category,
            severity=operator.severity,
            needs=operator.needs,
        )
        made = with_defect(host, defect, key, self.seed)
        if isinstance(made, str):
            return
        yield made
        wanted = draw_key(self.seed, "safe", host.id, key) < self.safe * 2**64
        if wanted and plant.safe and (harmless := _changed(tree, plant.safe)) is not None:
            yield safe_twin(host, made, *harmless, self.seed)


def _offers(host: Candidate, operators: Sequence[Operator], skipped: Counter[str]) -> Iterator[Offer]:
    """What the operators offer for the product's files of a host; counts why files offer nothing."""
    contents = product_files(host.case)
    others = _Others(repository_of(host.case), host.case.change.head or "", frozenset(contents))
    counts: Counter[Operator] = Counter()
    for file in host.case.change.files:
        if file.path not in contents:
            continue
        tree = parse(contents[file.path], file.path)
        if isinstance(tree, str):
            skipped[tree] += 1
            continue
        code = Code(tree, changed_lines(file, Side.NEW), others)
        for operator in operators:
            if tree.grammar in operator.languages:
                for plant in operator.plants(code):
                    yield Offer(operator, tree, plant, counts[operator])
                    counts[operator] += 1


def _lines(tree: SyntaxTree, edits: Sequence[Edit]) -> tuple[int, int]:
    """The first and last line that edits take out or stand on."""
    first, last = min(edits), max(edits)
    return tree.line(first.start), tree.line(max(last.end - 1, first.start))


def _changed(tree: SyntaxTree, edits: Sequence[Edit]) -> tuple[bytes, tuple[int, int]] | None:
    """(the file with the edits, the first and last line of what they put in); None where it does not parse then."""
    if b"\r\n" in tree.source:
        edits = [edit._replace(text=edit.text.replace("\r\n", "\n").replace("\n", "\r\n")) for edit in edits]
    code = applied(tree.source, edits)
    after = parse(code, tree.path)
    if code == tree.source or isinstance(after, str):
        return None
    first, last = min(edits), max(edits)
    grown = sum(len(edit.text.encode()) - (edit.end - edit.start) for edit in edits)
    end = max(last.end + grown - 1, first.start)
    return code, (after.line(first.start), after.line(min(end, max(len(code) - 1, 0))))


@dataclass(frozen=True, eq=False)
class _Others:
    """The other files of a repository's commit that hold a word, as trees; those without a grammar are left out."""

    repository: Repository
    head: str
    own: frozenset[str]

    def __call__(self, word: str) -> Sequence[SyntaxTree]:
        return _holding(self.repository, self.head, word, self.own)


@lru_cache(maxsize=256)
def _holding(repository: Repository, head: str, word: str, own: frozenset[str]) -> tuple[SyntaxTree, ...]:
    try:
        found = repository.run("grep", "-l", "-z", "-w", "-F", "-e", word, head, "--")
    except UserError:  # git grep ends so where it finds nothing
        return ()
    paths = [path.decode("utf-8", "surrogateescape").partition(":")[2] for path in found.split(b"\x00") if path]
    product = [path for path in paths if path not in own and not not_product(path)][:_MOST_OTHERS]
    texts = repository.blobs(head, product)
    trees = (_parsed(text, path) for path, text in texts.items() if text is not None)
    return tuple(tree for tree in trees if not isinstance(tree, str))


_parsed = lru_cache(maxsize=32)(parse)  # the same files hold the callers of one host after the other


def _section(undone: Counter[str], drawn: Counter[str], skipped: Counter[str]) -> CardSection:
    rows = [("planted", name, count) for name, count in sorted(drawn.items(), key=lambda one: (-one[1], one[0]))]
    rows += [("undone by a fix", name, count) for name, count in undone.most_common()]
    rows += [("left out", reason, count) for reason, count in skipped.most_common()]
    return CardSection(
        by="plant_defects",
        title="Planted defects",
        text="How many defects each operator put in, how many fixes undid such a fault, and why files took none.",
        columns=("of", "what", "count"),
        rows=tuple(rows),
        figures={"planted": sum(drawn.values())},
    )
