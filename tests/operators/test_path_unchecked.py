from __future__ import annotations

import pytest

from planted import clean, code_of, planted
from reviewgauge.operators.path_unchecked import PathUnchecked

CASES = [
    (
        "python",
        """
        def read(root, name):
            path = (root / name).resolve()
            if not path.is_relative_to(root):
                raise PermissionError(name)
            return path.read_text()
        """,
        """
        def read(root, name):
            path = (root / name).resolve()
            return path.read_text()
        """,
    ),
    (
        "python",
        "def f(name):\n    return os.path.join(FOLDER, secure_filename(name))\n\nsecure_filename, secure_filename",
        "def f(name):\n    return os.path.join(FOLDER, name)\n\nsecure_filename, secure_filename",
    ),
    (
        "python",
        "def f(name):\n    name = os.path.basename(name)\n    return name",  # for people to read
        None,
    ),
    ("python", "def f():\n    return os.path.join(d, os.path.basename(FILE))", None),  # a constant
    (
        "javascript",
        """
        function read(root, name) {
          const file = path.join(root, name);
          if (!file.startsWith(root)) {
            throw new Error('outside');
          }
          return fs.readFileSync(file);
        }
        """,
        """
        function read(root, name) {
          const file = path.join(root, name);
          return fs.readFileSync(file);
        }
        """,
    ),
    (
        "typescript",
        "const read = (name: string) => {\n  return fs.readFile(path.normalize(name));\n};\nuse(path, path);",
        "const read = (name: string) => {\n  return fs.readFile(name);\n};\nuse(path, path);",
    ),
    (
        "java",
        """
        class A {
          byte[] read(Path root, String name) {
            Path file = root.resolve(name);
            if (!file.startsWith(root)) {
              throw new SecurityException(name);
            }
            return Files.readAllBytes(file);
          }
        }
        """,
        """
        class A {
          byte[] read(Path root, String name) {
            Path file = root.resolve(name);
            return Files.readAllBytes(file);
          }
        }
        """,
    ),
    (
        "go",
        """
        import "path/filepath"

        func read(name string) ([]byte, error) {
            file := filepath.Join(folder, filepath.Clean(name))
            return os.ReadFile(file)
        }
        """,
        """
        import "path/filepath"

        func read(name string) ([]byte, error) {
            file := filepath.Join(folder, name)
            return os.ReadFile(file)
        }
        """,
    ),
    (
        "rust",
        """
        fn read(root: &Path, name: &str) -> Result<String, Error> {
            let file = root.join(name);
            if !file.starts_with(root) {
                return Err(Error::Outside);
            }
            fs::read_to_string(file)
        }
        """,
        """
        fn read(root: &Path, name: &str) -> Result<String, Error> {
            let file = root.join(name);
            fs::read_to_string(file)
        }
        """,
    ),
]


@pytest.mark.parametrize(("language", "before", "after"), CASES)
def test_what_leads_out(language: str, before: str, after: str | None) -> None:
    found = planted(PathUnchecked(), code_of(language, before))
    assert [one.after for one in found][:1] == ([clean(after, language)] if after else [])
    assert all(one.body.startswith("Path traversal: `") for one in found)


def test_the_body_names_the_path_and_its_use() -> None:
    [plant] = planted(PathUnchecked(), code_of(CASES[0][0], CASES[0][1]))
    assert "`path` is used in `return path.read_text()` in `read` unchecked" in plant.body
