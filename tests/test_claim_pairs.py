"""The script that writes the claims of a model as training data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reviewgauge.claims.model import ask_claims, read_claims
from reviewgauge.core.errors import UserError
from reviewgauge.core.records import Case, Change, ChangedFile, Claim
from reviewgauge.datasets.crscore_study import CrscoreStudy
from scripted_models import scripted
from scripts_of import load_script

script = load_script("claim_pairs")

MODEL = "openai:strong"


def patch(name: str) -> str:
    """A hunk that is long enough to be told from others."""
    old, new = f"def total_of_{name}(amount, currency, rounding):", f"def total_of_{name}(amount, tax=0):"
    return f"@@ -1,2 +1,2 @@\n-{old}\n+{new}\n     return 1\n"


def case(name: str, *claims: tuple[str, str], source: str = MODEL, body: str = "") -> Case:
    """A case about its own change, with (kind, sentence) claims."""
    files = (ChangedFile(path="a.py", patch=body or patch(name)),)
    found = [Claim(id=str(n), body=text, kind=kind, source=source) for n, (kind, text) in enumerate(claims, 1)]
    return Case(id=name, change=Change(repo="o/r", files=files), claims=tuple(found))


TWO = (("implication", "Callers may pass a tax."), ("claim", "`total` takes a tax."))


def write(folder: Path, *cases: Case, name: str = "bench.jsonl") -> Path:
    path = folder / name
    path.write_bytes(b"".join(one.to_line() for one in cases))
    return path


@pytest.fixture(autouse=True)
def no_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVIEWGAUGE_DATA", str(tmp_path / "nothing"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def tested(tmp_path: Path) -> Path:
    """What the small model is to be tested on."""
    return write(tmp_path, case("tested", *TWO), name="tested.jsonl")


def lines(path: Path) -> list[list[dict[str, str]]]:
    return [json.loads(line)["messages"] for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_pair_is_the_prompt_and_the_claims_in_its_form(
    tmp_path: Path, tested: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench, out = write(tmp_path, case("one", *TWO), case("two", TWO[1])), tmp_path / "pairs.jsonl"
    assert script.main([str(bench), "-o", "pairs.jsonl", "--held-out", str(tested)]) == 0
    done = capsys.readouterr()
    assert "pairs.jsonl: 2 pairs (2 by openai:strong)" in done.out and "held out: tested.jsonl (1 cases)" in done.out
    first, second = lines(out)
    assert [message["role"] for message in first] == ["system", "user", "assistant"]
    assert "+def total_of_one(amount, tax=0):" in first[1]["content"] and "Python code change" in first[1]["content"]
    assert read_claims(first[2]["content"]) == TWO[::-1]
    assert read_claims(second[2]["content"]) == (TWO[1],)


def test_the_prompt_is_what_the_stage_asks(tmp_path: Path, tested: Path) -> None:
    """Else the small model is asked something that it has not learnt."""
    one = case("one", *TWO)
    out = tmp_path / "pairs.jsonl"
    script.claim_pairs(write(tmp_path, one), out, held_out=[str(tested)])
    with scripted([lines(out)[0][2]["content"]]) as model:
        made = ask_claims(one.change, "Python", model.spec)
    assert [{"role": m["role"], "content": m["content"]} for m in model.asked[0]] == lines(out)[0][:2]
    assert [claim.body for claim in made] == ["`total` takes a tax.", "Callers may pass a tax."]


def test_what_cannot_be_learnt_from_is_counted(tmp_path: Path, tested: Path) -> None:
    several = case("several", *TWO)
    other = several.claims[1].model_copy(update={"source": "openai:other"})
    several = several.model_copy(update={"claims": (several.claims[0], other)})
    bench = write(
        tmp_path,
        case("good", *TWO, ("issue", "Line 3 is long.")),
        case("syntax", *TWO, source="syntax"),
        case("bare"),
        several,
        case("odd", ("claim", "x" * 1001)),
        case("same", *TWO, body=patch("good")),
        Case(id="diffless", change=Change(repo="o/r"), claims=case("x", *TWO).claims),
    )
    found = script.claim_pairs(bench, tmp_path / "pairs.jsonl", held_out=[str(tested)])
    assert found.pairs == 1 and found.models == {MODEL: 1}
    assert found.left_out == {
        "no claim by a model": 2, "claims of several models": 1, "claims that cannot be read back as two lists": 1,
        "about the change of an earlier case": 1, "no diff": 1,
    }  # fmt: skip
    assert "long" not in lines(tmp_path / "pairs.jsonl")[0][2]["content"], "an analyser's issue is not the model's"


def test_no_change_that_is_held_out_is_written(tmp_path: Path, tested: Path) -> None:
    """By its changed lines, whatever the case is called and wherever it stands."""
    moved = patch("tested").replace("@@ -1,2 +1,2 @@", "@@ -41,2 +43,2 @@ class Till:")
    bench = write(tmp_path, case("renamed", *TWO, body=moved), case("other", *TWO))
    found = script.claim_pairs(bench, tmp_path / "pairs.jsonl", held_out=[str(tested)])
    assert (found.pairs, found.left_out) == (1, {"about a change that is held out": 1})


def test_no_change_of_the_study_is_written(tmp_path: Path, shared_data: Path) -> None:
    """Its diffs under other ids, as CodeReviewer's test set has them, with claims by a model."""
    study = CrscoreStudy(path=str(shared_data / "crscore"))
    claims = case("x", *TWO).claims
    known = [
        Case(id=f"own-{n}", change=one.change.model_copy(update={"repo": "o/r"}), claims=claims)
        for n, one in enumerate(study.cases())
    ]
    bench = write(tmp_path, *known, case("other", *TWO))
    found = script.claim_pairs(bench, tmp_path / "pairs.jsonl", held_out=[study])
    assert found.pairs == 1 and "total_of_other" in lines(tmp_path / "pairs.jsonl")[0][1]["content"]
    assert found.left_out == {"about a change that is held out": 200}


def test_without_the_study_something_must_be_held_out(
    tmp_path: Path, tested: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench, out = write(tmp_path, case("one", *TWO)), tmp_path / "pairs.jsonl"
    assert script.main([str(bench), "-o", str(out)]) == 2
    said = capsys.readouterr().err
    assert "crscore_study" in said and "--held-out" in said and not out.exists()
    found = script.claim_pairs(bench, out, held_out=[str(tested)])
    assert any("not on this machine" in note for note in found.notes)


def test_a_benchmark_without_a_models_claims_is_refused(tmp_path: Path, tested: Path) -> None:
    out = tmp_path / "pairs.jsonl"
    with pytest.raises(UserError, match="2 no claim by a model") as refused:
        script.claim_pairs(write(tmp_path, case("a"), case("b")), out, held_out=[str(tested)])
    assert "add_claims" in (refused.value.remedy or "")
    assert not out.exists()


def test_a_file_that_is_there_is_kept(tmp_path: Path, tested: Path) -> None:
    bench = write(tmp_path, case("one", *TWO))
    before = bench.read_bytes()
    with pytest.raises(UserError, match="there is a file"):
        script.claim_pairs(bench, bench, held_out=[str(tested)])
    assert bench.read_bytes() == before
