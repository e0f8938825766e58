from __future__ import annotations

import ast
import importlib
import io
import os
import time
import tokenize
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_sitter import Language

from reviewgauge.repo.syntax import functions
from reviewgauge.repo.syntax.functions import Parsers, code_lines, definitions, enclosing, prepare
from reviewgauge.repo.syntax.grammars import GRAMMARS
from reviewgauge.repo.syntax.lines import line_count, line_starts

SOURCES = {
    "a.py": """
        import os
        f = lambda x: x + 1
        @first
        @second(1)
        async def g(a):
            def inner():
                return 1  # tail
            return inner

        # about A
        class A(B):
            x = 1

            @property
            def m(self):
                return {
                    "a": 1,
                }
    """,
    "a.java": """
        package p;
        @Ann
        public class A<T> {
            private final Runnable r = () -> {
                run();
            };
            /** about it */
            @Override
            public <U> void m(List<U> a) {
                Runnable q = new Runnable() {
                    public void run() {
                        x();
                    }
                };
            }
            static {
                init();
            }
            enum K { X }
        }
    """,
    "a.js": """
        const f = (x) => {
          return x;
        };
        export default function () {
          return 1;
        }
        module.exports.k = function () {
          return 2;
        };
        const o = {
          n: () => {
            return 3;
          },
        };
        class A extends B {
          handler = () => {
            this.x();
          };
          async *gen() {
            yield 1;
          }
        }
        app.get("/", () => {
          done();
        });
        app.on("mount", function onmount() {
          mount();
        });
    """,
    "a.tsx": """
        @Component({})
        export class A<T> implements I {
          private h = (x: number): void => {
            use(x);
          };
          @Dec()
          method<T>(a: T): T {
            return a;
          }
        }
        namespace N {
          export function f(): JSX.Element {
            return <b>text</b>;
          }
        }
        interface I { m(): void }
    """,
    "a.c": """
        typedef struct {
          int a;
        } T;
        static int *f(int a, char *b)
        {
          struct S s;
          return 0;
        }
        #ifdef X
        void g(void)
        {
        }
        #endif
        #define M(x) \\
          ((x) + 1)
    """,
    "a.cpp": """
        namespace n {
        template <typename T>
        class A : public B {
         public:
          int f() const override {
            return 1;
          }
        };
        template <class T>
        int A<T>::g(int a) {
          auto l = [&](int x) {
            return x;
          };
          return l(a);
        }
        }
    """,
    "a.cs": """
        namespace N {
          [Attr]
          public class A : B {
            public int P { get; set; }
            public int Q {
              get { return 1; }
            }
            public async Task<int> M<T>(int a) {
              int Local(int z) {
                return z;
              }
              Func<int, int> f = x => {
                return x;
              };
              return 1;
            }
          }
        }
    """,
    "a.rs": """
        /// about S
        #[derive(Debug)]
        pub struct S<T> {
            a: T,
        }
        impl<T> Tr for S<T> {
            #[inline]
            pub fn f(&self) -> i32 {
                let g = |x| {
                    x + 1
                };
                g(1)
            }
        }
        mod tests {
            #[test]
            fn t() {
                run();
            }
        }
    """,
    "a.go": """
        package p

        type S struct {
            a int
        }

        func (s *S) M(a int) int {
            f := func(x int) int {
                return x
            }
            return f(a)
        }

        func G[T any](a T) {
            use(a)
        }
    """,
    "a.php": """
        <?php
        namespace A;
        function f($a) {
            $g = function ($x) use ($a) {
                return $x;
            };
            return 1;
        }
        #[Attr]
        abstract class C extends D {
            use T;
            public static function m(int $a): int {
                return 1;
            }
        }
    """,
    "a.rb": """
        module M
          class A < B
            attr_reader :x
            def m(a)
              a
            end
            def self.s
              1
            end
            f = ->(x) {
              x + 1
            }
          end
        end
    """,
}


def source_of(path: str) -> bytes:
    lines = SOURCES[path].split("\n")[1:-1]
    return "".join(line.removeprefix(" " * 8) + "\n" for line in lines).encode()


def around(path: str, text: str, to: str = "") -> tuple[str, str, str]:
    """(kind, name, first line's text) of what is around the line with `text`, or from there to the line with `to`."""
    source = source_of(path)
    lines = source.decode().split("\n")
    start = next(n for n, line in enumerate(lines, 1) if text in line)
    end = next(n for n, line in enumerate(lines, 1) if (to or text) in line and n >= start)
    found = enclosing(source, path, start, end)
    assert found.start <= start <= end <= found.end
    assert found.reason == ""
    return found.kind, found.name, lines[found.start - 1].strip()


@pytest.mark.parametrize(("path", "text", "kind", "name", "first"), [
    ("a.py", "import os", "file", "", "import os"),
    ("a.py", "lambda", "function", "f", "f = lambda x: x + 1"),
    ("a.py", "async def", "function", "g", "@first"),
    ("a.py", "return 1", "function", "g.inner", "def inner():"),
    ("a.py", "return inner", "function", "g", "@first"),
    ("a.py", "# about A", "class", "A", "# about A"),
    ("a.py", '"a": 1', "method", "A.m", "@property"),
    ("a.java", "run();", "method", "A.r", "private final Runnable r = () -> {"),
    ("a.java", "/** about", "method", "A.m", "/** about it */"),
    ("a.java", "@Override", "method", "A.m", "@Override"),
    ("a.java", "x();", "method", "A.m.run", "public void run() {"),
    ("a.java", "init();", "method", "A.static", "static {"),
    ("a.js", "return 1", "function", "default", "export default function () {"),
    ("a.js", "return 2", "function", "module.exports.k", "module.exports.k = function () {"),
    ("a.js", "this.x()", "method", "A.handler", "handler = () => {"),
    ("a.js", "yield 1", "method", "A.gen", "async *gen() {"),
    ("a.js", "done()", "file", "", "const f = (x) => {"),
    ("a.js", "mount();", "function", "onmount", 'app.on("mount", function onmount() {'),
    ("a.tsx", "use(x)", "method", "A.h", "private h = (x: number): void => {"),
    ("a.tsx", "return a", "method", "A.method", "@Dec()"),
    ("a.tsx", "<b>", "function", "N.f", "export function f(): JSX.Element {"),
    ("a.c", "int a;", "class", "T", "typedef struct {"),
    ("a.c", "struct S s", "function", "f", "static int *f(int a, char *b)"),
    ("a.c", "((x)", "function", "M", "#define M(x) \\"),
    ("a.cpp", "public:", "class", "n::A", "template <typename T>"),
    ("a.cpp", "return 1", "method", "n::A::f", "int f() const override {"),
    ("a.cpp", "return l(a)", "method", "n::A<T>::g", "template <class T>"),
    ("a.cs", "int P", "class", "N.A", "[Attr]"),
    ("a.cs", "get { return", "method", "N.A.Q", "public int Q {"),
    ("a.cs", "return z", "function", "N.A.M.Local", "int Local(int z) {"),
    ("a.cs", "public async", "method", "N.A.M", "public async Task<int> M<T>(int a) {"),
    ("a.rs", "#[derive", "class", "S", "#[derive(Debug)]"),
    ("a.rs", "#[inline]", "method", "S::f", "#[inline]"),
    ("a.rs", "x + 1", "function", "S::f::g", "let g = |x| {"),
    ("a.go", "a int\n", "class", "S", "type S struct {"),
    ("a.go", "return x", "function", "S.M.f", "f := func(x int) int {"),
    ("a.go", "return f", "method", "S.M", "func (s *S) M(a int) int {"),
    ("a.php", "return $x", "function", "f::$g", "$g = function ($x) use ($a) {"),
    ("a.php", "use T", "class", "C", "#[Attr]"),
    ("a.php", "public static", "method", "C::m", "public static function m(int $a): int {"),
    ("a.rb", "attr_reader", "class", "M::A", "class A < B"),
    ("a.rb", "self.s", "method", "M::A::s", "def self.s"),
    ("a.rb", "x + 1", "method", "M::A::f", "f = ->(x) {"),
])  # fmt: skip
def test_what_is_around_a_line(path: str, text: str, kind: str, name: str, first: str) -> None:
    assert around(path, text.strip()) == (kind, name, first)


def test_blank_lines_at_the_ends_do_not_widen_what_is_around() -> None:
    source = b"def f():\n    return 1\n\n\ndef g():\n    return 2\n"
    assert enclosing(source, "a.py", 1, 4).name == "f"
    assert enclosing(source, "a.py", 3, 6).name == "g"
    assert enclosing(source, "a.py", 3, 4).kind == "file"


def test_a_remark_at_the_end_of_a_statement_above_does_not_belong_to_what_follows() -> None:
    source = b"x = 1  # of x\ndef f():\n    return 1\n"
    assert enclosing(source, "a.py", 1, 1).kind == "file"
    assert enclosing(b"# apart\n\ndef f():\n    return 1\n", "a.py", 1, 1).kind == "file"


def test_lines_outside_the_file_are_cut_to_it() -> None:
    source = b"def f():\n    return 1\n"
    for start, end in ((0, 0), (-5, 900), (3, 3), (900, 7), (2, 1)):
        found = enclosing(source, "a.py", start, end)
        assert (found.kind, found.start, found.end) == ("function", 1, 2)
    assert enclosing(b"", "a.py", 1, 1) == functions.Enclosing("file", "", 1, 1)


@pytest.mark.parametrize("key", GRAMMARS)
def test_every_node_type_is_one_of_the_grammar(key: str) -> None:
    grammar = GRAMMARS[key]
    language = Language(getattr(importlib.import_module(grammar.wheel), grammar.entry)())
    wrapped = {kind for by_field, kinds in grammar.holds.values() if not by_field for kind in kinds}
    fields = {name for by_field, names in grammar.holds.values() if by_field for name in names}
    words = (*grammar.comments, *grammar.literals, *grammar.holes, *grammar.bodied, *grammar.attributes)
    for kind in {*grammar.roles, *grammar.holds, *wrapped, *words}:
        assert language.id_for_node_kind(kind, True), f"{key} has no {kind}"
    for name in fields:
        assert language.field_id_for_name(name), f"{key} has no field {name}"


# --- where syntax does not help ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("source", "path", "reason"), [
    (b"fun f() {\n}\n", "a.kt", "no grammar for Kotlin"),
    (b"key: 1\n", "a.yaml", "no grammar for such files"),
    (b"def f():\n\x00\n", "a.py", "the file is binary"),
    (b"x = 1\n" * 200_000, "a.py", "the file is larger than 1,000,000 bytes"),
    (b"x=>" * 20_000, "a.java", "the parser gave up on this file"),
])  # fmt: skip
@pytest.mark.drill
def test_a_window_says_why_it_is_one(source: bytes, path: str, reason: str) -> None:
    count = source.count(b"\n") + (not source.endswith(b"\n"))
    found = enclosing(source, path, 1, 1, window=5)
    assert (found.kind, found.start, found.end, found.reason) == ("window", 1, min(6, count), reason)
    assert definitions(source, path) == ()
    lines = code_lines(source, path)
    assert not lines.known
    assert lines.reason == reason
    assert lines.kind(1) == "code"


def test_what_does_not_parse_is_a_window_and_the_rest_of_the_file_is_not() -> None:
    source = b"def f():\n    return 1\n\n\n)))) = ((((\n\n\ndef g():\n    return 2\n"
    assert enclosing(source, "a.py", 2, 2).name == "f"
    assert enclosing(source, "a.py", 9, 9).name == "g"
    broken = enclosing(source, "a.py", 5, 5)
    assert (broken.kind, broken.reason) == ("window", "the code around these lines does not parse")


def test_fifty_megabytes_are_answered_at_once() -> None:
    source = b"def f():\n    return 1\n" * 2_500_000
    began = time.process_time()
    assert enclosing(source, "a.py", 3, 3).kind == "window"
    assert time.process_time() - began < 30


def test_deep_nesting_is_no_recursion() -> None:
    deep = b"def f():\n    return " + b"[" * 20_000 + b"]" * 20_000 + b"\n"
    assert enclosing(deep, "a.py", 2, 2).kind in {"function", "window"}
    nested = b"".join(b" " * n + b"def f%d():\n" % n for n in range(300)) + b" " * 300 + b"pass\n"
    found = enclosing(nested, "a.py", 301, 301)
    assert (found.kind, found.name.count(".")) == ("function", 299)


def test_a_header_of_cpp_is_read_as_such() -> None:
    assert enclosing(b"class A {\n  int f() {\n    return 1;\n  }\n};\n", "a.h", 3, 3).name == "A::f"
    assert enclosing(b"int f(void)\n{\n  return 1;\n}\n", "a.h", 3, 3).name == "f"


def test_carriage_returns_and_bytes_that_are_no_utf8() -> None:
    source = b"# \xff\xfe\r\ndef f():\r\n    return '\xe9'\r\n\r\n\r\nx = 1\r\n"
    assert enclosing(source, "a.py", 3, 3).name == "f"
    lines = code_lines(source, "a.py")
    assert lines.kinds == ("comment", "code", "code", "blank", "blank", "code")
    assert lines.text(6, 6) == "x = 1"


# --- lines ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("path", "source", "kinds"), [
    ("a.py", b'"""Doc."""\n\nx = 1  # note\n# c\ny = """\nno comment\n"""\n',
        "comment blank code comment code code code"),
    ("a.py", b'def f():\n    """One\n\n    two."""\n    "also"\n    return "x"\n',
        "code comment blank comment comment code"),
    ("a.py", b"def f():\n    f'{run()}'\n    ''\n    x.y\n", "code code comment code"),
    ("a.js", b"/* a\n b */\nx(); // c\n// d\nconst s = `// no`;\n", "comment comment code comment code"),
    ("a.c", b"/* a */ int x;\n/* b */\n#define A 1\n", "code comment code"),
    ("a.rb", b"=begin\nx\n=end\ny = 1 # c\n", "comment comment comment code"),
    ("a.rs", b"//! m\n/// d\nfn f() {}\n", "comment comment code"),
    ("a.go", b"// c\npackage p\n", "comment code"),
    ("a.php", b"<?php\n# a\n// b\n/* c */\n$x = 1;\n", "code comment comment comment code"),
    ("a.java", b"/** d */\nclass A {}\n", "comment code"),
    ("a.cs", b"/// <summary/>\nclass A {}\n", "comment code"),
    ("a.kt", b"// c\nval x = 1\n", "comment code"),
    ("a.sh", b"#!/bin/sh\n# c\necho '# no' # c\n", "comment comment code"),
    ("a.yaml", b"# c\nx: 1\n", "code code"),
])  # fmt: skip
def test_the_kind_of_each_line(path: str, source: bytes, kinds: str) -> None:
    assert code_lines(source, path).kinds == tuple(kinds.split())


def text(path: str, source: str) -> str:
    return code_lines(source.encode(), path).text(1, source.count("\n") + 1)


@pytest.mark.parametrize(("path", "one", "other"), [
    ("a.py", "f(a, b)", "f(\n    a,  # c\n    b,\n)"),
    ("a.py", "x=a+b", "x = a + \\\n    b"),
    ("a.js", "if(a){b();}", "if (a) {\n  b(); // c\n}"),
    ("a.go", "f(a, b)", "f(\n\ta,\n\tb,\n)"),
    ("a.rs", "S { a, b }", "S {\n    a,\n    b,\n}"),
    ("a.c", "int x = f(a,b) ;", "int x =\n  f( a, b );  /* c */"),
    ("a.py", "[1]", "[\n  1,\n]"),
])  # fmt: skip
def test_code_that_is_only_laid_out_otherwise_says_the_same(path: str, one: str, other: str) -> None:
    head = "package p\n" if path == "a.go" else ""
    skip = "package p " if head else ""
    assert text(path, head + one) == text(path, head + other)
    assert skip in text(path, head + one)


@pytest.mark.parametrize(("path", "one", "other"), [
    ("a.py", "x = (1,)", "x = (1)"), ("a.py", "x = a[1,]", "x = a[1]"),
    ("a.py", "return (x,)", "return (x)"),
    ("a.py", "x = 'a  b'", "x = 'a b'"), ("a.py", "x = 'a'", 'x = "a"'), ("a.js", "[1,,]", "[1,]"),
    ("a.py", "f(a b)", "f(ab)"),
    ("a.js", "`a ${b}  c`", "`a ${b} c`"),
])  # fmt: skip
def test_code_that_says_something_else_does_not(path: str, one: str, other: str) -> None:
    assert text(path, one) != text(path, other)


# --- any input -----------------------------------------------------------------------------------------------------

PIECES = [
    *("def f(x):", "class A:", "{", "}", "(", ")", "=>", "func f() {", "/*", "*/", "//", "#", '"', "'''", "`", "<?php",
        "end"),
    *("\n", "\r\n", "  ", "\t", "x", "é", "=", ",", ";", "@d", "#[a]", "lambda: 1", "template<", "\x00", "${"),
]  # fmt: skip
codes = st.lists(st.sampled_from(PIECES), max_size=60).map(lambda parts: "".join(parts).encode())


@given(codes | st.binary(max_size=200), st.sampled_from(sorted(SOURCES)), st.integers(-2, 30), st.integers(-2, 30))
def test_any_code_is_answered(source: bytes, path: str, start: int, end: int) -> None:
    count = max(source.count(b"\n") + (not source.endswith(b"\n")), 1)
    found = enclosing(source, path, start, end)
    assert 1 <= found.start <= found.end <= count
    asked = range(min(max(start, 1), count), min(max(end, start, 1), count) + 1)
    lines = source.split(b"\n")
    assert all(found.start <= n <= found.end for n in asked if lines[n - 1].strip())
    for scope in definitions(source, path):  # none that is smaller holds the lines
        if scope.start <= asked[0] and asked[-1] <= scope.end and found.kind != "window":
            assert found.end - found.start <= scope.end - scope.start
    kinds = code_lines(source, path)
    assert len(kinds.kinds) == count
    for n in range(1, count + 1):
        assert (kinds.kind(n) == "blank") == (not lines[n - 1].strip())
        assert kinds.kind(n) == "code" or not kinds.tokens(n)


# --- held against others that read Python --------------------------------------------------------------------------

MODULES = ("argparse", "dataclasses", "enum")


def python_source(module: str) -> bytes:
    """The source of a module of the standard library."""
    return Path(str(importlib.import_module(module).__file__)).read_bytes()


@pytest.mark.parametrize("module", MODULES)
def test_what_is_around_each_line_is_what_pythons_own_parser_says(module: str) -> None:
    source = python_source(module)
    owner: dict[int, tuple[str, int, int]] = {}
    queue: list[tuple[ast.AST, str]] = [(ast.parse(source), "")]
    while queue:
        node, prefix = queue.pop()
        for child in ast.iter_child_nodes(node):
            name = prefix
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = f"{prefix}.{child.name}".lstrip(".")
                start = min([child.lineno, *(d.lineno for d in child.decorator_list)])
                end = child.end_lineno or start
                owner |= {n: (name, start, end) for n in range(start, end + 1) if owner.get(n, ("", 0, 0))[1] <= start}
            queue.append((child, name))
    lines = source.split(b"\n")
    code = [n for n, line in enumerate(lines, 1) if line.strip() and not line.strip().startswith(b"#")]
    assert len(code) > 100
    for n in code:
        found = enclosing(source, "a.py", n, n)
        expected = owner.get(n, ("", 1, len(lines) - 1))
        assert (found.name, found.start, max(found.end, expected[2])) == (expected[0], expected[1], found.end), n


@pytest.mark.parametrize("module", MODULES)
def test_what_is_code_is_what_pythons_own_tokenizer_says(module: str) -> None:
    source = python_source(module)
    alone = {
        (node.value.lineno, node.value.col_offset)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    }
    nothing = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    code: set[int] = set()
    for token in tokenize.tokenize(io.BytesIO(source).readline):
        if token.type not in nothing | {tokenize.ENCODING} and token.start not in alone:
            code |= set(range(token.start[0], token.end[0] + 1))
    rows = source.split(b"\n")[:-1]
    expected = tuple(
        "blank" if not row.strip() else "code" if n in code else "comment" for n, row in enumerate(rows, 1)
    )
    assert code_lines(source, "a.py").kinds == expected


# --- the parsing processes -----------------------------------------------------------------------------------------


def test_a_process_that_somebody_ended_is_replaced() -> None:
    parsers = Parsers(most=1, seconds=20)
    try:
        assert parsers.ask("python", "scopes", b"x = 1\n") is not None
        (process,) = parsers._idle
        assert process._process is not None
        process._process.kill()
        process._process.wait()
        assert parsers.ask("python", "scopes", b"x = 2\n") is not None
    finally:
        parsers.close()


def test_many_files_side_by_side_are_what_they_are_one_by_one() -> None:
    files = [(b"def f%d():\n    return %d\n" % (n, n), "a.py") for n in range(40)]
    prepare(files)
    assert [enclosing(source, path, 2, 2).name for source, path in files] == [f"f{n}" for n in range(40)]


def test_a_forked_process_has_parsers_of_its_own() -> None:
    enclosing(b"def before():\n    return 1\n", "a.py", 2, 2)  # a process is running
    reader, writer = os.pipe()
    running = list(functions.PARSERS._idle)
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, enclosing(b"def forked():\n    return 1\n", "a.py", 2, 2).name.encode())
            functions.PARSERS.close()
        finally:
            os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    assert os.read(reader, 100) == b"forked"
    os.close(reader)
    assert running
    assert all(process.alive for process in running)
    assert enclosing(b"def after():\n    return 1\n", "a.py", 2, 2).name == "after"


@given(st.lists(st.sampled_from([b"\n", b"\r\n", b"a", b"  b", b"\x0c"]), max_size=12).map(b"".join))
def test_lines_are_counted_as_they_begin(source: bytes) -> None:
    starts = line_starts(source)
    assert line_count(source) == len(starts)
    assert starts == (0, *(at + 1 for at in range(len(source) - 1) if source[at : at + 1] == b"\n"))
    assert enclosing(source, "a.yaml", 1, 10**6, window=0).end == len(starts)
