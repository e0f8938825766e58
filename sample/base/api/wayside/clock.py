"""Time as the service sees it: aware datetimes in UTC with whole seconds, stored as text that sorts."""

from datetime import datetime, timezone

FORMAT = "%Y-%m-%dT%H:%M:%SZ"


def utcnow() -> datetime:
    return datetime.now(timezone.utc).replace(microsecond=0)


def to_text(moment: datetime) -> str:
    if moment.tzinfo is None:
        raise ValueError("a naive datetime has no place here")
    return moment.astimezone(timezone.utc).strftime(FORMAT)


def from_text(text: str) -> datetime:
    return datetime.strptime(text, FORMAT).replace(tzinfo=timezone.utc)
