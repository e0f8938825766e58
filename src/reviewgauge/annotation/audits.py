"""A build's audit as a project: its labels, clean changes and models' decisions, and the sheets that a build reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from reviewgauge.annotation.items import Exhibit, Item, ProjectData, shown_change, shown_text
from reviewgauge.annotation.schemas.schema import Schema
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label, Subject, SubjectKind
from reviewgauge.core.parsing import lines, parse_record
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, findings
from reviewgauge.engine.build.folder import CASES
from reviewgauge.repo.git.repository import Repository
from reviewgauge.repo.history.landed_changes import LARGEST_FILE
from reviewgauge.repo.history.later_commits import later_commits
from reviewgauge.repo.syntax.languages import case_language
from reviewgauge.stages.from_git import FromGit
from reviewgauge.stages.sampling.audit import audit_labels, decision_id
from reviewgauge.stages.sampling.audit_table import (
    AUDIT,
    CONSENSUS,
    AuditRow,
    Table,
    name_of_copy,
    read_table,
    tables_of,
    write_table,
)
from reviewgauge.stages.sampling.label_checks import SHEET, clean_decision, from_fix, label_decision

RIGHT = "right"  # the dimension that becomes the column `correct`


def audit_folder(source: str | Path) -> Path | None:
    """The folder of the build whose audit `source` is: the folder itself, its `audit`, or a table there."""
    path = Path(source)
    if path.suffix == ".csv" and path.parent.name == AUDIT:
        return path.parent.parent if path in tables_of(path.parent.parent) else None
    folder = path.parent if path.name == AUDIT else path
    return folder if tables_of(folder) else None


def audit_items(schema: Schema, source: str | Path, *, limit: int | None = None) -> ProjectData:
    """Every row of an audit, in the order of the tables, which is random: at most `limit` of each. Raises UserError."""
    folder = _folder(source)
    if schema.unit is not SubjectKind.CHANGE or any(question.each for question in schema.questions):
        raise UserError(f"the schema {schema.name!r} does not ask about rows of an audit", remedy="--schema audit")
    tables = _tables(source)
    known = _labels_to_check(folder) if folder / SHEET in tables else {}
    changes: dict[str, Change] = {}
    items: list[Item] = []
    for table in tables:
        for row in list(read_table(table).rows.values())[:limit]:
            subject = Subject(kind=SubjectKind.CHANGE, case=row.id)
            if row.id in known:
                case, finding = known[row.id]
                changes[row.id] = shown_change(case.change)
                references, language = tuple(map(shown_text, finding)), case_language(case) or ""
                beside = tuple(_fix(case, finding, folder) if finding else _later(case, folder))
                items.append(Item(subject=subject, references=references, exhibits=beside, language=language))
            else:
                changes[row.id] = Change(repo=table.stem, title=f"A decision of {table.stem}")
                items.append(Item(subject=subject, exhibits=tuple(_decision(row))))
    if not items:
        raise UserError(f"nothing was drawn into {folder / AUDIT}", remedy="reviewgauge build ... --audit 20")
    return ProjectData(changes=changes, items=tuple(items))


def audit_marks(source: str | Path) -> list[Label]:
    """What raters wrote into the tables of an audit already."""
    return [label for table in _tables(source) for label in audit_labels(table, RIGHT)]


def _tables(source: str | Path) -> list[Path]:
    path = Path(source)
    return [path] if path.suffix == ".csv" else tables_of(_folder(source))


def _folder(source: str | Path) -> Path:
    folder = audit_folder(source)
    if folder is None:
        raise UserError(f"{source} holds no audit", remedy="reviewgauge build ... --audit 20")
    return folder


def _labels_to_check(folder: Path) -> dict[str, tuple[Case, Sequence[Comment]]]:
    """The case and the finding (none of a clean change) of each row; one that left the benchmark has none any more."""
    found: dict[str, tuple[Case, Sequence[Comment]]] = {}
    if (folder / CASES).is_file():
        with (folder / CASES).open("rb") as stream:
            for number, line in lines(stream, CASES):
                case = parse_record(Case, line, CASES, number)
                if case.clean:
                    found[decision_id(clean_decision(case))] = case, ()
                made = (finding for finding in findings(case.references) if from_fix(finding))
                found |= {decision_id(label_decision(case, finding)): (case, finding) for finding in made}
    return found


def _fix(case: Case, finding: Sequence[Comment], folder: Path) -> Iterator[Exhibit]:
    """The fix that a label was made from."""
    fix = next((one.resolution.commit for one in finding if one.resolution and one.resolution.commit), "")
    message, files = "", tuple[ChangedFile, ...]()
    if case.change.git is not None and fix:
        repository = Repository(folder / case.change.git)
        with suppress(UserError):
            said = repository.run("show", "-s", "--format=%B", "--end-of-options", fix)
            message = said.decode("utf-8", "replace").strip()
            files = repository.changed_files(f"{fix}^", fix, LARGEST_FILE)
    yield Exhibit(title="Could a reviewer have raised on the marked lines what this fix mended?")
    yield Exhibit(title=f"The fix {fix[:12]}", text=message or finding[0].body, files=files)


def _later(case: Case, folder: Path) -> Iterator[Exhibit]:
    """What came after a clean change."""
    yield Exhibit(title="Is there nothing in this change that a reviewer has to raise?")
    change = case.change
    if change.git is not None and change.head:
        with suppress(UserError):
            found = later_commits(Repository(folder / change.git), change.head, change.files, FromGit.horizon)
            shown = [f"{one.id} {one.day} {one.title}" + (f" ({one.why})" if one.why else "") for one in found.commits]
            none = "None. A defect may have been mended in other lines."
            title = f"Commits that touched its lines or name it until {found.until}"
            yield Exhibit(title=title, text="\n".join(shown) or none)


def _decision(row: AuditRow) -> Iterator[Exhibit]:
    yield Exhibit(title="What was shown", text=row.shown)
    yield Exhibit(title=f"What was decided: {row.decided}", text=row.reason)


# --- back into the build -------------------------------------------------------------------------------------------


def write_sheets(folder: str | Path, labels: Iterable[Label]) -> list[Path]:
    """Write what each rater said into their copies of the audit's tables, which the next build reads.

    What raters agreed on together, or an expert decided, goes into the copy `consensus`. Marks that a copy holds of
    other rows stay. Raises UserError where no label is about a row.
    """
    by_rater: dict[str, dict[str, Label]] = {}
    names: dict[str, str] = {}
    for label in labels:
        if label.dimension == RIGHT and label.subject.kind is SubjectKind.CHANGE:
            name = CONSENSUS if label.consensus else name_of_copy(label.rater)
            if not label.consensus and names.setdefault(name, label.rater) != label.rater:
                raise UserError(f"{label.rater!r} and {names[name]!r} would have one sheet", remedy="export to a .csv")
            by_rater.setdefault(name, {})[label.subject.case] = label
    written: list[Path] = []
    for table in tables_of(_folder(folder)):
        drawn = read_table(table)
        for rater, said in by_rater.items():
            if not said.keys().isdisjoint(drawn.rows):
                path = table.with_name(f"{table.stem}-{rater}.csv")
                before = read_table(path)
                write_table(path, list(_marked(drawn, before, said)), before.more)
                written.append(path)
    if not written:
        raise UserError(f"no label of the project is about a row of {folder}'s audit")
    return written


def _marked(drawn: Table, before: Table, said: Mapping[str, Label]) -> Iterator[AuditRow]:
    """The rows of a rater's copy: those of the table with their marks, then what the copy holds beside."""
    for name, row in drawn.rows.items():
        label, old = said.get(name), before.rows.get(name)
        if label is not None:
            mark = {"correct": "y" if label.value == "yes" else "n", "note": label.reason or ""}
            yield row._replace(written={**(old.written if old else {}), **mark})
        else:
            yield row._replace(written=old.written if old else {})
    yield from (row for name, row in before.rows.items() if name not in drawn.rows)
