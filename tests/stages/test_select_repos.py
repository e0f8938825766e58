"""Repositories chosen by the rules of two papers from files; every other one with its reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewgauge.core.building import RESULTS
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.protocols import Stage
from reviewgauge.core.results import Drop
from reviewgauge.core.specs import load
from reviewgauge.engine.build.folder import BuildFolder
from reviewgauge.stages import select_repos
from reviewgauge.stages.pull_requests.candidates import chosen_repositories
from reviewgauge.stages.select_repos import RepositoryCandidate, SelectRepos, popular, read_candidates

HEADER = "name,language,stars,new_stars,issues_and_pulls,closed_pulls,active,language_share,team\n"


def table(folder: Path, *rows: str, name: str = "repositories.csv") -> str:
    path = folder / name
    path.write_text(HEADER + "\n".join(rows) + "\n")
    return str(path)


def run(stage: SelectRepos, context: BuildFolder) -> dict[str, str]:
    drops = list(stage.apply([], context))
    assert all(isinstance(one, Drop) for one in drops)
    return {one.item: one.reason for one in drops if isinstance(one, Drop)}


def test_context_crbenchs_rule_from_a_file(tmp_path: Path, context: BuildFolder) -> None:
    rows = (
        "a/good,Python,50,,5001,,2025-04-01,0.61,red", "a/second,Python,49,,9000,,2024-10-31,0.9,",
        "a/third,Python,48,,9000,,2025-04-01,0.9,", "a/mixed,Go,50,,9000,,2025-04-01,0.6,",
        "a/asleep,Go,49,,9000,,2024-10-01,0.9,", "a/small,Java,50,,5000,,2025-04-01,0.9,",
        "a/cobol,COBOL,500,,9000,,2025-04-01,0.9,", "a/starless,Python,,,9000,,2025-04-01,0.9,",
        "a/unknown,Rust,9,,9000,,,0.9,", "a/shareless,Rust,9,,9000,,2025-04-01,,",
        "a/countless,Rust,9,,,,2025-04-01,0.9,",
    )  # fmt: skip
    stage = SelectRepos(candidates=table(tmp_path, *rows))
    _, refused = popular(read_candidates(Path(stage.candidates)), ("Python",), 2)
    assert {one.name: one.reason for one in refused}["a/third"] == "not among the 2 most starred of Python"
    unstated = "its language's share, last activity or number of issues is not stated"
    assert run(stage, context) == {
        "a/mixed": "its language is not over 60% of it", "a/asleep": "not active in the 6 months before 2025-04-30",
        "a/small": "not over 5,000 issues and pull requests", "a/cobol": "in none of the languages",
        "a/starless": "stars are not stated", "a/unknown": unstated, "a/shareless": unstated, "a/countless": unstated,
    }  # fmt: skip
    assert chosen_repositories(context) == ("a/good", "a/second", "a/third")
    lines = (context.folder / RESULTS / "repositories.jsonl").read_bytes().splitlines()
    assert RepositoryCandidate.model_validate_json(lines[0]).name == "a/good"
    assert context.sections[-1].figures == {"candidates": 11, "chosen": 3}


def test_aacr_benchs_rule_needs_both_ranks_then_takes_some_of_each_language(
    tmp_path: Path, context: BuildFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = (
        "a/one,Python,,90,,90,,,", "a/two,Python,,80,,80,,,", "a/three,Python,,70,,70,,,", "a/starred,Go,,95,,1,,,",
        "a/busy,Go,,1,,95,,,", "a/go,golang,,60,,60,,,", "a/kotlin,Kotlin,,85,,85,,,", "a/untold,Go,5,,,50,,,",
    )  # fmt: skip
    monkeypatch.setattr(select_repos.ranked, "__defaults__", (6, 2))
    stage = SelectRepos(rule="aacr_bench", candidates=table(tmp_path, *rows))
    assert run(stage, context) == {
        "a/three": "not among the 2 with most new stars of Python",
        "a/starred": "not in the top 6 by closed pull requests",
        "a/busy": "not in the top 6 by new stars",
        "a/kotlin": "in none of the languages",
        "a/untold": "new stars or closed pull requests are not stated",
    }
    assert chosen_repositories(context) == ("a/one", "a/two", "a/go")


def test_json_lines_are_read_as_well(tmp_path: Path, context: BuildFolder) -> None:
    found = RepositoryCandidate(
        name="a/b", language="Python", stars=1, issues_and_pulls=9999, active="2025-04-01T10:00:00Z", language_share=1.0
    )
    (tmp_path / "r.jsonl").write_bytes(found.to_line())
    assert run(SelectRepos(candidates=str(tmp_path / "r.jsonl")), context) == {}
    assert chosen_repositories(context) == ("a/b",)


@pytest.mark.parametrize(("content", "said"), [
    ("stars\n5\n", "line 2, field name: is missing"),
    ("name,stars\na/b,many\n", "line 2, field stars: should be a valid integer"),
    ("name,stars\na/b\n", "line 2: has more or fewer fields"),
    ("name,stars\na/b,1,2\n", "line 2: has more or fewer fields"),
    ("name,stars\n/a,1\n", "line 2, field name: is an absolute path"),
    ("name,active\na/b,soon\n", "line 2, field active: invalid isoformat"),
    ("name\na/b\nA/B\n", "names a/b twice"),
    ("name,language_share\na/b,60\n", "line 2, field language_share: should be less than or equal to 1"),
    ("name,language_share\na/b,nan\n", "line 2, field language_share: should be"),
    ("name\n\xff\n", "is not UTF-8"), ('name\n"a/b\n', "is not a CSV"),
])  # fmt: skip
def test_a_bad_file_is_named_with_line_and_field(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "r.csv"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(BadInput, match=r"r\.csv") as caught:
        read_candidates(path)
    assert said in str(caught.value)


def test_what_cannot_be_done_is_said(tmp_path: Path, context: BuildFolder) -> None:
    with pytest.raises(UserError, match="needs the repositories to choose from"):
        run(SelectRepos(rule="aacr_bench"), context)
    with pytest.raises(UserError, match="cannot read"):
        run(SelectRepos(candidates=str(tmp_path / "none.csv")), context)
    with pytest.raises(UserError, match="no repository meets the rule"):
        run(SelectRepos(candidates=table(tmp_path, "a/b,Go,1,,1,,,0.9,")), context)
    with pytest.raises(UserError, match="Invalid isoformat"):
        load(Stage, "select_repos(day='soon')")


def test_where_the_user_names_repositories_none_is_chosen(tmp_path: Path) -> None:
    context = BuildFolder(tmp_path / "bench", "github:a/b")
    assert run(SelectRepos(rule="aacr_bench"), context) == {}
    assert chosen_repositories(context) == ()
    context.close()
