"""What one always says stands in a file: flags override it, and it may decide on nothing that reaches further."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from reviewgauge.api.review import find_reviewer
from reviewgauge.api.settings import SettingsFile, descriptions, read_settings
from reviewgauge.cli.main import main
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Reviewer
from reviewgauge.core.records import Case, Change, Comment
from reviewgauge.engine.build.recipes import make_stages, read_recipe, recipe_names, set_parameters
from reviewgauge.engine.run.folder import RunFolder


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    case = Case(id="one", change=Change(repo="r"), references=(Comment(id="g", body="never closed"),))
    (tmp_path / "cases.jsonl").write_bytes(case.to_line())
    assert main(["review", "cases.jsonl", "silent", "-o", "run"]) == 0
    return tmp_path


@pytest.mark.parametrize(
    ("file", "head"), [("reviewgauge.toml", ""), ("pyproject.toml", "[project]\nname = 'x'\n[tool.reviewgauge]\n")]
)
def test_settings_are_defaults_that_flags_override(
    folder: Path, file: str, head: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / file).write_text(head + "seed = 7\nmetrics = ['chrf']\nbudget = 2.5\n")
    capsys.readouterr()
    assert main(["score", "run", "--json"]) == 0
    (board,) = json.loads(capsys.readouterr().out)["leaderboards"]
    assert (board["label"], board["seed"]) == ("chrf", 7)
    assert main(["score", "run", "hits", "--seed", "3", "--json"]) == 0
    (board,) = json.loads(capsys.readouterr().out)["leaderboards"]
    assert (board["label"], board["seed"]) == ("hits", 3)
    assert main(["info"]) == 0
    shown = capsys.readouterr().out
    assert f"settings of {file}" in shown and "budget = 2.5" in shown
    assert main(["compare", "run", "--attempts", "all"]) == 2, "a default is not an option that was given"
    assert "--budget" not in capsys.readouterr().err


@pytest.mark.parametrize(("text", "error"), [
    ("sede = 1", "does not know the setting 'sede' (did you mean seed?)"),
    ("colour = 1", "does not know the setting 'colour' (there are: model, judge, metrics, budget,"),
    (f"{'a.' * 30}b = 1", "holds a key of more than 20 dots"),
    (f"seed = {'[' * 3000}", "is not valid TOML"),
    (f"seed = {'9' * 5000}", "is not valid TOML"),
    ("test = 'pytest -q {files}'", "may not decide (give it on the command line, or name the file yourself: "),
    ("judge = 'mine.Judge'", "is not run (give it on the command line, or name the file yourself: export "),
    ("judge = 'same_concern(model=\"openai:gpt-5@http://elsewhere/v1\")'", "is an address on the network"),
    ("[recipes.locl]\nlimit = 3", "field recipes.locl: is not a recipe (there are: aacr_bench, "),
    ("[recipes.local]\nlimt = 3", "field recipes.local: has no parameter 'limt' (it has branch, "),
    ("[recipes]\nlocal = 3", "field recipes.local"),
    ("[recipes.local]\nsince = 2024-01-01", "field recipes.local.since"),
    ("[names]\n'prompt(*)' = ''", "field names"),
    ("[names]\n'prompt(*)' = 3", "field names"),
    ("seed = -1", "field seed"), ("budget = 'much'", "field budget"), ("seed = ", "is not valid TOML"),
    ("prices = '/etc/hosts'", "is outside of its folder, which a file may not decide"),
    ("model = 'openai:gpt-5@http://elsewhere/v1'", "is an address on the network"),
    ("metrics = ['mine.Metric']", "mine"),
    ("metrics = ['combined(file=\"../weights.json\")']", "outside of its folder"),
])  # fmt: skip
def test_what_a_file_may_not_say_is_one_line(
    folder: Path, text: str, error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "mine.py").write_text("raise SystemExit('it ran')")
    (folder / "reviewgauge.toml").write_text(text)
    assert main(["score", "run"]) == 2
    shown = capsys.readouterr().err
    assert "reviewgauge.toml" in shown and error in shown
    assert main(["score", "--help"]) == 0, "help is there even so"


def test_a_file_that_the_user_names_is_the_users_own_word(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "reviewgauge.toml").write_text("seed = 3\n")
    own = folder / "own" / "mine.toml"
    own.parent.mkdir()
    own.write_text(
        "seed = 7\ntest = 'pytest -q {files}'\nmodel = 'openai:m@http://localhost:8000/v1'\nprices='p.json'\n"
    )
    monkeypatch.setenv("REVIEWGAUGE_SETTINGS", str(own))
    assert main(["info"]) == 0
    shown = "".join(capsys.readouterr().out.split())
    assert f"settingsof{own}($REVIEWGAUGE_SETTINGS)" in shown and f"seed=7({own})" in shown, "the folder's is not read"
    assert 'test="pytest-q{files}"' in shown and "in_flight:16(default)" in shown
    for word, error in {"own/mine.toml": "not an absolute path", str(folder / "no.toml"): "is not a file"}.items():
        monkeypatch.setenv("REVIEWGAUGE_SETTINGS", word)
        assert main(["info"]) == 2
        assert error in capsys.readouterr().err


def test_info_says_where_each_setting_comes_from(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("REVIEWGAUGE_PRICES", "/prices.json")
    assert main(["info"]) == 0
    assert 'prices = "/prices.json"  ($REVIEWGAUGE_PRICES)' in capsys.readouterr().out
    (folder / "prices.json").write_text("{}")
    (folder / "reviewgauge.toml").write_text("prices = 'prices.json'\n[names]\nsilent = 'nothing'\n")
    assert main(["info"]) == 0
    shown = capsys.readouterr().out
    assert 'prices = "prices.json"  (reviewgauge.toml)' in shown
    assert 'names = {"silent": "nothing"}  (reviewgauge.toml)' in shown


def test_init_writes_every_setting_and_never_over_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init"]) == 0
    assert read_settings().stated() == {}, "all of it is commented out"
    text = (folder / "reviewgauge.toml").read_text()
    (folder / "reviewgauge.toml").write_text(re.sub(r"(?m)^#(\w+ = )", r"\1", text))
    (folder / "prices.json").write_text("{}")
    with pytest.raises(UserError, match="a program"):
        read_settings()
    (folder / "reviewgauge.toml").write_text(re.sub(r"(?m)^#((?!test)\w+ = )", r"\1", text))
    assert read_settings().stated().keys() == descriptions().keys() - {"test"}
    assert descriptions().keys() == SettingsFile.model_fields.keys() - {"schema_version", "file", "trusted"}
    capsys.readouterr()
    assert main(["init"]) == 2
    assert "reviewgauge.toml is there already (edit it" in capsys.readouterr().err
    (folder / "reviewgauge.toml").unlink()
    (folder / "pyproject.toml").write_text("[tool.reviewgauge]\nseed = 1\n")
    assert main(["init"]) == 2
    assert "pyproject.toml holds settings already" in capsys.readouterr().err


def test_the_judge_is_that_of_metrics_that_name_none(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "reviewgauge.toml").write_text("judge = 'dice'\n")
    labels = []
    for metrics in ([], ["hits"], ["hits(judge='exact')"], ["rouge"]):
        capsys.readouterr()
        assert main(["score", "run", *metrics, "--json"]) == 0
        labels += [board["label"] for board in json.loads(capsys.readouterr().out)["leaderboards"]]
    assert labels == ["hits(judge='dice')", "hits(judge='dice')", "hits(judge='exact')", "rouge"]


@pytest.mark.parametrize(("names", "reviewer", "system"), [
    ({"silent": "nothing"}, "silent", "nothing"),
    ({'prompt(model="fake:example")': "mine"}, "prompt(model='fake:example')", "mine"),
    ({"parrot": "bird", "prompt(*)": "words", "*": "other"}, 'prompt(model="fake:example")', "words"),
    ({"prompt(*)": "words"}, 'prompt(model="fake:example", name="own")', "own"),
    ({"prompt(*)": "words"}, "silent", "silent"),
])  # fmt: skip
def test_reviewers_without_a_name_get_one(folder: Path, names: dict[str, str], reviewer: str, system: str) -> None:
    table = "".join(f"{json.dumps(key)} = {json.dumps(name)}\n" for key, name in names.items())
    (folder / "reviewgauge.toml").write_text("[names]\n" + table)
    found = find_reviewer(reviewer, read_settings().names)
    assert isinstance(found, Reviewer) and found.system == system
    assert main(["review", "cases.jsonl", "silent", "-o", "named"]) == 0
    assert list(RunFolder.open("named").manifest.systems) == [names.get("silent", names.get("*", "silent"))]


@pytest.mark.parametrize("recipe", recipe_names())
def test_every_recipe_of_ours_takes_a_strangers_plain_values(recipe: str) -> None:
    found = read_recipe(recipe)
    given = {one: "'fake:example'" if one == "model" else "('silent',)" for one in found.required}
    settings = SettingsFile(file="reviewgauge.toml")
    assert make_stages(found, set_parameters(found, given), settings=settings.origin)


@pytest.mark.parametrize(("said", "error"), [
    ("[recipes.hosted_reviews]\napi = 'http://elsewhere'", "api='http://elsewhere' is an address on the network"),
    ("[recipes.hosted_reviews]\nauth_variable = 'AWS_SECRET'", "'AWS_SECRET' is an environment variable"),
    ("[recipes.hosted_reviews]\narchive = '/etc'", "archive='/etc' is outside of its folder"),
    ("[recipes.hosted_reviews]\nlimit = 'many'", "limit='many' is not of type int"),
])  # fmt: skip
def test_a_strangers_parameters_of_recipes_go_through_the_gate_of_recipes(
    folder: Path, said: str, error: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "reviewgauge.toml").write_text(said)
    build = ["build", "github:acme/shop", "--reviews-by", "bot", "-o", "bench"]
    assert main(build) == 2
    assert error in (shown := capsys.readouterr().err)
    if "is not" not in error:
        assert shown.startswith("error: recipe hosted_reviews, stage 1: reviewgauge.toml: ")
        assert f"export REVIEWGAUGE_SETTINGS={folder}/reviewgauge.toml" in shown


def test_what_a_file_says_of_builds_holds_where_nothing_is_given(folder: Path) -> None:
    text = "model = 'openai:m'\ntest = 'pytest'\n[recipes.local]\nlimit = 3\nperhaps = true\nsince = '2024-01-01'\n"
    (folder / "own.toml").write_text(text)
    settings = SettingsFile.model_validate({**tomllib.loads(text), "file": "own.toml", "trusted": True})
    recipe = read_recipe("local")
    said = set_parameters(recipe, settings.parameters(recipe) | {"limit": "4"})
    assert {"limit": 4, "perhaps": True, "since": "2024-01-01", "model": "openai:m"}.items() <= said.items()
    assert "model" not in settings.parameters(read_recipe("hosted_reviews")), "it has no such parameter"
