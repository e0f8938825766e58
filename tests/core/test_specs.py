"""Specs are read as data, never evaluated; they round-trip; and the catalogue imports nothing."""

from __future__ import annotations

import gc
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.contexts.bm25 import Bm25
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Context, Excerpt, Measured, Metric, Reviewer
from reviewgauge.core.records import Case, Change, Review
from reviewgauge.core.specs import Spec, build, catalogue, load, names, parse_spec, short_spec, signature
from reviewgauge.stages.from_git import FromGit


@dataclass(frozen=True)
class Odd(Metric):
    """A metric with every kind of parameter."""

    number: int = 1
    share: float = 0.5
    word: str = "a"
    maybe: str | None = None
    choice: Literal["x", "y"] = "x"
    many: tuple[str, ...] = ()
    flag: bool = False

    def parts(self, case: Case, review: Review) -> Measured | str:
        return "never applies"


values = st.fixed_dictionaries(
    {},
    optional={
        "number": st.integers(),
        "share": st.floats(allow_nan=False, allow_infinity=False),
        "word": st.text(),
        "maybe": st.none() | st.text(),
        "choice": st.sampled_from(["x", "y"]),
        "many": st.lists(st.text(), max_size=3).map(tuple),
        "flag": st.booleans(),
    },
)


@given(values)
def test_signatures_and_short_specs_name_the_same_plugin(parameters: dict[str, object]) -> None:
    odd = Odd(**parameters)  # type: ignore[arg-type]
    assert build(Odd, parse_spec(signature(odd))) == odd
    assert build(Odd, parse_spec(short_spec(odd))) == odd


def test_a_spec_is_never_evaluated() -> None:
    for text in ("hits(judge=__import__('os').getcwd())", "hits(**{})", "hits('x')", "hits; 1", "1 + 1", "", "hits("):
        with pytest.raises(UserError):
            parse_spec(text)


@given(st.text())
def test_any_text_is_a_spec_or_a_user_error(text: str) -> None:
    try:
        parse_spec(text)
    except UserError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize(("text", "words"), [
    ("hit", "did you mean hits?"),
    ("hits(tolerence=2)", "no parameter 'tolerence'"),
    ("hits(tolerance='two')", "tolerance='two' is not of type int"),
    ("hits(policy='best')", "policy='best' must be one of 'optimal', 'greedy', 'any'"),
    ("chrf(beta=1e400)", "beta=inf is not of type float (a finite number)"),
    ("hits(variant='aacr')", "needs policy='greedy'"),
    ("no.such.module", "no metric found at no.such.module"),
    ("json", "no metric is called 'json'"),
    ("json.decoder.JSONDecoder", "is not a Metric"),
])  # fmt: skip
def test_a_wrong_spec_says_what_is_wrong(text: str, words: str) -> None:
    with pytest.raises(UserError, match=re.escape(words)):
        load(Metric, text)


def test_a_parameter_that_is_missing_is_named() -> None:
    with pytest.raises(UserError, match=r"^prompt needs model \(write prompt\(model=\.\.\.\)\)$"):
        load(Reviewer, "prompt")


def test_listing_the_catalogue_imports_no_plugin() -> None:
    program = (
        "import sys; from reviewgauge.core.specs import catalogue\n"
        "for kind in ('datasets', 'reviewers', 'metrics', 'formats', 'judges', 'contexts'):\n"
        "    assert list(catalogue(kind))\n"
        "heavy = {'numpy', 'scipy', 'click', 'rich', 'yaml', 'jinja2'} & set(sys.modules)\n"
        "own = [m for m in sys.modules if m.startswith('reviewgauge.metrics.')]\n"
        "assert not heavy and not own, (heavy, own)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_every_line_of_the_catalogue_says_something() -> None:
    for kind in ("datasets", "reviewers", "metrics", "formats", "judges", "contexts"):
        entries = list(catalogue(kind))
        assert [entry.name for entry in entries] == names(kind)
        for entry in entries:
            assert len(entry.summary) > 15, entry


def test_a_secret_is_refused_as_a_parameter() -> None:
    for text in ("hits(api_key='x')", "hits(auth_token='x')", "hits(PASSWORD='x')"):
        with pytest.raises(UserError, match=r"no parameter|looks like a secret"):
            load(Metric, text)
    with pytest.raises(UserError, match="looks like a secret"):
        build(Keyed, parse_spec("Keyed(api_key='x')"))
    assert build(Keyed, parse_spec("Keyed(tokens=5)")).tokens == 5


@dataclass(frozen=True)
class Keyed(Metric):
    """A metric that asks for a key."""

    api_key: str = ""
    tokens: int = 0

    def parts(self, case: Case, review: Review) -> Measured | str:
        return "never applies"


def test_bounds_of_a_type_hold_in_specs_and_in_python() -> None:
    with pytest.raises(UserError, match="bm25: k=0 must be 1 or more"):
        load(Context, "bm25(k=0)")
    with pytest.raises(ValueError, match="k=0 must be 1 or more"):
        Bm25(k=0)
    with pytest.raises(ValueError, match="variant='other' must be one of 'basic', 'ag', 'ma'"):
        FromGit(variant="other")  # type: ignore[arg-type]


class _Checked:
    def __post_init__(self) -> None:
        raise ValueError("the class beside it was asked")


@dataclass(frozen=True)
class _Mixed(Context, _Checked):
    def excerpts(self, change: Change, piece: Change) -> list[Excerpt]:
        return []


def test_a_class_that_is_mixed_in_checks_too() -> None:
    with pytest.raises(ValueError, match="the class beside it was asked"):
        _Mixed()


def test_specs_are_read_by_several_threads_at_once() -> None:
    def give_way(*_: object) -> None:
        time.sleep(0)

    def read(at: int) -> list[Spec]:
        return [parse_spec(f"hits(judge='lexical', tolerance={at}, more=[1, (2, {{'a': {n}}})])") for n in range(100)]

    limits = gc.get_threshold()
    gc.callbacks.append(give_way)  # in the middle of a syntax tree, which is made of many objects
    gc.set_threshold(10)
    try:
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(read, range(16)))
    finally:
        gc.set_threshold(*limits)
        gc.callbacks.remove(give_way)
    assert [own[0].parameters["tolerance"] for own in found] == list(range(16))
