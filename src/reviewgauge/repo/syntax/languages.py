"""Classifies a file by its name and first lines: its language, documentation, a test, generated or vendored.

Languages have the names that GitHub gives them ("Python", "C#", "C++"), and only what GitHub counts as programming or
markup has one: data (JSON, YAML) and prose have none. A name does not decide everything: `.h` is C here, `.m` is
Objective-C, and no shebang is read. Sources: github.com/github-linguist/linguist (docs/how-linguist-works.md,
docs/overrides.md) for what counts as vendored, generated and documentation; go.dev/s/generatedcode for Go's marker;
ContextCRBench (arXiv:2511.07017, 2.2.3) for its suffix check.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import PurePosixPath

from reviewgauge.core.records import Case

HEAD = 4096  # bytes of a file in which markers of generated code are looked for
_HEAD_LINES = 40
_LONG_LINES = 110  # characters a line on average from which a script or style sheet is minified, as linguist has it
_ENOUGH = 1000  # bytes; a shorter script says nothing about its lines

_LANGUAGES = {
    "Python": ".py .pyi .pyw",
    "JavaScript": ".js .mjs .cjs .jsx",
    "TypeScript": ".ts .tsx .mts .cts",
    "Go": ".go",
    "Java": ".java",
    "C": ".c .h",
    "C++": ".cc .cpp .cxx .c++ .hh .hpp .hxx .h++ .ipp .tpp .inl",
    "C#": ".cs .csx",
    "Kotlin": ".kt .kts",
    "Scala": ".scala .sc",
    "Swift": ".swift",
    "Objective-C": ".m .mm",
    "Rust": ".rs",
    "Ruby": ".rb .rake .gemspec .ru",
    "PHP": ".php .phtml",
    "Lua": ".lua",
    "Perl": ".pl .pm",
    "R": ".r",
    "Solidity": ".sol",
    "Vue": ".vue",
    "Svelte": ".svelte",
    "Zig": ".zig",
    "Erlang": ".erl .hrl",
    "Elixir": ".ex .exs",
    "Haskell": ".hs",
    "OCaml": ".ml .mli",
    "F#": ".fs .fsi .fsx",
    "Visual Basic .NET": ".vb",
    "Clojure": ".clj .cljs .cljc",
    "Dart": ".dart",
    "Julia": ".jl",
    "Groovy": ".groovy .gradle",
    "Cython": ".pyx .pxd",
    "Cuda": ".cu .cuh",
    "Fortran": ".f90 .f95 .f03 .f08",
    "Assembly": ".asm .s",
    "Shell": ".sh .bash .ksh .dash",
    "PowerShell": ".ps1 .psm1",
    "Batchfile": ".bat .cmd",
    "HTML": ".html .htm .xhtml",
    "CSS": ".css",
    "SCSS": ".scss",
    "Less": ".less",
    "CMake": ".cmake",
    "Makefile": ".mk",
    "HCL": ".tf .hcl",
    "Nix": ".nix",
    "Starlark": ".bzl .star",
}
_LANGUAGE_OF_SUFFIX = {suffix: name for name, suffixes in _LANGUAGES.items() for suffix in suffixes.split()}
_FILES = {
    "CMake": "cmakelists.txt",
    "Dockerfile": "dockerfile",
    "Groovy": "jenkinsfile",
    "Makefile": "makefile gnumakefile",
    "Ruby": "gemfile podfile rakefile vagrantfile",
}
_LANGUAGE_OF_NAME = {file: name for name, files in _FILES.items() for file in files.split()}
_OTHER_NAMES = {  # `_` is a blank, too
    "C#": "c_sharp cs csharp",
    "C++": "cplusplus cpp cxx",
    "F#": "fsharp",
    "Go": "golang",
    "JavaScript": "javascriptreact js jsx",
    "Kotlin": "kt",
    "Objective-C": "objc objective_c objectivec",
    "Python": "py python3",
    "Ruby": "rb",
    "Rust": "rs",
    "Shell": "bash sh",
    "TypeScript": "ts tsx typescriptreact",
    "Visual Basic .NET": "vb.net",
}
_ALIASES = {alias: name for name, aliases in _OTHER_NAMES.items() for alias in aliases.split()}
_BY_LOWER = {name.lower(): name for name in (*_LANGUAGES, "Dockerfile")} | _ALIASES

_PROSE = ".md .mdx .markdown .mkd .rst .rest .txt .adoc .asciidoc .asc .org .textile .wiki .mediawiki .rdoc .pod .tex"
_PICTURES = ".png .jpg .jpeg .gif .svg .webp .bmp .ico .pdf .mp4 .webm .mov .woff .woff2 .ttf .eot .otf .drawio .puml"
_DOCUMENTATION = frozenset(f"{_PROSE} {_PICTURES}".split())
_DOCUMENTATION_NAME = re.compile(
    r"(readme|license|licence|copying|copyright|notice|authors?|contributors?|maintainers|changelog|changes|history|news"
    r"|contributing|code_of_conduct|security|support|thanks|credits|codeowners|citation\.cff)",
    re.IGNORECASE,
)
_FUNCTIONAL_TEXT = re.compile(
    r"(.*requirements.*|constraints.*|cmakelists|robots|.*-deps|packages)\.txt", re.IGNORECASE
)

_TEST_FOLDER = re.compile(
    r"tests?|__tests__|__mocks__|__fixtures__|fixtures|specs?|e2e|test[_-]?(?:suites?|cases?|data|files|fixtures|utils|helpers"
    r"|support|app|apps|project|resources)|tests?_.+|(?:unit|integration|functional|system|regression|acceptance|end[_-]to[_-]end"
    r"|smoke|doc|fun|func)[_-]?tests?|(?:dummy|mock|fake)[_-]?servers?",
    re.IGNORECASE,
)
_TEST_NAME = re.compile(
    r"(test_.*|conftest|tests?|selftests?|test_?(?:suite|utils?|helpers?|cases?|base|runner|server|site|proc)s?|.*[._-](test|tests|spec|specs|unittest|e2e)|.*[a-z0-9](Test|Tests|TestCase|Spec|IT)"
    r"|Test[A-Z].*)"
)

_VENDORED_FOLDERS = (
    "vendor vendors node_modules bower_components jspm_packages godeps pods carthage site-packages extern external"
    " externals third_party third-party thirdparty 3rdparty 3rd_party 3rd-party _vendor _vendored vendored"
)
_VENDORED = re.compile(
    r"(^|/)(\.yarn/(releases|plugins|sdks|versions|unplugged)/.*|gradlew(\.bat)?|mvnw(\.cmd)?|gradle/wrapper/.*"
    r"|jquery([.-]\d[^/]*)?(\.min)?\.js|bootstrap([.-]\d[^/]*)?(\.min)?\.(js|css))$"
)
_LOCK_FILES = (
    "package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock cargo.lock"
    " poetry.lock pipfile.lock uv.lock pdm.lock pixi.lock conda-lock.yml gemfile.lock composer.lock go.sum"
    " go.work.sum gopkg.lock glide.lock mix.lock rebar.lock pubspec.lock podfile.lock package.resolved"
    " cartfile.resolved gradle.lockfile packages.lock.json paket.lock flake.lock module.bazel.lock"
    " .terraform.lock.hcl stack.yaml.lock cabal.project.freeze buf.lock chart.lock"
)
_LOCKS, _VENDORS = frozenset(_LOCK_FILES.split()), frozenset(_VENDORED_FOLDERS.split())
_MINIFIED = re.compile(r"[.-]min\.(js|mjs|cjs|css)$")
_GENERATED = re.compile(
    r"(^|/)__generated__/|(^|/)dist/.*\.(js|mjs|cjs|css|map|d\.ts)$"
    r"|\.pb\.(go|cc|h|gw\.go|swift|dart)$|_pb2(_grpc)?\.pyi?$|_pb\.(rb|js|d\.ts)$|\.pbobjc\.[hm]$"
    r"|\.designer\.(cs|vb)$|\.g\.(cs|i\.cs|dart)$|\.freezed\.dart$|\.generated\.[a-z]+$|(^|/)zz_generated\.[^/]*$"
    r"|_generated\.(go|rs|h|hpp)$|\.(js|css|ts|mjs)\.map$|(^|/)__snapshots__/.*\.snap$|\.pbxproj$|\.(nib|xcworkspacedata)$"
    r"|\.bundle\.js$"
)
_MARKER = re.compile(
    rb"@generated\b|code generated .{0,200}do not edit|<auto-?generated"
    rb"|(auto-?generated|automatically generated) (by|from|using|with|file|code)\b|generated automatically by\b"
    rb"|\bthis (file|code|module|source) (was |is |has been )?(automatically |auto-?)?generated\b"
    rb"|generated by (the protocol buffer compiler|cython|django|swig|bison|flex|lemon|antlr|thrift|openapi|swagger)\b",
    re.IGNORECASE,
)
_COMMENT_MARKS = (b"#", b"//", b"/*", b"*", b"--", b";", b"<!--", b"<", b"%", b"'", b'"""', b"(*", b"{-", b"=begin")


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
