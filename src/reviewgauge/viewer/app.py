"""The service: pages of runs on this machine alone, behind a token, fresh whenever a file of a run changed."""

from __future__ import annotations

import getpass
import hashlib
import re
import secrets
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from urllib.parse import parse_qs

from anyio.to_thread import run_sync
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from reviewgauge.core.errors import UserError
from reviewgauge.engine.run.folder import LOCK, RunFolder
from reviewgauge.engine.run.journal import writer_of
from reviewgauge.viewer.differences import Narrowing
from reviewgauge.viewer.notes import label_of
from reviewgauge.viewer.pages import Pages, Query, runs_page
from reviewgauge.viewer.runs import Found, RunCard, find_runs, glance, stamp_of
from reviewgauge.viewer.selection import Selection, Shelf, card_with_answer, key_and_stamp
from reviewgauge.viewer.templating import assets, icon, render
from reviewgauge.views.changes.code import texts_of
from reviewgauge.views.changes.rows import Gap, context_rows
from reviewgauge.views.serving import Guard, OpenService, listen, origins_of

_MADE = [{"href_matches": "/r/*"}, {"not": {"href_matches": "/r/*/slices.html"}}]  # long work in a large run
AHEAD = {  # what a browser may make once the pointer is on its link, and fetch for the key that goes on, where it can
    "prerender": [{"where": {"and": _MADE}, "eagerness": "eager"}],
    "prefetch": [{"where": {"selector_matches": "a[rel=next]"}, "eagerness": "immediate"}],
}
STALE = 20  # so many times as long as it took, what runs there are is not looked up again
LARGEST_FORM = 100_000  # bytes
MOST_COMPARED = 20
PATIENCE = 0.7  # seconds that a reader waits before a page says that something is being read
READ_AHEAD = 2  # so many of the newest runs are read before anybody asks
_CHANGE = re.compile(r"change-(\d{1,9})(-split)?\.html", re.ASCII)
_TWO = re.compile(r"(beside|against)-(\d{1,9})-(\d{1,9})\.html", re.ASCII)


class StillReading(Exception):
    """What is asked for takes longer than a reader waits; it is read on."""


@dataclass
class Viewer:
    """The runs below some folders, and what was read of them: by one thread for the list, by another for the pages."""

    given: Sequence[str | Path]
    shelf: Shelf
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    writing: threading.Lock = field(default_factory=threading.Lock)  # labels come one after the other
    _cards: dict[str, tuple[object, RunCard]] = field(default_factory=dict)
    _asked: dict[str, object] = field(default_factory=dict)
    _found: dict[str, Found] = field(default_factory=dict)
    _good_until: float = 0.0
    _for_cards: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))
    _for_pages: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))

    @property
    def cookie(self) -> str:
        """The name of its cookie: browsers send cookies to every port, and another viewer has one of its own."""
        return f"reviewgauge_view_{hashlib.sha256(self.token.encode()).hexdigest()[:8]}"

    def runs(self) -> dict[str, Found]:
        """Every run that is there; a new one below folders that take long to look through comes a short while later."""
        began = time.monotonic()
        if began >= self._good_until:
            self._found = find_runs([path for path in self.given if Path(path).is_dir()])
            now = time.monotonic()
            self._good_until = now + STALE * (now - began)
        return {slug: run for slug, run in self._found.items() if run.path.is_dir()}

    def cards(self) -> list[RunCard]:
        """One card a run; what must be read of its reviews comes later, and again when a file of it changed."""
        found = []
        stamps = {slug: stamp_of(run.path) for slug, run in self.runs().items()}
        for slug, stamp in sorted(stamps.items(), key=lambda one: max(at for _, at in one[1]), reverse=True):
            run = self._found[slug]
            if self._asked.get(slug) != stamp:
                self._asked[slug] = stamp
                self._for_cards.submit(self._read_card, run, stamp)
            known = self._cards.get(slug)
            found.append(known[1] if known is not None and known[0] == stamp else glance(run))
        return found

    def begin(self) -> None:
        """Read ahead while the reader opens the link."""
        self._for_cards.submit(self.cards)

    def _read_card(self, run: Found, stamp: object) -> None:
        if self._asked[run.slug] != stamp:  # the run went on, and is in the queue again
            return
        ahead = len(self._cards) < READ_AHEAD
        self._cards[run.slug] = stamp, card_with_answer(run, self.shelf.get if ahead else self.shelf.read)
        if ahead:  # templates are compiled and lexers loaded when somebody asks
            pages = Pages(self.shelf.get([run]))
            for make in (pages.board, partial(pages.changes, Query()), partial(pages.change, 1)):
                make()

    def stamp(self) -> str:
        """What changes when a file of any run does, or when more was read of one."""
        return str([(slug, stamp_of(run.path), self._cards.get(slug, ("",))[0]) for slug, run in self.runs().items()])

    def chosen(self, key: str) -> list[Found]:
        """The runs that an address names. Raises UserError for one that is not there."""
        runs, wanted = self.runs(), key.split("+")
        if missing := [slug for slug in wanted if slug not in runs]:
            raise UserError(f"run {missing[0]} is gone", remedy="go back to the list of runs")
        return [runs[slug] for slug in wanted[:MOST_COMPARED]]

    def selection(self, key: str, *, patience: bool = False) -> Selection:
        """What is shown of them. Raises UserError, and StillReading without `patience`."""
        runs = self.chosen(key)
        if (known := self.shelf.fresh(runs)) is not None:
            return known
        try:
            return self._for_pages.submit(self.shelf.get, runs).result(None if patience else PATIENCE)
        except TimeoutError:
            raise StillReading from None


Handler = Callable[[Viewer, Request, dict[str, str]], Response]


def open_viewer(viewer: Viewer, *, host: str = "127.0.0.1", port: int = 0) -> OpenService:
    """Listen, and say under which address. Raises UserError."""
    origins_of(host, port, "")  # before a port is taken
    viewer.begin()
    listener = listen(host, port)
    origins = origins_of(host, listener.getsockname()[1], "")
    return OpenService(f"{origins[0]}/enter/{viewer.token}", Guard(make_app(viewer), origins), listener)


def make_app(viewer: Viewer) -> Starlette:
    """The routes."""
    return Starlette(
        routes=[
            Route("/enter/{token}", partial(_enter, viewer)),
            *(Route(f"/static/{name}", partial(_asset, name)) for name in ("viewer.css", "viewer.js", "icon.svg")),
            Route("/static/ahead.json", _ahead),
            *(Route(path, _page(viewer, _runs)) for path in ("/", "/index.html")),
            Route("/stamp", _page(viewer, _all_stamps)),
            Route("/compare", _page(viewer, _compare)),
            Route("/r/{key}/stamp", _page(viewer, _stamp)),
            Route("/r/{key}/label", _page(viewer, _label), methods=["POST"]),
            Route("/r/{key}/misses", _page(viewer, _misses)),
            Route("/r/{key}/difference-{first:int}-{second:int}", _page(viewer, _difference)),
            Route("/r/{key}/lines-{number:int}", _page(viewer, _lines)),
            Route("/r/{key}/{name}", _page(viewer, _of_selection)),
        ]
    )


def _page(viewer: Viewer, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint for who came by the link. What a user can cause is a page that says so."""

    async def endpoint(request: Request) -> Response:
        cookie = request.cookies.get(viewer.cookie, "")
        if not secrets.compare_digest(cookie.encode(), viewer.token.encode()):
            return PlainTextResponse("Open the link that `reviewgauge view` printed this time.", 403)
        form: dict[str, str] = {}
        if request.method == "POST":
            raw = bytearray()
            async for piece in request.stream():
                raw += piece
                if len(raw) > LARGEST_FORM:
                    return PlainTextResponse("This form is too large.", 413)
            fields = parse_qs(raw.decode("utf-8", "replace"), max_num_fields=50)
            form = {key: values[0] for key, values in fields.items()}
        return await run_sync(_answer, handler, viewer, request, form)

    return endpoint


def _answer(handler: Handler, viewer: Viewer, request: Request, form: dict[str, str]) -> Response:
    try:
        return handler(viewer, request, form)
    except StillReading:
        return HTMLResponse(render("reading.html.j2", base="../../", here="", chosen=None), 202)
    except (UserError, OSError, ValueError, LookupError) as error:  # a run that breaks or vanishes while it is read
        said = str(error) if isinstance(error, UserError) else "It changed while it was read, or is gone: reload."
        if request.method == "POST":
            return PlainTextResponse(said, 400)
        base = "../../" if request.url.path.startswith("/r/") else ""
        return HTMLResponse(render("message.html.j2", said=said, base=base, live=True, here="", chosen=None), 404)


async def _enter(viewer: Viewer, request: Request) -> Response:
    if not secrets.compare_digest(str(request.path_params["token"]).encode(), viewer.token.encode()):
        return PlainTextResponse("Open the link that `reviewgauge view` printed this time.", 403)
    answer = RedirectResponse("/", 303)
    answer.set_cookie(viewer.cookie, viewer.token, path="/", httponly=True, samesite="strict")
    return answer


async def _asset(name: str, request: Request) -> Response:
    style, script = assets()
    known = {"css": (style, "text/css"), "js": (script, "text/javascript"), "svg": (icon(), "image/svg+xml")}
    text, kind = known[name.rpartition(".")[2]]
    return Response(text, media_type=kind, headers={"cache-control": "private, max-age=86400"})


async def _ahead(request: Request) -> Response:
    return JSONResponse(AHEAD, media_type="application/speculationrules+json")


def _runs(viewer: Viewer, request: Request, form: dict[str, str]) -> Response:
    cards = viewer.cards()
    if len(cards) == 1 and cards[0].state != "broken" and request.url.path == "/":
        return RedirectResponse(f"/r/{cards[0].run.slug}/index.html", 303)
    return HTMLResponse(runs_page(cards, request.query_params.get("text", "")))


def _compare(viewer: Viewer, request: Request, form: dict[str, str]) -> Response:
    wanted = list(dict.fromkeys(filter(None, request.query_params.getlist("run"))))
    if not wanted:
        raise UserError("no run was chosen", remedy="go back to the list of runs, and mark some")
    viewer.chosen("+".join(wanted))
    return RedirectResponse(f"/r/{'+'.join(wanted)}/index.html", 303)


def _stamps(runs: Iterable[Found], stamp: str) -> Response:
    return JSONResponse({"stamp": stamp, "running": any(writer_of(run.path / LOCK) for run in runs)})


def _all_stamps(viewer: Viewer, request: Request, form: dict[str, str]) -> Response:
    return _stamps(viewer.runs().values(), viewer.stamp())


def _stamp(viewer: Viewer, request: Request, form: dict[str, str]) -> Response:
    runs = viewer.chosen(str(request.path_params["key"]))
    return _stamps(runs, key_and_stamp(runs)[1].text)


def _of_selection(viewer: Viewer, request: Request, form: dict[str, str]) -> Response:
    pages = Pages(viewer.selection(str(request.path_params["key"])))
    made = _made(pages, str(request.path_params["name"]), request.query_params)
    return HTMLResponse(made, headers={"speculation-rules": '"/static/ahead.json"'})


def _made(pages: Pages, name: str, asked: Mapping[str, str]) -> str:
    page = _whole(asked.get("page", "1"))
    if name == "index.html":
        return pages.board(asked.get("fact", ""))
    if name == "slices.html":
        return pages.slices()
    if name == "changes.html":
        words = {key: asked.get(key, "") for key in ("system", "state", "fact", "text", "order")}
        return pages.changes(Query(**words, page=page))
    if found := _CHANGE.fullmatch(name):
        return pages.change(int(found[1]), split=bool(found[2]), part=_whole(asked.get("part", "1")))
    if found := _TWO.fullmatch(name):
        two = int(found[2]), int(found[3])
        if found[1] == "beside":
            return pages.beside(*two)
        wanted = {one.name: asked.get(one.name, "") for one in fields(Narrowing)}
        return pages.against(*two, page, Narrowing(**wanted))
    raise UserError("there is no such page")


def _misses(viewer: Viewer, request: Request, form: dict[str, str]) -> Response:
    return PlainTextResponse(viewer.selection(str(request.path_params["key"]), patience=True).misses)


def _difference(viewer: Viewer, request: Request, form: dict[str, str]) -> Response:
    pages = Pages(viewer.selection(str(request.path_params["key"]), patience=True))
    return PlainTextResponse(pages.difference(request.path_params["first"], request.path_params["second"]))


def _lines(viewer: Viewer, request: Request, form: dict[str, str]) -> Response:
    """Lines around the hunks of one file, as rows of its table."""
    asked = request.query_params
    at, old, new, count = (_whole(asked.get(name, "")) for name in ("file", "old", "new", "count"))
    case = viewer.selection(str(request.path_params["key"])).case(request.path_params["number"])
    path = dict(enumerate((file.path for file in case.change.files), 1)).get(at, "")
    text = texts_of({case.id: case.change}).get(case.id, {}).get(path)
    if text is None or not (old and new and count):
        raise UserError("there are no such lines")
    rows = list(context_rows(path, text, Gap(old, new, count)))
    return HTMLResponse(render("lines.html.j2", rows=rows, split=asked.get("view") == "split", file_number=at))


def _label(viewer: Viewer, request: Request, form: dict[str, str]) -> Response:
    """What the reader says of a comment becomes a label of the run that holds the review."""
    chosen = viewer.selection(str(request.path_params["key"]), patience=True)
    case = chosen.case(_whole(form.get("change", "")))
    run, system = chosen.home_of(form.get("system", ""))
    says = {"yes": True, "no": False}.get(form.get("says", ""))
    comment, finding, attempt = form.get("comment", ""), form.get("finding", ""), _whole(form.get("attempt", ""))
    key = case.id, form.get("system", ""), attempt
    said = chosen.outcomes_of(case.id, form.get("system", ""))
    known = {c.id for o in said if o.key == key and o.review for c in o.review.comments}
    if says is None or comment not in known or finding not in {"", *(r.id for r in case.references)}:
        raise UserError("the form is not whole: reload the page")
    about = {"case": case.id, "system": system, "attempt": attempt, "comment": comment}
    label = label_of(about, finding, says=says).model_copy(update={"rater": _reader(), "at": time.time()})
    with viewer.writing, RunFolder.open(run.path, write=True) as folder:
        folder.add_labels([label])
    return PlainTextResponse(f"{label.rater}: {'yes' if says else 'no'}. It is kept in {run.name}.")


def _reader() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user without a name
        return "reader"


def _whole(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
