"""`info` for each kind of plug-in, `help VERB`, and reviewers named by a path."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import click
import pytest

from reviewgauge.api.info import DatasetInfo, info, plugin_info
from reviewgauge.api.list import list_plugins
from reviewgauge.cli.main import group, main
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric, Reviewer, Stage
from reviewgauge.core.reports.plugin_info import PluginInfo
from reviewgauge.core.specs import KINDS, load, load_from, names, signature
from reviewgauge.core.trust import FromFile
from reviewgauge.engine.build.recipes import make_stages, read_recipe, set_parameters
from reviewgauge.reviewers.prompt import Prompt

CASE = "01-locker-listing"  # of the sample

SARIF = {
    "version": "2.1.0",
    "runs": [{"tool": {"driver": {"name": "scan"}}, "results": [{"message": {"text": "divides by zero"},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": "api/wayside/admin.py"},
        "region": {"startLine": 3}}}]}]}],
}  # fmt: skip


@pytest.mark.parametrize("name", [f"{kind}/{name}" for kind in KINDS for name in names(kind)])
def test_every_plug_in_says_what_it_is_takes_and_how_it_is_used(name: str) -> None:
    kind, _, plain = name.partition("/")
    found = plugin_info(kind, plain)
    assert found.text
    assert all(one.type and "typing" not in one.type and "<" not in one.type for one in found.parameters)


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what examples call "mine": a run, a program, answers, a SARIF log and a file in each format."""
    folder = tmp_path_factory.mktemp("examples")
    assert main(["review", "sample", 'prompt(model="fake:rules")', "-o", str(folder / "runs" / "mine")]) == 0
    assert main(["score", str(folder / "runs" / "mine"), "hits"]) == 0
    for run in ("martian", "bots"):
        (folder / "runs" / run).mkdir()
    (folder / "my-tool.sh").write_text("#!/bin/sh\necho 'api/wayside/admin.py:3: this divides by zero'\n")
    (folder / "my-tool.sh").chmod(0o755)
    (folder / "answers.jsonl").write_text(
        json.dumps({"id": CASE, "answer": {"comment": "This divides by zero."}}) + "\n"
    )
    (folder / "my-tool.sarif").write_text(json.dumps(SARIF))
    return folder


_ELSEWHERE = (
    "jobs/mine", "build ", " bench ", "/martian ", "runs/bots", " martian ", " new.jsonl ", "container(", "reviews.",
    "findings.json",
    "useful_",  # findings whose tests are known: the sample has none
)  # fmt: skip


@pytest.mark.drill
@pytest.mark.parametrize("name", [f"{kind}/{name}" for kind in KINDS[1:] for name in names(kind)])
def test_every_printed_example_runs(name: str, workplace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that need a network, an engine of containers or data of one's own are parsed, and their specs are built."""
    example = plugin_info(*name.split("/")).example
    monkeypatch.chdir(workplace)
    for line in example.split(" && "):
        words = shlex.split(line)[1:]
        command = group.get_command(click.Context(group), words[0])
        assert command
        parsed = command.make_context(words[0], words[1:]).params
        for spec in parsed.get("reviewers", ()):
            assert spec == "recorded" or load(Reviewer, spec)
        assert all(load(Stage, spec) for spec in parsed.get("stages", ()))
        assert all(load(Metric, spec) for spec in parsed.get("metrics", ()))
        if parsed.get("recipe"):
            recipe = read_recipe(parsed["recipe"])
            given = dict(one.split("=", 1) for one in parsed["settings"])
            set_parameters(recipe, given | ({"model": parsed["model"]} if parsed["model"] else {}))
        if any(word in line for word in _ELSEWHERE):
            continue
        if words[0] == "export":
            words[-1] = name.replace("/", "-")
        if words[0] == "review" and "runs/mine" in words:
            words[words.index("runs/mine")] = f"runs/{name}"
            words += ["--only", f"case={CASE}"] * ("--stage" not in words)
        assert main(words) == 0, line


def test_a_prompt_of_ours_is_printed_as_a_file_to_begin_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["info", "prompt", "--show", "aacr"]) == 0
    (tmp_path / "mine.txt").write_text(capsys.readouterr().out)
    reviewer = load(Reviewer, 'prompt(model="fake:rules", template="mine.txt")')
    assert isinstance(reviewer, Prompt) and reviewer.words().text == Prompt("fake:rules").words().text
    assert main(["info", "prompt", "--show", "swrr"]) == 2 and "there are aacr, " in capsys.readouterr().err


@pytest.mark.parametrize(
    "spec",
    ["prompt(model='fake:rules')", "command(run='true')", "agent(model='fake:rules')", "ensemble(reviewer='parrot')"],
)
def test_every_reviewer_can_be_given_a_name(spec: str) -> None:
    plain, named = load(Reviewer, spec), load(Reviewer, f"{spec[:-1]}, name='new')")
    assert named.system == "new" and plain.system != "new" and "name=" not in signature(plain)
    assert load(Reviewer, signature(named)).system == "new" and load(Reviewer, signature(plain)) == plain


def test_recipes_data_sets_and_shared_names() -> None:
    for entry in list_plugins("recipes"):
        found = info(f"recipes/{entry.name}")
        assert isinstance(found, PluginInfo) and entry.summary in found.text
        parsed = shlex.split(found.example)[2:]
        command = group.get_command(click.Context(group), "build")
        assert command
        given = command.make_context("build", parsed).params
        settings = dict(one.split("=", 1) for one in given["settings"]) | {"model": "'fake:rules'"}
        settings |= {"reviews_by": repr(given["reviews_by"])} if given["reviews_by"] else {}
        recipe = read_recipe(given["recipe"])
        settings = {name: value for name, value in settings.items() if name in (*recipe.required, *recipe.parameters)}
        assert make_stages(recipe, set_parameters(recipe, settings))
    for name in names("datasets"):
        card = info(name)
        assert isinstance(card, DatasetInfo)
        reviewer = shlex.split(card.example)[3]
        assert reviewer == "recorded" or load(Reviewer, reviewer)
    assert info("local").kind == "recipes"  # type: ignore[union-attr]
    for name, also in {
        "embedding": "contexts/embedding",
        "contexts/embedding": "metrics/embedding",
        "martian": "formats/martian",
    }.items():
        assert info(name).also == (also,)  # type: ignore[union-attr]


def test_a_name_that_there_is_not_points_to_the_nearest_of_any_kind(capsys: pytest.CaptureFixture[str]) -> None:
    for word, hint in {
        "agnet": "did you mean reviewers/agent?",
        "quite_another": "reviewgauge list",
        "reviewers/agnet": "did you mean reviewers/agent?",
        "stages": "reviewgauge list stages",
    }.items():
        assert main(["info", word]) == 2
        assert hint in capsys.readouterr().err


def test_info_of_a_reviewer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "prompt"]) == 0
    out = capsys.readouterr().out
    assert "reviewers/prompt" in out and "must be given" in out and "needs a model" in out
    assert "'prompt(model=\"fake:example\")'" in out
    assert main(["info", "prompt", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["parameters"][0] == {"name": "model", "type": "text", "default": None}
    assert main(["info", "formats/martian"]) == 0
    assert "candidates.json" in capsys.readouterr().out
    assert main(["info", "promt"]) == 2


def test_help_of_a_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "score"]) == 0
    assert "Usage: reviewgauge score" in capsys.readouterr().out
    assert main(["help"]) == 0
    assert "validate" in capsys.readouterr().out


def test_files_and_programs_are_reviewers_inside_of_an_ensemble(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("findings.sarif").write_text(json.dumps(SARIF))
    Path("our-bot.sh").write_text("#!/bin/sh\necho 'api/wayside/admin.py:3: this divides by zero'\n")
    Path("our-bot.sh").chmod(0o755)
    spec = (
        'ensemble(reviewer=("./our-bot.sh", "findings.sarif", "ensemble(reviewer=\\"./our-bot.sh\\", n=2)"), least=1)'
    )
    assert main(["review", "sample", spec, "-o", "run", "--only", f"case={CASE}"]) == 0
    assert "our-bot + findings + ensemble(our-bot" in " ".join(capsys.readouterr().out.split())
    assert main(["review", "sample", 'ensemble(reviewer="./no-bot.sh")', "-o", "run2"]) == 2
    assert "there is no file or folder ./no-bot.sh" in capsys.readouterr().err
    with pytest.raises(UserError):  # what a file from others names is not looked up among the files of this machine
        load_from(Reviewer, 'ensemble(reviewer="./our-bot.sh")', FromFile("a manifest", tmp_path))


@pytest.mark.parametrize("text", ["#!/bin/sh\necho src/a.py:3: no\n", "Some notes.\n\nAnd more of them.\n"])
def test_a_file_that_no_format_recognises_is_not_silence(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("our-bot.sh").write_text(text)
    assert main(["review", "sample", "./our-bot.sh", "-o", "run"]) == 2
    error = capsys.readouterr().err
    assert "chmod +x ./our-bot.sh" in error and 'replay(path="./our-bot.sh", format="markdown")' in error
    assert not Path("run").exists()
    Path("review.md").write_text("- `api/wayside/admin.py:3` divides by zero\n")
    assert main(["review", "sample", "review.md", "-o", "run", "--only", f"case={CASE}"]) == 0


def test_a_file_of_reviews_is_never_run_or_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("reviews.py").write_text("open('owned', 'w')\nsarif = 1\n")
    assert main(["review", "sample", "reviews.sarif", "-o", "run"]) == 2
    assert "there is no file or folder reviews.sarif" in capsys.readouterr().err
    for word in ("reviews.JSON", "reviews.sarif.gz", "reviews.log", "reviews.sarif ", "reviews.json(path='x')"):
        assert main(["review", "sample", word, "-o", "run"]) == 2
    for verb in (["info"], ["doctor"], ["check"], ["review"]):
        assert main([*verb, "reviews.json"]) == 2
    assert main(["review", "sample", "silent", "--train", "reviews.json", "--stage", "reviews.yaml", "-o", "run"]) == 2
    assert main(["validate", "sample", "reviews.txt"]) == 2
    assert main(["review", "sample", "ensemble(reviewer='reviews.json')", "-o", "run"]) == 2
    for name in ("reviews.jsonl", "reviews.JSON", "reviews.yaml", "reviews.unknown"):
        Path(name).write_text("#!/bin/sh\ntouch owned\n")
        Path(name).chmod(0o755)
        main(["review", "sample", f"./{name}", "-o", f"run-{name}"])
    assert not Path("owned").exists()


def test_a_device_is_not_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "cases.jsonl").symlink_to("/dev/zero")
    for verb in ("check", "info", "doctor"):
        assert main([verb, str(tmp_path / "cases.jsonl")]) == 2
        assert "is a device" in capsys.readouterr().err or verb != "check"
