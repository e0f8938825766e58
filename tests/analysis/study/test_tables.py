"""The tables of a study: figures that are known beforehand, sums that are asserted, and papers that are checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import resources

import numpy as np
import pytest

import validity_toys
from reviewgauge.analysis.study.material import Contender, Material
from reviewgauge.analysis.study.tables import study_tables, with_published
from reviewgauge.core.document import Document, Table, Value
from reviewgauge.core.protocols import Metric
from reviewgauge.core.records import Case, Change, Review, Usage
from reviewgauge.core.reports.study import Trouble
from reviewgauge.core.results import CommentOutcome, CommentState, GroupOutcome, Matching, Outcome, Score
from reviewgauge.core.specs import load, signature
from reviewgauge.core.study import Published, TableEntry, read_study
from reviewgauge.engine.run.scored_run import ScoredRun
from reviewgauge.metrics.matching.counts import recall_parts
from reviewgauge.views.pages import document_page
from reviewgauge.views.study_files import table_files
from reviewgauge.views.validity.metric_tables import VIEWS
from reviewgauge.views.values import shown

HITS = load(Metric, "hits")
# By case and finding: who hits it in which attempt.
FOUND: Mapping[str, Mapping[str, Mapping[str, Sequence[int]]]] = {
    "a": {"a1": {"one": (1, 2), "two": (1,)}, "a2": {"one": (1,)}},
    "b": {"b1": {"two": (2,)}},
    "c": {"c1": {}, "c2": {"one": (1, 2), "two": (1, 2)}},
}
PRICE = {"one": 0.5, "two": 0.1, "dear": 0.9}


def score(case: str, system: str, attempt: int) -> Score:
    findings = FOUND[case]
    hit = {name: attempt in by.get(system, ()) for name, by in findings.items()}
    groups = tuple(
        GroupOutcome(group=name, members=(name,), hit=own, probability=float(own)) for name, own in hit.items()
    )
    right = float(sum(hit.values()))
    said = {"comments": right, "said": right, "right": right, "right_least": right, "right_most": right}
    parts = {"changes": 1.0, "said_most": right, **said, **recall_parts(groups)}
    facet = {level: recall_parts([g for g in groups if (g.group[1] == "1") == (level == "diff")]) for level in LEVELS}
    return Score(
        case=case,
        system=system,
        attempt=attempt,
        metric=signature(HITS),
        benchmark="h",
        parts=parts,
        facets={"needs": {level: own for level, own in facet.items() if own["references"]}},
        matching=Matching(
            policy="optimal",
            groups=groups,
            comments=tuple(CommentOutcome(comment=n, state=CommentState.MATCHED, group=n) for n, h in hit.items() if h),
        ),
    )


LEVELS = ("diff", "file")


def material() -> Material:
    cases = [
        Case(id=name, change=Change(repo="r/r", base="0", head="1"), facts={"language": "go" if name == "c" else "c"})
        for name in FOUND
    ]
    systems = ("one", "two", "dear")
    scores = [score(case, system, attempt) for system in systems for case in FOUND for attempt in (1, 2)]
    usage = {name: Usage(calls=1, tokens_in=10, dollars=price) for name, price in PRICE.items()}
    outcomes = [
        Outcome(case=s.case, system=s.system, attempt=s.attempt, review=Review(case=s.case, system=s.system, usage=u))
        for s in scores
        for u in [usage[s.system]]
    ]
    contenders = [
        Contender("one", "one", {"model": "m", "context": "none"}),
        Contender("two", "two", {"model": "m", "context": "file"}),
        Contender("dear", "dear", {"model": "n", "context": "none"}),
        Contender("gone", "gone", {"model": "n", "context": "file"}, "failed: network"),
    ]
    run = ScoredRun(HITS, cases, scores, "data", "h", outcomes)
    return Material("bench", "data", "h", cases, contenders, (HITS,), {HITS: run}, {}, outcomes, (), 200, 0)


def tables(*entries: TableEntry) -> tuple[list[Table], list[Trouble]]:
    return study_tables(entries, {"bench": material()}, {})


def rows(table: Table) -> dict[str, tuple[Value, ...]]:
    return {row[0].text: row for row in table.rows}


def test_a_cell_without_a_result_is_named_and_never_zero() -> None:
    (board, sliced, cost, spread), troubles = tables(
        TableEntry(kind="leaderboard", measures=("recall",)),
        TableEntry(kind="slices", by="language", measures=("recall",)),
        TableEntry(kind="cost", measures=("recall",)),
        TableEntry(kind="attempts"),
    )
    assert not troubles
    for table in (board, sliced, cost, spread):
        assert rows(table)["gone"][1] == Value(text="failed: network")
    assert [row[0].text for row in board.rows] == ["one", "two", "dear", "gone"]
    assert rows(board)["one"][1].value == pytest.approx((2 + 1 + 0 + 0 + 1 + 1) / 10)
    assert rows(board)["one"][-1].text == "3/3"


def test_relative_gain_of_a_group_and_what_has_no_partner() -> None:
    (table,), _ = tables(
        TableEntry(
            kind="ablation", axis="context", baseline="none", across="model", measures=("recall",),
            groups={"small": ("m",), "both": ("m", "n"), "absent": ("x",)},
        )
    )  # fmt: skip
    assert table.titles == ("context", "m", "n", "small: mean", "small: gain", "both: mean", "both: gain")
    none, file = rows(table)["none"], rows(table)["file"]
    assert none[3].value == pytest.approx(0.5) and none[4].text == ""
    assert file[3].value == pytest.approx(0.4) and file[4].value == pytest.approx(-0.2)
    assert file[4].unit == "gain" and file[4].low is not None and file[4].low <= -0.2 <= (file[4].high or 0)
    assert none[5].value == pytest.approx((0.5 + 0.0) / 2)
    assert file[5].text == file[6].text == "–"  # one of the two is missing: no mean of the rest


def test_the_mean_over_an_axis_is_the_mean_of_its_members_and_of_no_part_of_them() -> None:
    whole = material()
    named = [replace(one, name=f"{one.coordinates['context']}, {one.coordinates['model']}") for one in whole.contenders]
    entry = TableEntry(kind="leaderboard", measures=("recall",), mean="model")
    sliced = TableEntry(kind="slices", by="language", measures=("recall",), mean="model", reviewers=("none, Mean",))
    turned = sliced.model_copy(update={"name": "turned", "rows": "slices", "counts": ("hit", "hit per change")})
    (board, radar, by_slice), troubles = study_tables(
        [entry, sliced, turned], {"bench": replace(whole, contenders=named)}, {}
    )
    assert not troubles
    one, dear, mean = (rows(board)[name][1] for name in ("none, m", "none, n", "none, Mean"))
    assert mean.value == pytest.approx(((one.value or 0) + (dear.value or 0)) / 2) and mean.low is not None
    assert rows(board)["file, Mean"][1].text == "file, n: failed: network", "no mean of the rest"
    assert "means over model: none, Mean: of 2; file, Mean: of 2" in board.notes
    assert [row[0].text for row in radar.rows] == ["none, Mean"]
    assert rows(radar)["none, Mean"][1].value == pytest.approx(mean.value)
    hits, each = rows(by_slice)["all"][1:3]
    assert each.value == pytest.approx((hits.value or 0) / 3) and each.n == 3


def test_who_found_what() -> None:
    (by_set, by_number), _ = tables(TableEntry(kind="overlap", reviewers=("one", "two")))
    assert {row[0].text: row[1].value for row in by_set.rows} == {
        "one & two": 2.0, "one": 1.0, "two": 1.0, "nobody": 1.0,
    }  # fmt: skip
    assert {row[0].text: row[1].value for row in by_number.rows} == {"0": 1.0, "1": 2.0, "2": 2.0}
    assert sum(row[2].value or 0 for row in by_set.rows) == pytest.approx(1)
    assert all(row[2].n == 5 and row[2].low is not None for row in by_set.rows)


def test_who_failed_is_named_and_missed_nothing() -> None:
    whole = material()
    scores = [s for s in whole.runs[HITS].scores if (s.system, s.case) != ("two", "c")]
    run = ScoredRun(HITS, list(whole.cases), scores, "data", "h", list(whole.outcomes))
    entries = [TableEntry(kind="overlap"), TableEntry(kind="cost"), TableEntry(kind="slices", by="language")]
    found, troubles = study_tables(entries, {"bench": replace(whole, runs={HITS: run})}, {})
    assert not troubles
    assert {row[0].text: row[1].value for row in found[0].rows} == {"one & two": 1.0, "one": 1.0, "two": 1.0}
    assert found[0].notes[0].startswith("3 findings of the 2 of 3 changes that all of these were scored on;")
    for table in found:
        assert {"two: not scored on 1 of 3 changes", "gone: failed: network"} <= set(table.notes)


def test_notes_are_of_the_reviewers_that_a_table_shows_and_call_them_as_it_does() -> None:
    whole = material()
    contenders = [replace(one, name=one.name.title()) for one in whole.contenders]
    scores = [s for s in whole.runs[HITS].scores if s.case != "c" or s.system == "dear"]
    run = ScoredRun(HITS, list(whole.cases), scores, "data", "h", list(whole.outcomes))
    made = replace(whole, contenders=contenders, runs={HITS: run})
    entries = [TableEntry(kind="leaderboard", reviewers=("One", "Two")), TableEntry(kind="slices", by="needs")]
    entries.append(entries[1].model_copy(update={"reviewers": ("One",), "name": "own"}))
    entries.append(TableEntry(kind="leaderboard", reviewers=("Gone",), name="gone"))
    (board, every, own, _), troubles = study_tables(entries, {"bench": made}, {})
    assert not troubles and "One: of 3 cases 1 not run or not scored" in board.notes
    assert not any("dear" in note or "one" in note.split() for note in board.notes)
    assert "diff 3, file 2" in every.notes[0] and "diff 2, file 1" in own.notes[0]


def test_an_ablation_says_what_it_shows() -> None:
    (table,), _ = tables(TableEntry(kind="ablation", axis="context", baseline="none", across="model"))
    assert table.notes == ("figures: F1 (share); gain: of the mean over none, relative", "gone: failed: network")


def test_which_runs_found_what() -> None:
    (by_set, _), _ = tables(TableEntry(kind="overlap", of="attempts", reviewers=("two",)))
    found = {row[0].text: row[1].value for row in by_set.rows}
    assert found == {"attempt 1 & attempt 2": 1.0, "attempt 1": 1.0, "attempt 2": 1.0, "nobody": 2.0}


def test_the_frontier_holds_whom_nobody_beats() -> None:
    (table,), _ = tables(TableEntry(kind="cost", measures=("recall",)))
    assert {name: row[-1].text for name, row in rows(table).items()} == {
        "one": "yes", "two": "yes", "dear": "no", "gone": "–",
    }  # fmt: skip
    assert rows(table)["one"][1].value == pytest.approx(0.5) and rows(table)["one"][1].unit == "dollars"


def test_reviews_by_grade() -> None:
    (table,), _ = tables(TableEntry(kind="distribution", measures=("recall",), reviewers=("one", "two")))
    assert table.titles == ("reviewer", "0", "0.5", "1", "reviews", "mean")
    assert [cell.value for cell in rows(table)["one"][1:4]] == [2.0, 3.0, 1.0]


@pytest.mark.parametrize(("by", "columns"), [("language", ("c", "go")), ("needs", ("diff", "file"))])
def test_slices_add_up(by: str, columns: tuple[str, ...]) -> None:
    (table,), troubles = tables(TableEntry(kind="slices", by=by, measures=("recall",), reviewers=("one", "two")))
    assert not troubles and table.titles == ("reviewer", "all", *columns)
    (turned,), _ = tables(
        TableEntry(
            kind="slices", by=by, rows="slices", measures=("recall",), counts=("references",), reviewers=("one",)
        )
    )
    assert turned.titles == (by, "references", "recall") and turned.rows[-1][0].text == "all"
    weighted = sum((row[1].value or 0) * (row[2].value or 0) for row in turned.rows[:-1])
    assert weighted / (turned.rows[-1][1].value or 1) == pytest.approx(turned.rows[-1][2].value)


def test_what_a_table_names_wrongly_is_a_trouble_of_that_table_alone() -> None:
    made, troubles = tables(
        TableEntry(kind="slices", by="colour"),
        TableEntry(kind="leaderboard", measures=("beauty",), name="b"),
        TableEntry(kind="leaderboard", reviewers=("nobody*",), name="n"),
        TableEntry(kind="attempts"),
    )
    assert [table.name for table in made] == ["attempts"]
    assert ["colour" in troubles[0].why, "no measure 'beauty'" in troubles[1].why, "nobody*" in troubles[2].why] == [
        True
    ] * 3


# --- papers ----------------------------------------------------------------------------------------------------------


def test_a_papers_values_stand_beside_ours_and_its_other_rows_below() -> None:
    paper = Published(
        source="Table 1", percent=True, values={"one": {"recall": 40.0}, "GPT": {"recall": 7.0, "x": 1.0}}
    )
    (table,), _ = tables(TableEntry(kind="leaderboard", measures=("recall",), published=paper))
    assert rows(table)["one"][1].published == pytest.approx(0.4) and rows(table)["one"][1].value is not None
    assert rows(table)["GPT (published)"][1].published == pytest.approx(0.07)
    assert rows(table)["GPT (published)"][1].value is None
    assert table.notes[-1] == "published: Table 1" and "other (published)" not in rows(table)
    assert "do not compare" in with_published(table, paper, elsewhere="sample").notes[-1]


def test_crscores_edit_distance_is_turned_for_the_similarity() -> None:
    text = (resources.files("reviewgauge") / "studies" / "crscore.toml").read_bytes()
    papers = {table.name: table.published for table in read_study(text, "crscore.toml").table if table.published}
    for table, row in (("table3", "edit: similarity"), ("table9", "edit: similarity, rel")):
        assert papers[table].values[row]["Spearman"] == -0.0249 and "signs of edit turned" in papers[table].note


def test_columns_stand_as_in_the_paper_and_the_best_by_the_headline_first() -> None:
    paper = Published(source="Table 4", percent=True, values={"variance": {"recall": 189.96}})
    entry = TableEntry(kind="leaderboard", measures=("recall", "f1"), spread=True, published=paper)
    (table,), _ = tables(entry)
    assert table.titles == ("reviewer", "recall", "F1", "scored") and table.plot and table.plot.columns == (2,)
    found = [row[2].value or 0 for row in table.rows[:3]]
    assert found == sorted(found, reverse=True)
    recalls = [row[1].value for row in table.rows[:3]]
    assert rows(table)["mean"][1].value == pytest.approx(np.mean(recalls))  # type: ignore[arg-type]
    assert rows(table)["variance"][1].value == pytest.approx(np.var(recalls))  # type: ignore[arg-type]
    assert rows(table)["variance"][1].published == pytest.approx(0.018996)


def test_published_counts_of_finders_stand_beside_ours() -> None:
    paper = Published(source="Table 8", values={"0": {"findings": 360}, "2": {"findings": 107}})
    (by_set, by_number), _ = tables(TableEntry(kind="overlap", published=paper))
    assert not any(cell.published for row in by_set.rows for cell in row)
    assert [rows(by_number)[size][1].published for size in ("0", "1", "2")] == [360, None, 107]


def test_how_far_a_metric_parts_two_grades() -> None:
    report = validity_toys.report()
    bleu = report.metrics[0]
    paper = Published(source="Table 6", values={f"1, {bleu.label}": {"2": 0.26}})
    entry = TableEntry(kind="validity", dimension="grade", of="grades", published=paper)
    (table,), troubles = study_tables([entry], {"bench": material()}, {"bench": report})
    assert not troubles and table.titles == ("grade", "metric", "2", "3", "4", "5")
    (row,) = [row for row in table.rows if (row[0].text, row[1].text) == ("1", bleu.label)]
    cell = next(cell for cell in bleu.ks if (cell.first, cell.second) == (1, 2))
    assert (row[2].value, row[2].published) == (cell.statistic, 0.26)
    assert not any(cell.published for cell in row[3:])


def test_an_order_of_few_systems_that_never_changes_has_no_interval() -> None:
    report = validity_toys.report()
    entry = TableEntry(kind="validity", dimension="grade")
    (before,), _ = study_tables([entry], {"bench": material()}, {"bench": report})
    first = report.metrics[0]
    assert first.ranking is not None and "judged by people and scored" in before.provenance
    sure = first.ranking.spearman.model_copy(update={"value": 1.0, "low": 1.0, "high": 1.0})
    ranked = first.model_copy(update={"ranking": first.ranking.model_copy(update={"spearman": sure})})
    changed = report.model_copy(update={"metrics": (ranked, *report.metrics[1:])})
    (table,), _ = study_tables([entry], {"bench": material()}, {"bench": changed})
    cell = rows(table)[before.rows[0][0].text][3]
    assert (cell.value, cell.low, cell.high) == (1.0, None, None)
    assert "every resample orders them alike" in table.notes[-1]


def test_agreement_with_people_by_a_fact_of_the_changes() -> None:
    report = validity_toys.report()
    first, fact = report.metrics[0], report.metrics[0].slices[0].fact
    label = f"{first.label} ({first.slices[0].value})"
    paper = Published(source="Table 11", values={label: {"Kendall": 0.13}})
    entry = TableEntry(kind="validity", metrics=(first.label,), by=fact, measures=("Kendall",), published=paper)
    (table,), troubles = study_tables([entry], {"bench": material()}, {"bench": report})
    assert not troubles
    of = [row for row in first.slices if row.fact == fact]
    own = [row for name, row in rows(table).items() if name.startswith(f"{first.label} (")]
    assert [row[1].value for row in own] == [part.kendall.value for part in of]
    assert rows(table)[label][1].published == 0.13 and own[0][1].n == of[0].kendall.n
    _, (trouble,) = study_tables([entry.model_copy(update={"by": "moon"})], {"bench": material()}, {"bench": report})
    assert "no agreement by 'moon'" in trouble.why and fact in trouble.why


def test_the_figures_of_validity_are_chosen_with_their_p_values_and_the_reports_own_tables_are_taken() -> None:
    report = validity_toys.report()
    first = report.metrics[0]
    entry = TableEntry(kind="validity", measures=("Spearman", "Spearman p", "accuracy"), metrics=(first.label,))
    names = ("classes", "distribution", "heat map", "systems")
    others = [TableEntry(kind="validity", name=of, of=of, metrics=(first.label,)) for of in names]
    (table, *found), troubles = study_tables([entry, *others], {"bench": material()}, {"bench": report}, views=VIEWS)
    assert not troubles and [one.name for one in found] == list(names)
    figure = first.correlations[0].spearman
    row = rows(table)[table.rows[0][0].text]
    assert (row[1].value, row[2].value, row[2].unit) == (figure.value, figure.p, "p")
    assert row[3].value == next(one.accuracy.value for one in first.classifiers if one.name == "decision tree")
    assert {one.label for one in report.metrics if not one.baseline and one.label != first.label}.isdisjoint(
        rows(table)
    )
    by_grade = {row[0].text: row for row in found[1].rows}
    assert by_grade["1"][4].value == next(one.median.value for one in first.grades if one.grade == 1)
    wrong = entry.model_copy(update={"measures": ("Pearson",)})
    _, troubles = study_tables([wrong], {"bench": material()}, {"bench": report})
    assert "'Pearson' is not a figure of this table (there is: Spearman, Kendall" in troubles[0].why


def test_three_digits_where_a_paper_prints_more_than_two() -> None:
    entry = TableEntry(kind="leaderboard", measures=("recall", "precision"), published=Published(
        source="p", values={"one": {"recall": 0.123, "precision": 0.5}}
    ))  # fmt: skip
    (table,), _ = tables(entry)
    assert [column.digits for column in table.columns[1:3]] == [3, 2]
    assert shown(Value(value=0.5, published=0.1234), table.columns[1]) == ".500 {.123}"
    page = table_files([table])["tables/leaderboard.md"] + document_page(Document(headline="t", blocks=(table,)))
    assert "{.123}" in page and "paper .123" in page and "paper .50" in page
