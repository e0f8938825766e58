"""The verdicts that the offline judge is fitted on and held against, read from the public data sets."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from offline.lexical_fit import JudgedPair, Link
from pydantic import TypeAdapter, ValidationError

from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.labels import SubjectKind
from reviewgauge.core.parsing import first_problem, lines
from reviewgauge.datasets.martian import Martian, judges


def martian(folder: Path) -> list[JudgedPair]:
    """Every review of every judge: its own candidates, and its verdicts. Repository: the project, `owner/name`."""
    data = Martian(path=str(folder))
    cases = {case.id: case for case in data.cases()}
    found = []
    for judge in judges(folder):
        reviews, labels = data.recorded(extractor=judge)
        credited: dict[tuple[str, str], dict[str, str]] = {}
        judged = {(x.subject.case, x.subject.system) for x in labels}
        for label in labels:
            subject = label.subject
            if subject.kind is SubjectKind.PAIR and label.value is True:
                own = credited.setdefault((subject.case, str(subject.system)), {})
                own[str(subject.reference)] = str(subject.comment)
        for review in reviews:
            case = cases[review.case]
            if (case.id, review.system) not in judged:
                continue  # the judge stored no verdict at all
            body = {comment.id: comment.body for comment in review.comments}
            golden = {reference.id: reference.body for reference in case.references}
            pairs = credited.get((case.id, review.system), {})
            found.append(
                JudgedPair(
                    judge=judge,
                    repository=case.change.repo,
                    change=case.id,
                    system=review.system,
                    comments=tuple(body.values()),
                    references=tuple(golden.values()),
                    credited={golden[g]: body[c] for g, c in pairs.items()},
                )
            )
    return sorted(found, key=lambda item: (item.judge, item.change, item.system))


def crscore_links(folder: Path) -> list[Link]:
    """(review, claim, addressed) of CRScore's second phase: rows 0-499 by one rater, the rest by the other."""
    links: list[Link] = []
    for file in sorted((folder / "phase2").glob("*_review_qual_final.csv")):
        with file.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
        own = rows[:500] if "marcus" in file.name else rows[500:]
        for start in range(0, len(own), 10):  # blocks of 10 rows a diff; the claims run beside the reviews
            block = own[start : start + 10]
            claims = {r["claim_no"].strip(): r["claim"] for r in block if r["claim_no"].strip() and r["claim"].strip()}
            for row in block:
                marks = row["claims addressed"].strip()
                if not marks or not row["review"].strip():
                    continue
                chosen = {mark.strip() for mark in marks.replace(".", ",").split(",")}  # one cell reads 1.2
                links.extend(Link(row["review"], claim, number in chosen) for number, claim in claims.items())
    return links


def idf_texts(aacr: Path, crscore: Path) -> list[str]:
    """The texts that the generic idf counts: AACR-Bench's comments, CRScore's reviews and claims. Not Martian's."""
    texts: list[str] = []
    for name in ("positive_samples.json", "negative_samples.json"):
        for change in json.loads((aacr / name).read_text(encoding="utf-8")):
            texts.extend(comment["note"] for comment in change["comments"])
    for file in sorted((crscore / "phase2").glob("*_review_qual_final.csv")):
        with file.open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream):
                texts.extend((row["review"], row["claim"]))
    return [text for text in texts if text.strip()]


def own_pairs(file: Path) -> list[JudgedPair]:
    """One's own judged reviews from JSON lines; a record has the fields of `JudgedPair`."""
    reader: TypeAdapter[JudgedPair] = TypeAdapter(JudgedPair)
    found = []
    try:
        with file.open("rb") as stream:
            for number, line in lines(stream, file.name):
                try:
                    found.append(reader.validate_json(line, strict=True))
                except ValidationError as error:
                    field, problem = first_problem(error)
                    raise BadInput(file.name, problem, record=number, field=field) from None
    except OSError as error:
        raise UserError(f"cannot read {file.name}: {error.strerror}") from None
    return found
