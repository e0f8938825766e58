"""What a file from others may decide: every parameter of every plug-in states what its texts are for."""

from __future__ import annotations

import dataclasses
import re
import sys
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Metric, Reviewer, Stage
from reviewgauge.core.specs import KINDS, Plugin, find_class, load, load_from, load_recorded, names
from reviewgauge.core.trust import FromFile, Use, check_model, holds_text, uses
from reviewgauge.exports.writing.export import Export
from reviewgauge.models.request.model_spec import PROVIDERS
from reviewgauge.operators.code.operator import Operator
from reviewgauge.repo.forge.api import ForgeKind


def plugins() -> Iterator[type[Plugin]]:
    classes: list[type[Plugin]] = [*Plugin.__subclasses__(), Operator, Export, ForgeKind]
    kinds = {cls.kind: cls for cls in classes if "kind" in vars(cls)}
    assert set(KINDS) == set(kinds)
    for kind in KINDS:
        for name in names(kind):
            yield find_class(kinds[kind], name)


def parameters() -> Iterator[tuple[type[Plugin], str, Any]]:
    """Each parameter of each plug-in, with its type."""
    for cls in plugins():
        hints = typing.get_type_hints(cls, include_extras=True)
        for field in dataclasses.fields(cls):  # type: ignore[arg-type]
            if field.init:
                yield cls, field.name, hints[field.name]


def test_every_text_parameter_states_its_use() -> None:
    wrong = [
        f"{cls.kind}.{cls.__name__}.{name}"
        for cls, name, hint in parameters()
        if not holds_text(hint) <= len(uses(hint)) <= 1
    ]
    assert wrong == [], "say what they are for: see core/trust.py"


HOSTILE = {
    Use.FILE: ("/etc/passwd", "~/.netrc", "../x.json", "/dev/zero"),
    Use.ADDRESS: ("http://127.0.0.1:1/",),
    Use.PROGRAM: ("/bin/sh",),
    Use.VARIABLE: ("AWS_SECRET_ACCESS_KEY",),
    Use.MODEL: ("openai:x@http://evil.example/v1", "hub:evil/model", "/etc", "../model"),
    Use.SPEC: ("command(run=('sh',))", "lexical(weights='/etc/passwd')", "antigravity.Judge", "replay(path='../x')"),
    Use.WORD: (),
}


def test_a_file_decides_on_nothing_but_plain_values(tmp_path: Path) -> None:
    tried = 0
    for cls, name, hint in parameters():
        kind: Any = next(base for base in cls.__mro__ if "kind" in vars(base))
        for text in (text for use in uses(hint) for text in HOSTILE[use]):
            spec = f"{cls.__module__.rpartition('.')[2]}({name}={text!r})"
            with pytest.raises(UserError) as error:
                load_from(kind, spec, FromFile("theirs.json", tmp_path))
                pytest.fail(f"{spec} was loaded")
            assert re.search("which a file may not decide|code that only a file names", str(error.value)), spec
            tried += 1
    assert tried > 100


def test_what_the_user_said_is_free_wherever_it_stands(tmp_path: Path) -> None:
    spec = "from_forge(api='http://127.0.0.1:1/', repos=('a/b',))"
    with pytest.raises(UserError, match="an address on the network"):
        load_from(Stage, spec, FromFile("r.toml"))
    assert load_from(Stage, spec, FromFile("r.toml", said=frozenset({"http://127.0.0.1:1/"}))) == load(Stage, spec)


def test_a_file_does_not_open_the_sandbox_of_a_command_that_the_user_gives() -> None:
    given = FromFile("r.toml", said=frozenset({"pytest {files}"}))
    with pytest.raises(UserError, match=r"sandbox='off' is .*which a file may not decide"):
        load_from(Stage, "verify_fixes(test='pytest {files}', sandbox='off')", given)
    with pytest.raises(UserError, match="must be one of"):
        load(Stage, "verify_fixes(test='pytest {files}', sandbox='none')")


def test_files_of_its_own_folder_with_links_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.json").write_text("{}")
    (tmp_path / "link").symlink_to("/etc")
    (tmp_path / "loop").symlink_to("loop")
    origin = FromFile("theirs.toml", tmp_path)
    assert load_from(Metric, "meteor(wordnet='mine.json')", origin)
    for path in ("link/hostname", "loop", "mine.json/../../x"):
        with pytest.raises(UserError, match=r"outside of its folder|cannot be followed"):
            load_from(Reviewer, f"replay(path={path!r})", origin)


def test_a_reviewer_that_runs_programs_is_the_users_to_name(tmp_path: Path) -> None:
    for spec in ("command(run='true')", "generate(reviewers=(\"command(run='true')\",))"):
        with pytest.raises(UserError, match="runs a program"):
            load_from(Reviewer if spec.startswith("command") else Stage, spec, FromFile("bundle.json", tmp_path))


def _is_required(parameter: dataclasses.Field[Any]) -> bool:
    return parameter.default is dataclasses.MISSING and parameter.default_factory is dataclasses.MISSING


def test_a_spec_that_is_read_for_its_figures_opens_nothing(tmp_path: Path) -> None:
    """`report` and `compare` load the metrics that a run names, whatever files those name."""
    trap = tmp_path / "trap.json"
    trap.write_text("{}")
    opened: list[str] = []
    active = True

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if active and event == "open" and str(arguments[0]) == str(trap):
            opened.append(str(arguments[0]))

    sys.addaudithook(hook)
    tried = 0
    for cls in plugins():
        kind: Any = next(base for base in cls.__mro__ if "kind" in vars(base))
        for name, hint in typing.get_type_hints(cls, include_extras=True).items():
            if Use.FILE in uses(hint):
                needed = "".join(
                    f", {one.name}='fake:rules'"
                    for one in dataclasses.fields(typing.cast("Any", cls))
                    if _is_required(one)
                )
                load_recorded(kind, f"{cls.__module__.rpartition('.')[2]}({name}={str(trap)!r}{needed})")
                tried += 1
    load_recorded(Metric, f"hits(judge=\"lexical(weights='{trap}')\")").models  # noqa: B018
    active = False
    assert tried > 15
    assert opened == []


def test_a_protocol_of_models_is_one_file(tmp_path: Path) -> None:
    """The gate knows each provider by its file: a new one needs no line here or there."""
    providers = names("models.providers")
    assert {"openai", "anthropic"} <= set(providers) and providers == [n for n in PROVIDERS if n != "fake"]
    for name in (*providers, "fake"):
        origin = FromFile("theirs.toml", offline=True)
        check_model(f"{name}:some-model@http://10.0.0.1/v1", "model", origin)
        with pytest.raises(UserError, match="an address on the network"):
            check_model(f"{name}:some-model@http://10.0.0.1/v1", "model", FromFile("theirs.toml"))
        check_model(f"{name}:some-model", "model", FromFile("theirs.toml"))
    with pytest.raises(UserError, match="a file of this machine"):
        check_model("unheard-of:some-model", "model", FromFile("theirs.toml"))
