"""Harbor's tasks: agents review in containers, and a separate verifier without network scores what they wrote.

Source: Harbor 0.25, https://github.com/harbor-framework/harbor, schema 1.4 of `task.toml`, 1.0 of `dataset.toml`. What
a job found comes back with the reviewer `harbor`.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import tarfile
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import ClassVar

from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Progress
from reviewgauge.core.records import Case, Change, Comment, Side, findings
from reviewgauge.core.results import Drop
from reviewgauge.core.trust import Word
from reviewgauge.core.version import __version__
from reviewgauge.engine.bundle.contents import may_be_passed_on
from reviewgauge.exports.writing.export import Export, Material, Written
from reviewgauge.metrics.matching.match import why_unmeasurable
from reviewgauge.models.request.messages import fence
from reviewgauge.repo.git.folders import remove_tree
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.mirrors.workspaces import workspace
from reviewgauge.reviewers.reading.change_text import diff_text
from reviewgauge.reviewers.reading.environment import speaks_to_agents
from reviewgauge.reviewers.reading.harbor_tasks import digest_of, task_names

_TEMPLATES = Path(__file__).parent / "writing" / "harbor"
_IMAGE = re.compile(r"[A-Za-z0-9][\w./:@-]{0,300}")
_HOST = re.compile(r"[A-Za-z0-9*][A-Za-z0-9.*-]{0,250}")
_CODE = """Its code lies in `/workspace/repo`, a git repository with two commits: `HEAD~1` is before the change,
`HEAD` after it. The change as a diff: `/workspace/change.diff`, or `git diff HEAD~1`."""
_DIFF = "The change as a diff: `/workspace/change.diff`. The rest of the code is not at hand."


@dataclass(frozen=True)
class Harbor(Export):
    """A folder with a task a case, `dataset.toml` with their digests, and `metric.py`.

    `image`, an image that has ReviewGauge, is what the verifier starts from. `base` is a Debian image for the agent,
    `hosts` are those that it may reach beside its model's, `seconds` end it.
    """

    image: Word = f"reviewgauge:{__version__}"
    base: Word = "debian:bookworm-slim"
    hosts: tuple[Word, ...] = ()
    seconds: int = 900

    example: ClassVar[str] = "reviewgauge export harbor sample -o tasks"
    takes = frozenset({"benchmark"})

    def __post_init__(self) -> None:
        for name in ("image", "base"):
            if not _IMAGE.fullmatch(getattr(self, name)):
                raise ValueError(f"{name}={getattr(self, name)!r} is not the name of an image")
        if wrong := [host for host in self.hosts if not _HOST.fullmatch(host)]:
            raise ValueError(f"hosts: {wrong[0]!r} is not the name of a host")
        if self.seconds < 1:
            raise ValueError(f"seconds must be positive, got {self.seconds}")

    def write(self, given: Material, out: Path, progress: Progress | None = None) -> Written:
        """Write the folder. Raises UserError for a data set whose licence does not let everybody pass it on."""
        _check_licence(given)
        left_out, tasks, with_code = [], {}, 0
        out.mkdir(parents=True)
        for done, (case, name) in enumerate(zip(given.cases, task_names([c.id for c in given.cases]), strict=True), 1):
            if why := why_unmeasurable(case) or _unreadable(case.change):
                left_out.append(Drop(item=case.id, by="harbor", reason=why))
                continue
            try:
                with_code += self._write_task(case, name, out / name)
            except UserError as error:  # of its repository
                remove_tree(out / name)
                left_out.append(Drop(item=case.id, by="harbor", reason="its code cannot be read", detail=str(error)))
                continue
            tasks[name] = digest_of(out / name)
            if progress is not None:
                progress(done, len(given.cases), case.id)
        if not tasks:
            out.rmdir()
            why = left_out[0].reason if left_out else "there is none"
            raise UserError(f"no case can be a task: {why}")
        (out / "metric.py").write_bytes((_TEMPLATES / "metric.py").read_bytes())
        _write_dataset(out, given.label, tasks)
        counts = {"tasks": len(tasks), "with code": with_code, "with the diff alone": len(tasks) - with_code}
        return Written(counts=counts, left_out=tuple(left_out), hint=f"harbor run -p {out} -a oracle")

    def _write_task(self, case: Case, name: str, folder: Path) -> bool:
        """One task, with code or not. What is known about the case goes into `tests` and `solution`, nowhere else."""
        change = case.change
        code = change.git is not None and change.head is not None
        workdir = "/workspace/repo" if code else "/workspace"
        words = {
            "task": name,
            "case_id": json.dumps(case.id, ensure_ascii=False),
            "version": __version__,
            "workdir": workdir,
            "seconds": str(self.seconds),
            "hosts": json.dumps(self.hosts),
            "image": self.image,
            "base": self.base,
            "where": _CODE if code else _DIFF,
            "about": fence(f"{change.title}\n\n{change.description}".strip()),
        }
        for part in ("environment", "tests", "solution"):
            (folder / part).mkdir(parents=True)
        for template, target in _FILES.items():
            text = Template((_TEMPLATES / template).read_text(encoding="utf-8"))
            (folder / target).write_text(text.substitute(words), encoding="utf-8", errors="surrogateescape")
        _write_workspace(change, folder / "environment" / "workspace.tar", with_code=code)
        (folder / "tests" / "verify.py").write_bytes((_TEMPLATES / "verify.py").read_bytes())
        bare = case.model_copy(update={"change": change.model_copy(update={"git": None})})
        (folder / "tests" / "cases.jsonl").write_bytes(bare.to_line())
        oracle = [_as_row(phrasings[0]) for phrasings in findings(case.references)]
        (folder / "solution" / "review.json").write_text(json.dumps(oracle, indent=1), encoding="utf-8")
        return code


_FILES = {
    "task.toml": "task.toml",
    "instruction.md": "instruction.md",
    "Dockerfile": "environment/Dockerfile",
    "verifier.Dockerfile": "tests/Dockerfile",
    "test.sh": "tests/test.sh",
    "solve.sh": "solution/solve.sh",
}


def _check_licence(given: Material) -> None:
    """What is written is made to be handed on; one's own cases are one's own affair."""
    card = given.card
    if card is not None and not given.is_own and not may_be_passed_on(card):
        problem = f"the licence of {card.title} does not let everybody pass its rows on: {card.licence}"
        raise UserError(problem, remedy="export a data set with an open licence, or a benchmark of your own")


def _unreadable(change: Change) -> str:
    known = change.git is not None and change.head is not None and change.base is not None
    return "" if change.has_diff or known else "there is neither a diff nor code to review"


def _as_row(reference: Comment) -> dict[str, object]:
    """A reference as an agent would write it."""
    span = reference.span
    row: dict[str, object] = {"body": reference.body}
    if span is not None:
        row["path"] = span.path
        row |= {} if span.start is None else {"line": span.start, "end_line": span.end}
        row |= {} if span.side is Side.NEW else {"side": "old"}
    return row | ({"severity": reference.severity} if reference.severity else {})


def _write_workspace(change: Change, target: Path, *, with_code: bool) -> None:
    """The diff, and the code at the head of the change in a repository of two commits made here, the same each time."""
    with tarfile.open(target, "w") as tar:
        if with_code:
            assert change.git is not None
            assert change.head is not None
            with workspace(Repository(Path(change.git)), change.head, change.base, hidden=speaks_to_agents) as made:
                tar.add(made.folder, "repo", filter=_anonymous)
        if not change.has_diff:
            assert change.git is not None
            assert change.base is not None
            assert change.head is not None
            files = Repository(Path(change.git)).changed_files(change.base, change.head)
            change = change.model_copy(update={"files": files})
        diff = (diff_text(change) + "\n").encode("utf-8", "surrogateescape")
        about = tarfile.TarInfo("change.diff")
        about.size = len(diff)
        tar.addfile(about, io.BytesIO(diff))


def _anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """An entry without a time or an owner; `tar.add` takes the entries of a folder in the order of their names."""
    entry.mtime = entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


def _write_dataset(out: Path, label: str, tasks: dict[str, str]) -> None:
    name = re.sub(r"[^a-z0-9]+", "-", Path(label).name.lower()).strip("-")[:60] or "benchmark"
    metric = hashlib.sha256((out / "metric.py").read_bytes()).hexdigest()
    lines = ['schema_version = "1.0"', "", "[dataset]", f'name = "reviewgauge/{name}"', ""]
    for task, digest in tasks.items():
        lines += ["[[tasks]]", f'name = "reviewgauge/{task}"', f'digest = "{digest}"', ""]
    lines += ["[[files]]", 'path = "metric.py"', f'digest = "sha256:{metric}"', ""]
    (out / "dataset.toml").write_text("\n".join(lines), encoding="utf-8")
