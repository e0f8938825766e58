from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from reviewgauge.core.records import Case
from reviewgauge.core.specs import names
from reviewgauge.datasets.aacr_bench import AacrBench
from reviewgauge.datasets.files.schema import WHOLE, schema, with_cards, with_tables
from reviewgauge.datasets.martian import Martian

DOCS = Path(__file__).parents[3] / "docs" / "reference"
REMEDY = "run: python -m reviewgauge.datasets.files.schema docs"


@pytest.mark.parametrize("name", sorted(WHOLE))
def test_the_schemas_are_up_to_date(name: str) -> None:
    assert (DOCS / "schema" / f"{name}.schema.json").read_text(encoding="utf-8") == schema(name), REMEDY
    jsonschema.Draft202012Validator.check_schema(json.loads(schema(name)))


def test_the_field_tables_are_up_to_date() -> None:
    page = (DOCS / "jsonl.md").read_text(encoding="utf-8")
    assert with_tables(page) == page, REMEDY
    for name in Case.model_fields:
        assert f"| `{name}` |" in page


def test_the_cards_are_up_to_date() -> None:
    page = (DOCS / "datasets.md").read_text(encoding="utf-8")
    assert with_cards(page) == page, REMEDY
    for name in names("datasets"):
        assert f"## `{name}`" in page
    assert page.count("<!-- card: ") == page.count("<!-- end of card -->") >= 3


def test_the_example_on_the_page_is_a_case() -> None:
    page = (DOCS / "jsonl.md").read_text(encoding="utf-8")
    example = page.partition("```json\n")[2].partition("```")[0]
    case = Case.model_validate_json(example)
    assert case.references[0].span is not None


def test_real_cases_satisfy_the_schema(shared_data: Path) -> None:
    validator = jsonschema.Draft202012Validator(json.loads(schema("case")))
    data = (AacrBench(path=str(shared_data / "aacr-bench")), Martian(path=str(shared_data / "martian")))
    cases = [case for each in data for case in each.cases()]
    for case in cases[::10]:
        validator.validate(json.loads(case.to_line()))
    with pytest.raises(jsonschema.ValidationError):
        validator.validate({**json.loads(cases[0].to_line()), "odd": 1})
