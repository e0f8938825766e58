"""Builds the sample data set: a git repository out of base/ and changes/, its bundle, the cases, and reviews of them.

    python sample/build.py   # writes src/reviewgauge/datasets/_sample/{sample.bundle,cases.jsonl,reviews.jsonl}

base/ is the first commit. Every folder of changes/ is one commit on top of the one before: patch.diff, and
change.toml with title, description, author, date, facts and the comments. These are the branch main and the cases.
A comment names the line that it is about by its text (`from`, and `to` for the last line of several; `nth` where the
text occurs more than once in the file; `side = "old"` for the file before the change), so that no line number is kept
by hand. later/ goes on from there on the branch maintained, without cases: `mends` names the problems that a commit
mends, `planted` those that it brings. Dates, authors and messages are fixed and nothing of this machine's git
configuration is read, so every build makes the same commits.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reviewgauge.core.records import Case, Change, ChangedFile, Comment, RequiredContext, Review, Severity, Side, Span
from reviewgauge.formats.codex import Codex
from reviewgauge.repo.diff.anchors import anchor_all
from reviewgauge.repo.diff.diffs import parse_patch
from reviewgauge.repo.git.repository import Repository, code_reader

HERE = Path(__file__).resolve().parent
PACKAGED = HERE.parent / "src" / "reviewgauge" / "datasets" / "_sample"
NAME = "example/wayside"
MAIN, MAINTAINED = "refs/heads/main", "refs/heads/maintained"
READER = "blind-reader"  # a language model that saw title, description, diff and the code after the change
FIRST = datetime(2024, 1, 15, 9, 0, tzinfo=UTC)
CATEGORIES = (
    "boundary", "complexity", "concurrency", "logic", "missing test", "naming", "performance", "resource", "security",
)  # fmt: skip
SIZES = ((40, "small"), (80, "medium"))  # changed lines up to; more are large


COMMIT = re.compile(r"\{commit:([\w-]+)\}")


class Mistake(Exception):
    """The source of the sample says something that does not hold."""


@dataclass(frozen=True)
class Source:
    """One folder of changes/."""

    slug: str
    patch: bytes
    told: Mapping[str, Any]

    def message(self, commits: Mapping[str, str]) -> str:
        """The commit's message. `{commit:SLUG}` in it stands for the id of an earlier commit."""
        told = COMMIT.sub(lambda found: commits[found[1]], self.told["description"].strip())
        return f"{self.told['title']}\n\n{told}".strip() + "\n"


@dataclass(frozen=True)
class Finding:
    """A planted problem: the commit that brings it, the lines where it shows, and the commit that mends it, if any.

    `said`: that commit was made to mend it, and says so.
    """

    id: str
    commit: str
    spans: tuple[Span, ...]
    mended: str | None = None
    said: bool = False


@dataclass(frozen=True)
class Built:
    """The repository (bare), the cases made from it, the recorded reviews of them, and all that was planted.

    `head` is the last commit of main, `maintained` that of the branch that goes on from there. `commits` are the ids
    by the folder that they were made from.
    """

    maker: Maker
    head: str
    maintained: str
    cases: tuple[Case, ...]
    reviews: tuple[Review, ...]
    commits: Mapping[str, str]
    findings: tuple[Finding, ...]


def sources(part: str) -> list[Source]:
    """The changes of one folder (changes or later), oldest first."""
    folders = sorted(path for path in (HERE / part).iterdir() if path.is_dir())
    return [
        Source(
            folder.name,
            (folder / "patch.diff").read_bytes(),
            tomllib.loads((folder / "change.toml").read_text("utf-8")),
        )
        for folder in folders
    ]


# --- the repository ------------------------------------------------------------------------------------------------


class Maker:
    """Makes commits in a bare repository, without a work tree and without this machine's git configuration."""

    def __init__(self, git_dir: Path) -> None:
        self.git_dir = git_dir
        git_dir.mkdir(parents=True)
        self.git("init", "--bare", "--quiet", "--template=", "--object-format=sha1", "--initial-branch=main")

    def git(self, *args: str, stdin: bytes = b"", **more: str) -> bytes:
        """What git prints, with `more` in its environment. Raises Mistake."""
        env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        env |= {
            "GIT_DIR": str(self.git_dir),
            "GIT_INDEX_FILE": str(self.git_dir / "build-index"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "LC_ALL": "C",
        }
        settings = ("-c", "core.autocrlf=false", "-c", "commit.gpgSign=false", "-c", "pack.threads=1")
        done = subprocess.run(["git", *settings, *args], input=stdin, capture_output=True, env=env | more, check=False)
        if done.returncode:
            raise Mistake(f"git {args[0]}: {done.stderr.decode('utf-8', 'replace').strip()}")
        return done.stdout.strip()

    def add_base(self) -> None:
        """Put the files of base/ into the index."""
        for path in sorted((HERE / "base").rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                blob = self.git("hash-object", "-w", "--stdin", "--no-filters", stdin=path.read_bytes()).decode()
                name = path.relative_to(HERE / "base").as_posix()
                self.git("update-index", "--add", "--cacheinfo", f"100644,{blob},{name}")

    def commit(self, message: str, author: str, moment: datetime, parent: str | None, branch: str = MAIN) -> str:
        """Commit the index to a branch; returns the commit's id."""
        tree = self.git("write-tree").decode()
        date = f"{int(moment.timestamp())} +0000"
        who = {
            f"GIT_{role}_{field}": value
            for role in ("AUTHOR", "COMMITTER")
            for field, value in (("NAME", author), ("EMAIL", f"{author}@example.org"), ("DATE", date))
        }
        onto = ("-p", parent) if parent else ()
        made = self.git("commit-tree", tree, *onto, "-F", "-", stdin=message.encode(), **who).decode()
        self.git("update-ref", branch, made)
        return made


def build(folder: Path) -> Built:
    """Make the repository below `folder`, and the cases. Raises Mistake that names what does not hold."""
    maker = Maker(folder / "sample.git")
    maker.add_base()
    parent = maker.commit("Parcel lockers: API, widget and agent\n", "mira", FIRST, None)
    repository = Repository(maker.git_dir)
    cases, commits, truth = [], dict[str, str](), Truth()
    head = parent
    for branch, part in ((MAIN, "changes"), (MAINTAINED, "later")):
        for source in sources(part):
            told = source.told
            try:
                maker.git("apply", "--cached", "--whitespace=nowarn", "-", stdin=source.patch)
                made = maker.commit(source.message(commits), told["author"], told["date"], parent, branch)
                if branch == MAIN:
                    cases.append(make_case(source, repository, parent, made))
                    head = made
                truth.add(made, told, planted(source, repository, parent, made))
            except (Mistake, KeyError) as error:
                raise Mistake(f"{source.slug}: {error}") from None
            commits[source.slug] = parent = made
    reviews = tuple(recorded_reviews(cases, maker.git_dir))
    return Built(maker, head, parent, tuple(cases), reviews, commits, tuple(truth.found.values()))


class Truth:
    """Findings by their id, gathered while the commits go by, oldest first."""

    def __init__(self) -> None:
        self.found: dict[str, Finding] = {}

    def add(self, commit: str, told: Mapping[str, Any], planted: Sequence[Comment]) -> None:
        """Take in what one commit mends and brings. Raises Mistake."""
        for name in told.get("mends", ()):
            if name not in self.found or self.found[name].mended is not None:
                raise Mistake(f"{name} is not there to be mended")
            self.found[name] = replace(self.found[name], mended=commit, said=told.get("kind") == "fix")
        for comment in planted:
            name = comment.same_as or comment.id
            spans = self.found[name].spans if comment.same_as else ()
            self.found[name] = Finding(name, commit, (*spans, *((comment.span,) if comment.span else ())))


def planted(source: Source, repository: Repository, base: str, head: str) -> list[Comment]:
    """The problems that a commit brings, as comments on its lines: references of a case, or what later/ notes."""
    change = Change(repo=NAME, base=base, head=head, files=repository.changed_files(base, head))
    told = source.told
    entries = [*told.get("reference", ()), *({"author": told["author"], **one} for one in told.get("planted", ()))]
    return [make_comment(source, entry, repository, change) for entry in entries]


def recorded_reviews(cases: list[Case], git_dir: Path) -> Iterator[Review]:
    """What READER said of each case, from reviews/SLUG.json (Codex's review JSON), placed in the change."""
    for case in cases:
        file = HERE / "reviews" / f"{case.id}.json"
        parsed = Codex().read(file.read_bytes(), file.name)
        comments = [comment for entry in parsed for comment in entry.comments]
        change = case.change.model_copy(update={"git": str(git_dir)})
        placed = anchor_all(comments, change, "/repo", code_reader(change))
        yield Review(case=case.id, system=READER, comments=placed)


# --- the cases -----------------------------------------------------------------------------------------------------


def make_case(source: Source, repository: Repository, base: str, head: str) -> Case:
    """The case of one change."""
    told = source.told
    files = repository.changed_files(base, head)
    change = Change(
        repo=NAME, base=base, head=head, title=told["title"], description=flat(told["description"]), files=files
    )
    known = {
        kind: tuple(make_comment(source, entry, repository, change) for entry in told.get(kind, ()))
        for kind in ("reference", "neutral", "rejected")
    }
    hunks = [hunk for file in files for hunk in parse_patch(file.patch or "")]
    changed = sum(line.kind != " " for hunk in hunks for line in hunk.lines)
    return Case(
        id=source.slug,
        change=change,
        references=known["reference"],
        neutral=known["neutral"],
        rejected=known["rejected"],
        verdict=not known["reference"],
        facts={
            "language": told["language"],
            "size": next((name for most, name in SIZES if changed <= most), "large"),
            "year": told["date"].year,
            "author": told["author"],
            "domain": told["domain"],
            "hunks": len(hunks),
            "changed_lines": changed,
            "changed_files": len(files),
        },
    )


def make_comment(source: Source, entry: Mapping[str, Any], repository: Repository, change: Change) -> Comment:
    """One comment, with its lines found."""
    number = source.slug.partition("-")[0]
    span = find_span(entry, repository, change)
    category = entry.get("category")
    if category is not None and category not in CATEGORIES:
        raise Mistake(f"{entry['id']}: {category!r} is no category")
    return Comment(
        id=f"{number}-{entry['id']}",
        body=flat(entry["body"]),
        span=span,
        category=category,
        severity=Severity(entry["severity"]) if "severity" in entry else None,
        needs=RequiredContext(entry["needs"]) if "needs" in entry else None,
        author=entry["author"],
        same_as=f"{number}-{entry['same_as']}" if "same_as" in entry else None,
    )


def find_span(entry: Mapping[str, Any], repository: Repository, change: Change) -> Span:
    """The lines with the texts that the entry names; they must be in the diff."""
    path, side = entry["path"], Side(entry.get("side", "new"))
    file = next((file for file in change.files if file.path == path), None)
    if file is None:
        raise Mistake(f"{entry['id']}: {path} is no file of the change")
    commit = change.head if side is Side.NEW else change.base
    text = (repository.blob(commit or "", path) or b"").decode()
    lines = [line.strip() for line in text.splitlines()]
    places = [number for number, line in enumerate(lines, 1) if line == entry["from"].strip()]
    nth = entry.get("nth", 1)
    if len(places) < nth or (len(places) > 1 and "nth" not in entry):
        raise Mistake(f"{entry['id']}: {entry['from']!r} occurs {len(places)} times in {path}")
    start = end = places[nth - 1]
    if "to" in entry:
        last = entry["to"].strip()
        end = next((number for number in range(start, len(lines) + 1) if lines[number - 1] == last), 0)
    missing = set(range(start, end + 1)) - shown_lines(file, side)
    if missing or end < start:
        raise Mistake(f"{entry['id']}: {path}:{start}-{end} ({side}) is not in the diff")
    return Span(path=path, start=start, end=end, side=side)


def shown_lines(file: ChangedFile, side: Side) -> set[int]:
    """The line numbers of one side that the diff shows, context included."""
    lines = [line for hunk in parse_patch(file.patch or "") for line in hunk.lines]
    numbers = (line.new if side is Side.NEW else line.old for line in lines)
    return {number for number in numbers if number is not None}


def flat(text: str) -> str:
    """Paragraphs on one line each."""
    return "\n\n".join(" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip()))


# --- what is shipped -----------------------------------------------------------------------------------------------


def bundle_heads(bundle: Path, maker_dir: Path) -> dict[str, str]:
    """The commits of a bundle by their branch; none when there is no readable bundle."""
    if not bundle.is_file():
        return {}
    lines = Repository(maker_dir).run("bundle", "list-heads", str(bundle)).decode().splitlines()
    found = (line.split(maxsplit=1) for line in lines)
    return {branch: commit for commit, branch in found if branch in (MAIN, MAINTAINED)}


def counts(cases: tuple[Case, ...]) -> Iterator[str]:
    """Lines for the data set's page: findings by category and by what it takes to see them."""
    findings = [comment for case in cases for comment in case.references if comment.same_as is None]
    for field in ("needs", "category"):
        found = Counter(str(getattr(finding, field)) for finding in findings)
        yield f"- by {field}: " + ", ".join(
            f"{name} {n}" for name, n in sorted(found.items(), key=lambda x: (-x[1], x[0]))
        )


def main() -> None:
    """Write the bundle and the cases into the package."""
    with tempfile.TemporaryDirectory() as folder:
        built = build(Path(folder))
        PACKAGED.mkdir(exist_ok=True)
        bundle = PACKAGED / "sample.bundle"
        # Packs of equal commits may differ in their bytes from one git to the next: leave a right one as it is.
        if bundle_heads(bundle, built.maker.git_dir) != {MAIN: built.head, MAINTAINED: built.maintained}:
            built.maker.git("bundle", "create", "--quiet", str(bundle), "HEAD", MAIN, MAINTAINED)
        (PACKAGED / "cases.jsonl").write_bytes(b"".join(case.to_line() for case in built.cases))
        (PACKAGED / "reviews.jsonl").write_bytes(b"".join(review.to_line() for review in built.reviews))
    print(f"{len(built.cases)} cases, head {built.head}, bundle {bundle.stat().st_size:,} bytes")
    print(f"{len(built.commits) - len(built.cases)} later commits, up to {built.maintained}")
    print("\n".join(counts(built.cases)))


if __name__ == "__main__":
    try:
        main()
    except Mistake as mistake:
        sys.exit(str(mistake))
