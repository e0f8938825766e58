"""Opens the service on a socket: for one person on this machine, or for a team under an address."""

from __future__ import annotations

import socket
from dataclasses import dataclass

from starlette.types import ASGIApp

from reviewgauge.annotation.pages import app as pages
from reviewgauge.annotation.pages.visits import Service
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.projects import Project


@dataclass(frozen=True)
class OpenService:
    """A service that listens. `link` is what to open in a browser."""

    link: str
    app: ASGIApp
    listener: socket.socket
    team: bool = False

    def run(self) -> None:
        """Answer until the process is told to end."""
        pages.server_of(self.app, proxied=self.team).run([self.listener])


def open_service(
    database: Database, project: Project, *, host: str = "127.0.0.1", port: int = 0, url: str = ""
) -> OpenService:
    """Listen, and say under which address. Without `url` it is for whoever runs it. Raises UserError."""
    pages.origins_of(host, port, url)  # before a port is taken
    if url:
        pages.check_team(database)
        owner, token = None, ""
    else:
        owner, token = pages.local_owner(database), pages.new_token()
    listener = pages.listen(host, port)
    origins = pages.origins_of(host, listener.getsockname()[1], url)
    service = Service(database, project, origins[0], owner, token)
    link = f"{origins[0]}/enter/{token}" if owner is not None else origins[0]
    return OpenService(link, pages.make_app(service, origins), listener, team=bool(url))
