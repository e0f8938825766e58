"""What a recipe file from others cannot make the one who uses it do."""

from __future__ import annotations

from pathlib import Path

import pytest

from git_project import commit
from reviewgauge.api.build import build
from reviewgauge.core.errors import UserError
from reviewgauge.engine.build.recipes import make_stages, read_recipe, recipe_names, set_parameters

FORGE = "https://forge.invalid/api/v3"


def recipe_file(folder: Path, use: str, parameters: str = "") -> str:
    file = folder / "theirs.toml"
    file.write_text(f"title = 'Of others'\n[parameters]\n{parameters}\n[[stage]]\nuse = '''{use}'''\n")
    return str(file)


def made(file: str, **settings: str) -> list[object]:
    recipe = read_recipe(file)
    parameters = set_parameters(recipe, settings)
    return [stage for stage, _ in make_stages(recipe, parameters, settings.values())]


EVIL = [
    ("generate(reviewers=(\"command(run='touch MARKER')\",))", r"runs a program \(command\)"),
    ('generate(reviewers=("com" "mand(run=\'touch MARKER\')",))', r"runs a program \(command\)"),
    ("generate(reviewers=(\"reviewgauge.reviewers.command(run='touch MARKER')\",))", "runs a program|code outside"),
    ("generate(reviewers=(\"reviewgauge.reviewers.command.Command(run='x')\",))", "runs a program|code outside"),
    ("generate(reviewers=(\"prompt(model='openai:m@http://forge.invalid/v1')\",))", "openai:m@http.* is an address"),
    ("classify(model='openai:m@https://forge.invalid/v1', what='domain')", "openai:m@https.* is an address"),
    ("merge_same(judge='anthropic:m@https://forge.invalid')", "anthropic:m.* is an address"),
    (f"from_forge(repos=('a/b',), api='{FORGE}')", "https://forge.invalid.* is an address"),
    ("from_forge(repos=('a/b',), api='forge.invalid')", "forge.invalid.* is an address"),
    ("from_forge(repos=('a/b',), auth_variable='AWS_SECRET_ACCESS_KEY')",
        "AWS_SECRET_ACCESS_KEY.* is an environment variable"),
    ("from_forge(repos=('a/b',), clone='/home/me/private')", "/home/me/private.* is outside of its folder"),
    ("from_forge(repos=('a/b',), clone='../private')", "../private.* is outside of its folder"),
    ("from_forge(archive='~/dumps')", "~/dumps.* is outside of its folder"),
    ("generate(reviewers=(\"replay(path='/etc/passwd', format='markdown')\",))",
        "/etc/passwd.* is outside of its folder"),
    ("select_repos(rule='aacr_bench', candidates='a/../../x.csv')", "a/../../x.csv.* is outside of its folder"),
    ("my_plugins.evil_stage(n=1)", "code outside ReviewGauge"),
    ("generate(reviewers=('my_plugins.evil',))", "my_plugins"),
]  # fmt: skip


@pytest.mark.parametrize(("use", "words"), EVIL)
def test_a_file_alone_decides_none_of_these(tmp_path: Path, use: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        made(recipe_file(tmp_path, use))


def test_nor_do_its_defaults_or_pieces_that_it_puts_together(tmp_path: Path) -> None:
    generate = "generate(reviewers=$reviewers)"
    with pytest.raises(UserError, match=r"theirs, stage 1: .*it runs a program.*make it a parameter"):
        made(recipe_file(tmp_path, generate, "reviewers = [\"command(run='touch MARKER')\"]"))
    with pytest.raises(UserError, match="is an address"):
        made(recipe_file(tmp_path, "from_forge(repos=('a/b',), api=$api)", f"api = '{FORGE}'"))
    pieces = "generate(reviewers=('com' $a \"(run='touch MARKER')\",))"
    with pytest.raises(UserError, match="runs a program"):
        made(recipe_file(tmp_path, pieces, "a = 'mand'"))
    with pytest.raises(UserError, match=r"theirs\.toml, field shipped|runs a program"):
        file = Path(recipe_file(tmp_path, EVIL[0][0]))
        file.write_text("shipped = true\n" + file.read_text())
        made(str(file))


def test_what_the_user_says_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = "command(run='touch x', name='mine')"
    file = recipe_file(tmp_path, "generate(reviewers=$reviewers)", "reviewers = ['silent']")
    assert made(file, reviewers=repr((run, "parrot")))
    forge = "from_forge(repos=('a/b',), api=$api, auth_variable=$auth_variable, clone=$clone, archive='dumps/new')"
    file = recipe_file(tmp_path, forge, "api = ''\nauth_variable = ''\nclone = ''")
    assert made(file)
    assert made(file, api=FORGE, auth_variable="OTHER_TOKEN", clone="/srv/code/shop.git")
    with pytest.raises(UserError, match="is an address"):
        made(recipe_file(tmp_path, f"from_forge(repos=('a/b',), api='{FORGE}', limit=$limit)", "limit = 0"), limit="1")
    asks = recipe_file(tmp_path, 'generate(reviewers=("prompt(model=$model)",))', "model = 'fake:rules'")
    assert made(asks, model="openai:m@http://localhost:8000/v1")


def test_stages_of_the_command_line_are_the_users(tmp_path: Path) -> None:
    commit(tmp_path / "shop", {"a.py": "x = 1\n"})
    file = recipe_file(tmp_path, "from_git")
    own = "generate(reviewers=(\"command(run='true', empty='silent')\",))"
    result = build(tmp_path / "shop", out=tmp_path / "bench", recipe=file, stages=(own,))
    assert result.card is not None and len(result.card.funnel) == 2


def test_recipes_that_ship_may_name_what_they_need() -> None:
    assert all(read_recipe(name).shipped for name in recipe_names())
