"""Changes whose right review is known line by line, for the fake model that judges each line wrongly now and then."""

from __future__ import annotations

from reviewgauge.core.records import Case, Change, ChangedFile, Comment, FileStatus, Span

WRONG = ("eval(a{n})", "print(a{n})", "b{n} == None", "# TODO a{n}")  # what the fake model's rule finds
NOTE = {
    "eval": "eval runs whatever the text says. Parse the value instead.",
    "prin": "Output for debugging is left in the code. Use the logger or remove it.",
    "b": "Comparing with None by equality calls __eq__. Use is or is not.",
    "# TO": "Unfinished work is merged with this line. Finish it or open an issue for it.",
}


def fickle_case(number: int, size: int = 25) -> Case:
    """A change of `size` wrong lines and as many right ones, each in a file of its own, with the finding on each."""
    files, references = [], []
    for at in range(2 * size):
        word = f"{number}x{at}"
        bad = at < size
        line = WRONG[at % len(WRONG)].format(n=word) if bad else f"good{word} = fine{word}"
        path = f"f{at}.py"
        files.append(ChangedFile(path=path, status=FileStatus.ADDED, patch=f"@@ -0,0 +1 @@\n+{line}\n"))
        if bad:
            body = next(note for start, note in NOTE.items() if line.startswith(start))
            references.append(Comment(id=f"r{at}", body=body, span=Span(path=path, start=1, end=1)))
    change = Change(repo="o/r", title=f"Change {number}", files=tuple(files))
    return Case(id=f"c{number}", change=change, references=tuple(references))


def named_change(case: Case) -> Change:
    """The change as the engine hands it out."""
    return case.change.model_copy(update={"id": case.id})
