"""Lines of code: where a line of one commit stands at the head of its branch, and which lines count."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from reviewgauge.core.records import ChangedFile, FileStatus, Side
from reviewgauge.repo.diff.diffs import Kind, changed_lines, parse_patch
from reviewgauge.repo.diff.positions import map_line
from reviewgauge.repo.syntax.languages import is_documentation, is_generated_or_vendored, is_test, language

_IMPORT = re.compile(
    r"(?:from\s+[\w.]+\s+import\b|import\b|#\s*include\b|using\s+[\w.:=\s]+;|package\b|require(?:_relative|_once)?\b"
    r"|include(?:_once)?\b|use\s+[\w\\:{}, ]+;|extern\s+crate\b|mod\s+\w+;|export\s+\*"
    r"|(?:const|let|var)\s.{1,80}=\s*require\()"
)
_BARE = re.compile(
    r"(?:else|try|finally|do|begin|end|pass|return|break|continue|default|fi|done|then|esac|endif|\W)*[\W_]*",
    re.IGNORECASE,
)
_COMMENT = re.compile(
    r"(?::(?:param|type|return|rtype|raise)s?\b|@(?:param|return|throws)\b|>>>|#(?!\s*(?:define|if|ifdef|ifndef|elif|pragma|include)\b)|//|/\*|\*(?:\s|/|$)|<!--|--\s|;;|'''|\"\"\")"
)
_VERSION = re.compile(r"[\w.\s\"']*\b_{0,2}(?:version|build|release)(?:_info)?_{0,2}[\"']?\s*[:=]", re.IGNORECASE)
_OUTSIDE = (
    "doc docs documentation example examples demo demos sample samples benchmark benchmarks bench .github .circleci"
    " .gitlab ci debian packaging extras contrib tools scripts artwork website fixtures"
)
_OUTSIDE_FOLDERS = frozenset(_OUTSIDE.split())
_VENDORED_PYTHON = frozenset({"packages", "_packages", "xlib", "extlib", "_ext"})  # below a package of its own
_OUTSIDE_NAMES = re.compile(
    r"setup\.py|conf\.py|fabfile\.py|noxfile\.py|tasks\.py|conftest\.py|manage\.py|versioneer\.py|makefile|rakefile|gruntfile\.js"
    r"|gulpfile\.js|.*\.config\.[cm]?[jt]s|jenkinsfile|dockerfile.*|vagrantfile|gemfile|cmakelists\.txt|build\.gradle(?:\.kts)?"
    r"|.*\.gemspec|_?version\.\w+|__version__\.py|__about__\.py",
    re.IGNORECASE,
)
_MARKUP = {"HTML", "CSS", "SCSS", "Less", "Dockerfile", "Makefile", "CMake", "Batchfile", "Nix", "HCL", "Starlark"}


@lru_cache(maxsize=16384)
def not_product(path: str) -> str:
    """Why a file is not part of what the project's users run: "documentation", "tests", ...; empty when it is."""
    *folders, name = path.split("/")
    if is_documentation(path):
        return "documentation"
    if is_test(path):
        return "tests"
    if reason := is_generated_or_vendored(path):
        return reason
    if name.endswith(".py") and not _VENDORED_PYTHON.isdisjoint(folders[1:]):
        return "vendored"
    if any(folder.lower() in _OUTSIDE_FOLDERS for folder in folders):
        return "docs, examples, tools or CI"
    if _OUTSIDE_NAMES.fullmatch(name):
        return "build or packaging"
    if language(path) in _MARKUP or not language(path):
        return "no program code"
    return ""


def trivial(text: str) -> str:
    """Why a line of code says too little to be where a defect is; empty when it may be."""
    line = text.strip()
    if _BARE.fullmatch(line):
        return "only braces or a bare keyword"
    if _IMPORT.match(line):
        return "an import"
    if _COMMENT.match(line):
        return "a comment"
    if _VERSION.match(line):
        return "a version number"
    return ""


def forward(files: Sequence[ChangedFile], path: str, line: int) -> tuple[str, int] | None:
    """Where `line` of `path` stands after `files` were changed; None where it was changed or deleted."""
    for file in files:
        before = file.old_path or file.path
        if before != path or file.status is FileStatus.COPIED:
            continue
        if file.status in (FileStatus.DELETED, FileStatus.ADDED, FileStatus.TYPE_CHANGED):
            return None
        if file.patch is None:
            return None if file.binary else (file.path, line)
        moved = map_line(file.patch, line)
        return None if moved is None else (file.path, moved)
    return path, line


def normal(text: str) -> str:
    """The text of a line without white space: what stays when it is only moved or indented."""
    return "".join(text.split())


def texts(files: Sequence[ChangedFile], kind: Kind) -> frozenset[str]:
    """The lines that a diff adds ("+") or deletes ("-") anywhere, without white space."""
    return frozenset(
        normal(line.text)
        for file in files
        if file.patch
        for hunk in parse_patch(file.patch)
        for line in hunk.lines
        if line.kind == kind
    )


def new_text(files: Sequence[ChangedFile], path: str, line: int) -> str | None:
    """The text of `line` of `path` if the change added it, else None."""
    for file in files:
        if file.path == path and file.patch and line in changed_lines(file, Side.NEW):
            for hunk in parse_patch(file.patch):
                for one in hunk.lines:
                    if one.new == line and one.kind == "+":
                        return one.text
    return None
