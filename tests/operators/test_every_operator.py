"""What holds for each operator, on code that has something for most of them."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import pytest

from reviewgauge.core.specs import load, names
from reviewgauge.operators.code.operator import Code, Edit, Operator, Plant, applied
from reviewgauge.repo.syntax.tree import SyntaxTree, parse

SAMPLES = sorted((Path(__file__).parent / "samples").glob("*.txt"))
OPERATORS = [load(Operator, name) for name in names("operators")]


def code_of(sample: Path, share: float = 1.0) -> Code:
    """The code of a sample, of which a change adds this share of lines."""
    tree = parse(sample.read_bytes(), sample.stem)
    assert isinstance(tree, SyntaxTree), f"{sample}: {tree}"
    lines = range(1, tree.source.count(b"\n") + 1)
    drawn = random.Random(sample.name)
    return Code(tree, frozenset(line for line in lines if drawn.random() < share))


def tokens(source: bytes, path: str) -> list[str]:
    """The leaves of the tree of a file that are no comments; it must parse."""
    tree = parse(source, path)
    assert isinstance(tree, SyntaxTree), f"{tree}: {source.decode()}"
    return [one.text for one in tree.root.walk() if not one.children and "comment" not in one.kind]


def lines_of(code: Code, edit: Edit) -> Iterable[int]:
    return range(code.tree.line(edit.start), code.tree.line(max(edit.start, edit.end - 1)) + 1)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda one: one.stem)
@pytest.mark.parametrize("operator", OPERATORS, ids=lambda one: type(one).__name__)
def test_a_plant_is_a_change_of_added_code_that_parses(operator: Operator, sample: Path) -> None:
    for share in (1.0, 0.8):
        code = code_of(sample, share)
        plants = list(operator.plants(code))
        assert plants == list(operator.plants(code_of(sample, share)))  # the same each time
        before = tokens(code.tree.source, sample.stem)
        for plant in plants:
            made = [applied(code.tree.source, edits) for edits in (plant.edits, plant.safe) if edits]
            assert all(tokens(one, sample.stem) != before for one in made)
            assert len(set(made)) == len(made)  # the safe twin is another change
            for edits in (plant.edits, plant.safe):
                assert all(one.end <= two.start for one, two in pairwise(sorted(edits)))
                assert {line for edit in edits for line in lines_of(code, edit)} <= code.added
            says_what_is_there(code, plant, made[0])


def says_what_is_there(code: Code, plant: Plant, after: bytes) -> None:
    """A sentence quotes code as it is with the defect, and not what only the sound code has."""
    quoted = re.findall(r"`([^`]+)`", plant.body)
    words = set(re.findall(r"\w+", after.decode()))
    assert any(set(re.findall(r"\w+", one)) & words for one in quoted), plant.body
    assert plant.body.endswith(".") and plant.body[0] in "`" + plant.body[0].upper()
    for edit in plant.edits:
        gone = code.tree.source[edit.start : edit.end].decode().strip()
        whole = " ".join(gone.split())
        assert len(whole) < 12 or whole.encode() in after or whole not in plant.body, plant.body


def test_each_operator_finds_something_in_the_samples() -> None:
    """The samples keep up with the operators; a contract needs callers in other files."""
    found = {type(one).__name__ for one in OPERATORS for sample in SAMPLES if list(one.plants(code_of(sample)))}
    assert {type(one).__name__ for one in OPERATORS} - found <= {"ContractBroken"}
