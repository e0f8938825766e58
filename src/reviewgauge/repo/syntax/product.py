"""What of a repository is the product that its users run, and which of its lines can hold a defect."""

from __future__ import annotations

import re
from functools import lru_cache

from reviewgauge.repo.syntax.languages import is_documentation, is_generated_or_vendored, is_test, language

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
_OUTSIDE = (
    "doc docs documentation example examples demo demos sample samples benchmark benchmarks bench .github .circleci"
    " .gitlab ci _travis debian packaging extras contrib tools scripts artwork website fixtures"
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
