"""Classifies a file by its name and first lines: its language, documentation, a test, generated, the product itself.

Languages have the names that GitHub gives them ("Python", "C#", "C++"), and only what GitHub counts as programming or
markup has one: data (JSON, YAML) and prose have none. A name does not decide everything: `.h` is C here, `.m` is
Objective-C, and no shebang is read. Sources: github.com/github-linguist/linguist (docs/how-linguist-works.md,
docs/overrides.md) for what counts as vendored, generated and documentation; go.dev/s/generatedcode for Go's marker;
ContextCRBench (arXiv:2511.07017, 2.2.3) for its suffix check. The words are in `languages.toml`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import PurePosixPath

from reviewgauge.core.records import Case
from reviewgauge.repo.tables import read_table

HEAD = 4096  # bytes of a file in which markers of generated code are looked for
_HEAD_LINES = 40
_LONG_LINES = 110  # characters a line on average from which a script or style sheet is minified, as linguist has it
_ENOUGH = 1000  # bytes; a shorter script says nothing about its lines

_TABLE = read_table(__package__, "languages")


def _by_word(table: dict[str, list[str]]) -> dict[str, str]:
    return {word: name for name, words in table.items() for word in words}


def _any(name: str, form: str = "{}", flags: int = re.IGNORECASE) -> re.Pattern[str]:
    """A pattern for any of a list of the table."""
    return re.compile(form.format("|".join(_TABLE[name])), flags)


COMMENT_PREFIX = _by_word(_TABLE["comment_prefixes"])
_LANGUAGE_OF_SUFFIX = _by_word(_TABLE["suffixes"])
_LANGUAGE_OF_NAME = _by_word(_TABLE["files"])
_BY_LOWER: dict[str, str] = {name.lower(): name for name in (*_TABLE["suffixes"], "Dockerfile")} | _by_word(
    _TABLE["other_names"]
)

_DOCUMENTATION, _LOCKS, _VENDORS = (frozenset(_TABLE[name]) for name in ("documentation", "locks", "vendored_folders"))
_DOCUMENTATION_NAME = _any("documentation_names")
_FUNCTIONAL_TEXT = _any("functional_text")
_TEST_FOLDER = _any("test_folders")
_TEST_NAME = _any("test_names", flags=0)
_VENDORED = _any("vendored", "(^|/)({})$")
_MINIFIED = re.compile(r"[.-]min\.(js|mjs|cjs|css)$")
_GENERATED = _any("generated")
_MARKER = re.compile("|".join(_TABLE["markers"]).encode(), re.IGNORECASE)
_COMMENT_MARKS = tuple(mark.encode() for mark in _TABLE["comment_marks"])
_OUTSIDE_FOLDERS, _MARKUP, _CARRIED_ALONG = (
    frozenset(_TABLE[name]) for name in ("outside_folders", "markup", "carried_along")
)
_OUTSIDE_NAMES = _any("outside_names")
_IMPORT = re.compile(
    r"(?:from\s+[\w.]+\s+import\b|import\b|#\s*include\b|using\s[\w.:=\s]+;|package\b|require(?:_relative|_once)?\b"
    r"|include(?:_once)?\b|use\s++[\w\\:{}, ]+;|extern\s+crate\b|mod\s+\w+;|export\s+\*"
    r"|(?:const|let|var)\s.{1,80}=\s*require\()"
)
_BARE = re.compile(
    r"(?:else|try|finally|do|begin|end|pass|return|break|continue|default|fi|done|then|esac|endif|\W)*+[\W_]*",
    re.IGNORECASE,
)
_COMMENT = re.compile(
    r"(?::(?:param|type|return|rtype|raise)s?\b|@(?:param|return|throws)\b|>>>|#(?!\s*(?:define|if|ifdef|ifndef|elif|pragma|include)\b)|//|/\*|\*(?:\s|/|$)|<!--|--\s|;;|'''|\"\"\")"
)
_VERSION = re.compile(r"[\w.\s\"']*\b_{0,2}(?:version|build|release)(?:_info)?_{0,2}[\"']?\s*[:=]", re.IGNORECASE)


@lru_cache(maxsize=16384)
def language(path: str) -> str:
    """The language of a file by its name; empty for an unknown one, data and prose."""
    name = path.rpartition("/")[2].lower()
    known = _LANGUAGE_OF_NAME.get(name)
    if known is None and name.startswith("dockerfile."):
        return "Dockerfile"
    return known or _LANGUAGE_OF_SUFFIX.get(PurePosixPath(name).suffix, "")


def language_name(name: str) -> str:
    """The usual name of a language that a data set calls otherwise: `csharp`, `cpp`, `golang`, `py`.

    An unknown name is returned without blanks around it.
    """
    name = name.strip()
    return _BY_LOWER.get(name.lower(), _BY_LOWER.get(name.lower().replace(" ", "_"), name))


def case_language(case: Case) -> str:
    """The language of a case: that of its facts, else of its first file that has one; empty if neither is known."""
    named = case.facts.get("language")
    if isinstance(named, str) and named.strip():
        return language_name(named)
    return next(filter(None, (language(file.path) for file in case.change.files)), "")


def is_documentation(path: str) -> bool:
    """Whether the file is prose or pictures, which change nothing that runs: `.md`, `.rst`, `LICENSE`, `.png`.

    Text that tools read (`requirements.txt`, `CMakeLists.txt`) is not. Code below `docs/` is code: the check is
    ContextCRBench's, by suffix.
    """
    name = path.rpartition("/")[2]
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in _DOCUMENTATION:
        return not _FUNCTIONAL_TEXT.fullmatch(name)
    return _DOCUMENTATION_NAME.fullmatch(name) is not None


def is_test(path: str) -> bool:
    """Whether the file belongs to tests: by a folder (`tests/`, `testsuite/`, `fixtures/`) or a name (`test_x.py`)."""
    *folders, name = path.split("/")
    if any(_TEST_FOLDER.fullmatch(folder) for folder in folders):
        return True
    stem = name.rpartition(".")[0] or name
    return bool(language(path)) and _TEST_NAME.fullmatch(stem) is not None


def is_generated_or_vendored(path: str, head: bytes | None = None) -> str:
    """Why nobody wrote this file here: "vendored", "lock file", "minified" or "generated"; empty for other files.

    By the path and, where the first bytes of the file (`HEAD` of them suffice) are given, by the markers that
    generators leave in a comment. Files without a marker are not recognised.
    """
    lower = path.lower()
    *folders, name = lower.split("/")
    if name in _LOCKS:
        return "lock file"
    if not _VENDORS.isdisjoint(folders) or _VENDORED.search(lower):
        return "vendored"
    if _MINIFIED.search(name):
        return "minified"
    if _GENERATED.search(lower):
        return "generated"
    if head is None:
        return ""
    if _says_generated(head[:HEAD]):
        return "generated"
    return "minified" if _is_minified(name, head[:HEAD]) else ""


def _says_generated(head: bytes) -> bool:
    """Whether a comment near the top names a generator. A string in code (a generator's own) does not count."""
    inside = b""
    for line in head.split(b"\n")[:_HEAD_LINES]:
        text = line.strip().removeprefix(b"\xef\xbb\xbf")
        if (inside or text.startswith(_COMMENT_MARKS)) and _MARKER.search(text):
            return True
        still = inside if inside not in text else b""
        inside = still if inside else _left_open(text)
    return False


def _left_open(text: bytes) -> bytes:
    """The end mark of the comment that `text` opens and leaves open."""
    for begin, end in ((b"/*", b"*/"), (b"<!--", b"-->"), (b'"""', b'"""'), (b"(*", b"*)")):
        if text.startswith(begin) and end not in text[len(begin) :]:
            return end
    return b""


def _is_minified(name: str, head: bytes) -> bool:
    if not name.endswith((".js", ".mjs", ".cjs", ".css")) or len(head) < _ENOUGH:
        return False
    return len(head) / (head.count(b"\n") + 1) > _LONG_LINES


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
    if name.endswith(".py") and not _CARRIED_ALONG.isdisjoint(folders[1:]):
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
