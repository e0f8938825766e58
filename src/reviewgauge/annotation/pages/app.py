"""The service: its routes, and how it is started."""

from __future__ import annotations

import asyncio
import getpass
import ipaddress
import resource
import secrets
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter
from secrets import compare_digest
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from reviewgauge.annotation.pages import judging, owning
from reviewgauge.annotation.pages.colours import code_style
from reviewgauge.annotation.pages.visits import COOKIE, Handler, Service, Visit, page
from reviewgauge.annotation.store.accounts import (
    SESSION,
    Account,
    Role,
    accept,
    begin_session,
    can_log_in,
    change_password,
    check_invitation,
    end_session,
    local_account,
    log_in,
)
from reviewgauge.annotation.store.database import Database
from reviewgauge.annotation.store.projects import Project
from reviewgauge.core.errors import UserError

PATIENCE = 30.0  # seconds
LAST_ANSWERS = 5  # seconds for the answers under way when the service ends
MOST, BACKLOG = 500, 64  # connections: in all, and taken at once


def make_app(service: Service, origins: list[str]) -> ASGIApp:
    """The whole service behind its guard. `origins` are the addresses that it answers to."""

    def route(path: str, get: Handler | None, post: Handler | None = None, *, public: bool = False) -> list[Route]:
        both = (("GET", get), ("POST", post))
        return [
            Route(path, page(service, handler, public=public), methods=[method])
            for method, handler in both
            if handler is not None
        ]

    return Guard(
        Starlette(
            routes=[
                *route("/", judging.home),
                *route("/next", judging.next_item),
                *route("/judge/{slot:int}", judging.judge_page, judging.judge),
                *route("/judge/{slot:int}/lines", judging.lines),
                *route("/conflicts", judging.conflicts, judging.take),
                *route("/agreement", owning.agreement_page),
                *route("/project", owning.project_page, owning.change_project),
                *route("/login", login_page, login, public=True),
                *route("/enter/{token}", enter, public=True),
                *route("/invitation/{token}", invitation_page, invitation, public=True),
                *route("/account", account_page, change_account),
                *route("/logout", None, logout),
                Route("/static/code.css", _code_style),
                Mount("/static", StaticFiles(packages=[("reviewgauge.annotation.pages", "static")])),
            ]
        ),
        origins,
    )


def _code_style(request: Request) -> Response:
    return Response(code_style(), media_type="text/css")


class _Impatient(H11Protocol):
    """Drops a connection after a while, and the oldest where there are too many: each open one costs a file.

    A client may send its request, or read the answer, as slowly as it likes.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait."""
        super().connection_made(transport)
        self.since = self.loop.time()
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)  # half of them are for the database and other things
        if len(self.connections) > (MOST if files == resource.RLIM_INFINITY else min(MOST, files // 2)):
            oldest: Any = min(self.connections, key=attrgetter("since"))
            self.connections.discard(oldest)
            oldest.transport.abort()
        self.loop.call_later(PATIENCE, self._end)

    def _end(self, unread: bool = False) -> None:
        """`unread`: the client did not read the last time either."""
        if self.cycle is None or self.cycle.response_complete or (unread and self.flow.write_paused):
            self.transport.abort()
        else:  # what is under way is the last
            self.cycle.keep_alive = False
            self.loop.call_later(PATIENCE, self._end, self.flow.write_paused)


def server_of(app: ASGIApp, *, proxied: bool = False) -> uvicorn.Server:
    """What serves; requests that are being answered when it ends are answered, if their clients read.

    Where it is `proxied`, a proxy on this machine says who asks (`FORWARDED_ALLOW_IPS` names others).
    """
    config = uvicorn.Config(
        app,
        http=_Impatient,
        log_config=None,
        server_header=False,
        ws="none",
        lifespan="off",
        proxy_headers=proxied,
        backlog=BACKLOG,
        timeout_graceful_shutdown=LAST_ANSWERS,
    )
    return uvicorn.Server(config)


def listen(host: str, port: int) -> socket.socket:
    """A socket that is open before anybody is told of it. Raises UserError."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise UserError(
            f"{host} port {port} cannot be used: {error.strerror}", remedy="--port 0 takes a free one"
        ) from error


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def origins_of(host: str, port: int, url: str) -> list[str]:
    """The addresses that the service answers to, the one to show first. Raises UserError.

    Without `url` the service is for this machine alone.
    """
    if url:
        scheme, _, rest = url.rstrip("/").partition("://")
        if scheme not in ("http", "https") or not rest or "/" in rest:
            raise UserError(f"{url!r} is not an address of this service", remedy="https://annotate.example.org")
        return [f"{scheme}://{rest}".lower()]
    if not is_loopback(host):
        raise UserError(
            f"{host} can be reached from other machines", remedy="--url says under which address, or --host 127.0.0.1"
        )
    return [f"http://{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")]


def local_owner(database: Database) -> Account:
    """The account of who runs the service on their own machine; made at the first time."""
    try:
        name = getpass.getuser()
    except (OSError, KeyError):  # a user without a name
        name = "owner"
    with database.writing() as connection:
        found = local_account(connection, database.clock(), name)
    if found.role is not Role.OWNER:
        raise UserError(
            f"the account {name!r} is not an owner's", remedy="run it as the owner, or with --url for a team"
        )
    return found


def check_team(database: Database) -> None:
    """Raise UserError where a service for several people has no owner yet."""
    with database.reading() as connection:
        if not can_log_in(connection, Role.OWNER):
            raise UserError("no owner could log in", remedy="serve it here first, and invite an owner on its page")


@dataclass(frozen=True)
class OpenService:
    """A service that listens. `link` is what to open in a browser."""

    link: str
    app: ASGIApp
    listener: socket.socket
    team: bool = False

    def run(self) -> None:
        """Answer until the process is told to end."""
        server_of(self.app, proxied=self.team).run([self.listener])


def open_service(
    database: Database, project: Project, *, host: str = "127.0.0.1", port: int = 0, url: str = ""
) -> OpenService:
    """Listen, and say under which address. Without `url` it is for whoever runs it. Raises UserError."""
    origins_of(host, port, url)  # before a port is taken
    if url:
        check_team(database)
        owner, token = None, ""
    else:
        owner, token = local_owner(database), secrets.token_urlsafe(24)
    listener = listen(host, port)
    origins = origins_of(host, listener.getsockname()[1], url)
    service = Service(database, project, origins[0], owner, token)
    link = f"{origins[0]}/enter/{token}" if owner is not None else origins[0]
    return OpenService(link, make_app(service, origins), listener, team=bool(url))


# --- refusing requests that no page of ours makes --------------------------------------------------------------------


POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}
SAFE = ("GET", "HEAD")


class Guard:
    """Lets through what is addressed to one of `origins` (`http://127.0.0.1:8000`), and what their pages send."""

    def __init__(self, app: ASGIApp, origins: Iterable[str]) -> None:
        self.app = app
        self.origins = {origin.lower() for origin in origins}
        self.hosts = {origin.partition("://")[2] for origin in self.origins}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return

        async def protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        refusal = self._refusal(scope)
        app = self.app if refusal is None else PlainTextResponse(refusal[1], refusal[0])
        await app(scope, receive, protected)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            return 421, "This address is not served here."
        if scope["method"] in SAFE:
            return None
        if scope["method"] != "POST":
            return 405, "This method is not used here."
        origins, sites = headers.getlist("origin"), headers.getlist("sec-fetch-site")
        if len(origins) != 1 or origins[0].lower() not in self.origins or any(site != "same-origin" for site in sites):
            return 403, "This form was sent from another site."
        return None


# --- logging in and out, invitations, and the owner's own link -------------------------------------------------------


def login_page(visit: Visit) -> Response:
    """The form."""
    return visit.page("login.html.j2", local=visit.service.local_owner is not None, name="")


def login(visit: Visit) -> Response:
    """Log in by name and password."""
    try:
        account = log_in(visit.service.database, visit.field("name"), visit.field("password"), visit.address)
    except UserError as error:
        local = visit.service.local_owner is not None
        return visit.page("login.html.j2", 403, local=local, name=visit.field("name"), message=str(error))
    return _entered(visit, account)


def enter(visit: Visit) -> Response:
    """The link that the command line prints: the local owner, without a password."""
    service = visit.service
    token = str(visit.request.path_params["token"])
    if service.local_owner is None or not compare_digest(token.encode(), service.local_token.encode()):
        return visit.page("message.html.j2", 403, message="Open the link that `annotate serve` printed this time.")
    return _entered(visit, service.local_owner)


def logout(visit: Visit) -> Response:
    """End the session."""
    end_session(visit.service.database, visit.token)
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(COOKIE, path="/")
    return answer


def account_page(visit: Visit, message: str = "", status: int = 200) -> Response:
    """Who is logged in, and the form for another password."""
    return visit.page("account.html.j2", status, account=visit.account, message=message)


def change_account(visit: Visit) -> Response:
    """Another password; every session ends but this one, which is a new one."""
    account, address = visit.account, visit.address
    try:
        change_password(visit.service.database, account, visit.field("old"), visit.field("new"), address)
    except UserError as error:
        return account_page(visit, str(error), 403)
    return _entered(visit, account)


def invitation_page(visit: Visit) -> Response:
    """The form that makes an account. Raises UserError for a link that makes none."""
    check_invitation(visit.service.database, str(visit.request.path_params["token"]))
    return visit.page("invitation.html.j2", name="")


def invitation(visit: Visit) -> Response:
    """Make the account, and log in."""
    token = str(visit.request.path_params["token"])
    try:
        account = accept(visit.service.database, token, visit.field("name"), visit.field("password"))
    except UserError as error:
        return visit.page("invitation.html.j2", 400, name=visit.field("name"), message=str(error))
    return _entered(visit, account)


def _entered(visit: Visit, account: Account) -> Response:
    """A new session, never one that a link or another person brought."""
    if visit.token:
        end_session(visit.service.database, visit.token)
    answer = RedirectResponse("/", 303)
    secure = visit.service.origin.startswith("https://")
    token = begin_session(visit.service.database, account)
    answer.set_cookie(COOKIE, token, max_age=int(SESSION), path="/", secure=secure, httponly=True, samesite="lax")
    return answer
