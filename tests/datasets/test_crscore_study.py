from __future__ import annotations

import csv
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from reviewgauge.core.base import Fact
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.labels import Label, SubjectKind
from reviewgauge.core.protocols import Dataset
from reviewgauge.core.records import Case, Review
from reviewgauge.core.specs import load, signature
from reviewgauge.datasets.crscore_study import AGREEMENT_FILES, CrscoreStudy
from reviewgauge.datasets.files.crscore_judgements import WORDS
from reviewgauge.repo.diff.diffs import parse_patch

OFFICIAL = ("python", "java")  # the languages whose files the fixture holds
LIKERT = ("con", "comp", "rel")
Read = tuple[Sequence[Case], Sequence[Review], Sequence[Label]]


@pytest.fixture(scope="module")
def real(shared_data: Path) -> CrscoreStudy:
    return CrscoreStudy(path=str(shared_data / "crscore"))


@pytest.fixture(scope="module")
def read(real: CrscoreStudy) -> Read:
    return (real.cases(), *real.recorded())


def language(label: Label) -> str:
    return label.subject.case.partition("-")[0]


def twice(labels: Sequence[Label], dimension: str, batch: str | None = None) -> list[tuple[Fact, Fact]]:
    """The values of both raters, by item."""
    found: defaultdict[object, dict[str, Fact]] = defaultdict(dict)
    for label in labels:
        if label.dimension == dimension and (batch is None or label.batch == batch):
            found[label.subject, label.round][label.rater] = label.value
    return [(by["marcus"], by["atharva"]) for by in found.values() if len(by) == 2]


def alpha(labels: Sequence[tuple[Fact, Fact]]) -> float:
    """Krippendorff's ordinal alpha of two raters without gaps, straight from Krippendorff (2004), chapter 11."""
    pairs = [(float(a), float(b)) for a, b in labels]
    counts = Counter(value for pair in pairs for value in pair)
    values, n = sorted(counts), 2 * len(pairs)

    def apart(a: float, b: float) -> float:
        low, high = min(a, b), max(a, b)
        return (sum(counts[v] for v in values if low <= v <= high) - (counts[a] + counts[b]) / 2) ** 2

    observed = sum(apart(a, b) for a, b in pairs) / len(pairs)
    expected = sum(counts[a] * counts[b] * apart(a, b) for a in values for b in values) / (n * (n - 1))
    return 1 - observed / expected


def kappa(pairs: Sequence[tuple[Fact, Fact]]) -> float:
    """Cohen's kappa (1960)."""
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    chance = sum(first[v] * second[v] for v in first) / len(pairs) ** 2
    return (sum(a == b for a, b in pairs) / len(pairs) - chance) / (1 - chance)


# --- the published figures -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_published_alphas(read: Read) -> None:
    """Section 4.2: .8868 / .8505 / .8806 on the 90 reviews of rows 800 to 899; all 190 reviews give less."""
    labels = read[2]
    published = [twice(labels, name, "800-899") for name in LIKERT]
    assert [len(pairs) for pairs in published] == [90, 90, 90]
    assert [round(alpha(pairs), 4) for pairs in published] == [0.8868, 0.8505, 0.8806]
    every = [twice(labels, name) for name in LIKERT]
    assert [len(pairs) for pairs in every] == [190, 190, 190]
    assert [round(alpha(pairs), 4) for pairs in every] == [0.8167, 0.7859, 0.8158]


def test_the_published_kappa(read: Read) -> None:
    """Section 4.1: .804 on 100 claims: the last of the 115 Python rows that both raters coded."""
    pairs = twice(read[2], "accuracy", "395-494")
    assert len(pairs) == 100
    assert round(kappa(pairs), 4) == 0.8043
    coded = {label.value for label in read[2] if label.dimension == "accuracy"}
    assert coded <= {*WORDS.values(), "missing"}, (
        "codes without an order are words, so that no weighted coefficient is made"
    )
    both = [p for p in Counter((x.subject, x.rater) for x in read[2] if x.dimension == "accuracy").values() if p > 1]
    assert not both
    per_language = Counter(
        claim.case.partition("-")[0]
        for claim, n in Counter(label.subject for label in read[2] if label.dimension == "accuracy").items()
        if n == 2
    )
    assert per_language == {"py": 115, "java": 16}


def test_882_reviews_of_each_language_have_one_rating(real: CrscoreStudy, read: Read) -> None:
    """The reviews behind Tables 3, 9 and 11; the reliability test must not add to them."""
    assert real.human_systems == ("msg",)
    study = [label for label in read[2] if label.round is None]
    for dimension in LIKERT:
        own = [x for x in study if x.dimension == dimension]
        assert len({x.subject for x in own}) == len(own)
        assert Counter(language(x) for x in own) == {"py": 980, "java": 979}
        rows = [x for x in own if x.subject.system not in real.human_systems]
        assert Counter(language(x) for x in rows) == {"py": 882, "java": 882}
        assert all(1 <= float(x.value) <= 5 for x in own)


def test_normalised_means(read: Read) -> None:
    """Mean human scores by system, as (x - 1) / 4: the order of the paper's Table 10 holds in both languages."""
    values: defaultdict[str, list[float]] = defaultdict(list)
    for label in read[2]:
        if label.dimension == "rel" and label.round is None and label.subject.system is not None:
            values[label.subject.system].append((float(label.value) - 1) / 4)
    means = {system: sum(found) / len(found) for system, found in values.items()}
    assert max(means, key=means.__getitem__) == "gpt3.5" and min(means, key=means.__getitem__) == "knn"
    assert len(means) == 10


# --- what is in the files ------------------------------------------------------------------------------------------


def test_cases(read: Read) -> None:
    cases = read[0]
    assert Counter(case.facts["language"] for case in cases) == {"python": 100, "java": 100}
    assert all(len(case.references) == 1 and case.references[0].body.strip() for case in cases)
    for case in cases:
        (file,) = case.change.files
        assert len(parse_patch(file.patch or "")) == 1
        assert [claim.id for claim in case.claims] == [str(n + 1) for n in range(len(case.claims))]
    claims = Counter((c.facts["language"], q.kind, q.source, q.status) for c in cases for q in c.claims)
    assert claims == {
        ("python", "claim", "model", "correct"): 348, ("python", "claim", "annotator", "added"): 23,
        ("python", "issue", "analyser", None): 1, ("java", "claim", "model", "correct"): 329,
        ("java", "claim", "annotator", "added"): 37, ("java", "issue", "analyser", None): 35,
        ("java", "claim", "", None): 3,
    }  # fmt: skip


def test_links_are_places_in_the_list(read: Read) -> None:
    cases, _, labels = read
    known = {(case.id, claim.id) for case in cases for claim in case.claims}
    links = [x for x in labels if x.dimension == "addressed"]
    study = [x for x in links if x.round is None]
    assert all(x.subject.kind is SubjectKind.LINK and x.subject.system for x in links)
    assert {(x.subject.case, x.subject.claim) for x in study} <= known
    assert Counter(x.value for x in study)[1] == 1415
    older = {x.subject.claim for x in links if x.round and (x.subject.case, x.subject.claim) not in known}
    assert older and all(re.fullmatch(r"a\d+", claim or "") for claim in older)
    assert {x.value for x in links if x.batch == "900-999"} == {0, 0.5, 1}
    assert {x.value for x in links if x.batch == "800-899"} == {0, 1}


@pytest.mark.slow
def test_what_was_left_out_is_counted(real: CrscoreStudy) -> None:
    found = {note.reason: note.item for note in real.notes()}
    assert "javascript" in found["none of its files is present: the language is left out"]
    assert found["not rated"] == "java-3861 (1 of 10 reviews)"
    assert found["rated, but no links"] == "java-3861 by deepseekcoder"
    assert found["addresses a claim that is not in the list"].startswith("3: java-1632 by gpt3.5 (marcus): 5 of 3")
    unrated = next(item for reason, item in found.items() if reason.startswith("none of its reviews was rated"))
    assert unrated == "4: py-2051, py-5201, java-8559, java-9437"
    assert next(item for reason, item in found.items() if reason.startswith("coded -2")) == (
        "2: python: 74 generated claims, java: 79 generated claims"
    )


def test_generated_claims(shared_data: Path, read: Read) -> None:
    data = CrscoreStudy(path=str(shared_data / "crscore"), claims="generated")
    cases = {case.id: case for case in data.cases()}
    wrong = [q for case in cases.values() for q in case.claims if q.status == "incorrect"]
    assert len(wrong) == 50 + 55
    coded = [label for label in read[2] if label.dimension == "accuracy" and label.value != "missing"]
    assert {(x.subject.case, x.subject.claim) for x in coded} <= {
        (case.id, claim.id) for case in cases.values() for claim in case.claims
    }
    assert load(Dataset, signature(data)) == data


# --- small files ---------------------------------------------------------------------------------------------------

PHASE1 = ["id", "index", "diff", "claim", "Correctness\n0 - incorrect\n1 - correct", "additional claims"]
PHASE2 = [
    *("id", "index", "diff", "claim_no", "claim", "necessary?", "type", "review", "system", "claims addressed"),
    *("Con (P)", "Comp (R)", "Rel (F)"),
]
DIFF = "@@ -1 +1 @@\n-a\n+b\n"
CODED: list[list[object]] = [[9, 7, DIFF, "It renames a.", 1, ""], ["", "", "", "It is wrong.", 0, "It is short."]]
RATED: list[list[object]] = [
    [9, 7, DIFF, 1, "It renames a.", 1, "claim", "Why b?", "one_pred", "1", 5, 2, 3],
    ["", "", "", 2, "It is short.", 0, "claim", "Fine.", "msg", "-", 1, 1, 1],
]


def table(file: Path, head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([head, *rows])


def small(
    folder: Path, coded: Sequence[Sequence[object]] = CODED, rated: Sequence[Sequence[object]] = RATED, code: str = "js"
) -> CrscoreStudy:
    for rater in ("marcus", "atharva"):
        table(folder / f"phase1/{code}_claim_acc_annot_{rater}.csv", PHASE1, coded)
        table(folder / f"phase2/{code}_{rater}_review_qual_final.csv", PHASE2, rated)
    return CrscoreStudy(path=str(folder))


def test_a_language_whose_files_are_there_is_read(tmp_path: Path) -> None:
    data = small(tmp_path)
    (case,) = data.cases()
    assert (case.id, case.facts["language"], case.references[0].body) == ("js-7", "javascript", "Fine.")
    assert [(claim.body, claim.status) for claim in case.claims] == [
        ("It renames a.", "correct"),
        ("It is short.", "added"),
    ]
    _, labels = data.recorded()
    assert {x.dimension: x.value for x in labels if x.subject.system == "one" and x.subject.claim is None} == {
        "con": 5,
        "comp": 2,
        "rel": 3,
    }
    links = {(x.subject.system, x.subject.claim): x.value for x in labels if x.dimension == "addressed"}
    assert links == {("one", "1"): 1, ("one", "2"): 0, ("msg", "1"): 0, ("msg", "2"): 0}
    assert data.claim_counts("javascript") == {"correct": 1, "incorrect": 1, "added": 1}
    items = [note.item for note in data.notes()]
    assert items == ["2: python, java", "the reliability test"]


@pytest.mark.parametrize("cell", ["1.2", "1 2", "one", "1,"])
def test_links_are_never_guessed(tmp_path: Path, cell: str) -> None:
    rows = [[*RATED[0][:9], cell, *RATED[0][10:]], RATED[1]]
    data = small(tmp_path, rated=rows)
    assert not [x for x in data.recorded()[1] if x.dimension == "addressed" and x.subject.system == "one"]
    assert any("unreadable, no links" in note.reason for note in data.notes())


def without(place: int, value: object, row: int = 0) -> list[list[object]]:
    return [[*r[:place], value, *r[place + 1 :]] if n == row else list(r) for n, r in enumerate(RATED)]


@pytest.mark.parametrize(("rated", "message"), [
    (without(10, 6), "row 0, field Con (P): '6' is not a whole number from 1 to 5"),
    (without(10, 2.5), "row 0, field Con (P): '2.5' is not a whole number"),
    (without(12, "nan", 1), "row 1, field Rel (F): 'nan' is not a whole number"),
    (without(1, ""), "row 0, field index: is empty in the first row"),
    (without(1, "seven"), "row 0, field index: 'seven' is not a whole number"),
    (without(2, "a diff"), "row 0, field diff: does not begin with a hunk header"),
    (without(8, "one", 1), "row 1, field system: 'one' reviewed js-7 twice"),
    (without(5, "maybe"), "field necessary?: 'maybe' is not a whole number from 0 to 1"),
    ([RATED[0], RATED[1][:-1]], "row 1: has 12 cells for 13 columns"),
    ([], "holds no rows"),
])  # fmt: skip
def test_bad_cells_are_named(tmp_path: Path, rated: Sequence[Sequence[object]], message: str) -> None:
    with pytest.raises(BadInput) as caught:
        small(tmp_path, rated=rated).cases()
    assert str(caught.value).startswith("phase2/js_") and message in str(caught.value)


def _cut(folder: Path) -> None:
    table(folder / "phase2/js_atharva_review_qual_final.csv", PHASE2, RATED[:1])


def _other(folder: Path) -> None:
    table(folder / "phase2/js_atharva_review_qual_final.csv", PHASE2, without(1, 8))


def _columns(folder: Path) -> None:
    table(folder / "phase1/js_claim_acc_annot_marcus.csv", PHASE1[:-1], [row[:-1] for row in CODED])


def _absent(folder: Path) -> None:
    (folder / "phase1/js_claim_acc_annot_marcus.csv").unlink()


def _pipe(folder: Path) -> None:
    _absent(folder)
    os.mkfifo(folder / "phase1/js_claim_acc_annot_marcus.csv")


def _latin(folder: Path) -> None:
    (folder / "phase1/js_claim_acc_annot_marcus.csv").write_bytes(b"id,index\n\xe9,1\n")


def _one_copy(folder: Path) -> None:
    small(folder, code="py")
    table(folder / AGREEMENT_FILES[0], [*PHASE2, "partial"], [[*RATED[0], "-"]])


@pytest.mark.parametrize(("spoil", "message"), [
    (_cut, "the table has 1 rows and phase2/js_marcus_review_qual_final.csv has 2"),
    (_other, "is 8, but 7 in phase2/js_marcus"),
    (_columns, "has no column 'additional claims'"),
    (_absent, "js_claim_acc_annot_marcus.csv does not exist (reviewgauge get crscore_study)"),
    (_pipe, "js_claim_acc_annot_marcus.csv is not a plain file"),
    (_latin, "is not UTF-8"),
    (_one_copy, "last100_Atharva.csv does not exist"),
])  # fmt: skip
def test_damaged_copies(tmp_path: Path, spoil: Callable[[Path], None], message: str) -> None:
    data = small(tmp_path)
    spoil(tmp_path)
    with pytest.raises(UserError) as caught:
        data.cases()
    assert message in str(caught.value)


def test_what_cannot_be_asked_for(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no files of the study"):
        CrscoreStudy(path=str(tmp_path)).cases()
    data = small(tmp_path)
    with pytest.raises(UserError, match=r"no files for 'python'.*available: javascript"):
        data.claim_counts("python")
    with pytest.raises(UserError, match="no parameter 'rater'"):
        data.recorded(rater="marcus")
