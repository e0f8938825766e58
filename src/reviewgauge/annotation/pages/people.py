"""Logging in and out, invitations, and the owner's own link."""

from __future__ import annotations

from secrets import compare_digest

from starlette.responses import RedirectResponse, Response

from reviewgauge.annotation.pages.visits import COOKIE, Visit
from reviewgauge.annotation.store.accounts import (
    SESSION,
    Account,
    accept,
    begin_session,
    change_password,
    check_invitation,
    end_session,
    log_in,
)
from reviewgauge.core.errors import UserError


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
