from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine_small import make_case
from git_project import commit, make_change, run_git
from reviewgauge.core.errors import NeedsCode, UserError
from reviewgauge.core.protocols import Reviewer
from reviewgauge.core.records import Anchoring, Change, Issue, Side
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.core.specs import load, signature
from reviewgauge.repo.guarded.run import Ended, run_guarded
from reviewgauge.reviewers import command as command_module
from reviewgauge.reviewers.command import Command
from waiting import Pulse, until

pytestmark = pytest.mark.processes

BEFORE = {"m.py": "one\ntwo\nthree\n", "lib/n.py": "n\n", ".gitattributes": "*.py filter=evil\n"}
AFTER = {"m.py": "one\nTWO\nthree\n"}
SECRET = "not-a-real-secret-0123456789"
CASE = "REVIEWGAUGE_CASE"


@pytest.fixture
def change(tmp_path: Path) -> Change:
    made = make_change(tmp_path / "project", BEFORE, AFTER, "acme/shop/pull/1")
    issue = Issue(number=7, title="Shout", body="It whispers.")
    return made.model_copy(update={"title": "Louder", "description": "It was quiet.", "issues": (issue,)})


@pytest.fixture
def bin_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "own tools"
    folder.mkdir()
    return folder


def script(folder: Path, text: str, name: str = "review.sh") -> str:
    """An executable shell script; its path."""
    file = folder / name
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return str(file)


def shell(text: str, **parameters: object) -> Command:
    """A reviewer that is a shell command."""
    return load(Command, f"command(run=('sh', '-c', {text!r}){''.join(f', {k}={v!r}' for k, v in parameters.items())})")


def said(change: Change, text: str, **parameters: object) -> str:
    """What a shell command prints into the review's only comment, as one fenced block would tear it apart."""
    body = shell(
        f"printf '%s' \"$({text})\" > $REVIEWGAUGE_OUTPUT.txt; echo '- m.py:2 done'; cat $REVIEWGAUGE_OUTPUT.txt >&2",
        **parameters,
    )
    trace = body.review(change).trace or ""
    return trace.partition("--- stderr, its end ---\n")[2]


# --- what it says --------------------------------------------------------------------------------------------------


def test_a_review_in_a_known_format_is_read_and_placed(change: Change, bin_folder: Path) -> None:
    diagnostic = {
        "message": "Too loud.",
        "location": {"path": "m.py", "range": {"start": {"line": 2}}},
        "severity": "WARNING",
    }
    program = script(
        bin_folder, f"cat <<'E'\n{json.dumps({'source': {'name': 'mine'}, 'diagnostics': [diagnostic]})}\nE"
    )
    reviewer = Command(run=(program, "{base}"))
    assert reviewer.system == "review" and load(Reviewer, signature(reviewer)) == reviewer
    assert reviewer.prepare([change]) == ()
    (comment,) = reviewer.review(change).comments
    assert comment.span is not None and comment.anchoring is Anchoring.AS_GIVEN
    assert (comment.body, comment.span.path, comment.span.start, comment.span.side) == (
        "Too loud.", "m.py", 2, Side.NEW,
    )  # fmt: skip


@pytest.mark.parametrize(("output", "written"), [("{output}", "$REVIEWGAUGE_OUTPUT"), ("out/r.md", "out/r.md")])
def test_a_review_from_a_file(change: Change, output: str, written: str) -> None:
    reviewer = shell(f"mkdir -p out; echo '- m.py:2 is loud' > {written}; echo noise", output=output)
    reviewer.prepare([change])
    assert [comment.span and comment.span.start for comment in reviewer.review(change).comments] == [2]


def test_an_output_file_is_a_plain_file_of_the_checkout(change: Change, tmp_path: Path) -> None:
    (tmp_path / "private.md").write_text("- m.py:2 is private")
    for trick in (
        f"ln -s '{tmp_path}/private.md' r.md",
        f"ln -s '{tmp_path}' out; mkdir -p x",
        "mkdir r.md",
        "mkfifo r.md",
    ):
        output = "out/private.md" if "out" in trick else "r.md"
        with pytest.raises(Failed) as refused:
            shell(trick, output=output).review(change)
        assert refused.value.kind is FailureKind.UNREADABLE and "private." not in (refused.value.raw or "")
    for output in ("../x", "/etc/passwd", "a/../../x", ".git/config"):
        with pytest.raises(UserError, match="is outside the checkout"):
            shell("true", output=output).prepare([change])


def test_nothing_said_is_a_failure_unless_it_means_silence(change: Change) -> None:
    for reviewer in (shell("true"), shell("echo; echo ' '"), shell("true", output="none.md")):
        with pytest.raises(Failed, match="is empty") as failed:
            reviewer.review(change)
        assert failed.value.kind is FailureKind.UNREADABLE
        assert 'command(run=..., empty="silent")' in str(failed.value)
    assert shell("true", empty="silent").review(change).comments == ()


def test_each_changed_file_is_an_argument_whatever_its_name(tmp_path: Path) -> None:
    odd = ["-rf", "a b.py", "new\nline.py", "$(touch hacked);x.py", "@file.py", "gone.py", "sub/{head}.py"]
    before: dict[str, str | None] = dict.fromkeys(odd, "1\n")
    after: dict[str, str | None] = {name: None if name == "gone.py" else "2\n" for name in odd}
    change = make_change(tmp_path / "odd", before, after)
    show = "import sys; [print('- m.py:1', ascii(x)) for x in sys.argv[1:]]"
    said = Command(run=(sys.executable, "-c", show, "{files}", "{{files}}")).review(change).comments
    names = sorted(one.body.partition(" ")[2] for one in said)
    plain = ["./-rf", "a b.py", "new\nline.py", "./$(touch hacked);x.py", "./@file.py", "sub/{head}.py", "{files}"]
    assert names == sorted(map(ascii, plain))
    (one,) = Command(run=(sys.executable, "-c", show, "{files:*.go,sub/*.py}")).review(change).comments
    assert "sub/{head}.py" in one.body
    quiet = Command(run=("sh", "-c", "echo never", "sh", "{files:*.go}")).review(change)
    assert quiet.comments == () and "was not run" in (quiet.trace or "")


@pytest.mark.parametrize(("word", "says"), [
    ("{file}", r"\{file\} in '\{file\}' is not a slot \(there are \{files\}, \{base\}, .*\{\{file\}\} is the text"),
    ("--only={files}", "cannot stand in '--only={files}'"),
    ("{pr}", "is not a slot"),
])  # fmt: skip
def test_a_slot_that_is_none_is_an_error_at_the_door(change: Change, word: str, says: str) -> None:
    with pytest.raises(UserError, match=says):
        Command(run=("true", word)).prepare([change])
    Command(run=("awk", "{print $1} {{file}} ${HOME} {}", '{"a": {"b": 1}}')).prepare([change])


def test_words_without_a_place_are_a_failure_unless_silence_was_promised(change: Change) -> None:
    text = "echo 'Checked 3 files.'"
    with pytest.raises(Failed, match=r"names no place in code: 'Checked 3 files\.'") as failed:
        shell(text).review(change)
    assert failed.value.kind is FailureKind.UNREADABLE
    quiet = shell(text, empty="silent").review(change)
    assert quiet.comments == () and "Checked 3 files.': left out" in (quiet.trace or "")
    assert len(shell(text, format="markdown").review(change).comments) == 1
    (found,) = shell("echo 'm.py:2:1: E1 loud'; exit 1", accept=(0, 1)).review(change).comments
    assert found.anchoring is Anchoring.AS_GIVEN and found.category == "E1"


def test_colours_and_bytes_that_are_no_text_cost_no_review(change: Change) -> None:
    text = r"printf -- '- \033[36mm.py:2\033[0m \033]8;;http://x\033\\caf\351\033]8;;\033\\ is loud\n'"
    review = shell(text).review(change)
    (comment,) = review.comments
    assert comment.span is not None and comment.span.start == 2
    assert comment.body.endswith("caf\N{REPLACEMENT CHARACTER} is loud") and "\x1b" not in comment.body
    assert "1 bytes that are not UTF-8 were replaced" in (review.trace or "")
    with pytest.raises(Failed, match="not in a known format"):
        shell("head -c 500 /dev/zero; echo '- m.py:2 loud'").review(change)


def test_exit_codes_that_are_not_accepted_are_failures_even_with_a_review(change: Change) -> None:
    text = "echo '- m.py:2 is loud'; echo 'rate limit exceeded' >&2; exit 3"
    with pytest.raises(Failed, match=r"exit code 3: rate limit exceeded.*accept=\(0, 3\)") as failed:
        shell(text).review(change)
    assert failed.value.kind is FailureKind.CRASH and "is loud" in (failed.value.raw or "")
    review = shell(text, accept=(0, 3)).review(change)
    assert len(review.comments) == 1 and "exit code 3" in (review.trace or "")
    with pytest.raises(Failed, match="signal 9"):
        shell("kill -9 $$").review(change)


def test_only_added_lines_where_that_is_asked_for(change: Change) -> None:
    text = "printf -- '- m.py:1 old\\n- m.py:2 new\\n- lib/n.py:1 elsewhere\\n'"
    assert len(shell(text).review(change).comments) == 3
    review = shell(text, lines="added").review(change)
    assert [comment.span and comment.span.start for comment in review.comments] == [2]
    assert "2 comments on lines that the change does not add" in (review.trace or "")


# --- what it finds -------------------------------------------------------------------------------------------------


def test_arguments_environment_and_files_tell_the_same(change: Change, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    words = ("base", "head", "workspace", "case", "diff", "title", "description", "issues", "output")
    lines = "; ".join(
        f'[ "${{{n}}}" = "$REVIEWGAUGE_{word.upper()}" ] || echo {word}' for n, word in enumerate(words, 1)
    )
    program = script(tmp_path / "outside", f'{lines}\necho \'- m.py:2 same\'\ncat "$5" "$6" "$7" "$8" >&2\npwd >&2')
    review = Command(run=(program, *(f"{{{word}}}" for word in words)), env=("PATH", CASE)).review(change)
    (comment,) = review.comments
    trace = review.trace or ""
    assert "+TWO" in trace and "-two" in trace and "diff --git a/m.py b/m.py" in trace
    assert "Louder" in trace and "It was quiet." in trace and "# Shout (#7)" in trace
    assert not any(word in comment.body for word in words)


def test_the_diff_on_stdin_and_no_checkout_at_all(change: Change) -> None:
    assert "+TWO" in said(change, "cat", stdin="diff")
    assert said(change, "cat") == ""
    assert said(change, "ls -A; echo [$REVIEWGAUGE_BASE]", checkout="none") == "[]"
    bare = change.model_copy(update={"git": None})
    with pytest.raises(NeedsCode):
        shell("true").prepare([bare])
    assert [drop.item for drop in shell("true").prepare([change, bare])] == ["acme/shop/pull/1"]
    assert "+TWO" in said(bare, 'cat "$REVIEWGAUGE_DIFF"', checkout="none")


def test_the_checkout_is_scrubbed_and_nothing_is_added_to_it(change: Change, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    commit(folder, {"m.py": "THE FIX\n"})
    run_git(folder, "tag", "later")
    for history in (False, True):
        out = said(
            change, "git status --porcelain; git log --all -p; git tag; git reflog; git stash list", history=history
        )
        assert "TWO" in out and "THE FIX" not in out and "later" not in out
    assert said(change, "git status --porcelain --ignored") == ""
    assert said(change, "git rev-list --count --all", history=True) == "2"
    assert said(change, 'git diff "$REVIEWGAUGE_BASE" "$REVIEWGAUGE_HEAD" | grep ^+T') == "+TWO"


def test_the_environment_is_what_the_user_names(
    change: Change, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SHOP_API_KEY", SECRET)
    monkeypatch.setenv("PATH", f".:tools::{os.environ['PATH']}")
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    lines = dict(line.split("=", 1) for line in said(change, "env").splitlines() if "=" in line)
    assert {name for name in lines if not name.startswith(("REVIEWGAUGE_", "XDG_", "GIT_"))} <= {
        *("PATH", "HOME", "LANG", "LC_ALL", "TERM", "NO_COLOR", "TMPDIR", "TMP", "TEMP"),
        *("PWD", "OLDPWD", "SHLVL", "_"),
    }
    assert "GIT_DIR" not in lines and lines["GIT_CONFIG_NOSYSTEM"] == "1"
    assert all(Path(folder).is_absolute() for folder in lines["PATH"].split(":"))
    assert said(change, 'ls -A "$HOME"; ls -A "$TMPDIR"; git config -l | grep -v -e ^core -e ^gc -e ^pro -e ^sub') == ""
    assert Path(lines["HOME"]) != Path.home() and not Path(lines["HOME"]).exists()
    passed = said(change, 'echo "key: $SHOP_API_KEY"', env=("PATH", "SHOP_API_KEY"))
    assert passed == "key: ***"
    (comment,) = shell('echo "- m.py:2 the key is $SHOP_API_KEY"', env=("PATH", "SHOP_API_KEY")).review(change).comments
    assert SECRET not in comment.body and "***" in comment.body
    with pytest.raises(Failed) as failed:
        shell('echo "$SHOP_API_KEY"; exit 2', env=("PATH", "SHOP_API_KEY")).review(change)
    assert SECRET not in str(failed.value) and SECRET not in (failed.value.raw or "")


# --- what must not happen ------------------------------------------------------------------------------------------


def test_the_repository_names_no_program(change: Change, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs in the code under review, under every name by which they could be started by accident."""
    marker = tmp_path / "MARKER"
    evil = f"#!/bin/sh\ntouch '{marker}'\necho '- m.py:2 evil'\n"
    files = dict.fromkeys(("review.sh", "ruff", "git", "tools/review.sh", "sitecustomize.py"), evil)
    hostile = make_change(tmp_path / "hostile", {**files, **BEFORE}, AFTER)
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    for run in ("./review.sh", "tools/review.sh", "{workspace}/review.sh", "nothing-of-that-name", ""):
        with pytest.raises(UserError, match=r"does not exist|needs a program"):
            Command(run=(run,)).prepare([hostile])
    with pytest.raises(UserError, match=r"would be looked for in the code under review.*\{here\}/review.sh"):
        Command(run=("sh", "review.sh")).prepare([hostile])
    script(here, "git log -1 >&2; echo '- m.py:2 mine'")
    for own in (Command(run=("./review.sh",)), Command(run=("sh", "{here}/review.sh")), Command(run="./review.sh")):
        own.prepare([hostile])
        assert "mine" in own.review(hostile).comments[0].body
    assert not marker.exists()


def test_an_id_is_no_shell_code(change: Change) -> None:
    odd = change.model_copy(update={"id": "$(touch MARKER) ; touch MARKER #7"})
    assert said(odd, "echo {case}") == "__touch_MARKER____touch_MARKER__7"
    assert "MARKER" not in said(odd, "ls -A; echo {case} > /dev/null; ls -A")
    assert said(odd, 'echo "$REVIEWGAUGE_CASE"', env=("PATH", CASE)) == "$(touch MARKER) ; touch MARKER #7"
    dashed = change.model_copy(update={"id": "--help"})
    assert said(dashed, "echo {case}") == "_-help"


AGENT = """for file in .claude/settings.json sub/CLAUDE.md AGENTS.md "$HOME/.claude/settings.json"; do
  if [ -f "$file" ]; then echo "hook: $file" >&2; sh "$file" >&2; fi
done
echo '- m.py:2 reviewed'"""


def test_what_a_forge_finds_the_answers_under_is_told_only_who_asks(change: Change, tmp_path: Path) -> None:
    """The ids in the checkout are made up for that reason; the case's id often is a commit or a pull request."""
    named = change.model_copy(update={"id": f"acme/shop/{change.head}", "repo": "acme/shop"})
    look = (
        'env; cat /proc/self/cmdline | tr "\\0" " "; cat .git/config; git log --all; grep -r . "${REVIEWGAUGE_DIFF%/*}"'
    )
    told = said(named, look)
    assert "+TWO" in told and "REVIEWGAUGE_HEAD" in told
    assert CASE not in told and str(named.head) not in told and str(named.base) not in told
    assert str(tmp_path) not in told.replace(os.environ["PATH"], ""), "no folder of the benchmark's is named"
    assert said(named, "echo $REVIEWGAUGE_CASE", env=("PATH", CASE)) == named.id
    shell("true", env=("PATH", CASE)).prepare([named])


def test_a_hook_that_the_repository_brings_for_agents_does_not_fire(tmp_path: Path, bin_folder: Path) -> None:
    marker = tmp_path / "CANARY"
    hook = f"touch '{marker}'\n"
    configuration = {".claude/settings.json": hook, "sub/CLAUDE.md": hook, "AGENTS.md": hook, ".mcp.json": hook}
    project = make_change(tmp_path / "project", {**BEFORE, **configuration}, AFTER)
    agent = script(
        bin_folder, AGENT + '\ngit status --porcelain >&2\ngit show "$REVIEWGAUGE_HEAD:AGENTS.md" >&2', "agent"
    )
    for history in (False, True):
        review = Command(run=(agent,), history=history).review(project)
        trace = review.trace or ""
        assert not marker.exists() and "hook:" not in trace
        assert trace.rpartition("---\n")[2].strip() == hook.strip()  # git finds nothing amiss, and has the file as data
        assert "was left out of the folder (4)" in trace
    Command(run=(agent,), strip_agent_config=False).review(project)
    assert marker.exists(), "the canary must fire where the files stay, or this test shows nothing"


@pytest.mark.parametrize(("text", "limits", "kind", "words"), [
    ("sleep 60", {"seconds": 0.5}, FailureKind.TIMEOUT, "longer than 0.5 seconds"),
    ("trap '' TERM INT HUP; while :; do :; done", {"seconds": 0.5}, FailureKind.TIMEOUT, "longer than"),
    ("while :; do echo spam; done", {"output_limit": 5000}, FailureKind.UNREADABLE, "more than 5,000 bytes"),
    ("for i in 1 2 3 4 5 6 7 8 9; do sleep 60 & done; wait", {"processes": 5}, FailureKind.CRASH, "5 processes"),
    ("head -c 9000 /dev/zero > r; exit 0", {"output_limit": 5000, "output": "r"}, FailureKind.UNREADABLE, "5,000"),
])  # fmt: skip
def test_limits(change: Change, text: str, limits: dict[str, object], kind: FailureKind, words: str) -> None:
    with pytest.raises(Failed, match=words) as failed:
        shell(text, **limits).review(change)
    assert failed.value.kind is kind


@pytest.fixture
def pulse(tmp_path: Path) -> Pulse:
    return Pulse(tmp_path / "pulse")


def staying(pulse: Pulse) -> str:
    """A shell's words that leave two processes, one of them in a session of its own."""
    stays = f"sh -c '{pulse.hold}; sleep 900; :'".replace("'", '"')
    return f"(setsid {stays} &); ({stays} &)"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of processes in other sessions")
@pytest.mark.parametrize("sandbox", ["auto", "off"])  # a namespace where that is allowed, and none
def test_what_it_leaves_behind_is_ended_too(change: Change, tmp_path: Path, pulse: Pulse, sandbox: str) -> None:
    go = tmp_path / "go"
    os.mkfifo(go)
    starts = f"{staying(pulse)}; cat < {go}; "
    with ThreadPoolExecutor(1) as pool:
        reviewing = pool.submit(shell(starts + "echo '- m.py:2 done'", sandbox=sandbox).review, change)
        until(lambda: pulse.begun(2))
        assert not pulse.gone()
        go.write_text("go")
        assert "may still run" not in (reviewing.result().trace or "")
    assert pulse.gone()
    with pytest.raises(Failed, match="took longer than 1 seconds and was ended"):
        shell(starts, seconds=1.0, sandbox=sandbox).review(change)
    assert pulse.gone()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of processes in other sessions")
@pytest.mark.parametrize(("number", "workers", "sandbox"), [
    (signal.SIGKILL, "1", "off"), (signal.SIGTERM, "2", "auto"), (signal.SIGINT, "2", "auto"),
])  # fmt: skip
def test_it_ends_when_we_do(
    change: Change, tmp_path: Path, pulse: Pulse, number: int, workers: str, sandbox: str
) -> None:
    """A run by the command line, ended half-way; Ctrl-C is pressed twice, because the first one lets it finish."""
    cases = tmp_path / "cases.jsonl"
    cases.write_bytes(make_case(1).model_copy(update={"change": change.model_copy(update={"id": None})}).to_line())
    text = f"{staying(pulse)}; {pulse.hold}; sleep 900"
    spec = f"command(run=('sh', '-c', {text!r}), sandbox={sandbox!r})"
    command = [sys.executable, "-m", "reviewgauge", "review", str(cases), spec, "-o", str(tmp_path / "run")]
    (tmp_path / "tmp").mkdir()
    ran = subprocess.Popen(
        [*command, "--workers", workers],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=os.environ | {"TMPDIR": str(tmp_path / "tmp")},
    )
    try:
        until(lambda: pulse.begun(3), ran)
        ran.send_signal(number)
        if number == signal.SIGINT:
            assert ran.stdout is not None
            assert any(b"finishing what is in flight" in line for line in ran.stdout)
            assert not pulse.gone()
            ran.send_signal(number)
        ran.wait()
        until(lambda: pulse.gone() and not any((tmp_path / "tmp").iterdir()))
    finally:
        ran.kill()
        ran.communicate()


def test_what_may_still_run_is_said(change: Change, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsure(*arguments: Any, **more: Any) -> Ended:
        return replace(run_guarded(*arguments, **more), unproved="processes may still run: 7 (chain)")

    monkeypatch.setattr(command_module, "run_guarded", unsure)
    assert "may still run: 7 (chain)" in (shell("echo '- m.py:2 done'").review(change).trace or "")
    with pytest.raises(Failed, match=r"longer than 0\.2 seconds and was ended; processes may still run: 7") as failed:
        shell("sleep 60", seconds=0.2).review(change)
    assert "may still run" in (failed.value.raw or "") and failed.value.remedy == "seconds= sets the limit"


def test_a_program_that_removes_everything_touches_nothing_of_others(change: Change, tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    (tmp_path / "tmp").chmod(0o1777)
    text = 'given="${REVIEWGAUGE_DIFF%/*}"; rm -rf "${REVIEWGAUGE_WORKSPACE%/*}" "${given%/*}"; echo "- m.py:2 done"'
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
        assert len(shell(text).review(change).comments) == 1
    assert not list((tmp_path / "tmp").iterdir()) and (tmp_path / "tmp").stat().st_mode & 0o7777 == 0o1777


# --- what a user can put right -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("parameters", "words"), [
    ({"env": ("PATH", "NOT_SET_ANYWHERE")}, "NOT_SET_ANYWHERE is not set"),
    ({"env": ("KEY=secret",)}, "is not a valid variable name"),
    ({"seconds": 0.0}, "above 0"),
    ({"home": "/nowhere/at/all"}, "is not a folder"),
])  # fmt: skip
def test_parameters_that_cannot_work(change: Change, parameters: dict[str, object], words: str) -> None:
    with pytest.raises(UserError, match=words):
        shell("true", **parameters).prepare([change])


def test_another_script_is_another_reviewer(tmp_path: Path, bin_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = script(bin_folder, "true")
    before = Command(run=(program,)).pins()
    script(bin_folder, "false")
    assert before != Command(run=(program,)).pins() and set(before) == {"sha256"}
    monkeypatch.chdir(bin_folder)
    with_prompt = Command(run=(program, "{here}/prompt.txt"))
    (bin_folder / "prompt.txt").write_text("Be strict.")
    strict = with_prompt.pins()
    (bin_folder / "prompt.txt").write_text("Be kind.")
    assert strict != with_prompt.pins()
    assert Command(run=("/nowhere/at/all",)).pins() == {}


@pytest.mark.parametrize(("run", "name"), [
    (("./review.sh",), "review"),
    (("sh", "{here}/my-review.sh"), "my-review"),
    (("python3", "-u", "/opt/r.py", "x"), "r"),
    (("sh", "-c", "echo a/b"), "sh"),
    (("claude", "-p", "Review {base}"), "claude"),
    ("ruff check .", "ruff"),
])  # fmt: skip
def test_its_name_in_tables(run: tuple[str, ...] | str, name: str) -> None:
    assert Command(run=run).system == name and Command(run=run, name="other").system == "other"
