"""Small reviewed changes: each has its own words, so that the closest one is known."""

from __future__ import annotations

from reviewgauge.core.records import Case, Change, ChangedFile, Comment, Span, Task

SUBJECTS = {
    "socket": "self.socket.connect(address, timeout)",
    "cursor": "cursor.execute(query, values)",
    "parser": "parser.parse(tokens, grammar)",
    "canvas": "canvas.draw(circle, colour)",
}


def hunk(subject: str, extra: str = "") -> str:
    return f"@@ -1,2 +1,3 @@\n def run():\n+    {SUBJECTS[subject]}{extra}\n     return None\n"


def change(subject: str, name: str, task: Task = Task.COMMENT, extra: str = "") -> Change:
    focus = Span(path="a.py", start=2) if task is not Task.REVIEW else None
    files = (ChangedFile(path="a.py", patch=hunk(subject, extra)),)
    return Change(id=name, repo="o/r", files=files, task=task, focus=focus)


def training(task: Task = Task.COMMENT) -> list[Case]:
    """One reviewed change for each subject; those about sockets and parsers could be merged."""
    found = []
    for subject in SUBJECTS:
        reference = Comment(id="r", body=f"Close the {subject} afterwards.", span=Span(path="a.py", start=2))
        known = change(subject, subject, task).model_copy(update={"id": None})
        verdict = subject in ("socket", "parser") if task is Task.ASSESS else None
        references = () if task is Task.ASSESS else (reference,)
        found.append(Case(id=subject, change=known, references=references, verdict=verdict))
    return found
