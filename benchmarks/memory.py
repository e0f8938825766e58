"""How much memory the verbs take as a benchmark grows: the peak of each, in a process of its own.

    python benchmarks/memory.py [--cases 2000 68000] [--only review-silent score-hits] [--keep FOLDER]

The benchmark is made up: n cases of one hunk of about 60 lines and one or two findings, as large as an entry of
ContextCRBench, drawn with a fixed seed. `judge` asks about 10,000 pairs
beside one hunk of 70 KB, whatever n is. Seconds are processor time. A peak is the process' highest resident memory
(VmHWM, Linux). Exit code 1 where a verb takes more than 500 MB.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

AIM = 500  # MB
WORDS = [
    "value",
    "index",
    "result",
    "buffer",
    "request",
    "response",
    "config",
    "handler",
    "parse",
    "update",
    "remove",
    "check",
    "total",
    "count",
    "cache",
    "token",
    "session",
    "client",
    "stream",
    "offset",
    "limit",
    "retry",
    "error",
    "message",
    "field",
    "record",
    "schema",
    "query",
    "state",
    "event",
    "queue",
    "worker",
]
SYLLABLES = [first + second for first in "bcdfglmnprstvz" for second in "ae"]
VOCABULARY = ["".join(parts) for parts in itertools.product(SYLLABLES, repeat=3)]
LANGUAGES = {"py": "python", "java": "java", "go": "go", "ts": "typescript", "c": "c", "rs": "rust"}
VERBS: dict[str, str] = {
    "review-silent": "reviewgauge.review('{data}', 'silent', run='{run}')",
    "review-parrot": "reviewgauge.review('{data}', 'parrot', run='{run}')",
    "score-hits": "reviewgauge.score('{run}', 'hits', resamples=200)",
    "score-bleu": "reviewgauge.score('{run}', 'bleu', resamples=200)",
    "compare": "reviewgauge.compare('{run}', metric='hits', resamples=200)",
    "report": "reviewgauge.report('{run}', out='{run}.html', resamples=200)",
    "judge": "from memory import judge_pairs; judge_pairs(100)",
    "study": "reviewgauge.study('{data}', out='{run}-study', resamples=100, trust=True)",
    "validate": "reviewgauge.validate('{data}', 'bleu', out='{run}-validity', resamples=100, report=False)",
}


def make_lines(draw: random.Random, count: int) -> list[str]:
    return [
        " " * (4 * draw.randrange(4))
        + "{}_{} = {}({}, {})".format(*(draw.choice(WORDS) for _ in range(4)), draw.randrange(99))
        for _ in range(count)
    ]


def make_sentence(draw: random.Random) -> str:
    """A few words are common and most are rare, as in real text."""
    words = (VOCABULARY[int(len(VOCABULARY) ** draw.random())] for _ in range(draw.randrange(12, 40)))
    return " ".join(words).capitalize() + "."


def make_cases(count: int) -> Iterator[bytes]:
    """The lines of a file of cases."""
    draw = random.Random(16)
    for n in range(count):
        suffix = draw.choice(sorted(LANGUAGES))
        size = draw.randrange(30, 90)
        signs = [draw.choice("    +-") for _ in range(size)]
        olds, news = sum(sign != "+" for sign in signs), sum(sign != "-" for sign in signs)
        start = draw.randrange(1, 900)
        body = "\n".join(sign + line for sign, line in zip(signs, make_lines(draw, size), strict=True))
        path = f"src/{draw.choice(WORDS)}/{draw.choice(WORDS)}_{n % 977}.{suffix}"
        findings = [
            {
                "id": f"r{at}",
                "body": make_sentence(draw),
                "span": {"path": path, "start": start + draw.randrange(news)},
                "category": draw.choice(["defect", "style", "docs"]),
            }
            for at in range(draw.choice((1, 1, 2)))
        ]
        change = {
            "repo": f"org-{n % 90}/{WORDS[n % 30]}",
            "base": f"{n:040x}",
            "head": f"{n + 1:040x}",
            "title": make_sentence(draw)[:70],
            "description": make_sentence(draw) * 3,
            "files": [{"path": path, "patch": f"@@ -{start},{olds} +{start},{news} @@\n{body}"}],
        }
        facts = {"language": LANGUAGES[suffix], "pull": n // 2}
        yield json.dumps({"id": f"case-{n:06d}", "change": change, "references": findings, "facts": facts}).encode()


def make_benchmark(folder: Path, count: int) -> None:
    """The cases, a review of each as recorded, and people's labels on those reviews."""
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(17)
    with (folder / "cases.jsonl").open("wb") as cases, (folder / "reviews.jsonl").open("wb") as reviews:
        for n, line in enumerate(make_cases(count)):
            cases.write(line + b"\n")
            comment = {"id": "c", "body": make_sentence(draw)}
            review = {"case": f"case-{n:06d}", "system": "bot", "comments": [comment]}
            reviews.write(json.dumps(review).encode() + b"\n")
    (folder / "study.toml").write_text(STUDY.replace("CASES", str(folder / "cases.jsonl")))
    with (folder / "labels.csv").open("w") as labels:
        labels.write("case,rater,dimension,value\n")
        labels.writelines(f"case-{n:06d},ann,quality,{draw.randrange(1, 6)}\n" for n in range(count))


STUDY = """
title = "large"
metrics = ["bleu"]
[[benchmark]]
name = "large"
data = 'CASES'
[[reviewer]]
spec = "silent"
[[reviewer]]
spec = "parrot"
[[table]]
kind = "leaderboard"
[[table]]
kind = "slices"
by = "language"
[[table]]
kind = "distribution"
[[table]]
kind = "cost"
"""


def judge_pairs(side: int) -> None:
    """Ask the fake model about `side` comments beside `side` references on one hunk of 70 KB."""
    from reviewgauge.core.records import Case, Change, ChangedFile, Comment, Review, Span
    from reviewgauge.engine.run.model_options import ModelOptions
    from reviewgauge.judges.pairs.asking import judge_of

    body = "\n".join("+" + line for line in make_lines(random.Random(18), 1_700))
    change = Change(repo="o/r", files=(ChangedFile(path="a.py", patch=f"@@ -1,0 +1,1700 @@\n{body}"),))
    references = [Comment(id=f"r{n}", body=f"finding {n}", span=Span(path="a.py", start=n + 1)) for n in range(side)]
    comments = [Comment(id=f"c{n}", body=f"comment {n}", span=Span(path="a.py", start=n + 1)) for n in range(side)]
    review = Review(case="c", system="s", comments=tuple(comments))
    with ModelOptions(dry_run=True, cache=False).client():
        judge = judge_of("same_concern(model='openai:fake', hunk_lines=0, location='any')")
        judge.judge(Case(id="c", change=change, references=tuple(references)), comments, references, review)


CHILD = """
import sys, reviewgauge
sys.path.insert(0, {here!r})
{call}
status = open('/proc/self/status').read()
print('PEAK', int(status.split('VmHWM:')[1].split()[0]) // 1024)
"""


def measure(call: str) -> tuple[int, float, str]:
    """(peak in MB, seconds of processor time, the last line of an error) of some Python in a process of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-c", CHILD.format(call=call, here=str(Path(__file__).parent))],
        capture_output=True,
        text=True,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    peak = next((int(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("PEAK")), 0)
    return peak, spent, done.stderr.strip().splitlines()[-1] if done.returncode else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, nargs="+", default=[2_000, 68_000])
    parser.add_argument("--only", nargs="+", choices=sorted(VERBS), default=list(VERBS))
    parser.add_argument("--keep", type=Path, help="a folder for benchmarks and runs, used again if it is there")
    asked = parser.parse_args()
    over = False
    with tempfile.TemporaryDirectory() as temporary:
        home = (asked.keep or Path(temporary)).resolve()
        os.environ.setdefault("REVIEWGAUGE_CACHE", str(home / "cache"))
        print(f"{'cases':>7}  {'verb':15}{'peak':>9}{'seconds':>10}")
        for count in asked.cases:
            data = home / f"data-{count}"
            if not (data / "labels.csv").exists():
                make_benchmark(data, count)
            for verb in asked.only:
                named = {"validate": "", "study": "study.toml"}.get(verb, "cases.jsonl")
                call = VERBS[verb].format(data=data / named, run=home / f"run-{count}")
                peak, seconds, error = measure(call)
                over = over or peak > AIM or bool(error)
                print(f"{count:7}  {verb:15}{peak:6} MB{seconds:10.1f}  {error}", flush=True)
    return int(over)


if __name__ == "__main__":
    raise SystemExit(main())
