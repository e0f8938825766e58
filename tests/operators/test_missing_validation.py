from __future__ import annotations

import pytest

from planted import clean, code_of, planted
from reviewgauge.operators.missing_validation import MissingValidation

CASES = [
    (
        "python",
        """
        def first(items, count):
            if count < 0:
                raise ValueError("count")

            return items[:count]
        """,
        """
        def first(items, count):
            return items[:count]
        """,
    ),
    ("python", "def f(a):\n    if a is None:\n        raise ValueError\n    return a.b", None),  # a null check
    ("python", "def f(a):\n    if b < 0:\n        raise ValueError\n    return a.b", None),  # no parameter
    ("python", "def f(a):\n    if a < 0:\n        log(a)\n        raise ValueError\n    return a.b", None),
    ("python", "def f(a):\n    if a.tb is not b:\n        raise a\n    return a.b", None),  # hands it on
    ("python", "def f(a):\n    if a < 0:\n        raise ValueError\n    return 1", None),  # nothing uses it
    (
        "javascript",
        """
        function first(items, count) {
          if (count < 0) {
            throw new RangeError('count');
          }
          return items.slice(0, count);
        }
        """,
        """
        function first(items, count) {
          return items.slice(0, count);
        }
        """,
    ),
    # the compiler would no longer know the type
    ("typescript", "function f(a) {\n  if (typeof a !== 'string') {\n    throw new E();\n  }\n  return a.b;\n}", None),
    (
        "java",
        """
        class A {
          int half(int count) {
            if (count % 2 != 0) {
              throw new IllegalArgumentException("odd");
            }
            return count / 2;
          }
        }
        """,
        """
        class A {
          int half(int count) {
            return count / 2;
          }
        }
        """,
    ),
    (
        "go",
        """
        func half(count int) (int, error) {
            if count < 0 {
                return 0, ErrNegative
            }
            return count / 2, nil
        }

        var errors = []error{ErrNegative, ErrNegative}
        """,
        """
        func half(count int) (int, error) {
            return count / 2, nil
        }

        var errors = []error{ErrNegative, ErrNegative}
        """,
    ),
    (
        "go",  # the import would not be used
        'import "errors"\n\nfunc f(a int) (int, error) {\n    if a < 0 {\n        return 0, errors.New("a")\n    }\n'
        "    return a, nil\n}",
        None,
    ),
    (
        "rust",
        """
        fn half(count: i32) -> Result<i32, Error> {
            if count < 0 {
                return Err(Error::Negative);
            }
            Ok(count / 2)
        }
        """,
        """
        fn half(count: i32) -> Result<i32, Error> {
            Ok(count / 2)
        }
        """,
    ),
]


@pytest.mark.parametrize(("language", "before", "after"), CASES)
def test_what_is_let_in(language: str, before: str, after: str | None) -> None:
    found = planted(MissingValidation(), code_of(language, before))
    assert [one.after for one in found] == ([clean(after, language)] if after else [])
    assert all("is not validated in" in one.body for one in found)


def test_the_body_names_the_value_and_where_it_goes() -> None:
    [plant] = planted(MissingValidation(), code_of(CASES[0][0], CASES[0][1]))
    assert "`count` is not validated in `first`" in plant.body
    assert "`count < 0` holds is accepted and goes on into `return items[:count]`" in plant.body
    assert not plant.safe


def test_the_same_check_the_other_way_round_does_no_harm() -> None:
    code = code_of("python", "def f(a, b):\n    if a > b:\n        raise ValueError\n    return a")
    [plant] = planted(MissingValidation(), code)
    assert "if b < a:" in plant.safe
