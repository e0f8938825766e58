"""Pickup codes. Only their keyed digest is stored."""

import hashlib
import hmac
import secrets

ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"  # nothing that looks like something else
LENGTH = 6


def new_code() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def digest(parcel_id: str, code: str, key: bytes) -> str:
    return hmac.new(key, f"{parcel_id}:{code}".encode(), hashlib.sha256).hexdigest()


def matches(stored: str | None, parcel_id: str, code: str, key: bytes) -> bool:
    if stored is None:
        return False
    return hmac.compare_digest(stored, digest(parcel_id, code.strip().upper(), key))
