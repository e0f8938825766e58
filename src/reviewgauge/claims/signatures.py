"""The sentences about functions and classes: added, removed, renamed, and what becomes of their parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from reviewgauge.claims.by_line import similarity
from reviewgauge.claims.compare import Altered, HunkFacts, plain_scope
from reviewgauge.claims.statements import Statement, from_to, listed, quoted
from reviewgauge.claims.wording import rows_of
from reviewgauge.repo.syntax.facts import Fact, Parameter

_METHODS_ONLY = (".java", ".cs", ".kt")
_SELF = frozenset(("self", "cls", "&self", "&mut self", "mut self"))
_TEST = re.compile(r"test(?:_|$|[A-Z])|Test[A-Z]")
_MODIFIERS = frozenset(
    """
    public private protected internal static final abstract async override virtual const inline synchronized sealed
    export default extern unsafe native readonly open pub
    """.split()  # noqa: SIM905
)
_RENAMED = 0.5  # how alike two definitions are from which on one is the other under a new name


def definitions_altered(facts: HunkFacts) -> list[Altered]:
    """The functions and classes whose heads a hunk touches: before and after, added, removed."""
    found: list[Altered] = []
    for kind in ("class", "function"):
        olds = [fact for fact in facts.old.facts if fact.kind == kind]
        news = [fact for fact in facts.new.facts if fact.kind == kind]
        pairs = _by_name(olds, news)
        for old, new in pairs:
            if (facts.old.touched(old) or facts.new.touched(new)) and old.text != new.text:
                found.append(Altered(old, new))
        met_old, met_new = {id(old) for old, _ in pairs}, {id(new) for _, new in pairs}
        lost = [fact for fact in olds if id(fact) not in met_old and facts.old.touched(fact)]
        come = [fact for fact in news if id(fact) not in met_new and facts.new.touched(fact)]
        found += _renamed(facts, lost, come)
    return found


def _by_name(olds: Sequence[Fact], news: Sequence[Fact]) -> list[tuple[Fact, Fact]]:
    """Definitions of one name on both sides; of several, those with one text first."""
    left = list(news)
    found: list[tuple[Fact, Fact]] = []
    later: list[Fact] = []
    for old in olds:
        same = next((new for new in left if (new.name, new.text) == (old.name, old.text)), None)
        if same is None:
            later.append(old)
        else:
            left.remove(same)
            found.append((old, same))
    for old in later:
        near = [new for new in left if new.name == old.name]
        same = next((new for new in near if new.scope == old.scope), near[0] if near else None)
        if same is not None:
            left.remove(same)
            found.append((old, same))
    return found


def _renamed(facts: HunkFacts, lost: list[Fact], come: list[Fact]) -> Iterator[Altered]:
    lost = list(lost)
    for new in come:
        rated = [(_one_under_two_names(facts, old, new), i) for i, old in enumerate(lost)]
        best = max(rated, default=(0.0, -1))
        if best[0] >= _RENAMED:
            yield Altered(lost.pop(best[1]), new)
        elif facts.new.begins(new):
            yield Altered(None, new)
    yield from (Altered(old, None) for old in lost if facts.old.begins(old))


def _one_under_two_names(facts: HunkFacts, old: Fact, new: Fact) -> float:
    if plain_scope(old.scope) != plain_scope(new.scope) or facts.block(0, old) != facts.block(1, new):
        return 0.0
    before = "\n".join(facts.old.side.rows[old.first : old.body[1] + 1][:40]).replace(old.name, "_")
    after = "\n".join(facts.new.side.rows[new.first : new.body[1] + 1][:40]).replace(new.name, "_")
    return min(similarity(before, after), similarity(old.text, new.text) * 1.5)


def definition_statements(facts: HunkFacts, altered: Altered, path: str) -> Iterator[Statement]:
    """The sentences about one definition."""
    old, new = altered.old, altered.new
    side = facts.new if new is not None else facts.old
    fact = altered.fact
    what = _what(fact, path, facts)
    name = quoted(fact.name)
    scope = side.scope(fact)
    place = f" in `{scope}`" if scope and scope != fact.name else ""
    rows = rows_of(old), rows_of(new)
    line = side.line(fact)

    def say(rank: int, text: str) -> Statement:
        return Statement(rank, line, text, *rows)

    if old is None:
        rank = 21 if fact.kind == "class" else 20
        head = fact.text.partition(" #")[0].rstrip(": ")
        bases = f": {quoted(head)}" if fact.kind == "class" and head.partition(fact.name)[2].strip() else ""
        yield say(rank, f"The {what} {name} is added{place}{_with(fact.parameters)}{bases}.")
    elif new is None:
        yield say(18, f"The {what} {name} is removed{place}.")
    else:
        if old.name != new.name:
            yield say(16, f"The {what} {quoted(old.name)} is renamed to {name}{place}.")
        unknown = f"the function `{scope}`" if side.heading_is_open else f"a function{place}"
        owner = unknown if fact.name == "_" else f"the {what} {name}"
        told = [*_parameter_texts(old, new, owner), *_result_text(old, new, name), *_modifier_text(old, new, owner)]
        for text in told:
            yield say(16, text)
        if not told and old.name == new.name and "".join(old.text.split()) != "".join(new.text.split()):
            yield say(19, f"The declaration of the {what} {name} changes from {from_to(old.text, new.text)}.")


def _what(fact: Fact, path: str, facts: HunkFacts) -> str:
    if fact.kind == "class":
        first = fact.text.split(maxsplit=1)[0] if fact.text else "class"
        found = re.search(r"\b(interface|enum|struct|trait|union|module|record)\b", fact.text)
        return found[1] if found else "type" if first == fact.name and path.endswith(".go") else "class"
    if _TEST.match(fact.name) and not fact.name.endswith("Suite"):
        return "test"
    if "=>" in fact.text or fact.text.endswith("->") or fact.text.startswith("lambda"):
        return "function"
    around = fact.scope.replace("::", ".").rpartition(".")[2]
    classes = {one.name for side in (facts.old, facts.new) for one in side.facts if one.kind == "class"} | {"_"}
    method = path.lower().endswith(_METHODS_ONLY) or around in classes or fact.text.startswith("func (")
    method = method or any(one.name in _SELF for one in fact.parameters[:1])
    return "method" if method else "function"


def _with(parameters: Sequence[Parameter]) -> str:
    names = [quoted(one.name) for one in parameters if one.name and one.name not in (*_SELF, "this", "void")]
    return f", with the parameter{'s' * (len(names) > 1)} {listed(names)}" if names else ""


def _parameter_texts(old: Fact, new: Fact, owner: str) -> Iterator[str]:
    before, after = ({one.name: one for one in fact.parameters} for fact in (old, new))
    come = [one for one in new.parameters if one.name not in before]
    gone = [one for one in old.parameters if one.name not in after]
    if len(come) == len(gone) == 1 and old.parameters.index(gone[0]) == new.parameters.index(come[0]):
        verb = "renamed to" if _same_but_name(gone[0], come[0]) else "replaced by"
        yield f"The parameter {quoted(gone[0].name)} of {owner} is {verb} {quoted(come[0].name)}."
        come, gone = [], []
    for one in come:
        default = f" with the default {quoted(one.default)}" if one.default else ""
        yield f"{owner[0].upper()}{owner[1:]} gets a new parameter {quoted(one.name)}{default}."
    for one in gone:
        yield f"The parameter {quoted(one.name)} is removed from {owner}."
    for name, one in after.items():
        if name in before and before[name] != one:
            yield from _parameter_change(before[name], one, owner)
    if not come and not gone and list(before) != list(after) and set(before) == set(after):
        yield f"The parameters of {owner} are reordered to {listed([quoted(name) for name in after])}."


def _same_but_name(old: Parameter, new: Parameter) -> bool:
    return re.sub(rf"\b{re.escape(old.name)}", "_", old.text) == re.sub(rf"\b{re.escape(new.name)}", "_", new.text)


def _parameter_change(old: Parameter, new: Parameter, owner: str) -> Iterator[str]:
    name = quoted(new.name)
    if old.default != new.default:
        if not old.default:
            yield f"The parameter {name} of {owner} gets the default {quoted(new.default)}."
        elif not new.default:
            yield f"The parameter {name} of {owner} no longer has the default {quoted(old.default)}."
        else:
            change = from_to(old.default, new.default)
            yield f"The default of the parameter {name} of {owner} changes from {change}."
    elif "".join(old.text.split()) != "".join(new.text.split()):
        yield f"The parameter {name} of {owner} changes from {from_to(old.text, new.text)}."


def _modifier_text(old: Fact, new: Fact, owner: str) -> Iterator[str]:
    """What becomes of `public`, `static`, `async` ..."""
    before, after = (
        [word for word in fact.text.partition(fact.name)[0].split() if word in _MODIFIERS] for fact in (old, new)
    )
    come, gone = ([w for w in one if w not in other] for one, other in ((after, before), (before, after)))
    subject = f"{owner[0].upper()}{owner[1:]}"
    if come and gone:
        yield f"{subject} is now {quoted(' '.join(come))} instead of {quoted(' '.join(gone))}."
    elif come:
        yield f"{subject} is now {quoted(' '.join(come))}."
    elif gone:
        yield f"{subject} is no longer {quoted(' '.join(gone))}."


def _result_text(old: Fact, new: Fact, name: str) -> Iterator[str]:
    if old.result == new.result:
        return
    if not old.result:
        yield f"The return type {quoted(new.result)} is declared for {name}."
    elif not new.result:
        yield f"The return type {quoted(old.result)} of {name} is removed."
    else:
        yield f"The return type of {name} changes from {from_to(old.result, new.result)}."
