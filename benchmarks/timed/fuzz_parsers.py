"""How long each parser of others' text takes over broken, mixed and pumped input, by the kilobyte.

    python benchmarks/timed/fuzz_parsers.py [NAME...] [--inputs 100000] [--jobs 2] [--seed 1] [--show]

Seeds are the fixtures of the tests and the corpus of model answers. Most inputs are mutated: pieces are cut, doubled,
moved, exchanged with pieces of other seeds, bytes are changed, and values within JSON. One in a hundred is pumped: one
to three tokens, repeated up to 4 KB between the ends of a seed, then up to 8 KB. A parser may raise its own errors and
nothing else. Printed for each: inputs, the share that was read, median and slowest in microseconds of processor time a
kilobyte (median of those that were read, or of the seeds if that is more: what breaks early costs nothing), their
ratio, and the most times that twice the text took. What is under a kilobyte counts as one, a line of less than 16
bytes as 16, and a record that is made of less than 128 bytes as 128. What seems slow is timed again, best of five. Exit
code 1 where an aim is missed: no input over 10 times the median, no doubling over 3 times.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import statistics
import sys
import time
import tomllib
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.parsing import parse_json, parse_record
from reviewgauge.core.protocols import Format
from reviewgauge.core.records import Case, Change, ChangedFile, Span, Task
from reviewgauge.core.specs import load, names, parse_spec
from reviewgauge.datasets.files.labels import from_csv, from_json
from reviewgauge.datasets.sample import Sample
from reviewgauge.engine.build.recipes import Recipe, recipe_names
from reviewgauge.formats.parsing.comments import detect
from reviewgauge.judges.classes.classes import QUESTIONS, read_class
from reviewgauge.judges.golden import Golden
from reviewgauge.metrics.grade import read_grade
from reviewgauge.metrics.matching.asking_points import read_hits, read_points
from reviewgauge.models.answers.readers import Unreadable, json_object, whole_number, yes_no
from reviewgauge.models.http.replies import RetryableError, read_json
from reviewgauge.models.providers.anthropic import Anthropic
from reviewgauge.models.providers.openai import OpenAI
from reviewgauge.models.request.model_spec import parse_model
from reviewgauge.models.text.words import identifiers, tokens
from reviewgauge.repo.diff.diffs import parse_patch, split_diff
from reviewgauge.repo.diff.positions import needles, parse_marker, patch_rows
from reviewgauge.repo.forge.accounts import bot_noise, split_suggestion
from reviewgauge.repo.forge.pulls import read_pull
from reviewgauge.repo.forge.replies import Broken, ForgeResponse, error_message, next_link
from reviewgauge.repo.forge.replies import read_json as read_forge_json
from reviewgauge.repo.history.commits import read_object
from reviewgauge.repo.history.fix_messages import issue_numbers, read_message, says_what
from reviewgauge.repo.history.landed_changes import _joins_lines, _title, own_text, without_ids
from reviewgauge.repo.syntax.product import trivial
from reviewgauge.reviewers.reading.model_answers import read_comment, read_lines, read_notes, read_verdict
from reviewgauge.stages.asking.change_points import read_change_points
from reviewgauge.stages.augment import read_summary
from reviewgauge.stages.drop_low_value import read as read_value
from reviewgauge.stages.keep_english import judge_text
from reviewgauge.stages.link_issues import references

TESTS = Path(__file__).parents[2] / "tests"
RATIO, DOUBLING = 10.0, 3.0
SMALL, LARGE = 512, 4096  # characters of a mutated and of a pumped input
LEAST = 0.001  # seconds from which a doubling counts
TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
HOSTILE = [
    *" \n\t<>[]{}()\"'`~#*-_|\\/:;,.!?&=+@$%^0a1é中\u2028\x00",
    *("```", "~~~", "<note>", "</note>", "<diff>", "<think>", "</think>", "<answer>", "<!--", "-->", "<end />", '\\"'),
    *('{"a":', '{"a":1},', "[[", '""', "- ", "> ", "1. ", "# ", "**", "![", "](", "@@ -1 +1 @@\n", "--- a\n+++ a\n"),
    *("diff --git a/a b/a\n", "&a ", "*a ", "- - ", "a: ", "? ", "1:", "#1", "fixes #1 ", "Merge ", "a.", "a@", "@a"),
    *("https://", "\n\n", " of ", "not ", "the same ", "I cannot ", "yes ", "a.py:1 ", "\\\\"),
]
ODD: list[Any] = [None, True, -1, 10**16, 0.5, "", [], {}]
OWN_ERRORS = (UserError, Unreadable, Broken, RetryableError)
Parser = Callable[[str], object]  # where it gives a number, so many records were made


class Target(NamedTuple):
    parse: Parser
    seeds: list[str]


class Row(NamedTuple):
    """What one parser did."""

    name: str
    inputs: int
    read: float
    median: float
    slowest: float
    doubling: float
    worst: str
    doubled: str

    @property
    def ratio(self) -> float:
        return self.slowest / self.median


# --- seeds -----------------------------------------------------------------------------------------------------------

PATCH = '@@ -1,3 +1,4 @@ def f():\n a = "x"\n-b = a\n+b = a or 1\n+c = 2\n d = 3\n\\ No newline at end of file\n'
DIFF = f"diff --git a/a.py b/a.py\nindex 1..2 100644\n--- a/a.py\n+++ b/a.py\n{PATCH}"
MESSAGES = [
    "Merge branch 'fix/a-b' of https://example.org/a/b into main\n\n* a: fixes #12\n- b",
    "Merge pull request #12 from ann/fix\n\nFix the parser and add tests (#12)\n\nSigned-off-by: A <a@b.org>",
    "fix(core): avoid a crash in a.b, closes GH-12 (#13)\n\nThis reverts commit 0123456789abcdef.\nSee issue 7",
    'Revert "Add a thing" (pr #1, #2)\n\nCo-authored-by: B <b@example.org>\nChange-Id: I0\n---\n(cherry picked from a)',
]
OPENAI = (
    '{"choices":[{"message":{"role":"assistant","content":"yes","tool_calls":[{"id":"a","type":"function","function":'
    '{"name":"f","arguments":"{}"}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}'
)
ANTHROPIC = (
    '{"content":[{"type":"text","text":"yes"},{"type":"tool_use","id":"a","name":"f","input":{"a":1}}],"stop_reason":'
    '"end_turn","usage":{"input_tokens":1,"output_tokens":2}}'
)
LINK = '<https://a?page=2>; rel="next", <https://a?page=9>; rel="last"'
CSV = 'id,rater,dimension,value\na,ann,quality,4\nb,bob,quality,5\nc,ann,style,good\nd,bob,style,"very, very"\n'
LABEL = '{"subject":{"kind":"review","case":"a","system":"s"},"rater":"r","dimension":"d","value":1}\n'
SPECS = [
    "prompt(model='openai:gpt-5?reasoning_effort=high', context=\"bm25(k=3)\", attempts=3, temperature=0.5)",
    "hits(judge=\"cascade(judges=('exact', 'lexical(threshold=0.5)', 'golden(model=openai:a)'))\", beta=2.0)",
    "sample | first(cases=1) | stratify(by=('language', 'size'), per=-1, seed=1e3)",
]
CHANGE = Change(repo="a/b", task=Task.LOCATE, files=(ChangedFile(path="a.py", patch=PATCH),), focus=Span(path="a.py"))


def pull() -> str:
    user, day = {"login": "ann", "type": "User"}, "2024-05-01T10:00:00Z"
    said = {"user": user, "body": "Why? `a`", "created_at": day, "path": "a.py", "line": 3, "diff_hunk": PATCH}
    author = {"name": "A", "date": day}
    raw: dict[str, Any] = {
        "repo": "o/n",
        "pull": {"number": 7, "title": "Add", "user": user, "created_at": day, "base": {"ref": "main", "sha": "b0"}},
        "comments": [said | {"id": number} for number in (1, 2)],
        "commits": [{"sha": "c1", "commit": {"message": MESSAGES[2], "author": author, "committer": author}}],
        "timeline": [{"event": "head_ref_force_pushed", "created_at": day, "actor": user}],
        "files": [{"filename": "a.py", "status": "modified", "patch": PATCH}],
    }
    return json.dumps(raw)


# --- parsers ---------------------------------------------------------------------------------------------------------


def raw(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def read_format(form: Format, text: str) -> int:
    form.recognises(raw(text))
    return sum(1 + len(parsed.comments) + len(parsed.skipped) for parsed in form.read(raw(text), "x"))


def read_commit(text: str) -> None:
    head = "author A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\n"
    commit = read_object("a" * 40, raw(head + text))
    read_message(commit.message)
    says_what(commit.message)
    issue_numbers(commit.message)
    own_text(commit.body)
    without_ids(commit.body[:10_000])
    _joins_lines(commit)
    _title(commit)


def read_prose(text: str) -> None:
    bot_noise(text, placed=False)
    split_suggestion(text)
    judge_text(text)
    tokens(text)
    identifiers(text)
    list(references(text, "a/b"))


def read_patch(text: str) -> None:
    parse_patch(text)
    patch_rows(text)
    needles(text)
    parse_marker(text)
    for line in text.split("\n"):
        trivial(line)


def json_of(text: str) -> Any:
    return parse_json(raw(text), "x")


def recipe_of(text: str) -> Recipe:
    """What `read_recipe` does with a file's text."""
    try:
        return Recipe.model_validate(tomllib.loads(text))
    except (RecursionError, ValueError) as error:
        raise BadInput("recipe", str(error)) from None


def read_headers(text: str) -> None:
    reply = ForgeResponse(200, {"link": text}, raw(text))
    next_link(reply.headers)
    error_message(reply)
    read_forge_json(reply)


def targets() -> dict[str, Target]:
    """Every parser by name, with its seeds."""
    fixtures = {file.name: file.read_text("utf-8") for file in sorted((TESTS / "formats" / "fixtures").iterdir())}
    found = {"detect": Target(lambda text: str(detect(raw(text), "x")), list(fixtures.values()))}
    for name in names("formats"):
        form = load(Format, name)
        fitting = [text for text in fixtures.values() if form.recognises(text.encode()) or name == "markdown"]
        found[f"format {name}"] = Target(partial(read_format, form), fitting)
    rows = [json.loads(line) for line in (TESTS / "models/answers/corpus.jsonl").read_text("utf-8").splitlines()]
    question = next(iter(QUESTIONS.values()))
    readers: dict[str, Parser] = {
        "yes_no": lambda text: str(yes_no(text)),
        "whole_number": lambda text: str(whole_number(text, low=1, high=5)),
        "grade": lambda text: str(read_grade(text)),
        "choice": lambda text: str(read_class(question, text)),
        "golden": Golden(model="fake:rules").read,
        "low_value": read_value,
        "points": lambda text: read_points(text, 3),
        "hits": lambda text: read_hits(text, ("K1", "K2"), ("P1", "P2", "P3")),
        "change_points": lambda text: read_change_points(text, ("C1", "C2"), ("K1", "K2")),
        "summary": read_summary,
        "notes": read_notes,
        "verdict": read_verdict,
        "lines": lambda text: read_lines(text, CHANGE, repair=True),
        "comment": read_comment,
        "json": lambda text: str(json_object(text)),
    }
    for name, reader in readers.items():
        like = {"grade": "whole_number", "json": "golden"}.get(name, name)
        found[f"answer {name}"] = Target(reader, [row["answer"] for row in rows if row["reader"] == like])
    folder = files("reviewgauge.stages").joinpath("recipes")
    recipes = [folder.joinpath(f"{name}.toml").read_text("utf-8") for name in recipe_names()]
    cases = [case.model_dump_json(exclude_defaults=True) for case in Sample().cases()][:20]
    openai, anthropic = OpenAI(parse_model("openai:a"), True), Anthropic(parse_model("anthropic:a"), True)
    return found | {
        "diff": Target(lambda text: 4 * len(split_diff(text)), [DIFF, DIFF * 2]),
        "patch": Target(read_patch, [PATCH]),
        "commit message": Target(read_commit, MESSAGES),
        "comment text": Target(read_prose, [fixtures["review.md"], *MESSAGES]),
        "forge reply": Target(read_headers, [LINK, pull()]),
        "pull request": Target(lambda text: read_pull(json_of(text)), [pull()]),
        "spec": Target(parse_spec, SPECS),
        "recipe": Target(recipe_of, recipes),
        "case": Target(lambda text: parse_record(Case, raw(text), "x"), cases),
        "labels json": Target(lambda text: len(list(from_json(raw(text), "x"))), [LABEL * 3]),
        "labels csv": Target(lambda text: len(list(from_csv(raw(text), "x", []))), [CSV]),
        "reply openai": Target(lambda text: openai.read(read_json(raw(text))), [OPENAI]),
        "reply anthropic": Target(lambda text: anthropic.read(read_json(raw(text))), [ANTHROPIC]),
    }


# --- inputs ----------------------------------------------------------------------------------------------------------


def changed(value: Any, chance: random.Random) -> Any:
    """A value of JSON with about one in twenty of its values changed."""
    if chance.random() < 0.05:
        token = chance.choice(HOSTILE)
        odd = [*ODD, token, token * 50, [value] * 3, {"a": value}, str(value) * 2]
        return chance.choice(odd)
    if isinstance(value, dict):
        return {key: changed(each, chance) for key, each in value.items() if chance.random() < 0.98}
    if isinstance(value, list):
        kept = value if chance.random() < 0.1 else chance.sample(value, min(2, len(value)))
        return [changed(each, chance) for each in kept] * chance.choice((1, 1, 1, 1, 2, 5))
    return value


@cache
def documents(text: str) -> list[Any]:
    """JSON, or lines of it; empty for what is not."""
    with suppress(ValueError):
        return [json.loads(text)]
    with suppress(ValueError):
        return [json.loads(line) for line in text.splitlines()]
    return []


def mutated(seeds: Sequence[str], chance: random.Random) -> str:
    """A seed with one to four pieces cut, doubled, moved, or exchanged."""
    text = chance.choice(seeds)
    if chance.random() < 0.7 and (found := documents(text)):
        return "\n".join(json.dumps(changed(each, chance), ensure_ascii=False) for each in found)
    at = chance.randrange(max(1, len(text) - SMALL)) if len(text) > 2 * SMALL and chance.random() < 0.5 else 0
    text = text[at : at + chance.choice((SMALL, 2 * SMALL))]
    for _ in range(chance.randint(1, 4)):
        start = chance.randint(0, len(text))
        end = min(len(text), start + chance.choice((1, 3, 20, 200)))
        kind = chance.random()
        if kind < 0.2:
            new = ""
        elif kind < 0.5:
            new = chance.choice(HOSTILE) * chance.choice((1, 1, 2, 9))
        elif kind < 0.7:
            new = text[start:end] * chance.choice((2, 3, 6))
        elif kind < 0.9:
            other = chance.choice(seeds)
            cut = chance.randint(0, len(other))
            new = other[cut : cut + 100]
        else:
            new = chr(chance.choice((0, 34, 92, 123, 0x85, 0x202E, 0xD800, 0x1F600)))
        text = text[:start] + new + text[end:]
    return text * (1 if chance.random() < 0.5 else SMALL // max(1, len(text)) + 1)


def pumped(seeds: Sequence[str], chance: random.Random) -> tuple[str, str, str]:
    """(what stands before, what is repeated, what stands after)."""
    tokens_of = TOKEN.findall(chance.choice(seeds)[: 2 * SMALL]) or [" "]
    at = chance.randrange(len(tokens_of))
    if chance.random() < 0.5:
        unit = "".join(chance.choice(HOSTILE) for _ in range(chance.choice((1, 1, 2, 3))))
    else:
        unit = "".join(tokens_of[at : at + chance.choice((1, 1, 2, 3, 8))])
    before = "".join(tokens_of[:at]) if chance.random() < 0.8 else ""
    return before, unit, "".join(tokens_of[at:]) if chance.random() < 0.6 else ""


# --- timing ----------------------------------------------------------------------------------------------------------


class Timing(NamedTuple):
    """One input read once."""

    seconds: float
    kilobytes: float
    read: bool


def timed(parse: Parser, text: str) -> Timing:
    made: object = None
    read = True
    start = time.thread_time()
    try:
        made = parse(text)
    except OWN_ERRORS:
        read = False
    seconds = time.thread_time() - start
    records = 128 * made if isinstance(made, int) else 0
    return Timing(seconds, max(len(text), 2 * SMALL, 16 * text.count("\n"), records) / 1024, read)


def best(parse: Parser, text: str, runs: int = 5) -> float:
    return min(timed(parse, text).seconds for _ in range(runs))


def doubling(parse: Parser, pump: tuple[str, str, str]) -> tuple[str, float]:
    """(4 KB of a pump; how many times as long 8 KB of it took, 0 where that is too short to be timed)."""
    before, unit, after = pump
    text, longer = (before + unit * (size // len(unit)) + after for size in (LARGE, 2 * LARGE))
    once, twice = timed(parse, text).seconds, timed(parse, longer).seconds
    if twice > LEAST and twice > 0.8 * DOUBLING * once:
        once, twice = best(parse, text), best(parse, longer)
    return text, twice / once if twice > LEAST else 0.0


def fuzz(name: str, inputs: int, seed: int) -> Row:
    """One parser over all its inputs."""
    target = targets()[name]
    chance = random.Random(f"{seed} {name}")
    of_read: list[float] = []
    slowest, worst, most, doubled = 0.0, "", 0.0, ""
    for _ in range(100):
        timed(target.parse, mutated(target.seeds, chance))
    for number in range(inputs):
        if number % 100 == 99:
            pump = pumped(target.seeds, chance)
            text, times = doubling(target.parse, pump)
            if times > most:
                most, doubled = times, f"{pump[0][-30:]!r} {pump[1]!r} {pump[2][:30]!r}"
        else:
            text = mutated(target.seeds, chance)
        try:
            once = timed(target.parse, text)
        except Exception as error:
            raise RuntimeError(f"{name} raised {type(error).__name__} for {text!r}") from error
        cost = once.seconds / once.kilobytes
        if cost > slowest:  # the clock counts what others do meanwhile
            cost = min(cost, best(target.parse, text) / once.kilobytes)
            if cost > slowest:
                slowest, worst = cost, text
        if once.read:
            of_read.append(cost)
    of_seeds = [best(target.parse, seed) / timed(target.parse, seed).kilobytes for seed in target.seeds]
    middle = max(statistics.median(of_seeds), statistics.median(of_read or [0.0]))
    return Row(name, inputs, len(of_read) / inputs, 1e6 * middle, 1e6 * slowest, most, worst, doubled)


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("names", nargs="*")
    options.add_argument("--inputs", type=int, default=100_000)
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--show", action="store_true", help="show the slowest input of each")
    given = options.parse_args()
    chosen = [name for name in targets() if not given.names or any(word in name for word in given.names)]
    missed = 0
    print("| parser | inputs | read | median us/KB | slowest us/KB | ratio | doubling |\n|---|---|---|---|---|---|---|")
    with ProcessPoolExecutor(given.jobs) as pool:
        for row in pool.map(fuzz, chosen, [given.inputs] * len(chosen), [given.seed] * len(chosen)):
            shares = f"{row.inputs:,} | {row.read:.0%} | {row.median:.0f} | {row.slowest:.0f} | {row.ratio:.1f}"
            print(f"| {row.name} | {shares} | {row.doubling:.1f} |", flush=True)
            missed += row.ratio > RATIO or row.doubling > DOUBLING
            if given.show:
                print(f"    slowest: {row.worst[:300]!r}\n    doubled: {row.doubled}", flush=True)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
