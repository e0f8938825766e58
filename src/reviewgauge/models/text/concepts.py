"""Groups of words that name one kind of problem, so that "NPE" and "nil dereference" have something in common.

Written by hand from the vocabulary of code review at large, not from any data set's rows.
"""

from __future__ import annotations

from collections.abc import Iterable

from reviewgauge.models.text.words import stem

GROUPS: dict[str, str] = {
    "null": "null nil none undefined npe nullpointerexception optional dereference nullable nullability panic",
    "race": "race racing concurrent concurrency thread threads threadsafe atomic lock mutex synchronized"
    " synchronization unsynchronized deadlock simultaneous simultaneously parallel interleave toctou contention"
    " goroutine",
    "async": "async await asynchronous promise promises coroutine callback unawaited awaited settle settled",
    "leak": "leak leaks leaked unclosed close closed dispose cleanup release released unreleased handle descriptor",
    "security": "security secure insecure injection xss csrf ssrf vulnerability vulnerable exploit attacker attack"
    " escape escaped sanitize sanitization unsafe malicious traversal secret secrets credential credentials",
    "access": "permission permissions authorization unauthorized authentication authenticated auth privilege access"
    " role roles bypass bypasses bypassed forbidden scope",
    "typo": "typo typos misspelled misspelling spelling spelled spell misnamed grammar",
    "name": "name names naming rename renamed misleading confusing convention",
    "bounds": "bound bounds boundary index indices offset slice slicing negative range overflow underflow truncate"
    " truncated length inclusive exclusive",
    "crash": "crash crashes exception exceptions error errors throw throws thrown raise raises raised attributeerror"
    " typeerror valueerror keyerror indexerror runtimeerror abort fatal traceback",
    "handling": "catch caught uncaught unhandled handled swallow swallowed silently ignore ignored ignores suppress"
    " propagate rethrow",
    "type": "type types typing typed cast casting coerce coercion isinstance instanceof subclass convert conversion"
    " string integer float numeric boolean parse parsed",
    "performance": "performance slow inefficient efficient efficiency quadratic expensive latency redundant unnecessary"
    " repeated batch memoize memoized overhead loop loops",
    "cache": "cache caches cached caching stale invalidate invalidated invalidation ttl expire expired expiry eviction",
    "test": "test tests tested testing mock mocked mocks fixture assertion assert asserts flaky coverage sleep",
    "time": "time timeout timezone utc date datetime timestamp dst duration clock schedule deadline minute hour day",
    "database": "database query queries sql transaction transactions migration column row rows table schema orm"
    " index constraint foreign unique",
    "condition": "condition conditional inverted reversed negated logic wrong incorrect incorrectly opposite always"
    " never branch unreachable dead operator comparison equality",
    "missing": "missing absent omitted omits forgot forgotten lacks lack nonexistent undefined unimplemented",
    "duplicate": "duplicate duplicates duplicated duplication twice repeated redundant copy reuse",
    "interface": "interface abstract override overrides overridden implement implements implementation signature"
    " contract method inherit inherits inherited parent subclass compile compilation compiler",
    "documentation": "comment comments documentation document documented docstring javadoc docs description outdated",
    "input": "validate validates validated validation unvalidated invalid check checks unchecked input empty blank"
    " whitespace trim regex pattern",
    "case": "case insensitive sensitive lowercase uppercase lower upper normalize normalized normalization",
    "network": "request response http header url endpoint api retry webhook socket connection host redirect",
    "locale": "locale translation translate translated language localization internationalization i18n l10n plural",
    "import": "import imports imported dependency dependencies module package require library unused",
    "state": "state mutate mutates mutated mutation mutable immutable shared global static singleton side",
}


def _membership() -> dict[str, frozenset[str]]:
    groups: dict[str, set[str]] = {}
    for group, words in GROUPS.items():
        for word in words.split():
            groups.setdefault(stem(word), set()).add(group)
    return {word: frozenset(found) for word, found in groups.items()}


_GROUPS_OF = _membership()


def concepts(stems: Iterable[str]) -> frozenset[str]:
    """The groups that any of the stemmed words belongs to."""
    found: set[str] = set()
    for word in stems:
        found |= _GROUPS_OF.get(word, frozenset())
    return frozenset(found)
