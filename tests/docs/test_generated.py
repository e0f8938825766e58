"""What `make docs` generates is up to date, and the schemas describe what the program reads and writes."""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import jsonschema
import pytest

from reviewgauge.cli.main import VERBS, group, main
from reviewgauge.core.records import Case
from reviewgauge.core.specs import names
from reviewgauge.datasets.aacr_bench import AacrBench
from reviewgauge.datasets.martian import Martian

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
SCHEMAS = sorted((REFERENCE / "schema").glob("*.json"))


def read_schema(name: str) -> dict[str, Any]:
    schema = json.loads((REFERENCE / "schema" / f"{name}.schema.json").read_text(encoding="utf-8"))
    assert isinstance(schema, dict)
    return schema


def test_generated_pages_are_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "docs")
    pages: dict[Path, str] = import_module("generate").pages()
    stale = [path.name for path, text in pages.items() if path.read_text(encoding="utf-8") != text]
    assert not stale, "run: make docs"


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_says_what_it_does(verb: str) -> None:
    command = group.get_command(click.Context(group), verb)
    assert command is not None
    assert [option.name for option in command.params if isinstance(option, click.Option) and not option.help] == []


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.name)
def test_schemas_are_valid(path: Path) -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(path.read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def scored_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a scored run: each worker of a test run makes its own, whichever tests it gets."""
    folder = tmp_path_factory.mktemp("json_output")
    run = str(folder / "run")
    assert main(["review", "sample", "silent", "recorded", "-o", run]) == 0
    assert main(["score", run, "hits"]) == 0
    return folder


@pytest.mark.parametrize(("arguments", "record", "many"), [
    (["info", "sample"], "DatasetInfo", False),
    (["list", "metrics"], "CatalogueEntry", True),
    (["review", "sample", "silent", "recorded", "-o", "run"], "ReviewResult", False),
    (["score", "run", "hits"], "ScoreResult", False),
    (["compare", "run"], "ComparisonTable", True),
], ids=lambda value: value[0] if isinstance(value, list) else "")  # fmt: skip
def test_json_output_satisfies_its_schema(
    arguments: list[str],
    record: str,
    many: bool,
    scored_run: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(scored_run)
    capsys.readouterr()
    assert main([*arguments, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    validator = jsonschema.Draft202012Validator({**read_schema("output"), "$ref": f"#/$defs/{record}"})
    for one in printed if many else [printed]:
        validator.validate(one)
    assert f"`{record}`" in (REFERENCE / "command-line.md").read_text(encoding="utf-8")


def test_every_data_set_has_its_card() -> None:
    page = (REFERENCE / "datasets.md").read_text(encoding="utf-8")
    for name in set(names("datasets")) - {"sample", "jsonl", "hugging_face"}:
        assert f"## `{name}`\n\n<!-- generated: card {name} -->\n\n" in page


def test_the_example_case_is_a_case() -> None:
    page = (REFERENCE / "jsonl.md").read_text(encoding="utf-8")
    example = re.search(r"```json\n(.*?)```", page, re.DOTALL)
    assert example is not None
    case = Case.model_validate_json(example[1])
    assert case.references[0].span is not None


def test_real_cases_satisfy_the_schema(shared_data: Path) -> None:
    validator = jsonschema.Draft202012Validator(read_schema("case"))
    data = (AacrBench(path=str(shared_data / "aacr-bench")), Martian(path=str(shared_data / "martian")))
    cases = [case for each in data for case in each.cases()]
    for case in cases[::10]:
        validator.validate(json.loads(case.to_line()))
    with pytest.raises(jsonschema.ValidationError):
        validator.validate({**json.loads(cases[0].to_line()), "odd": 1})
