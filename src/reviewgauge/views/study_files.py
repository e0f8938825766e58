"""The files of a study: each table as CSV, nothing rounded, as Markdown and as LaTeX; the page; and all as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reviewgauge.core.document import Document, Section, Table, Text
from reviewgauge.core.reports.study import StudyReport
from reviewgauge.views import figures
from reviewgauge.views.csv import table_csv
from reviewgauge.views.latex import table_latex
from reviewgauge.views.markdown import document_table
from reviewgauge.views.pages import document_page

STUDY, PAGE, TABLES = "study.json", "report.html", "tables"


def written(report: StudyReport) -> dict[str, str]:
    """Every file by its path in the folder of the study."""
    return {**table_files(report.tables), PAGE: study_page(report), STUDY: report.model_dump_json(indent=1) + "\n"}


def table_files(tables: Iterable[Table]) -> dict[str, str]:
    """The tables alone, each in three forms, by their paths."""
    files = {}
    for table in tables:
        files[f"{TABLES}/{table.name}.csv"] = table_csv(table)
        files[f"{TABLES}/{table.name}.md"] = document_table(table)
        files[f"{TABLES}/{table.name}.tex"] = table_latex(table)
    return files


FAKE = "A fake model answered: figures marked (fake) do not apply to a real one."


def study_page(report: StudyReport) -> str:
    """The page as one HTML document."""
    tables = (
        Section(title=table.title, blocks=(table.model_copy(update={"title": ""}), _files(table.name)))
        for table in report.tables
    )
    return document_page(Document(headline=report.title, blocks=(*_facts(report), *tables)), about=report.source)


def _facts(report: StudyReport) -> Iterator[Text]:
    if any(table.fake for table in report.tables):
        yield Text(text=FAKE, kind="warning")
    for one in report.troubles:
        yield Text(text=f"No result: {one.benchmark}, {one.what}: {one.why}", kind="warning")
    for found in report.benchmarks:
        yield Text(
            text=f"{found.name}: {found.dataset}, {found.cases:,} changes, {_several(found.systems, 'system')}, "
            f"{_several(report.attempts, 'attempt')} each; "
            f"{', '.join(found.metrics)}; benchmark {figures.short_hash(found.benchmark)}"
        )
    yield from (Text(text=one, kind="note") for one in report.notes)


def _several(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def _files(name: str) -> Text:
    return Text(text=f"Files: {', '.join(f'tables/{name}.{end}' for end in ('csv', 'md', 'tex'))}", kind="note")
