"""Git over HTTP, through git's own `http-backend`."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from fake_forge.troubles import Answer


def answer(folder: Path, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
    """What git answers to one request for a repository below `folder`."""
    names = {name.lower(): value for name, value in headers.items()}
    where, _, query = path.partition("?")
    environment = {
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_PROJECT_ROOT": str(folder),
        "GIT_HTTP_EXPORT_ALL": "1",
        "PATH_INFO": where,
        "QUERY_STRING": query,
        "REQUEST_METHOD": method,
        "CONTENT_TYPE": names.get("content-type", ""),
        "CONTENT_LENGTH": str(len(body)),
        "HTTP_CONTENT_ENCODING": names.get("content-encoding", ""),
        "GIT_PROTOCOL": names.get("git-protocol", ""),
        "REMOTE_ADDR": "127.0.0.1",
    }
    done = subprocess.run(["git", "http-backend"], input=body, env=environment, capture_output=True, check=False)
    head, _, content = done.stdout.partition(b"\r\n\r\n")
    found = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
    status = int(found.pop("Status", "200" if done.returncode == 0 else "500").split()[0])
    return Answer(status, content, found)
