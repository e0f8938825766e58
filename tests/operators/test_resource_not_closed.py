from __future__ import annotations

import pytest

from planted import clean, code_of, planted
from reviewgauge.operators.resource_not_closed import ResourceNotClosed

CASES = [
    (
        "python",
        """
        def load(path):
            with open(path) as f:
                # all of it
                return f.read()
        """,
        """
        def load(path):
            f = open(path)
            # all of it
            return f.read()
        """,
    ),
    ("python", "with open(a) as f, open(b) as g:\n    f.write(g)", None),
    ("python", "with suppress(OSError) as f:\n    f.write(g)", None),
    ("python", "with open(a) as f:\n    f.close()", None),  # equivalent
    ("python", "with open(a) as f: f.read()", None),
    (
        "javascript",
        """
        async function load(path) {
          const file = await open(path);
          try {
            return await file.read();
          } finally {
            await file.close();
          }
        }
        """,
        """
        async function load(path) {
          const file = await open(path);
          return await file.read();
        }
        """,
    ),
    (
        "typescript",
        """
        function load(path: string) {
          try {
            const all = file.read();
            return all;
          } catch (error) {
            throw new Broken(error);
          } finally {
            file.close();
          }
        }
        """,
        """
        function load(path: string) {
          try {
            const all = file.read();
            return all;
          } catch (error) {
            throw new Broken(error);
          }
        }
        """,
    ),
    (
        "javascript",  # `a` would be declared twice
        "function f() {\n  try {\n    const a = 1;\n    g(a);\n  } finally {\n    x.close();\n  }\n  const a = 2;\n}",
        None,
    ),
    (
        "java",
        """
        class A {
          String load(String path) throws IOException {
            try (Reader in = new FileReader(path)) {
              return in.all();
            }
          }
        }
        """,
        """
        class A {
          String load(String path) throws IOException {
            Reader in = new FileReader(path);
            return in.all();
          }
        }
        """,
    ),
    (
        "java",
        """
        class A {
          String load(String path) {
            try (Reader in = new FileReader(path)) {
              return in.all();
            } catch (IOException e) {
              return "";
            }
          }
        }
        """,
        """
        class A {
          String load(String path) {
            try {
              Reader in = new FileReader(path);
              return in.all();
            } catch (IOException e) {
              return "";
            }
          }
        }
        """,
    ),
    (
        "go",
        """
        func load(path string) error {
            f, err := os.Open(path)
            if err != nil {
                return err
            }
            defer f.Close()

            return read(f)
        }
        """,
        """
        func load(path string) error {
            f, err := os.Open(path)
            if err != nil {
                return err
            }

            return read(f)
        }
        """,
    ),
    ("go", "func f() {\n    x := open()\n    defer x.Close()\n    g()\n}", None),  # x would not be used
]  # fmt: skip


@pytest.mark.parametrize(("language", "before", "after"), CASES)
def test_what_it_leaves_open(language: str, before: str, after: str | None) -> None:
    found = planted(ResourceNotClosed(), code_of(language, before))
    assert [one.after for one in found] == ([clean(after, language)] if after else [])
    assert all("is never closed" in one.body for one in found)


def test_it_closes_by_hand_where_it_does_no_harm() -> None:
    [plant] = planted(ResourceNotClosed(), code_of("python", "with open(a) as f:\n    f.read()"))
    assert plant.safe == "f = open(a)\ntry:\n    f.read()\nfinally:\n    f.close()"
    assert "`f`, opened with `open`, is never closed" in plant.body


def test_only_added_lines_change() -> None:
    assert not planted(ResourceNotClosed(), code_of("python", "with open(a) as f:\n    f.read()", added={1}))
