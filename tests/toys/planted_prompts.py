"""A benchmark on which a better prompt is known: the fake model `literal` reports only what its prompt names.

Each case adds one line that the fake model has a note on. `wanted` maps a repository's kind to the lines that people
commented on there; everywhere else people found nothing, so that a note is noise.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

LINES = {
    "print": ("    print(value)", "Output for debugging is left in the code. Use the logger or remove it."),
    "except": (
        "    except:",
        "A bare except also catches KeyboardInterrupt and hides every error. Name the exception.",
    ),
    "eval": ("    return eval(text)", "eval runs whatever the text says. Parse the value instead."),
}
REVIEWER = 'prompt(model="fake:literal", preset="swr")'


def write_planted(path: Path, wanted: Mapping[str, tuple[str, ...]], each: int = 2) -> Path:
    """Write `each` cases a line and repository; `wanted` names for each repository the lines to comment on."""
    rows = []
    for repo, commented in wanted.items():
        for name, (line, note) in LINES.items():
            for number in range(each):
                file = f"src/{name}_{number}.py"
                patch = f"@@ -1,2 +1,3 @@\n def run(value, text):\n+{line}\n     return value\n"
                references = [{"id": "r1", "body": note, "span": {"path": file, "start": 2, "end": 2}}]
                rows.append(
                    {
                        "id": f"{repo}/{name}/{number}",
                        "change": {
                            "repo": repo,
                            "title": f"Change {name} {number} of {repo}",
                            "files": [{"path": file, "status": "modified", "patch": patch}],
                        },
                        "references": references if name in commented else [],
                        "verdict": name not in commented,
                    }
                )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def repositories(count: int = 9) -> list[str]:
    """Their names."""
    return [f"acme/r{number}" for number in range(count)]


def write_tasks(path: Path, each: int = 2) -> Path:
    """Write cases of the three small tasks, `each` a task and repository."""
    rows = []
    for repo in repositories():
        for task in ("assess", "locate", "comment"):
            for number in range(each):
                patch = f"@@ -1,2 +1,3 @@\n def run(value, text):\n+{LINES['print'][0]}\n     return value\n"
                place = {"path": "a.py", "start": 2, "end": 2}
                files = [{"path": "a.py", "status": "modified", "patch": patch}]
                title = f"Change {number} of {repo}"
                change = {"repo": repo, "title": title, "task": task, "files": files, "focus": place}
                known: dict[str, object] = {"references": [{"id": "r1", "body": LINES["print"][1], "span": place}]}
                known = {"verdict": number == 0} if task == "assess" else known
                rows.append({"id": f"{repo}/{task}/{number}", "change": change, **known})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path
