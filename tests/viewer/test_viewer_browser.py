"""The viewer in a real browser: a buyer's walk, keys, a label by click, hostile text, axe, and the exported folder."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from html_pages import arrive, opened
from reviewgauge.api.view import view
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, Severity, Span
from reviewgauge.engine.run.folder import RunFolder
from reviewgauge.viewer.notes import label_of
from viewed_runs import PATCH, finds, misses, nothing, plain_cases, slug_of, twin_run, viewed, write_run

Axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe

PAYLOADS = (
    "<script>window.hacked=1</script>",
    "</script><script>window.hacked=1</script>",
    '"><img src=x onerror="window.hacked=1">',
    "'><svg onload=window.hacked=1>",
    '" autofocus onfocus="window.hacked=1" x="',
    "{{7*7}}{% raw %}{{ self }}",
    "<iframe srcdoc='<script>parent.hacked=1</script>'>",
    "</option></select><details open ontoggle=window.hacked=1>",
    "<base href=x><form action=x><input name=system value=x>",
    "\u202e\u2066<b>x</b>",
)
ODD = "a+b: c? & \"'><img src=x onerror=window.hacked=1>\u202e"
STANDARD = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("walk")
    systems = {"finder": finds, "half": misses, "silent": nothing}
    write_run(folder / "plain", systems, broken=[("shop-2", "half")])
    write_run(folder / "other", {"half": finds})
    twin_run(folder / "twins")
    write_run(folder / "hostile", {ODD: said_oddly, f"{PAYLOADS[0].replace('/', '-')} x": said_oddly}, hostile_cases())
    return folder


def hostile_cases() -> list[Case]:
    """Two changes with a payload in every text."""
    found = []
    for number, payload in enumerate(PAYLOADS):
        name = payload.replace("/", "-").replace("\\", "")
        file = ChangedFile(path=f"src/{name}.py", patch=PATCH.replace("query(order)", payload))
        words = Comment(
            id=f"r {name}", body=payload, category=payload, severity=Severity.LOW, span=Span(path=file.path, start=2)
        )
        change = Change(repo=name, title=payload, description=payload, url=f"javascript:{payload}", files=(file,))
        found.append(
            Case(id=f"{number} {name}", change=change, references=(words,), facts={name: payload, "kind": payload})
        )
    return found


def said_oddly(case: Case) -> list[Comment]:
    (known,) = case.references
    odd = PAYLOADS[len(case.id) % len(PAYLOADS)]
    noise = Comment(id=f"n {known.id}", body=f"{odd} and rename it", suggestion=odd, category=odd)
    return [known.model_copy(update={"id": f"c {known.id}"}), noise]


@pytest.fixture(scope="module")
def site(runs: Path) -> Iterator[tuple[str, str]]:
    """(origin, link) of a viewer over all runs."""
    with viewed(runs) as (client, link):
        yield client.origin, link


def entered(browser: Any, link: str, **options: Any) -> tuple[Any, list[str]]:
    """A page that came by the link, and everything that it complained about."""
    page, noise = browser.new_context(**options).new_page(), list[str]()
    page.on("console", lambda message: noise.append(message.text))
    page.on("pageerror", lambda error: noise.append(str(error)))
    page.on("dialog", lambda dialog: noise.append(dialog.message))
    page.goto(link)
    return page, noise


def fits(page: Any) -> bool:
    """Whether the page does not scroll sideways."""
    return bool(page.evaluate("() => document.scrollingElement.scrollWidth <= innerWidth"))


def addresses(runs: Path, origin: str) -> list[str]:
    """One page of each kind."""
    plain, twins = (f"{origin}/r/{slug_of(runs / name)}" for name in ("plain", "twins"))
    names = ("index", "slices", "changes", "change-1", "change-2-split", "against-1-2")
    made = [f"{plain}/{name}.html" for name in names]
    return [
        f"{origin}/index.html", *made, f"{plain}/change-99.html", f"{twins}/change-1.html", f"{twins}/beside-1-3.html",
    ]  # fmt: skip


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_every_kind_of_page_fits_is_quiet_and_passes_axe(
    browser: Any, runs: Path, site: tuple[str, str], mode: str
) -> None:
    origin, link = site
    widths = (1280, 390) if mode == "light" else (390, 1280)
    page, noise = entered(browser, link, color_scheme=mode, bypass_csp=True)
    found = []
    for address in addresses(runs, origin):
        page.goto(address)
        name = address.rpartition("/")[2]
        page.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        for width in widths:
            page.set_viewport_size({"width": width, "height": 800})
            found += [] if fits(page) else [f"{name} scrolls sideways at {width}"]
        for one in Axe().run(page, options=STANDARD).response["violations"]:
            found += [
                f"{name}: {one['id']} {node['html'][:150]} {node['failureSummary'][:200]}" for node in one["nodes"]
            ]
    page.context.close()
    assert found == []
    assert [line for line in noise if "404" not in line] == []


def test_a_buyers_walk(browser: Any, runs: Path, site: tuple[str, str]) -> None:
    origin, link = site
    page, noise = entered(browser, link, viewport={"width": 1280, "height": 900})
    page.click("text=plain")
    arrive(page, ".verdict")
    assert "finder" in page.inner_text(".answer")
    names = "() => Array.from(document.querySelectorAll('.board tbody tr:not(.section)')).map((row) => row.textContent)"
    before = page.evaluate(names)
    heads = page.locator(".board thead th").filter(has_text="F1").first
    heads.locator("button.sort").click()
    assert heads.get_attribute("aria-sort") == "descending"
    heads.locator("button.sort").click()
    assert heads.get_attribute("aria-sort") == "ascending"
    assert page.evaluate(names)[:2] == list(reversed(before[:2])), "baselines stay apart"
    page.locator(".board tbody a").filter(has_text="half").first.click()
    arrive(page, "table.list")
    assert page.input_value("select[name=system]") == "half"
    page.select_option("select[name=state]", "failed")
    page.wait_for_url("**state=failed**")
    assert page.locator(".list tbody tr").count() == 1
    page.click("#filters a[href='changes.html']")
    arrive(page, ".list tbody tr:nth-child(4)")
    page.keyboard.press("/")
    page.keyboard.type("orders 1")
    page.keyboard.press("Enter")
    page.wait_for_url("**text=orders+1**")
    arrive(page, ".list tbody tr")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/change-1\.html(#:~:text=orders&text=1)?$"))
    arrive(page, ".note")
    for key, address in (("n", "change-2"), ("v", "change-2-split"), ("p", "change-1-split"), ("v", "change-1")):
        page.keyboard.press(key)
        page.wait_for_url(f"**/{address}.html")
        arrive(page, ".file")
        file, code = (page.locator(one).first.bounding_box() for one in (".file", ".file .code tbody"))
        assert code["width"] > 0.9 * file["width"]
    for key, place in (("j", 0), ("j", 1), ("k", 0), ("k", 0)):
        page.keyboard.press(key)
        assert (
            page.evaluate("() => Array.from(document.querySelectorAll('.note')).findIndex((n) => n.matches('.at'))")
            == place
        )
    page.uncheck("[data-show] >> nth=0")
    assert page.locator(".note [data-system='0'].said:visible").count() == 0
    page.keyboard.press("Tab")
    page.locator("h1").click()
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#keys").is_visible()
    page.goto(f"{origin}/r/{slug_of(runs / 'plain')}/against-1-2.html")
    page.select_option("#second", "3")
    page.wait_for_url("**/against-1-3.html")
    page.goto(f"{origin}/r/{slug_of(runs / 'twins')}/change-1.html")
    page.click("text=beside this >> nth=1")
    arrive(page, ".two section:nth-child(2)")
    left, right = (page.locator(f".two > section:nth-child({at})").bounding_box() for at in (1, 2))
    assert left["x"] + left["width"] <= right["x"] and left["y"] == right["y"]
    page.goto(f"{origin}/")
    page.check("input[aria-label='choose plain']")
    assert page.is_disabled("#do-compare") and page.is_disabled("input[aria-label='choose twins']")
    page.check("input[aria-label='choose other']")
    page.click("#do-compare")
    arrive(page, ".verdict")
    assert "plain:half" in page.inner_text("main")
    page.go_back()
    page.wait_for_selector("#do-compare:enabled")
    assert noise == []
    page.context.close()


def test_a_narrowed_list_is_walked_in_its_order_with_one_system(
    browser: Any, runs: Path, site: tuple[str, str]
) -> None:
    origin, link = site
    here = f"{origin}/r/{slug_of(runs / 'plain')}"
    page, noise = entered(browser, link, viewport={"width": 1280, "height": 900})
    page.goto(f"{here}/changes.html")
    page.locator("thead .sort").filter(has_text="change").click()
    links = page.locator(".matrix tbody th a").evaluate_all("all => all.map((a) => a.pathname)")
    order = [re.sub(r".*change-(\d+).html", r"\1", one) for one in links]
    assert order != sorted(order)
    page.locator(".matrix tbody tr").first.locator("td").last.click()
    page.wait_for_url(f"**/change-{order[0]}.html?system=silent")
    arrive(page, "#walk >> text=the list")
    assert page.locator("[data-show]:checked").count() == 1
    assert page.locator("main [data-system]:visible:not([data-system='2'])").count() == 0
    page.keyboard.press("n")
    page.wait_for_url(f"**/change-{order[1]}.html?system=silent")
    page.keyboard.press("s")
    page.wait_for_url(f"**/change-{order[1]}.html")
    assert page.locator("[data-show]:checked").count() == 3
    page.click("#walk >> text=the list")
    page.wait_for_selector(f".matrix tr.at a[href*='change-{order[1]}.html']")
    page.goto(f"{here}/against-1-3.html")
    page.locator(".differs h2 a").first.click()
    arrive(page, "[data-show]")
    assert [box.is_checked() for box in page.locator("[data-show]").all()] == [True, False, True]
    assert noise == []
    page.context.close()


def test_a_walk_goes_on_with_the_next_page_and_shows_no_more_than_the_systems_asked_for(
    browser: Any, tmp_path: Path
) -> None:
    first = plain_cases()[0]
    cases = [first.model_copy(update={"id": f"shop-{n}"}) for n in range(1, 24)]
    folder = write_run(tmp_path / "run", {"finder": finds, "half": misses}, cases)
    with viewed(folder) as (client, link):
        page, noise = entered(browser, link)
        here = f"{client.origin}/r/{slug_of(folder)}"
        page.goto(f"{here}/changes.html?system=half&state=missed")
        page.locator(".matrix tbody th a").last.click()
        arrive(page, "#walk >> text=20 of 20 on a page of")
        page.wait_for_selector(".note.said:visible")
        assert page.locator("form.judge:visible").count() == page.locator("[data-system='1'].said:visible").count() > 0
        page.keyboard.press("n")
        page.wait_for_url("**/change-21.html?system=half")
        arrive(page, "#walk >> text=1 of 3 on a page of")
        page.go_back()
        page.wait_for_url("**/changes.html?system=half&state=missed&page=2")
        assert noise == []
        page.context.close()


def test_a_label_by_click_is_kept_and_a_refused_one_can_be_sent_again(browser: Any, tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", {"finder": finds, "half": misses})
    with viewed(folder) as (client, link):
        page, _ = entered(browser, link)
        page.goto(f"{client.origin}/r/{slug_of(folder)}/change-1.html")
        form = page.locator("form.judge").first
        with RunFolder.open(folder, write=True):
            form.locator("text=Yes").click()
            page.wait_for_selector("[role=status]:has-text('is being written')")
        page.locator("form.judge").first.locator("text=Yes").click()
        page.wait_for_selector(".note .reason:has-text('it raises')")
        page.locator(".note", has=page.locator("text=it raises")).locator("form.judge >> text=No").click()
        page.wait_for_selector(".note :text('It is kept'), .note :text('it does not raise')")
        page.wait_for_selector(".said .meta:has-text('a person: it does not raise')")
        assert page.locator(".note .reason:has-text('it raises')").count() == 0, "the newer replaces the older"
        at = page.evaluate(
            "() => [...document.querySelectorAll('.note')].findIndex((note) => note.querySelector(':target'))"
        )
        assert at >= 0
        page.keyboard.press("j")
        assert page.locator(".note").nth(at + 1).get_attribute("class").endswith(" at"), "keys go on from there"
        page.context.close()
    first, second = RunFolder.open(folder).labels()
    assert (first.dimension, first.value, first.subject.case) == ("same_issue", True, "shop-1")
    assert (second.value, second.subject) == (False, first.subject)


def test_a_run_that_goes_on_takes_no_click_away(browser: Any, tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", {"finder": finds, "half": misses})
    with viewed(folder) as (client, link):
        page, _ = entered(browser, link)
        page.route("**/ahead.json", lambda route: route.abort())  # what was made ahead is there at once
        with page.expect_response("**/stamp"):
            page.goto(f"{client.origin}/r/{slug_of(folder)}/index.html")
        held: list[Any] = []
        page.route("**/changes.html", lambda route: held.append(route))  # noqa: PLW0108 (Playwright refuses the method)
        page.click("nav >> text=Changes", no_wait_after=True)
        (folder / "labels.jsonl").touch()
        for _ in range(2):  # the second comes after what the first led to
            page.wait_for_event("response", lambda one: one.url.endswith("/stamp"))
        held[0].continue_()
        page.wait_for_url("**/changes.html")
        page.context.close()


def test_a_page_that_was_made_ahead_shows_what_came_since(browser: Any, tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", {"finder": finds, "half": misses})
    with viewed(folder) as (client, link):
        page, _ = entered(browser, link)
        page.goto(f"{client.origin}/r/{slug_of(folder)}/change-1.html")
        page.wait_for_load_state("networkidle")
        second = RunFolder.open(folder).cases()[1]
        review = {one.key[:2]: one.review for one in RunFolder.open(folder).outcomes()}[second.id, "finder"]
        assert review is not None
        about = {"case": second.id, "system": "finder", "attempt": 1, "comment": review.comments[0].id}
        with RunFolder.open(folder, write=True) as run:
            run.add_labels([label_of(about, second.references[0].id, says=True).model_copy(update={"rater": "Ada"})])
        page.click("a[rel=next]")
        page.wait_for_selector(".reason:has-text('Ada')")
        page.context.close()


MADE_AHEAD = """let ahead = true;
Object.defineProperty(document, 'prerendering', { get: () => ahead });
window.show = () => { ahead = false; document.dispatchEvent(new Event('prerenderingchange')); };"""


def test_a_page_that_was_made_ahead_knows_what_was_chosen_before_it_is_shown(
    browser: Any, runs: Path, site: tuple[str, str]
) -> None:
    """Under a debugger, as here, Chromium makes no page ahead of its click: the event is sent by hand."""
    origin, link = site
    page, noise = entered(browser, link)
    here = f"{origin}/r/{slug_of(runs / 'plain')}"
    page.goto(f"{here}/changes.html")
    page.click("#theme")
    chosen = page.evaluate("() => document.documentElement.dataset.theme")
    ahead = page.context.new_page()
    ahead.add_init_script(MADE_AHEAD)
    asked: list[str] = []
    ahead.on("request", lambda one: asked.append(one.url))
    ahead.goto(f"{here}/change-2.html")
    ahead.wait_for_load_state("networkidle")
    assert not [url for url in asked if url.endswith("/stamp")], "nobody looks at it yet"
    walk = {
        "list": f"{here}/changes.html?text=a",
        "links": [f"/r/{slug_of(runs / 'plain')}/change-{n}.html" for n in (3, 2, 1)],
    }
    ahead.evaluate("(walk) => sessionStorage.setItem('reviewgauge-walk', JSON.stringify(walk))", walk)
    page.click("#theme")
    with ahead.expect_request("**/stamp"):
        ahead.evaluate("() => window.show()")
    assert ahead.inner_text("#walk").startswith("2 of 3 in the list")
    assert ahead.evaluate("() => document.documentElement.dataset.theme") not in (chosen, None)
    assert noise == []
    page.context.close()


SAFE = """() => [
  window.hacked,
  document.querySelectorAll('img, iframe, base, [onerror], [onload], [onfocus], [ontoggle]').length,
  Array.from(document.links).filter((a) => !/^(https?|file):/.test(a.protocol)).length,
]"""


def test_hostile_text_runs_nothing(browser: Any, runs: Path, site: tuple[str, str], tmp_path: Path) -> None:
    origin, link = site
    here = f"{origin}/r/{slug_of(runs / 'hostile')}"
    page, noise = entered(browser, link, viewport={"width": 390, "height": 800})
    changes = [f"change-{n}{'-split' * (n % 3 == 0)}" for n in range(1, len(PAYLOADS) + 1)]
    for name in ("index", "slices", "changes", "against-1-2", *changes):
        page.goto(f"{here}/{name}.html")
        page.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert page.evaluate(SAFE) == [None, 0, 0], name
        assert fits(page), name
    page.goto(f"{here}/changes.html")
    page.select_option("select[name=system]", index=1)
    page.wait_for_url(re.compile(r"system=[^&]"))
    assert page.locator(".list tbody tr").count() == len(PAYLOADS)
    page.select_option("select[name=fact]", index=1)
    page.wait_for_url(re.compile(r"fact=[^&]"))
    assert page.locator(".list tbody tr").count() == 1
    page.goto(f"{here}/change-1.html")
    page.locator("form.judge").first.locator("text=Yes").click()
    page.wait_for_selector(".reason:has-text('it raises')")
    assert noise == []
    page.context.close()
    labels = RunFolder.open(runs / "hostile").labels()
    assert len(labels) == 1 and labels[0].subject.system in (ODD, f"{PAYLOADS[0].replace('/', '-')} x")


ROWS = """() => Array.from(document.querySelectorAll('.matrix tbody tr'), (row) => [
  Math.ceil(row.getBoundingClientRect().left) + 1, Math.floor(row.getBoundingClientRect().bottom + scrollY),
])"""


def test_a_line_below_each_row_goes_on_under_the_name_that_stays(
    browser: Any, runs: Path, site: tuple[str, str]
) -> None:
    origin, link = site
    page, _ = entered(browser, link, viewport={"width": 390, "height": 800})
    page.goto(f"{origin}/r/{slug_of(runs / 'hostile')}/changes.html")
    page.evaluate("document.querySelector('.matrix').style.marginTop = '.5px'")  # rows lie between pixels
    rows = page.evaluate(ROWS)[:8]
    for left, bottom in rows:
        padding, line = (
            page.screenshot(full_page=True, clip={"x": left, "y": y, "width": 20, "height": 4})
            for y in (bottom - 6, bottom - 2)
        )
        assert line != padding, bottom
    page.context.close()
    assert len(rows) == 8


def test_the_exported_folder_works_alone(browser: Any, runs: Path, tmp_path: Path) -> None:
    view(runs / "plain", runs / "hostile", out=tmp_path / "out", resamples=20)
    with opened(browser, tmp_path / "out/index.html") as (page, noise):
        page.click("text=plain")
        arrive(page, ".verdict")
        page.locator(".board tbody a").filter(has_text="half").first.click()
        arrive(page, "table.list")
        page.select_option("select[name=state]", "failed")
        page.wait_for_function("() => document.getElementById('shown').textContent === '1 change'")
        page.click(".list tbody tr:not([hidden]) a")
        arrive(page, ".file")
        page.keyboard.press("v")
        page.wait_for_url("**/change-2-split.html?system=half")
        assert page.locator("form.judge").count() == 0
        page.goto(f"{(tmp_path / 'out' / 'r' / slug_of(runs / 'hostile')).as_uri()}/changes.html")
        for part in ("system", "fact"):
            page.select_option(f"select[name={part}]", index=1)
        page.wait_for_function("() => document.getElementById('shown').textContent === '1 change'")
        for name in ("index", "changes", "change-1", "change-8", "against-1-2"):
            page.goto(f"{(tmp_path / 'out' / 'r' / slug_of(runs / 'hostile')).as_uri()}/{name}.html")
            assert page.evaluate(SAFE) == [None, 0, 0]
        assert noise == [], json.dumps(noise)


def shown_systems(page: Any) -> list[str]:
    rows = "(rows) => rows.filter((row) => !row.hidden).map((row) => row.querySelector('th bdi').textContent)"
    return list(page.locator(".board >> nth=0").locator("tbody tr:not(.section)").evaluate_all(rows))


def test_the_board_is_narrowed_by_system_state_and_fact_and_its_address_says_so(
    browser: Any, runs: Path, site: tuple[str, str]
) -> None:
    origin, link = site
    page, noise = entered(browser, link)
    page.goto(f"{origin}/r/{slug_of(runs / 'plain')}/index.html")
    assert set(shown_systems(page)) == {"finder", "half", "silent"}
    page.click("summary:text('Filter the board')")
    page.locator("#filters label").filter(has_text="half").locator("input").focus()
    page.keyboard.press("Space")
    page.wait_for_url(re.compile("system=half"))
    assert shown_systems(page) == ["half"]
    page.reload()
    assert shown_systems(page) == ["half"]
    page.select_option("select[name=state]", "whole")
    page.wait_for_url(re.compile("state=whole"))
    assert shown_systems(page) == [] and page.inner_text("#shown") == "0 systems"
    page.goto(f"{origin}/r/{slug_of(runs / 'plain')}/index.html")
    page.click("summary:text('Filter the board')")
    page.select_option("select[name=fact]", "language=Go")
    page.wait_for_url(re.compile("fact=language"))
    assert "where language is Go" in page.inner_text("main") and page.locator(".verdict").count() == 0
    page.locator(".board tbody a").filter(has_text="half").first.click()
    arrive(page, "table.list")
    assert page.locator(".list tbody tr").count() == 2
    assert noise == []
    page.context.close()


def test_a_rank_stays_with_its_system_and_a_file_name_is_never_hidden(
    browser: Any, runs: Path, site: tuple[str, str]
) -> None:
    origin, link = site
    page, _ = entered(browser, link, viewport={"width": 390, "height": 300})
    page.goto(f"{origin}/r/{slug_of(runs / 'plain')}/change-1.html")
    page.evaluate("() => document.querySelector('.file .notes').scrollIntoView({ behavior: 'instant' })")
    page.wait_for_function("""() => {
      const title = document.querySelector('.file h2');  // what is scrolled to is laid out a moment later
      return title.contains(document.elementFromPoint(60, title.getBoundingClientRect().top + 8));
    }""")
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(f"{origin}/r/{slug_of(runs / 'plain')}/index.html")
    rank = "(e) => [e.querySelector('bdi').textContent, getComputedStyle(e, '::before').content]"
    names = page.locator(".board >> nth=0").locator("tbody tr:not(.section) th")
    before = names.evaluate_all(f"(all) => all.map({rank})")
    page.locator(".board >> nth=0").locator("thead button.sort").first.click()
    after = names.evaluate_all(f"(all) => all.map({rank})")
    assert before != after and sorted(before) == sorted(after) and before[0][1] == '"1. "'
    page.context.close()


def test_two_systems_are_narrowed_to_kinds_of_findings(browser: Any, runs: Path, site: tuple[str, str]) -> None:
    origin, link = site
    page, noise = entered(browser, link)
    address = f"{origin}/r/{slug_of(runs / 'plain')}/against-1-2.html"
    page.goto(address)
    assert page.locator(".differs").count() == 2
    page.select_option("select[name=side]", "gained")
    page.wait_for_url(re.compile("side=gained"))
    assert page.locator(".differs").count() == 1 and page.input_value("select[name=side]") == "gained"
    page.select_option("select[name=severity]", "high")
    page.wait_for_url(re.compile("severity=high"))
    assert page.locator(".differs").count() == 1
    page.select_option("#second", "3")
    page.wait_for_url(re.compile(r"against-1-3.*side=gained"))
    assert noise == []
    page.context.close()


def test_an_exported_board_is_narrowed_by_system(browser: Any, runs: Path, tmp_path: Path) -> None:
    view(runs / "plain", out=tmp_path / "out", resamples=20)
    board = tmp_path / "out" / "r" / slug_of(runs / "plain") / "index.html"
    with opened(browser, board) as (page, noise):
        page.click("summary:text('Filter the board')")
        page.locator("#filters label").filter(has_text="half").locator("input").check(force=True, no_wait_after=True)
        page.wait_for_url(re.compile("system=half"))
        assert shown_systems(page) == ["half"]
        assert noise == []
