"""The service: its routes, and how it is started."""

from __future__ import annotations

import getpass
import secrets
from secrets import compare_digest

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from reviewgauge.annotation.pages import judging, owning
from reviewgauge.annotation.pages.visits import COOKIE, PACKAGES, Handler, Service, Visit, page
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
from reviewgauge.views.changes.colours import code_style
from reviewgauge.views.serving import Guard, OpenService, listen, origins_of


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
                Mount("/static", StaticFiles(packages=[(name, "static") for name in PACKAGES])),
            ]
        ),
        origins,
    )


def _code_style(request: Request) -> Response:
    return Response(code_style(), media_type="text/css")


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
