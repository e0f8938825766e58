"""Passwords as Argon2 hashes, a few at a time: each takes 64 MiB and a tenth of a second."""

from __future__ import annotations

import secrets
import threading
import unicodedata

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from reviewgauge.core.errors import UserError

SHORTEST, LONGEST = 10, 200  # characters
_AT_ONCE = threading.BoundedSemaphore(2)
_HASHER = PasswordHasher()
_NOBODY = _HASHER.hash(secrets.token_hex())  # checked for unknown names, so that they take as long as known ones


def hashed(password: str) -> str:
    """What is kept of a password. Raises UserError for one of a wrong length."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise UserError(f"a password has {SHORTEST} to {LONGEST} characters")
    with _AT_ONCE:
        return _HASHER.hash(_plain(password))


def matches(kept: str | None, password: str) -> bool:
    """Whether a password is the one that is kept; it takes as long where none is."""
    with _AT_ONCE:
        try:
            return _HASHER.verify(kept or _NOBODY, _plain(password[: LONGEST + 1])) and bool(kept)
        except (VerificationError, InvalidHashError):
            return False


def _plain(password: str) -> bytes:
    return unicodedata.normalize("NFKC", password).encode("utf-8", "surrogatepass")
