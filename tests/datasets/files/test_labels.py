from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import strategies as st

from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.labels import Label, RaterKind, Subject, SubjectKind
from reviewgauge.core.records import Review
from reviewgauge.datasets.files.labels import COLUMNS, observed_scales, on_reviews, read_label_file

PLAIN = "id,rater,dimension,value\na,Ann,clear,4\na,Bob,clear,5\nb,Ann,clear,2\n"


def read_labels(path: Path) -> list[Label]:
    return list(read_label_file(path).labels)


def write(folder: Path, text: str | bytes, name: str = "labels.csv") -> Path:
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def parts(labels: list[Label]) -> list[tuple[str, str, str, object]]:
    return [(label.subject.case, label.rater, label.dimension, label.value) for label in labels]


def test_id_rater_dimension_value_is_enough(tmp_path: Path) -> None:
    labels = read_labels(write(tmp_path, PLAIN))
    assert parts(labels) == [("a", "Ann", "clear", 4), ("a", "Bob", "clear", 5), ("b", "Ann", "clear", 2)]
    assert labels[0] == Label(
        subject=Subject(kind=SubjectKind.CHANGE, case="a"), rater="Ann", dimension="clear", value=4
    )
    assert read_labels(tmp_path) == labels  # the folder


def test_the_tables_on_the_page_are_read(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "guides" / "people.md").read_text(encoding="utf-8")
    tables = [part.partition("```")[0] for part in re.split(r"```csv title=\S+\n", page)[1:]]
    assert [len(read_labels(write(tmp_path, table))) for table in tables] == [7, 5]
    for column in COLUMNS:
        assert f"`{column}`" in page


@pytest.mark.parametrize("raw", [
    PLAIN.encode("utf-8-sig"), PLAIN.encode("utf-16"),
    b"\xfe\xff" + PLAIN.encode("utf-16-be"),
    PLAIN.replace("\n", "\r\n").encode(),
    PLAIN.replace("\n", "\r").encode(), PLAIN.replace(",", ";").encode(), PLAIN.replace(",", "\t").encode(),
    PLAIN.replace(",", "|").encode(),
    b"sep=;\r\n" + PLAIN.replace(",", ";").encode(),
    PLAIN.replace("id,rater,dimension,value", '"ID"," Rater ",DIMENSION,Value').encode(),
    PLAIN.replace(",", " , ").encode(),
    PLAIN.replace("\na", "\n\n,,,\na").encode(),
    PLAIN.rstrip("\n").encode(),
])  # fmt: skip
def test_what_spreadsheets_write(tmp_path: Path, raw: bytes) -> None:
    assert parts(read_labels(write(tmp_path, raw))) == [
        ("a", "Ann", "clear", 4),
        ("a", "Bob", "clear", 5),
        ("b", "Ann", "clear", 2),
    ]


def test_every_column(tmp_path: Path) -> None:
    head = "case,system,attempt,rater,kind,dimension,value,confidence,round,batch,reason,seconds,consensus\n"
    (label,) = read_labels(write(tmp_path, head + 'a,gpt,2,m,model,rel,3.5,0.8,r1,b1,"so, yes",1.5,yes\n'))
    assert label == Label(
        subject=Subject(kind=SubjectKind.REVIEW, case="a", system="gpt", attempt=2),
        rater="m",
        rater_kind=RaterKind.MODEL,
        dimension="rel",
        value=3.5,
        confidence=0.8,
        round="r1",
        batch="b1",
        reason="so, yes",
        seconds=1.5,
        consensus=True,
    )


def test_claims_and_links(tmp_path: Path) -> None:
    text = "id,claim,system,rater,dimension,value\na,1,,Ann,accuracy,-1\na,1,gpt,Ann,addressed,1\n"
    claim, link = read_labels(write(tmp_path, text))
    assert (claim.subject.kind, claim.subject.claim, claim.value) == (SubjectKind.CLAIM, "1", -1)
    assert (link.subject.kind, link.subject.system) == (SubjectKind.LINK, "gpt")


def test_empty_values_are_missing_and_counted(tmp_path: Path) -> None:
    read = read_label_file(write(tmp_path, PLAIN + "c,Ann,clear,\nd,Ann,clear, \nc,Bob,clear\n"))
    assert len(read.labels) == 3 and list(read.lines) == [2, 3, 4]
    assert [note.item for note in read.notes] == ["2 rows of Ann in clear", "1 row of Bob in clear"]


def test_columns_that_labels_do_not_have_are_noted(tmp_path: Path) -> None:
    read = read_label_file(write(tmp_path, "id,case,rater,dimension,value,text\n1,a,Ann,clear,4,Fine\n"))
    assert read.labels[0].subject.case == "a"
    assert [note.item for note in read.notes] == ["the column text", "the column id"]


@pytest.mark.parametrize(
    ("cell", "value"),
    [("4", 4), ("-1", -1), ("+2", 2), ("3.50", 3.5), (".5", 0.5), ("1e2", 100.0), ("bug", "bug"), ("1_0", "1_0")],
)
def test_values(tmp_path: Path, cell: str, value: object) -> None:
    (label,) = read_labels(write(tmp_path, f"id,rater,dimension,value\na,Ann,d,{cell}\n"))
    assert label.value == value and type(label.value) is type(value)


def test_a_decimal_comma_where_commas_part_no_cells(tmp_path: Path) -> None:
    text = "id;rater;dimension;value;confidence\na;Ann;d;3,5;0,25\n"
    (label,) = read_labels(write(tmp_path, text))
    assert (label.value, label.confidence) == (3.5, 0.25)
    with pytest.raises(BadInput, match="decimal comma or thousands"):
        read_labels(write(tmp_path, 'id,rater,dimension,value\na,Ann,d,"3,5"\n'))


@pytest.mark.parametrize(("text", "message"), [
    (PLAIN + "c,Ann,clear,80%\n", "labels.csv, line 5, field value: '80%' is a share: write the number alone"),
    (PLAIN + "c,Ann,clear,4/5\n", "'4/5' is a share"),
    (PLAIN + "c,Ann,clear,nan\n", "labels.csv, line 5, field value: 'nan' is not a value: leave the cell empty"),
    (PLAIN + "c,Ann,clear,-Inf\n", "line 5, field value"),
    (PLAIN + "c,Ann,clear,1e999\n", "line 5, field value: is not a finite number"),
    (PLAIN + "c,Ann,clear,N/A\n", "line 5, field value"),
    (PLAIN + "c,Ann,clear,good\n", "'good' is not a number, unlike the value of 'clear' in line 2"),
    (PLAIN + "a,Ann,clear,4\n", "line 5: 'Ann' judged 'a' in 'clear' twice: line 2 too"),
    (PLAIN + "c,,clear,4\n", "line 5, field rater: is empty"),
    (PLAIN + ",Ann,clear,4\n", "line 5, field id: is empty"),
    (PLAIN + "c,Ann,,4\n", "line 5, field dimension: is empty"),
    (PLAIN + "c,ann,clear,4\n", "line 5, field rater: 'ann' and 'Ann' are nearly the same"),
    (PLAIN + "c,Ann,Clear,4\n", "field dimension: 'Clear' and 'clear'"),
    (PLAIN + "/c,Ann,clear,4\n", "line 5, field id: is an absolute path"),
    (PLAIN + "c,Ann,clear,4,5\n", "line 5: has 5 cells for 4 columns"),
    (PLAIN + '"c,Ann,clear,4\n', "is not a readable CSV"),
    ("id,rater,value\na,Ann,4\n", "line 1: has no column 'dimension'; it has 'id', 'rater', 'value'"),
    ("rater,dimension,value\nAnn,d,4\n", "has no column 'id'"),
    ("id,rater,dimension,value,value\na,Ann,d,4,5\n", "has two columns 'value'"),
    ("id,rater,dimension,value,sytem\na,Ann,d,4,x\n", "has a column 'sytem': did you mean 'system'?"),
    ("id,rater,dimension,value\n", "holds no label"),
    ("id,rater,dimension,value\na,Ann,d,\n", "holds no label"),
    ("", "has no column 'id'"),
    ("id,rater,dimension,value,confidence\na,Ann,d,4,1.5\n", "field confidence"),
    ("id,rater,dimension,value,confidence\na,Ann,d,4,high\n", "field confidence: should be a valid number"),
    ("id,rater,dimension,value,kind\na,Ann,d,4,robot\n", "field kind: should be 'human' or 'model'"),
    ("id,rater,dimension,value,consensus\na,Ann,d,4,maybe\n", "field consensus: should be a valid boolean"),
    ("id,system,rater,dimension,value,attempt\na,s,Ann,d,4,0.5\n", "field attempt: should be a valid integer"),
    ("id,rater,dimension,value\na,Ann,d,Yes\nb,Ann,d,yes\n", "field value: 'yes' and 'Yes' are nearly the same"),
])  # fmt: skip
def test_what_could_make_a_number_wrong_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_labels(write(tmp_path, text))
    assert message in str(caught.value)


def test_a_second_round_is_no_second_label(tmp_path: Path) -> None:
    text = "id,rater,dimension,value,round\na,Ann,d,4,1\na,Ann,d,5,2\n"
    assert [label.round for label in read_labels(write(tmp_path, text))] == ["1", "2"]


@pytest.mark.parametrize("raw", [PLAIN.encode().replace(b"Ann", b"Ren\xe9"), b"PK\x03\x04\xff", b"a\x00,b"])
def test_other_encodings_are_refused(tmp_path: Path, raw: bytes) -> None:
    with pytest.raises(BadInput, match="CSV UTF-8"):
        read_labels(write(tmp_path, raw))


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no labels"):
        read_labels(tmp_path)
    with pytest.raises(UserError, match="does not exist"):
        read_labels(tmp_path / "mine.csv")
    write(tmp_path, PLAIN)
    write(tmp_path, "{}", "labels.jsonl")
    with pytest.raises(UserError, match=r"both labels\.csv and labels\.jsonl"):
        read_labels(tmp_path)


def test_json_lines(tmp_path: Path) -> None:
    whole = Label(subject=Subject(kind=SubjectKind.REVIEW, case="a", system="s"), rater="Ann", dimension="d", value=4)
    rows = [
        {"id": "b", "rater": "Ann", "dimension": "d", "value": 3, "consensus": True},
        {"id": "c", "rater": "Ann", "dimension": "d", "value": None},
    ]
    text = whole.to_line() + b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    read = read_label_file(write(tmp_path, text, "mine.jsonl"))
    assert read.labels[0] == whole and read.labels[1].consensus
    assert read.labels[1].subject == Subject(kind=SubjectKind.CHANGE, case="b")
    assert [note.item for note in read.notes] == ["1 row of Ann in d"]


@pytest.mark.parametrize(("line", "message"), [
    ('{"id": "a", "rater": "Ann", "dimension": "d", "value": NaN}', "mine.jsonl, line 1"),
    ('{"id": "a", "rater": "Ann", "dimension": "d", "value": [1]}', "field value"),
    ('{"id": "a", "rater": "Ann", "dimension": "d", "vlaue": 1}', "field vlaue: is not a field of a label"),
    ('{"id": {"a": 1}, "rater": "Ann", "dimension": "d", "value": 1}', "field id: should be a valid string"),
    ('{"subject": {"kind": "review", "case": "a"}, "rater": "Ann", "dimension": "d"}', "field value: is missing"),
    ("[1]", "line 1"), ("{", "is not valid JSON"),
])  # fmt: skip
def test_bad_json_lines(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_labels(write(tmp_path, line, "mine.jsonl"))
    assert message in str(caught.value)


def reviews(*keys: tuple[str, str, int]) -> list[Review]:
    return [Review(case=case, system=system, attempt=attempt) for case, system, attempt in keys]


def test_a_label_on_a_case_with_one_review_is_on_that_review(tmp_path: Path) -> None:
    read = read_label_file(write(tmp_path, PLAIN))
    found = on_reviews(read, reviews(("a", "gpt", 1), ("b", "gpt", 2)), "labels.csv")
    assert [(x.subject.kind, x.subject.system, x.subject.attempt) for x in found] == [
        (SubjectKind.REVIEW, "gpt", 1),
        (SubjectKind.REVIEW, "gpt", 1),
        (SubjectKind.REVIEW, "gpt", 2),
    ]


@pytest.mark.parametrize(("keys", "message"), [
    ([("a", "gpt", 1)], "labels.csv, line 4, field id: there is no review of 'b'"),
    ([("a", "gpt", 1), ("a", "gpt", 2), ("b", "x", 1)], "line 2: 'a' has 2 reviews: which one was judged?"),
])  # fmt: skip
def test_labels_that_fit_no_review(tmp_path: Path, keys: list[tuple[str, str, int]], message: str) -> None:
    with pytest.raises(BadInput) as caught:
        on_reviews(read_label_file(write(tmp_path, PLAIN)), reviews(*keys), "labels.csv")
    assert message in str(caught.value)


def test_a_label_on_a_system_that_did_not_review(tmp_path: Path) -> None:
    read = read_label_file(write(tmp_path, "id,system,rater,dimension,value\na,gtp,Ann,d,4\n"))
    with pytest.raises(BadInput, match="field system: there is no review of 'a' by 'gtp', attempt 1"):
        on_reviews(read, reviews(("a", "gpt", 1)), "labels.csv")


def test_observed_scales(tmp_path: Path) -> None:
    text = PLAIN + "a,Ann,share,0.25\nb,Ann,share,1\na,Ann,kind,bug\n"
    scales = observed_scales(read_labels(write(tmp_path, text)))
    assert {name: (scale.low, scale.high, scale.step) for name, scale in scales.items()} == {
        "clear": (2, 5, 1),
        "share": (0.25, 1, 0),
    }
    assert observed_scales([]) == {}


WORD = st.text(st.characters(blacklist_categories=["Cs", "Cc"]), min_size=1, max_size=8).filter(lambda w: w.strip())


def test_columns_say_whether_a_label_is_on_a_comment_a_reference_or_both(tmp_path: Path) -> None:
    head = "case,system,comment,reference,rater,dimension,value,reason\n"
    rows = "a,gpt,c1,,Ann,x,yes,'=not a formula\na,gpt,c1,r1,Ann,x,no,\na,,,r1,Ann,x,no,\n"
    found = read_label_file(write(tmp_path, head + rows)).labels
    assert [label.subject.kind for label in found] == ["comment", "pair", "comment"]
    assert found[0].reason == "=not a formula"
