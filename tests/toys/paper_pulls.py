"""The recorded pull requests `papers`: what is special about each, and which filter of a paper's recipe drops it.

All but what is named here is as in a good one: merged Python, English, a linked closed issue, three threads of which
one is adopted.
"""

from __future__ import annotations

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
UNSURE_FILE = "shop/mirrors.py"
