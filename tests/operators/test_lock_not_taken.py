from __future__ import annotations

import pytest

from planted import clean, code_of, planted
from reviewgauge.operators.lock_not_taken import LockNotTaken

CASES = [
    (
        "python",
        """
        class A:
            def __init__(self):
                self._lock = Lock()

            def add(self):
                with self._lock:
                    self.count += 1
                return self.count
        """,
        """
        class A:
            def __init__(self):
                self._lock = Lock()

            def add(self):
                self.count += 1
                return self.count
        """,
    ),
    ("python", "lock = Lock()\nwith lock:\n    lock.wait()", None),
    ("java", "class A {\n  synchronized void mark() {\n    throw new Stop();\n  }\n}", None),  # nothing is shared
    ("java", "class A {\n  void end() {\n    synchronized (LOCK) {\n      other.end();\n    }\n  }\n}", None),
    ("python", "block = 1\nwith block:\n    a()", None),
    (
        "python",
        """
        lock = Lock()

        def f():
            lock.acquire()
            try:
                a.b = 1
            finally:
                lock.release()
        """,
        """
        lock = Lock()

        def f():
            a.b = 1
        """,
    ),
    (
        "java",
        """
        class A {
          void add() {
            synchronized (this) {
              this.count++;
            }
          }
        }
        """,
        """
        class A {
          void add() {
            this.count++;
          }
        }
        """,
    ),
    (
        "java",
        """
        class A {
          int take() {
            lock.lock();
            final int n;
            try {
              n = this.left;
            } finally {
              lock.unlock();
            }
            return n;
          }
          Lock lock;
        }
        """,
        """
        class A {
          int take() {
            final int n;
            n = this.left;
            return n;
          }
          Lock lock;
        }
        """,
    ),
    ("java", "class A {\n  synchronized void add() { this.n++; }\n}", "class A {\n  void add() { this.n++; }\n}"),
    (
        "go",
        "func (s *S) Add() {\n    s.mu.Lock()\n    defer s.mu.Unlock()\n\n    s.n++\n}\n\nvar mu = 1",
        "func (s *S) Add() {\n    s.n++\n}\n\nvar mu = 1",
    ),
    (
        "go",
        "func (s *S) Add() {\n    s.mu.RLock()\n    n := s.n\n    s.mu.RUnlock()\n    use(n)\n}\n\nvar mu = 1",
        "func (s *S) Add() {\n    n := s.n\n    use(n)\n}\n\nvar mu = 1",
    ),
    ("go", "func f() {\n    mu := sync.Mutex{}\n    mu.Lock()\n    g()\n    mu.Unlock()\n}", None),  # unused
    (
        "rust",
        "fn add(&self) {\n    let _guard = self.lock.lock().unwrap();\n    self.n.set(1);\n}",
        "fn add(&self) {\n    self.n.set(1);\n}",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("language", "before", "after"), CASES)
def test_what_runs_without_a_lock(language: str, before: str, after: str | None) -> None:
    found = planted(LockNotTaken(), code_of(language, before))
    assert [one.after for one in found] == ([clean(after, language)] if after else [])
    assert all(one.body.startswith("Race condition: ") for one in found)


def test_the_body_names_what_is_shared_and_the_lock() -> None:
    [plant] = planted(LockNotTaken(), code_of(CASES[0][0], CASES[0][1]))
    assert "`self.count` is changed in `add` without holding `self._lock`, so two threads" in plant.body


def test_a_lock_for_writers_does_no_harm() -> None:
    code = code_of(
        "go", "func (s *S) Get() int {\n    s.mu.RLock()\n    defer s.mu.RUnlock()\n    return s.n\n}\n\nvar mu = 1"
    )
    [plant] = planted(LockNotTaken(), code)
    assert "s.mu.Lock()\n\tdefer s.mu.Unlock()" in plant.safe
