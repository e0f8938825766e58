"""Audits: a draw that is random and stable, a table from which no work is lost, and the margins that are printed."""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.core.building import CardSection, Decision
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.shares import margin, wilson
from reviewgauge.stages.sampling.audit import audit_stage, decision_id, draw, table_path
from reviewgauge.stages.sampling.audit_table import LONGEST, read_marks, read_table

BY = "drop_low_value"


def decisions(count: int, said: str = "high") -> list[Decision]:
    return [Decision(item=f"case-{n}", by=BY, shown=f"comment {n}", decided=said, reason="why") for n in range(count)]


def audit(folder: Path, made: list[Decision], n: int = 5, by: str = BY) -> CardSection:
    section = audit_stage(folder, by, made, n)
    assert section is not None
    return section


def table(folder: Path, by: str = BY) -> list[dict[str, str]]:
    text = table_path(folder, by).read_text("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text)))


def fill(folder: Path, marks: dict[str, str], by: str = BY, delimiter: str = ",", **more: str) -> Path:
    """Write marks by id as a person with a spreadsheet does; `more` are further cells of every marked row."""
    path = table_path(folder, by)
    rows = table(folder, by)
    names = [*rows[0], *(name for name in more if name not in rows[0])]
    out = io.StringIO()
    writer = csv.DictWriter(out, names, delimiter=delimiter, lineterminator="\r\n")
    writer.writeheader()
    for row in rows:
        mark = {"correct": marks[row["id"]], **more} if row["id"] in marks else {}
        writer.writerow({**row, **mark})
    path.write_bytes(out.getvalue().encode("utf-8-sig"))
    return path


# --- the draw ------------------------------------------------------------------------------------------------------


@given(st.integers(0, 60), st.integers(1, 20), st.integers(0, 3), st.randoms())
def test_the_draw_does_not_depend_on_the_order(count: int, n: int, seed: int, chance: random.Random) -> None:
    made = decisions(count)
    drawn = draw(made, n, seed)
    assert drawn.population == count
    assert len(drawn.decisions) == min(n, count)
    shuffled = made[:]
    chance.shuffle(shuffled)
    assert list(draw(shuffled, n, seed).decisions) == list(drawn.decisions)
    assert list(draw(made + made, n, seed).decisions) == list(drawn.decisions), "the same decision twice is one row"


@given(st.integers(1, 60), st.integers(0, 20), st.integers(1, 20))
def test_it_is_stable_when_the_source_grows_and_when_more_are_wanted(before: int, new: int, n: int) -> None:
    small, large = draw(decisions(before), n, 0), draw(decisions(before + new), n, 0)
    born = {decision_id(one) for one in decisions(before + new)[before:]}
    assert set(large.decisions) - set(small.decisions) <= born, "what comes in is new"
    assert list(draw(decisions(before), n + 3, 0).decisions)[:n] == list(small.decisions)


# --- the table -----------------------------------------------------------------------------------------------------


def test_what_people_filled_in_is_read_back(tmp_path: Path) -> None:
    made = decisions(40)
    audit(tmp_path, made, 10)
    names = [row["id"] for row in table(tmp_path)]
    path = fill(tmp_path, dict(zip(names[:8], ["y", "Y", "yes", "1", "TRUE", "n", "right", " y "], strict=True)))
    before = path.read_bytes()
    section = audit(tmp_path, made, 10)
    assert path.read_bytes() == before, "a table that needs no new row is not written"
    low, high = wilson(7, 8, 40) or (0.0, 0.0)
    assert section.figures == {
        "decisions": 40, "drawn": 10, "checked": 8, "right": 7, "accuracy": 0.875,
        "margin": round(margin(8, 40) or 0, 6), "low": round(low, 6), "high": round(high, 6),
    }  # fmt: skip
    assert "found 7 right: 87.50%" in section.text
    assert "left blank" not in section.text
    again = audit_stage(tmp_path, BY, made, 0)
    assert again is not None and again.figures == section.figures


def test_blanks_above_a_mark_are_told(tmp_path: Path) -> None:
    made = decisions(40)
    audit(tmp_path, made, 10)
    names = [row["id"] for row in table(tmp_path)]
    fill(tmp_path, {names[0]: "y", names[4]: "n"})
    assert "3 rows above a checked one were left blank" in audit(tmp_path, made, 10).text


@given(st.integers(5, 30), st.integers(0, 30), st.integers(1, 12), st.integers(1, 12), st.data())
def test_no_mark_and_no_note_is_ever_lost(
    tmp_path_factory: pytest.TempPathFactory, before: int, new: int, first: int, second: int, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("audit")
    audit(folder, decisions(before), first)
    names = [row["id"] for row in table(folder)]
    marked = data.draw(st.sets(st.sampled_from(names)))
    fill(folder, dict.fromkeys(marked, "y"), note="=mine; as it\nstands", who="cora")
    audit(folder, decisions(before + new)[data.draw(st.integers(0, 5)) :], second)
    after = {row["id"]: row for row in table(folder)}
    for name in marked:
        assert (after[name]["correct"], after[name]["note"]) == ("y", "=mine; as it\nstands")
        assert after[name]["who"] == "cora"
    assert len([row for row in after.values() if row["correct"]]) == len(marked)


def test_checked_rows_whose_decision_is_gone_stay_and_do_not_count(tmp_path: Path) -> None:
    audit(tmp_path, decisions(10), 4)
    fill(tmp_path, {row["id"]: "y" for row in table(tmp_path)})
    section = audit(tmp_path, decisions(10, "low"), 4)
    assert section.figures["checked"] == 0
    assert len(table(tmp_path)) == 8
    fill(tmp_path, {table(tmp_path)[0]["id"]: "n"})
    section = audit(tmp_path, decisions(10, "low"), 4)
    assert (section.figures["checked"], section.figures["right"]) == (1, 0)
    assert "4 checked rows do not count" in section.text


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_spreadsheets_save_it_in_their_own_ways(tmp_path: Path, delimiter: str) -> None:
    made = [Decision(item="a", by=BY, shown='say "x";\nthen, stop\tnow', decided="low", reason="a,b;c")]
    audit(tmp_path, made)
    fill(tmp_path, {decision_id(made[0]): "y"}, delimiter=delimiter)
    assert audit(tmp_path, made).figures["right"] == 1


HOSTILE = ["=cmd|' /C calc'!A0", "\r=1", "＝1+1", "\x1b[31mred", "a\u202eb", "=" * (LONGEST + 5)]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_in_it_runs_in_a_spreadsheet_or_a_terminal(tmp_path: Path, text: str) -> None:
    made = [Decision(item="a", by=BY, shown=text, decided=text, reason=text)]
    audit(tmp_path, made)
    (row,) = table(tmp_path)
    for column in ("shown", "decided", "reason"):
        assert not row[column].lstrip().startswith(("=", "+", "-", "@", "＝")), column
        assert all(char.isprintable() or char in "\n\t" for char in row[column])
        assert len(row[column]) < 32_767
    fill(tmp_path, {decision_id(made[0]): "y"})
    before = table(tmp_path)
    audit(tmp_path, [*made, *decisions(9)], 1 + 9)
    assert before[0] in table(tmp_path), "what was made harmless once is not changed again"


@pytest.mark.parametrize(("content", "problem"), [
    (b"id,shown,decided,reason,correct,note\nx1,,,,maybe,\n", "line 2, field correct: 'maybe' is neither y nor n"),
    (b"id,correct\nx1,y\n\nx1,n\n", "line 4, field id: x1 occurs twice, with different marks"),
    (b"id,correct\n,y\n", "line 2, field id: is empty"),
    (b"name,right\nx1,y\n", "line 1: has no columns id and correct"),
    (b"", "line 1: has no columns id and correct"),
    ("id,correct\nx1,y\n".encode("utf-16"), r"is not UTF-8 \(byte 1\)"),
    (b"id,correct,note\nx1,y,\xfc\n", r"is not UTF-8 \(byte 22\)"),
    (b'id,correct\nx1,"' + b"y" * 200_000 + b"\n", "cannot be read"),
])  # fmt: skip
def test_a_table_that_cannot_be_read_is_one_clear_line_and_is_left_alone(
    tmp_path: Path, content: bytes, problem: str
) -> None:
    path = table_path(tmp_path, BY)
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(BadInput, match=problem):
        audit(tmp_path, decisions(3))
    assert path.read_bytes() == content


def test_short_rows_blank_rows_and_the_same_row_twice_are_read(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("ID,Correct,note\nx1,y\n,,\nx1,y\nx2\n")
    rows = read_table(path).rows
    assert {name: row.correct for name, row in rows.items()} == {"x1": True, "x2": None}
    assert read_table(tmp_path / "none.csv").rows == {}


def test_a_folder_that_takes_no_file_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "audit").write_text("")
    with pytest.raises(UserError, match=r"cannot (read|write)"):
        audit(tmp_path, decisions(3))


def test_nothing_to_draw(tmp_path: Path) -> None:
    assert audit_stage(tmp_path, BY, decisions(3), 0) is None
    assert not (tmp_path / "audit").exists()
    assert audit(tmp_path, []).text == "The model decided nothing in this build."


def test_a_table_a_stage_and_setting() -> None:
    names = [
        table_path(Path(), by).name
        for by in ("augment", "merge_same(judge='lexical')", "merge_same(judge='fake:rules')")
    ]
    assert names[0] == "augment.csv"
    assert len(set(names)) == 3
    assert names[1].startswith("merge_same-")
    assert table_path(Path(), "../../etc/x(y=1)").name.startswith("etc_x-")
    assert table_path(Path(), "...").name == "stage.csv"


def test_three_raters_are_counted_by_what_most_say_and_their_agreement_comes_out(tmp_path: Path) -> None:
    """ContextCRBench, 2.3.3: three people mark 300 decisions on their own."""
    made = decisions(40)
    audit(tmp_path, made, 10)
    names = [row["id"] for row in table(tmp_path)]
    blank = (tmp_path / "audit" / "drop_low_value.csv").read_bytes()
    for rater, wrong in (("", ()), ("-Bob", names[:1]), ("-Cy", names[:2])):
        fill(tmp_path, {name: "n" if name in wrong else "y" for name in names})
        (tmp_path / "audit" / f"marked{rater}.csv").write_bytes((tmp_path / "audit/drop_low_value.csv").read_bytes())
        (tmp_path / "audit" / "drop_low_value.csv").write_bytes(blank)
    for rater in ("", "-Bob", "-Cy"):
        (tmp_path / "audit" / f"marked{rater}.csv").rename(tmp_path / "audit" / f"drop_low_value{rater}.csv")
    section = audit(tmp_path, made, 10)
    figures = {name: section.figures[name] for name in ("checked", "right")}
    assert figures == {"checked": 10, "right": 9}
    marks = read_marks(table_path(tmp_path, BY))
    assert marks.raters == ["bob", "cy", "first"]
    assert marks.by_row[names[0]] == {"first": True, "bob": False, "cy": False}
    (tmp_path / "audit" / "drop_low_value-first.csv").write_bytes(blank)
    with pytest.raises(BadInput, match="not the sheet of one rater more"):
        audit(tmp_path, made, 10)
