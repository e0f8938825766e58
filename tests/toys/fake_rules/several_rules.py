"""The fake model's rules for several reviewers: the roles of a debate, and what several reviews become."""

from __future__ import annotations

import json
import re

from fake_rules.request_text import FENCED, prompt_of
from fake_rules.review_rules import DANGERS, noted_lines
from reviewgauge.models.request.messages import Request
from reviewgauge.models.text.lexical import dice

_FINDING = re.compile(rf"^(?P<name>F\d+), by the reviewer of \w+\n{FENCED.format('said')}$", re.MULTILINE | re.DOTALL)
_MINE = re.compile(r"^Decide on ([F\d, ]+), which are yours\.", re.MULTILINE)
_BY_DESIGN = "by design"
_COUNT = re.compile(r"^(\d+) reviews were written\.", re.MULTILINE)
_LISTED = re.compile(r"^(\d+\.\d+)\n<<<DATA (\w+)>>>\n([^\n]*)\n\n(.*?)\n<<<END \2>>>$", re.MULTILINE | re.DOTALL)
_SAME_FROM = 0.3


def debate_review(request: Request) -> str:
    """The notes of the rule `review`; the reviewer of form makes none on eval, shell=True or a secret."""
    form = "Your part is how the code reads" in prompt_of(request)
    found = noted_lines(request)
    kept = [one for one in found if not (form and any(word in one[2] for word in DANGERS))]
    return json.dumps({"findings": [{"file": path, "code": line, "comment": note} for path, line, note in kept]})


def debate_answer(request: Request) -> str:
    """Objects, "by design", to what is said about output for debugging and unfinished work; accepts everything else."""
    answers = []
    for found in _FINDING.finditer(prompt_of(request)):
        contested = "Output for debugging" in found["said_text"] or "Unfinished work" in found["said_text"]
        reason = f"This is {_BY_DESIGN}." if contested else "That is right."
        answers.append({"finding": found["name"], "stance": "object" if contested else "accept", "reason": reason})
    return json.dumps({"answers": answers})


def debate_decide(request: Request) -> str:
    """Withdraws what an earlier finding says of the same code, and what the author calls by design."""
    prompt = prompt_of(request)
    mine = _MINE.search(prompt)
    names = mine[1].split(", ") if mine else []
    decisions, seen = [], set[str]()
    for found in _FINDING.finditer(prompt):
        finding, _, debate = found["said_text"].partition("\nthe author ")
        again, comment = finding in seen, finding.rpartition("\n")[2]
        seen.add(finding)
        if found["name"] not in names:
            continue
        gone = again or (_BY_DESIGN in debate and "Unfinished work" not in finding)
        reason = "The other reviewer says so." if again else "The author is right." if gone else "It stands."
        word = {"decision": "withdraw" if gone else "keep", "comment": "" if gone else comment, "reason": reason}
        decisions.append({"finding": found["name"], **word})
    return json.dumps({"decisions": decisions})


def aggregate(request: Request) -> str:
    """One report of several reviews: what more than half of them raise at one place, in the words of the first."""
    prompt = prompt_of(request)
    count = _COUNT.search(prompt)
    groups: list[list[tuple[str, str, str]]] = []
    for number, _, place, text in _LISTED.findall(prompt):
        for group in groups:
            _, there, other = group[0]
            if place == there and (text == other or dice(text, other) >= _SAME_FROM):
                group.append((number, place, text))
                break
        else:
            groups.append([(number, place, text)])
    of = int(count[1]) if count else 0
    kept = [g for g in groups if 2 * len({number.partition(".")[0] for number, _, _ in g}) > of]
    report = [{"from": [number for number, _, _ in group], "text": group[0][2]} for group in kept]
    return json.dumps({"findings": report})
