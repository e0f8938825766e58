"""Credentials in texts: found by the variable that holds them, by their form, and by their place in an address.

Sources of the forms: the providers' own pages, and the rules of gitleaks (https://github.com/gitleaks/gitleaks).
"""

from __future__ import annotations

import json
import math
import os
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from urllib.parse import quote

HIDDEN = "***"
_SHORTEST = 8  # characters; a shorter value is a word that may occur anywhere
_LONG = 20  # characters from which a value may be told by its entropy
_ENTROPY = 3.5  # bits a character: random letters and digits have 4 and more, words and versions less
_SECRET_WORDS = frozenset({
    "KEY", "KEYS", "APIKEY", "TOKEN", "TOKENS", "SECRET", "SECRETS", "PASSWORD", "PASSWD", "PASSPHRASE", "PASS", "PWD",
    "PAT", "CREDENTIAL", "CREDENTIALS", "AUTH", "BEARER", "COOKIE", "PRIVATE", "SIGNATURE", "SAS", "DSN", "JWT",
})  # fmt: skip
# Variables of systems that hold ids, addresses and names that may stand in any text.
_PUBLIC = re.compile(
    r"(?:GITHUB|CI|RUNNER|BUILDKITE|XDG|DBUS|SSH|LC|LS|PYTHON|PYTEST|HOSTNAME|TERM)(?:_|$)|.*(?:PATH|PWD)$",
    re.IGNORECASE,
)
_FORMS = re.compile(
    r"\b(?:sk-(?:ant-|proj-|or-)?[\w-]{16,200}|gh[pousr]_\w{20,200}|github_pat_\w{20,200}|glpat-[\w-]{16,200}"
    r"|xox[abeoprs]-[\w-]{10,200}|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{30,60}|ya29\.[\w-]{20,300}|hf_[A-Za-z0-9]{20,100}"
    r"|gsk_[A-Za-z0-9]{20,100}|r8_[A-Za-z0-9]{20,100}|xai-[A-Za-z0-9]{20,200}|npm_[A-Za-z0-9]{20,100}|pypi-[\w-]{40,300}"
    r"|(?<![\w-])eyJ[\w-]{10,500}\.eyJ[\w-]{10,2000}\.[\w-]{10,1000}|dop_v1_[a-f0-9]{40,80}|SG\.[\w-]{16,40}\.[\w-]{30,60})"
)
_USER = re.compile(r"(?<=://)[^/@\s]{1,500}@")
_QUERY = re.compile(r"(://[^\s?#\"'<>]*+)(?:\?([^\s#\"'<>)]*+))?")  # takes what it has read: linear
_PLAIN_QUERY = frozenset({  # parameters of a model's spec and of lists, which hold no secret
    "temperature", "top_p", "top_k", "seed", "reasoning", "max_tokens", "timeout", "json",
    "page", "per_page", "state", "sort", "direction", "since",
})  # fmt: skip


def hide_secrets(text: str) -> str:
    """`text` without credentials: values of variables that hold one, texts of a known form, user parts and queries."""
    for secret in sorted((form for _, value in _secrets() for form in _forms(value)), key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    if "://" in text:
        text = _QUERY.sub(_without_query, text)
        text = _USER.sub(f"{HIDDEN}@", text)
    return _FORMS.sub(HIDDEN, text)


def _without_query(found: re.Match[str]) -> str:
    return f"{found[1]}?{'&'.join(map(_masked, found[2].split('&')))}" if found[2] else found[0]


def _masked(pair: str) -> str:
    name, given, _ = pair.partition("=")
    return pair if name in _PLAIN_QUERY else f"{name}={HIDDEN}" if given else HIDDEN


def secret_in(text: str) -> str:
    """The environment variable that holds a secret whose value occurs in `text`; empty where none does."""
    return next((name for name, value in _secrets() if value in text), "")


def hide_in(value: object) -> object:
    """JSON values with every text in them as `hide_secrets` leaves it."""
    if isinstance(value, str):
        return hide_secrets(value)
    if isinstance(value, Mapping):
        return {hide_secrets(str(key)): hide_in(one) for key, one in value.items()}
    return [hide_in(one) for one in value] if isinstance(value, list | tuple) else value


def is_secret(name: str, value: str) -> bool:
    """Whether a variable holds a secret: by the words of its name, the form of its value, or how random that is."""
    if len(value) < _SHORTEST:
        return False
    if _FORMS.search(value):
        return True
    words = re.split(r"[^A-Z]+", name.upper())
    if not _SECRET_WORDS.isdisjoint(words) or name.upper().endswith(("KEY", "TOKEN", "SECRET", "PASSWORD")):
        return not (value.startswith("/") and name.upper().endswith(("PWD", "AUTH_SOCK")))
    return not _PUBLIC.match(name) and _is_random(value)


def _is_random(value: str) -> bool:
    """Long, of letters and digits in one piece, and without the repetitions of words; ids in hexadecimal are not."""
    if not _LONG <= len(value) <= 500 or not re.fullmatch(r"[\w+=.~-]+", value, re.ASCII):
        return False
    if re.fullmatch(r"[0-9a-fA-F-]+|[\d.]+", value) or not (re.search(r"\d", value) and re.search(r"[A-Za-z]", value)):
        return False
    counts = Counter(value)
    bits = -sum(count / len(value) * math.log2(count / len(value)) for count in counts.values())
    return bits >= _ENTROPY and not value.islower() and not value.isupper()


def _secrets() -> Iterator[tuple[str, str]]:
    """(name, value) of the variables that hold a secret, without the line break that a value read from a file has."""
    for name, held in os.environ.items():
        if _is_secret(name, value := held.strip()):
            yield name, value


@lru_cache(maxsize=256)
def _forms(value: str) -> frozenset[str]:
    """The value as it stands, in JSON, in Python's own words, in an address, and in base64 wherever it begins there.

    Basic authentication puts a name before it or a colon behind it: of three alignments, what no neighbour changes.
    """
    raw = value.encode("utf-8", "surrogateescape")
    coded = (
        b64encode(bytes(at) + raw).decode()[skip : (at + len(raw)) // 3 * 4] for at, skip in ((0, 0), (1, 2), (2, 3))
    )
    return frozenset((value, json.dumps(value)[1:-1], repr(value)[1:-1], quote(value, safe=""), *coded))


_is_secret = lru_cache(maxsize=4096)(is_secret)
