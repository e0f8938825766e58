"""A schema: what one item is, the questions about it and its parts, and which answers are complete."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError, model_validator

from reviewgauge.core.base import Fact, Record, Text
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.files import read_file
from reviewgauge.core.labels import SubjectKind
from reviewgauge.core.parsing import first_problem

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
LONGEST_SCALE = 20  # steps; a scale is a row of buttons
LONGEST_TEXT = 20_000  # characters of one answer
MOST_ADDED = 50  # lines of a list
# What a reader of tables takes for a missing value, or for a number of its own.
_NO_TABLE = re.compile(r"[-+0-9.,/% ]++(e[-+0-9]*+)?|nan|na|n/a|null|inf|infinity")
_LETTERS = "abdhilmnpqxyzefgjkrstuvwco"  # keys of answers after the digits; first those that are not commands
NOTHING = "none"  # the answer of who ticked nothing, so that it differs from that of who was not asked
ITEM = -1  # the place of an answer about the item itself, not about one of its parts


class QuestionKind(StrEnum):
    """How a question is answered."""

    SCALE = "scale"  # a whole number from low to high
    CHOICE = "choice"  # one of the options
    MANY = "many"  # any of the options, joined by commas
    TEXT = "text"  # in words
    LIST = "list"  # lines in words, each a claim that the rater adds


class Parts(StrEnum):
    """What an item is divided into, so that a question can be asked of each."""

    NONE = "none"
    CLAIMS = "claims"
    REFERENCES = "references"
    PHRASINGS = "phrasings"  # of a pooled finding: comments and references that may say the same
    POINTS = "points"  # the known points of a change, and those listed in a report: `about` tells them apart


class Option(Record):
    """One answer of a choice. `key` is the key that gives it; by default its number, or a letter after the ninth."""

    value: Annotated[str, Field(min_length=1, max_length=60)]
    text: str = ""
    key: Annotated[str, Field(pattern=r"^[a-z0-9]?$")] = ""


class Condition(Record):
    """The question is asked only where another dimension has one of these values."""

    dimension: Name
    values: Annotated[tuple[str, ...], Field(min_length=1)]


class Question(Record):
    """One question. `each` asks it of every part, or of the parts of one kind; raters who differ in one that `decides`
    disagree.
    """

    dimension: Name
    text: str
    kind: QuestionKind = QuestionKind.CHOICE
    each: bool = False
    about: Literal["", "known", "listed"] = ""
    options: tuple[Option, ...] = ()
    low: int = 1
    high: int = 5
    help: str = ""
    required: bool = True
    decides: bool = True
    tolerance: Annotated[float, Field(ge=0)] = 0
    when: Condition | None = None

    @model_validator(mode="after")
    def _answerable(self) -> Self:
        if self.kind in (QuestionKind.CHOICE, QuestionKind.MANY):
            values = [option.value for option in self.options]
            if len(values) < 2 or len(set(values)) < len(values):
                raise ValueError("needs two options or more, with different values")
            if any("," in value for value in values):
                raise ValueError("an option's value must not hold a comma")
            if len({value.casefold() for value in values}) < len(values):
                raise ValueError("two options differ only in capitals")
            if odd := [one for one in values if _NO_TABLE.fullmatch(one.casefold()) and not _is_number(one)]:
                raise ValueError(f"a table cannot hold the option {odd[0]!r}: use a word, or a number such as 0.5")
            if len({_is_number(value) for value in values}) > 1:
                raise ValueError("some options are numbers and some are words")
            keys = [option.key for option in self.options if option.key]
            if len(set(keys)) < len(keys):
                raise ValueError("two options have one key")
        elif self.options:
            raise ValueError(f"a question of kind {self.kind} has no options")
        if self.kind is QuestionKind.SCALE and not 1 <= self.high - self.low < LONGEST_SCALE:
            raise ValueError(f"a scale has 2 to {LONGEST_SCALE} steps")
        return self

    @property
    def keys(self) -> list[tuple[str, str]]:
        """(answer, its key) of every step or option; of very many options the last have none."""
        if self.kind is QuestionKind.SCALE:
            given = {str(step): str(step) if 0 <= step < 10 else "" for step in range(self.low, self.high + 1)}
            if self.low > 0 and "10" in given:
                given["10"] = "0"
            free = list(_LETTERS)
        else:
            given = {option.value: option.key for option in self.options}
            free = [*"123456789", *_LETTERS]
        free = [key for key in free if key not in given.values()]
        return [(value, key or (free.pop(0) if free else "")) for value, key in given.items()]

    def label_value(self, value: Fact) -> Fact:
        """An answer as the value of a label: a number where the options are numbers."""
        if self.kind is not QuestionKind.CHOICE or not _is_number(self.options[0].value):
            return value
        found = float(value)
        return int(found) if found.is_integer() else found

    def answer_value(self, value: Fact) -> Fact:
        """The answer that a label's value stands for."""
        if self.kind is QuestionKind.MANY:
            return ",".join(part.strip() for part in str(value).split(","))
        if self.kind is QuestionKind.SCALE:
            return int(value) if isinstance(value, float) and value.is_integer() else value
        if isinstance(value, str):
            return value
        return next(
            (one.value for one in self.options if _is_number(one.value) and float(one.value) == value), str(value)
        )

    @property
    def takes_nothing(self) -> bool:
        """Whether it is an answer to tick nothing."""
        options = (option.value.casefold() for option in self.options)
        return self.kind is QuestionKind.MANY and not self.required and NOTHING not in options

    @property
    def counts(self) -> bool:
        """Whether raters who answer it differently disagree."""
        return self.decides and self.kind in (QuestionKind.SCALE, QuestionKind.CHOICE)


def _is_number(value: str) -> bool:
    """Whether a value is a number in the one way in which it comes back from a table of labels."""
    return re.fullmatch(r"-?(0|[1-9]\d{0,9})(\.\d{0,9}[1-9])?", value) is not None


class Between(Record):
    """A warning, not an error, where the value of a dimension is not between those of two others."""

    dimension: Name
    of: tuple[Name, Name]
    text: str


class Schema(Record):
    """What is judged, by how many raters, and the questions."""

    name: Name
    title: str
    unit: SubjectKind
    parts: Parts = Parts.NONE
    shows_references: bool = False
    raters: Annotated[int, Field(ge=1, le=50)] = 3
    batch: Annotated[int, Field(ge=1)] = 20
    discussion: bool = True  # by the raters who differ; else an expert decides at once
    guidelines: Text = ""
    questions: Annotated[tuple[Question, ...], Field(min_length=1)]
    between: tuple[Between, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        names = [question.dimension for question in self.questions]
        if len(set(names)) < len(names):
            raise ValueError("two questions have one dimension")
        for question in self.questions:
            if question.about and not question.each:
                raise ValueError(f"{question.dimension} is about one kind of part, and is not asked of each")
            if question.each and self.parts is Parts.NONE:
                raise ValueError(f"{question.dimension} is asked of each part, and the items have no parts")
            if question.when is None:
                continue
            if question.when.dimension not in names:
                raise ValueError(f"{question.dimension} depends on {question.when.dimension!r}, which is not asked")
            other = self.questions[names.index(question.when.dimension)]
            known = [value for value, _ in other.keys]
            if other.kind not in (QuestionKind.TEXT, QuestionKind.LIST) and not {*question.when.values} <= {*known}:
                raise ValueError(f"{question.dimension} is asked where {other.dimension} is none of {', '.join(known)}")
        for rule in self.between:
            if unknown := {rule.dimension, *rule.of} - set(names):
                raise ValueError(f"the rule names {min(unknown)!r}, which is not asked")
        if not any(one.required and one.when is None and one.kind is not QuestionKind.LIST for one in self.questions):
            raise ValueError("needs a question that every rater must answer")
        return self

    def question(self, dimension: str) -> Question | None:
        """The question of a dimension."""
        return next((question for question in self.questions if question.dimension == dimension), None)


class Answer(Record):
    """One answer: about the part at this place, or about the item (`ITEM`)."""

    part: int = ITEM
    dimension: Name
    value: Fact


class Gold(Record):
    """The right answers about an item, and why. Questions that it does not answer have none."""

    answers: Annotated[tuple[Answer, ...], Field(min_length=1)]
    reason: str = ""


# --- reading -------------------------------------------------------------------------------------------------------


def shipped_schemas() -> list[str]:
    """The names of the schemas that come with the package."""
    files = resources.files("reviewgauge.annotation.schemas").iterdir()
    return sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml"))


def load_schema(word: str | Path) -> Schema:
    """A shipped schema by its name, or one from a TOML file. Raises UserError, BadInput."""
    if str(word) in shipped_schemas():
        raw = (resources.files("reviewgauge.annotation.schemas") / f"{word}.toml").read_bytes()
        return parse_schema(raw, f"{word}.toml")
    path = Path(word)
    if path.suffix != ".toml":
        raise UserError(f"there is no schema {str(word)!r}", remedy=f"{', '.join(shipped_schemas())}, or a .toml file")
    try:
        return parse_schema(read_file(path, 1 << 20), path.name)
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None


def parse_schema(raw: bytes, source: str) -> Schema:
    """A schema from TOML. Raises BadInput."""
    try:
        return Schema.model_validate(tomllib.loads(raw.decode("utf-8-sig")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(source, f"is not valid TOML: {error}") from None
    except ValidationError as error:
        field, problem = first_problem(error)
        raise BadInput(source, problem, field=field) from None


# --- answers -------------------------------------------------------------------------------------------------------


def check_answers(
    schema: Schema, answers: Iterable[Answer], parts: int | Sequence[str], *, whole: bool = True
) -> tuple[Answer, ...]:
    """The answers in the schema's order, all of them where they are `whole`. `parts`: how many, or the kind of each.

    Raises UserError for a wrong, doubled or missing one.
    """
    kinds = _kinds(parts)
    found: dict[tuple[int, str], list[Answer]] = {}
    for answer in answers:
        question = schema.question(answer.dimension)
        if question is None or not _fits(question, answer.part, kinds):
            raise UserError(f"there is no question {answer.dimension!r} about part {answer.part}")
        found.setdefault((answer.part, answer.dimension), []).append(answer)
    values = {place: str(given[0].value) for place, given in found.items()}
    ordered: list[Answer] = []
    for part, question in asked(schema, kinds):
        given = found.get((part, question.dimension), [])
        if not is_asked(question, part, values):
            given = []
        elif whole and question.takes_nothing and not given:
            given = [Answer(part=part, dimension=question.dimension, value=NOTHING)]
        elif whole and question.required and not given and question.kind is not QuestionKind.LIST:
            raise UserError(f"{question.dimension} is not answered" + (f" for part {part + 1}" if part >= 0 else ""))
        if len(given) > (MOST_ADDED if question.kind is QuestionKind.LIST else 1):
            raise UserError(f"{question.dimension} has {len(given)} answers")
        ordered += [_checked(question, answer) for answer in given]
    return tuple(ordered)


def asked(schema: Schema, parts: int | Sequence[str]) -> Iterator[tuple[int, Question]]:
    """Every question with the place that it is asked of: those about parts first, part by part."""
    for part, kind in enumerate(_kinds(parts)):
        yield from ((part, one) for one in schema.questions if one.each and one.about in ("", kind))
    yield from ((ITEM, question) for question in schema.questions if not question.each)


def _fits(question: Question, part: int, kinds: Sequence[str]) -> bool:
    """Whether a question may be answered of a part, or of the item."""
    if not question.each:
        return part == ITEM
    return 0 <= part < len(kinds) and question.about in ("", kinds[part])


def _kinds(parts: int | Sequence[str]) -> Sequence[str]:
    return [""] * parts if isinstance(parts, int) else parts


def is_asked(question: Question, part: int, values: Mapping[tuple[int, str], str]) -> bool:
    """Whether the other answers let this question be asked."""
    if question.when is None:
        return True
    value = values.get((part, question.when.dimension), values.get((ITEM, question.when.dimension), ""))
    return value in question.when.values


def _checked(question: Question, answer: Answer) -> Answer:
    value = answer.value
    if question.kind is QuestionKind.SCALE:
        if isinstance(value, bool) or not isinstance(value, int) or not question.low <= value <= question.high:
            raise UserError(f"{question.dimension} is a whole number from {question.low} to {question.high}")
        return answer
    if not isinstance(value, str) or not value.replace("\x00", "").strip():
        raise UserError(f"{question.dimension} is empty")
    if question.takes_nothing and value == NOTHING:
        return answer
    if question.kind in (QuestionKind.CHOICE, QuestionKind.MANY):
        known = [option.value for option in question.options]
        chosen = [value] if question.kind is QuestionKind.CHOICE else value.split(",")
        if unknown := [one for one in chosen if one not in known]:
            raise UserError(f"{question.dimension} has no option {unknown[0]!r:.60}")
        joined = ",".join(one for one in known if one in chosen)
        return answer.model_copy(update={"value": joined})
    return answer.model_copy(update={"value": clean_text(value, question.dimension)})


def clean_text(text: str, what: str) -> str:
    """Text as it is kept: without NUL, blanks at its ends and carriage returns. Raises UserError for one too long."""
    if len(text) > LONGEST_TEXT:
        raise UserError(f"{what} has {len(text):,} characters, over {LONGEST_TEXT:,}")
    whole = text.encode("utf-8", "replace").decode()  # no halves of surrogate pairs
    return whole.replace("\x00", "").replace("\r\n", "\n").replace("\r", "\n").strip()


def warnings(schema: Schema, answers: Iterable[Answer]) -> list[str]:
    """What a rater should look at again."""
    numbers = {
        one.dimension: float(one.value) for one in answers if not isinstance(one.value, str) and one.part == ITEM
    }
    found = []
    for rule in schema.between:
        value, ends = numbers.get(rule.dimension), [numbers[name] for name in rule.of if name in numbers]
        if value is not None and len(ends) == len(rule.of) and not min(ends) <= value <= max(ends):
            found.append(rule.text)
    return found


def disagree(schema: Schema, judged: Sequence[Sequence[Answer]]) -> list[str]:
    """The dimensions in which several raters' answers about one item differ."""
    differing: dict[str, None] = {}
    for question in schema.questions:
        if not question.counts:
            continue
        by_part: dict[int, list[Fact | None]] = {}
        given = [{one.part: one.value for one in answers if one.dimension == question.dimension} for answers in judged]
        for part in sorted({part for one in given for part in one}):
            by_part[part] = [one.get(part) for one in given]
        if any(_differ(values, question) for values in by_part.values()):
            differing[question.dimension] = None
    return list(differing)


def _differ(values: Sequence[Fact | None], question: Question) -> bool:
    numbers = [float(value) for value in values if value is not None and not isinstance(value, str)]
    if question.kind is QuestionKind.SCALE and len(numbers) == len(values):
        return max(numbers) - min(numbers) > question.tolerance
    return len(set(values)) > 1
