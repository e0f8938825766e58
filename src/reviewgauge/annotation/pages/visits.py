"""One request: who asks, what the form holds, and how an error of theirs is shown."""

from __future__ import annotations

import re
from asyncio import timeout
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cache, partial
from secrets import compare_digest
from urllib.parse import parse_qs

import jinja2
from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from reviewgauge.annotation.store.accounts import Account, Role, Session, find_session
from reviewgauge.annotation.store.database import Database, unavailable
from reviewgauge.annotation.store.judgements import NotYours
from reviewgauge.annotation.store.projects import Project
from reviewgauge.annotation.store.rater_session import RaterSession
from reviewgauge.core.errors import UserError
from reviewgauge.views.changes.colours import shown_order
from reviewgauge.views.pages import templates

COOKIE = "reviewgauge_session"
PACKAGES = ("reviewgauge.annotation.pages", "reviewgauge.views")  # with templates and static files
LARGEST_FORM, LARGEST_OF_STRANGERS, MOST_FIELDS = 2_000_000, 10_000, 5_000
SLOWEST_FORM = 60.0  # seconds
_STRANGERS = CapacityLimiter(4)  # those who may guess passwords never take the threads of those who work
_WORKERS = CapacityLimiter(4)  # many more threads wait for each other while they hold locks of the database


@dataclass(frozen=True)
class Service:
    """What all pages share. `local_token` opens the local owner's session, where the service is for one person."""

    database: Database
    project: Project
    origin: str
    local_owner: Account | None = None
    local_token: str = ""


@dataclass
class Visit:
    """One request. `session` is None where nobody is logged in."""

    service: Service
    request: Request
    token: str
    session: Session | None
    form: dict[str, list[str]] = field(default_factory=dict)

    @property
    def account(self) -> Account:
        """Who is logged in. Raises LogIn."""
        if self.session is None:
            raise LogIn
        return self.session.account

    @property
    def address(self) -> str:
        """From where they ask."""
        return self.request.client.host if self.request.client else ""

    @property
    def owner(self) -> Account:
        """The owner who is logged in. Raises LogIn, NotYours."""
        if self.account.role is not Role.OWNER:
            raise NotYours("this page is for owners")
        return self.account

    def desk(self) -> RaterSession:
        """The work of who is logged in."""
        return RaterSession(self.service.database, self.service.project, self.account)

    def field(self, name: str, default: str = "") -> str:
        """The value of a field of the form, without NUL, which PostgreSQL does not take."""
        return self.form.get(name, [default])[0].replace("\0", "\ufffd")

    def number(self, name: str) -> int:
        """The whole number in a field; 0, which is nothing's, where there is none."""
        return whole(self.field(name))

    @property
    def slot(self) -> int:
        """The slot that the address names."""
        return whole(str(self.request.path_params["slot"]))

    def page(self, template: str, status: int = 200, **data: object) -> Response:
        """A page for who asks."""
        known = {"project": self.service.project, "session": self.session, "message": "", **data}
        return HTMLResponse(render(template, **known).encode("utf-8", "replace"), status)  # lone surrogates


def whole(text: str) -> int:
    """A whole number that any database holds; 0 where it is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


class LogIn(Exception):
    """Nobody is logged in."""


Handler = Callable[[Visit], Response]


def page(service: Service, handler: Handler, *, public: bool = False) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint. Forms of those who are logged in carry the token of their session."""

    async def endpoint(request: Request) -> Response:
        largest = LARGEST_OF_STRANGERS if public else LARGEST_FORM
        try:
            async with timeout(SLOWEST_FORM):
                form = await _form(request, largest) if request.method == "POST" else {}
        except TimeoutError:
            return HTMLResponse("This form took too long.", 408, {"Connection": "close"})
        if form is None:
            return HTMLResponse("This form is too large.", 413, {"Connection": "close"})
        work = partial(_answer, service, handler, request, form, public)
        return await run_sync(work, limiter=_STRANGERS if public else _WORKERS)

    return endpoint


def _answer(service: Service, handler: Handler, request: Request, form: dict[str, list[str]], public: bool) -> Response:
    token = request.cookies.get(COOKIE, "")
    visit = Visit(service, request, token, None, form)
    try:
        visit.session = find_session(service.database, token) if token else None
        if not public and visit.session is None:
            raise LogIn
        if visit.session is not None and request.method == "POST" and not public:  # logging in has no token yet
            sent = visit.field("csrf").encode("utf-8", "replace")
            if not compare_digest(sent, visit.session.csrf.encode()):
                return visit.page("message.html.j2", 403, message="This form is of an earlier session: open it again.")
        return handler(visit)
    except LogIn:
        if request.method == "POST":  # the page keeps a draft
            return visit.page("message.html.j2", 401, message="Your session is over. Log in: your answers are kept.")
        return RedirectResponse("/login", 303)
    except NotYours as error:
        return visit.page("message.html.j2", 404, message=str(error))
    except UserError as error:
        return visit.page("message.html.j2", 400, message=str(error))
    except SQLAlchemyError as error:
        said = f"{unavailable(error)}. Nothing was lost: go back, and send it again."
        return visit.page("message.html.j2", 503, message=said)


async def _form(request: Request, largest: int) -> dict[str, list[str]] | None:
    """The fields of a form; None where there is too much of it."""
    raw = bytearray()
    async for piece in request.stream():
        raw += piece
        if len(raw) > largest:
            return None
    try:
        return parse_qs(raw.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        return None


@cache
def environment() -> jinja2.Environment:
    """The templates with the filter `share`."""
    found = templates(shown_order, *PACKAGES)
    found.filters["share"] = _share
    return found


def render(template: str, **data: object) -> str:
    """One page."""
    return environment().get_template(template).render(**data)


def _share(value: float | None, digits: int = 3) -> str:
    """A share as `agree` prints it; a dash where there is none."""
    return "–" if value is None else re.sub(r"^(-?)0\.", r"\1.", f"{value:.{digits}f}")
