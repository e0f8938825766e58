"""Texts in cells: an apostrophe keeps a spreadsheet from running one as a formula.

The characters are those that Excel, LibreOffice and Google Sheets take for the start of a formula, also behind blanks
and in their full-width forms. Source: OWASP, CSV injection.
"""

from __future__ import annotations

_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
_BLANK = ("\t", "\r", "\n")  # a cell that starts with one of these is read from the next character on


def escape_cell(text: str) -> str:
    """`text` with an apostrophe before it where a spreadsheet would run it."""
    return "'" + text if _runs(text) else text


def unescape_cell(text: str) -> str:
    """The text that `escape_cell` was given."""
    return text[1:] if text.startswith("'") and _runs(text[1:]) else text


def _runs(text: str) -> bool:
    """Whether the text is a formula, also one that is escaped already: so that escaping can always be undone."""
    bare = text.lstrip("'")
    return bare.startswith(_BLANK) or bare.lstrip().startswith(_FORMULA)
