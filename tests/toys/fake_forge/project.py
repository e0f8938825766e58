"""The main scripted project: pull requests that each filter of the paper recipes drops, and some that all keep.

Read `WHY`: number, what is special about the pull request, and which filter it is meant for. All but what is named
there is as in a good one: merged Python, English, a linked closed issue, three threads of which one is adopted.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from fake_forge import shop
from fake_forge.accounts import GONE, Json, user
from fake_forge.script import Commit, Direct, Issue, Move, Project, Pull, Push, Said, Swap, Thread, Verdict, days

NAME = "acme/shop"
FIRST_ISSUE = 500  # the issue of pull request N is N + 400
WHY: dict[int, tuple[str, str]] = {
    90: ("opened before January 2021", "since"),
    101: ("good; its diff comes again as 123", "drop_duplicates"),
    102: ("good, squashed, with talk", ""),
    103: ("good, forked before main moved on", ""),
    104: ("good, on a range of lines and a deleted line", ""),
    105: ("praise and questions only, nothing to change: clean", ""),
    106: ("praise and questions only, nothing to change: clean", ""),
    107: ("praise and questions only, nothing to change: clean", ""),
    110: ("closed without being merged", "drop_unmerged"),
    111: ("still open", "drop_unmerged"),
    112: ("over 1,000 changed lines", "where changed_lines"),
    113: ("mostly Shell in a repository of Python", "keep_main_language"),
    114: ("title in Chinese", "keep_english"),
    115: ("description in German", "keep_english"),
    116: ("two inline comments", "where inline_comments"),
    117: ("nothing adopted", "where adopted"),
    118: ("opened by a bot, reviewed by people: stays", ""),
    119: ("reviewed by a bot only", "drop_bots"),
    120: ("documentation only", "drop_documentation"),
    121: ("every commented line changed later", "drop_outdated"),
    122: ("rebased: a forced push", "where forced_pushes"),
    123: ("the diff of 101 again", ""),
    124: ("generated files only", "drop_generated"),
    125: ("white space only", "drop_trivial"),
    126: ("no linked issue", "link_issues"),
    127: ("an issue's number in code: no event", "link_issues"),
    128: ("refers to an issue, but fixes none", "link_issues"),
    129: ("the closing word stands in a comment", "link_issues"),
    130: ("no review comment", "where comments_by_others"),
    131: ("reviewed by an account that is gone", ""),
    132: ("its fork and its author are gone", ""),
    133: ("a bug in it was fixed later", "drop_buggy"),
    134: ("its issue is still open", "drop_unmerged"),
    135: ("a diff of over a million bytes", "where diff_bytes"),
    136: ("comments that say nothing", "drop_low_value"),
    137: ("a renamed file, a binary one and no newline at the end", ""),
    138: ("a model that is asked again finds other change-points", "extract_points"),
    139: ("a comment on the README as well", "drop_documentation, once hunks are cases"),
}
# What the filters of each recipe drop, in their order; stages that drop nothing here are not named.
FUNNELS: dict[str, tuple[tuple[str, frozenset[int]], ...]] = {
    "swr_bench": (
        ("where comments_by_others", frozenset({119, 130})),
        ("where changed_lines", frozenset({112})),
        ("where forced_pushes", frozenset({122})),
        ("extract_points", frozenset({138})),
        ("drop_buggy", frozenset({110, 133})),  # 110 never became part of what later fixes could speak of
        ("drop_trivial_points", frozenset({125})),  # whose one point is about layout
    ),
    "context_crbench": (
        ("link_issues", frozenset({126, 127, 128, 129})),
        ("drop_unmerged", frozenset({110, 111, 134})),
        ("where diff_bytes", frozenset({135})),
        ("drop_bots", frozenset({119})),
        ("drop_documentation", frozenset({120})),
        ("drop_duplicates", frozenset({101})),  # the newest come first, so 123 is the one that is kept
        # merged as it was commented on, and in 104 a comment on a whole file stands on no hunk
        ("split_hunks", frozenset({104, 105, 106, 107, 117})),
        ("drop_documentation", frozenset({139})),
        ("where language", frozenset({113, 137})),  # a script, and a file of no language
        ("drop_low_value", frozenset({136})),
    ),
    "aacr_bench": (
        ("select_revision", frozenset({119, 130})),
        ("keep_english", frozenset({114, 115})),
        ("where changed_lines", frozenset({112})),
        ("keep_main_language", frozenset({113, 120})),
        ("where inline_comments", frozenset({116})),  # comments, then adopted ones
        ("where adopted", frozenset({105, 106, 107, 117})),
        ("drop_generated", frozenset({124})),
        ("drop_trivial", frozenset({125})),
    ),
}
# ContextCRBench's procedure for another task than assess: unmerged entries without outdated comments.
TO_LOCATE: tuple[tuple[str, frozenset[int]], ...] = (
    *FUNNELS["context_crbench"][:6],
    ("drop_outdated", frozenset({121})),
    ("split_hunks", frozenset({104, 105, 106, 107, 117})),
    ("drop_documentation", frozenset({139})),
    ("drop_low_value", frozenset({136})),
)
UNSURE = 138  # of whose discussion a model says something else when it is asked again


def _thing(number: int) -> str:
    return shop.THINGS[number - 101]


def _pull(number: int, **more: object) -> Pull:
    """A good pull request, with what is special about it."""
    thing = _thing(number)
    fields: dict[str, object] = {
        "number": number,
        "title": f"Add discounts and loading for {thing}s",
        "body": f"Customers asked for discounts on {thing}s, and for a way to load them.\n\nFixes #{number + 400}",
        "pushes": shop.two_pushes(thing),
        "opened": days(number - 100),
        "threads": shop.three_threads(thing),
        "verdicts": (Verdict("bob", "CHANGES_REQUESTED", 8), Verdict("mel", "APPROVED", 40, "Good to go.", on=1)),
    }
    return Pull(**{**fields, **more})  # type: ignore[arg-type]  # a script, checked where it is made


def _clean(number: int) -> Pull:
    """Nothing to change: the corrected code from the start."""
    thing = _thing(number)
    first = shop.addition(thing)
    threads = (
        Thread(shop.path_of(thing), "rate = percent / 100", (Said("bob", "Nice, that reads well.", 5),)),
        Thread(
            shop.path_of(thing),
            "int(row[1])",
            (Said("bob", "Thanks, this is what we need here.", 6), Said("ann", "Glad to hear it.", 7)),
        ),
    )
    pushes = (Push((first, shop.correction(thing))),)
    return _pull(number, pushes=pushes, threads=threads, verdicts=(Verdict("bob", "APPROVED", 8, "LGTM"),))


def _on(thing: str, *said: Said, on: int = 0) -> tuple[Thread, ...]:
    return (Thread(shop.path_of(thing), "rate = percent / 100", said, on=on),)


def _shell(number: int) -> Pull:
    lines = "\n".join(f'echo "step {n} of the release"' for n in range(1, 30))
    script = f"#!/bin/sh\n{lines}\n"
    added = replace(shop.addition(_thing(number)), files={**shop.addition(_thing(number)).files, "release.sh": script})
    return _pull(number, pushes=(Push((added,)), Push((shop.correction(_thing(number)),), hours=30)))


def _docs(number: int) -> Pull:
    text = "# The shop\n\nHow to buy a thing.\n\n1. Choose it.\n2. Pay for it.\n3. Take it home.\n"
    first = Push((Commit("Explain how to buy", {"docs/buying.md": text}),))
    second = Push(
        (Commit("Name the counter", {"docs/buying.md": Swap("Pay for it.", "Pay for it at the counter.")}),), hours=30
    )
    threads = (
        Thread("docs/buying.md", "Pay for it.", (Said("bob", "Please say where the customer pays for the thing.", 5),)),
        Thread("docs/buying.md", "Choose it.", (Said("bob", "Could this name the shelves that things stand on?", 6),)),
        Thread(
            "docs/buying.md", "Take it home.", (Said("bob", "A word on delivery to the customer belongs here.", 7),)
        ),
    )
    return _pull(number, title="Explain how to buy things", pushes=(first, second), threads=threads)


def _generated(number: int) -> Pull:
    head = "# Code generated by schema-tool. DO NOT EDIT.\n"
    path = "shop/schema_pb2.py"
    first = Push((Commit("Regenerate the schema", {path: head + "FIELDS = {1: 'name'}\nSIZE = 1\nVERSION = 2\n"}),))
    second = Push((Commit("Regenerate again", {path: Swap("SIZE = 1", "SIZE = len(FIELDS)")}),), hours=30)
    threads = (
        Thread(path, "SIZE = 1", (Said("bob", "The size should be computed from the fields, not written out.", 5),)),
        Thread(path, "FIELDS", (Said("bob", "Why is the price missing among these fields of the schema?", 6),)),
        Thread(path, "VERSION", (Said("bob", "The version of the schema was three already on the server.", 7),)),
    )
    return _pull(number, title="Regenerate the schema", pushes=(first, second), threads=threads)


def _trivial(number: int) -> Pull:
    thing = _thing(number)
    path = shop.path_of(thing)
    good, trailing = "    total = 0\n", "    total = 0   \n"
    first = Commit(f"Give the total of {thing}s more room", {path: Swap(good, f"\n{trailing}")})
    second = Commit("Without blanks at the end", {path: Swap(trailing, good)})
    threads = (
        Thread(path, "total = 0", (Said("bob", "There are blanks at the end; please format this line.", 5),)),
        Thread(
            path,
            f"total_{thing}s",
            (Said("bob", "This function could be explained to readers as well.", 6), Said("ann", "Later.", 7)),
        ),
    )
    return _pull(
        number,
        title=f"More room in the total of {thing}s",
        pushes=(Push((first,)), Push((second,), hours=30)),
        threads=threads,
    )


def _large(number: int) -> Pull:
    thing = _thing(number)
    table = "TABLE = [\n" + "".join(f"    ({n}, 'row {n}'),\n" for n in range(1100)) + "]\n"
    first = shop.addition(thing)
    added = replace(first, files={**first.files, "shop/table.py": table})
    return _pull(number, pushes=(Push((added,)), Push((shop.correction(thing),), hours=30)))


def _long(number: int) -> Pull:
    thing = _thing(number)
    first = shop.addition(thing)
    line = f'TEXT = "{"a word " * 160_000}"\n'
    added = replace(first, files={**first.files, "shop/text.py": line})
    return _pull(number, pushes=(Push((added,)), Push((shop.correction(thing),), hours=30)))


def _rebased(number: int) -> Pull:
    thing = _thing(number)
    return _pull(
        number,
        pushes=(
            Push((shop.addition(thing),)),
            Push((shop.addition(thing), shop.correction(thing)), hours=30, forced=True),
        ),
    )


def _rename(number: int) -> Pull:
    thing = _thing(number)
    first = shop.addition(thing)
    files = {**first.files, "shop/rates.py": Move("shop/prices.py"), "logo.png": b"\x89PNG\x00\x01", "VERSION": "2"}
    return _pull(number, pushes=(Push((replace(first, files=files),)), Push((shop.correction(thing),), hours=30)))


def _with_readme(number: int) -> Pull:
    thing = _thing(number)
    first = shop.addition(thing)
    files = {**first.files, "README.md": Swap("# Shop\n", f"# Shop\n\nWith {thing}s.\n")}
    said = Said("bob", "The readme should rather link to the list of all products.", 9)
    second = shop.correction(thing)
    below = Swap(f"With {thing}s.\n", f"With {thing}s.\n\nAll new.\n")
    more = replace(second, files={**second.files, "README.md": below})
    return _pull(
        number,
        pushes=(Push((replace(first, files=files),)), Push((more,), hours=30)),
        threads=(*shop.three_threads(thing), Thread("README.md", f"With {thing}s.", (said,))),
    )


def _ranged(number: int) -> Pull:
    thing = _thing(number)
    path = shop.path_of(thing)
    first = shop.addition(thing)
    files = {path: (first.files[path], Swap(f'    """What all {thing}s cost."""\n', ""))}
    both = Commit(first.message, files)  # type: ignore[arg-type]
    more = (
        Thread(
            path,
            f'"""What all {thing}s cost."""',
            (Said("bob", "Why does this docstring of the total go away?", 9),),
            side="LEFT",
        ),
        Thread(
            path,
            f"def load_{thing}s",
            (Said("bob", "This whole function belongs into the storage module of the shop.", 10),),
            until="handle = open(path)",
        ),
        Thread(path, "", (Said("bob", "This file needs tests for the new functions before a release.", 11),)),
    )
    return _pull(
        number,
        pushes=(Push((both,)), Push((shop.correction(thing),), hours=30)),
        threads=(*shop.three_threads(thing), *more),
    )


def _pulls() -> tuple[Pull, ...]:
    german = "Damit können Kunden Rabatte bekommen, und die Liste wird aus einer Datei gelesen.\n\nFixes #515"
    see = "Customers asked for discounts; the background is in #528."
    talk = (Said("ann", "This fixes #529, by the way.", 3),)
    old = datetime(2020, 6, 1, tzinfo=UTC)
    nothing = (
        Thread(shop.path_of(_thing(136)), "handle = open(path)", (Said("bob", "Hm.", 5),)),
        Thread(shop.path_of(_thing(136)), "rate = percent / 100", (Said("bob", "Nice.", 6),)),
        Thread(shop.path_of(_thing(136)), "int(row[1])", (Said("bob", "+1", 7),)),
    )
    bots = shop.three_threads(_thing(119), "review-helper[bot]")
    early = Commit("Name the prices", {"shop/prices.py": Swap("CENTS = 100", "CENTS = 100\nEURO = 100 * CENTS")})
    early_said = (Said("bob", "A euro has a hundred cents, so this number is too large.", 2),)
    return (
        Pull(
            90,
            "Name the prices",
            (Push((early,)),),
            "Fixes #490",
            opened=old,
            threads=(Thread("shop/prices.py", "EURO", early_said),),
        ),
        _pull(101),
        _pull(
            102,
            end="squashed",
            talk=(Said("cy", "We need this for the spring sale.", 12), Said("ann", "Done today.", 13)),
        ),
        _pull(103, forked=50.0),
        _ranged(104),
        _clean(105),
        _clean(106),
        _clean(107),
        _pull(110, end="closed"),
        _pull(111, end="open"),
        _large(112),
        _shell(113),
        _pull(114, title="为产品添加折扣和加载功能"),
        _pull(115, body=german),
        _pull(
            116,
            threads=shop.three_threads(_thing(116))[2:]
            + _on(_thing(116), Said("bob", "A float loses cents on large orders of these.", 6)),
        ),
        _pull(117, pushes=(Push((shop.addition(_thing(117)),)),), verdicts=(Verdict("bob", "APPROVED", 8),)),
        _pull(118, author="upgrade-helper[bot]", threads=shop.three_threads(_thing(118), author="mel")),
        _pull(119, threads=bots, verdicts=(Verdict("mel", "APPROVED", 40, on=1),)),
        _docs(120),
        _pull(121, pushes=(Push((shop.addition(_thing(121)),)), Push((shop.rewriting(_thing(121)),), hours=30))),
        _rebased(122),
        replace(_pull(123), pushes=shop.two_pushes(_thing(101)), threads=shop.three_threads(_thing(101))),
        _generated(124),
        _trivial(125),
        _pull(126, body="Customers asked for discounts, and for a way to load these from a file."),
        _pull(127, body="Customers asked for discounts; the command is `fixes #527` in the old tracker."),
        _pull(128, body=see),
        _pull(129, body="Customers asked for discounts, and for a way to load these from a file.", talk=talk),
        _pull(130, threads=(), verdicts=(Verdict("mel", "APPROVED", 40, on=1),)),
        _pull(131, threads=shop.three_threads(_thing(131), reviewer=GONE)),
        _pull(132, author=GONE, fork_gone=True, threads=shop.three_threads(_thing(132), author=GONE)),
        _pull(133),
        _pull(134),
        _long(135),
        _pull(136, threads=nothing),
        _rename(137),
        _pull(UNSURE),
        _with_readme(139),
    )


def _issues(pulls: tuple[Pull, ...]) -> tuple[Issue, ...]:
    found: list[Issue] = []
    for pull in pulls:
        number = pull.number + 400
        thing = "price" if number < FIRST_ISSUE else _thing(pull.number)
        closed = None if pull.number in (111, 134) else pull.at(pull.ended)
        body = f"At the counter we cannot give a discount on a {thing}."
        talk = (Said("mel", f"Agreed, see #{pull.number}.", 1),) if pull.number == 102 else ()
        found.append(
            Issue(number, f"No discount for {thing}s", body, "uma", pull.opened - timedelta(days=1), closed, talk)
        )
    return tuple(found)


def _directs() -> tuple[Direct, ...]:
    late = days(70)
    return (
        Direct(days(2.5), Commit("Note the opening hours", {"README.md": Swap("A shop.", "A shop, open at nine.")})),
        Direct(days(10), shop.undoing(_thing(101))),
        Direct(late, shop.later_fix(_thing(133), 533)),
    )


def main_project() -> Project:
    """The project that the three paper recipes are tried on."""
    pulls = _pulls()
    files: dict[str, str | bytes] = {shop.path_of(thing): shop.module(thing) for thing in shop.THINGS}
    files |= {"README.md": "# Shop\n\nA shop.\n", "shop/prices.py": "CENTS = 100\n" + "RATE = 7\n" * 8}
    return Project(
        NAME,
        files,
        pulls,
        _issues(pulls),
        _directs(),
        former=("acme/old-shop",),
        languages={"Python": 9000, "Shell": 300},
    )


def search_results() -> list[Json]:
    """What searches find: the project, and others that the rules of the papers drop. Keys with `_` are looked up."""
    rows = [
        ("acme/slow", "Python", 60_000, "2023-01-01T10:00:00Z", 0.9, 9000),
        (NAME, "Python", 50_000, "2025-03-20T10:00:00Z", 0.97, 5001),
        ("acme/mixed", "Python", 40_000, "2025-03-20T10:00:00Z", 0.6, 9000),
        ("acme/small", "Python", 30_000, "2025-03-20T10:00:00Z", 0.9, 5000),
        ("acme/other", "Python", 20_000, "2025-03-20T10:00:00Z", 0.9, 9000),
        ("acme/rare", "COBOL", 90_000, "2025-03-20T10:00:00Z", 0.9, 9000),
    ]
    return [
        {
            "full_name": name,
            "name": name.split("/")[1],
            "owner": user(name.split("/")[0]),
            "language": language,
            "stargazers_count": stars,
            "pushed_at": pushed,
            "archived": False,
            "fork": False,
            "_languages": {language: round(share * 10_000), "Shell": 10_000 - round(share * 10_000)},
            "_items": items,
        }
        for name, language, stars, pushed, share, items in rows
    ]
