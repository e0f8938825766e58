"""Metrics and helpers for the tests of bundles: archives that somebody tampered with."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from reviewgauge.core.protocols import Measured, Metric
from reviewgauge.core.records import Case, Change, Comment, Review
from reviewgauge.models.chat.client import chat_model
from reviewgauge.models.request.messages import Request, user

BODIES = (
    "the total is computed before the discount is applied",
    "the file handle is never closed on error",
    "the lock is taken twice in one call",
)


@dataclass(frozen=True)
class Remote(Metric):
    """Would ask a model over the network; it must never be called while a bundle is checked."""

    model: str = "openai:judge"
    headline: ClassVar[str] = "value"

    def parts(self, case: Case, review: Review) -> Measured | str:
        return Measured(parts={"value": float(len(review.comments))})


@dataclass(frozen=True)
class Silent(Metric):
    """Asks a model on this machine and does not say so."""

    port: int = 0
    headline: ClassVar[str] = "value"

    def parts(self, case: Case, review: Review) -> Measured | str:
        asked = chat_model(f"openai:fake@http://127.0.0.1:{self.port}/v1").ask(Request(messages=(user(case.id),)))
        return Measured(parts={"value": float(len(asked.text))})


@dataclass(frozen=True)
class FromFile(Metric):
    """Weighs comments with a number that lies in a file."""

    file: str = ""
    headline: ClassVar[str] = "value"

    def parts(self, case: Case, review: Review) -> Measured | str:
        weight = float(json.loads(Path(self.file).read_text())["weight"])
        return Measured(parts={"value": weight * len(review.comments)})


def write_bench(folder: Path) -> Path:
    """Six cases and two recorded reviewers, in a folder of JSON lines."""
    folder.mkdir(exist_ok=True)
    references = [Comment(id=f"r{n}", body=body) for n, body in enumerate(BODIES)]
    cases = [
        Case(
            id=f"case-{n}",
            change=Change(repo="shop", title=f"secret title {n}", git=str(folder / "code.git")),
            references=tuple(references[: 1 + n % 3]),
            facts={"size": ["small", "large"][n % 2]},
        )
        for n in range(6)
    ]
    reviews = []
    for n, case in enumerate(cases):
        reviews.append(Review(case=case.id, system="good", comments=case.references))
        said = (Comment(id="x", body="please add a docstring"), case.references[0])
        reviews.append(Review(case=case.id, system="=noisy", comments=said[: 1 + n % 2]))
    (folder / "cases.jsonl").write_bytes(b"".join(case.to_line() for case in cases))
    (folder / "reviews.jsonl").write_bytes(b"".join(review.to_line() for review in reviews))
    return folder / "cases.jsonl"


def tamper(bundle: Path, name: str, change: Callable[[str], str | None], *, fit: bool = True) -> Path:
    """A copy of a bundle in which one file was changed (None: removed), with the sums made to fit unless not `fit`."""
    with zipfile.ZipFile(bundle) as archive:
        files = {info.filename: archive.read(info) for info in archive.infolist()}
    changed = change(files.get(name, b"").decode())
    if changed is None:
        del files[name]
    else:
        assert changed.encode() != files.get(name), "the test changes nothing"
        files[name] = changed.encode()
    if fit:
        rest = {name: data for name, data in sorted(files.items()) if name != "SHA256SUMS"}
        sums = (f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in rest.items())
        files = {**rest, "SHA256SUMS": "".join(sums).encode()}
    path = bundle.with_name("tampered.zip")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for other, data in files.items():
            archive.writestr(other, data)
    return path


def files_of(bundle: Path) -> dict[str, str]:
    """The files of a bundle by their name."""
    with zipfile.ZipFile(bundle) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}
