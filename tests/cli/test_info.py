"""`info` for each kind of plug-in, `help VERB`, and reviewers named by a path."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reviewgauge.api.info import plugin_info
from reviewgauge.cli.main import main
from reviewgauge.core.specs import KINDS, names

SARIF = {
    "version": "2.1.0",
    "runs": [
        {
            "tool": {"driver": {"name": "scan"}},
            "results": [
                {
                    "message": {"text": "divides by zero"},
                    "locations": [
                        {"physicalLocation": {"artifactLocation": {"uri": "shop/cart.py"}, "region": {"startLine": 3}}}
                    ],
                }
            ],
        }
    ],
}


@pytest.mark.parametrize("name", [f"{kind}/{name}" for kind in KINDS for name in names(kind)])
def test_every_plug_in_says_what_it_is_takes_and_how_it_is_used(name: str) -> None:
    kind, _, plain = name.partition("/")
    found = plugin_info(kind, plain)
    assert found.text and plain in found.example
    assert all(one.type and "typing" not in one.type and "<" not in one.type for one in found.parameters)


def test_info_of_a_reviewer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "prompt"]) == 0
    out = capsys.readouterr().out
    assert "reviewers/prompt" in out and "must be given" in out and "needs a model" in out
    assert "'prompt(model=\"fake:rules\")'" in out
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
    assert "judge-check" in capsys.readouterr().out


def test_files_folders_and_programs_are_reviewers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("findings.sarif").write_text(json.dumps(SARIF))
    bot = Path("our-bot.sh")
    bot.write_text("#!/bin/sh\necho 'shop/cart.py:3: this divides by zero'\n")
    bot.chmod(0o755)
    assert main(["review", "sample", "findings.sarif", "./our-bot.sh", "-o", "run", "--json"]) == 0
    totals = json.loads(capsys.readouterr().out)["totals"]
    assert [one["systems"] for one in totals] == [["findings"], ["our-bot"]]
    assert all(one["done"] == 24 for one in totals)
    assert main(["review", "sample", "our-bot.sh", "-o", "run2"]) == 2, (
        "a program is named with a slash, as for a shell"
    )
    assert main(["review", "sample", "./no-such-bot.sh", "-o", "run2"]) == 2


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
