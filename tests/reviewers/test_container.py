"""Agents wrapped for ReviewBench: in containers of a small engine made of bubblewrap, and as mere programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from git_project import make_change
from reviewgauge.core.errors import NeedsCode, UserError
from reviewgauge.core.protocols import Reviewer
from reviewgauge.core.records import Change, Side
from reviewgauge.core.results import Failed, FailureKind
from reviewgauge.core.specs import load, load_from
from reviewgauge.core.trust import FromFile

pytestmark = pytest.mark.processes

# As docker has it: options as in the contract, the image's program with nothing but its mounts and variables.
ENGINE = r"""#!/bin/bash
set -u
images=$(dirname "$0")
echo "$@" >> "$images/log"
[ "$1" = rm ] && exit 0
[ "$1" = version ] && [ -e "$images/down" ] && echo "Cannot connect to the daemon" >&2 && exit 1
[ "$1" = version ] && exit 0
[ "$1 $2" = "run --rm" ] || exit 125
shift 2
box=(--unshare-all --die-with-parent --clearenv --setenv PATH /usr/bin:/bin --proc /proc --dev /dev --tmpfs /tmp)
box+=(--ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib --symlink usr/lib64 /lib64 --dir /work)
while [ $# -gt 1 ]; do
  case "$1" in
    -v) IFS=: read -r from to how <<< "$2"
        if [ "${how:-}" = ro ]; then box+=(--ro-bind "$from" "$to"); else box+=(--bind "$from" "$to"); fi ;;
    -e) case "$2" in *=*) box+=(--setenv "${2%%=*}" "${2#*=}") ;; *) box+=(--setenv "$2" "${!2}") ;; esac ;;
    --name | --network) ;;
    *) exit 125 ;;
  esac
  shift 2
done
exec bwrap "${box[@]}" --ro-bind "$images/$1" /agent /bin/sh /agent
"""

# An adapter as an image holds it: it knows the contract and nothing of this project.
AGENT = """#!/bin/sh
set -eu
cd "${RB_REPO:-/work/repo}"
echo "model=$RB_CONFIG_MODEL" >&2
echo extra > left-behind.txt
[ "$(git diff "$RB_BASE...$RB_HEAD")" = "$(git diff HEAD~1 HEAD)" ]
grep -q '^+    eval' "$RB_DIFF"
grep -q '"title": "Louder"' "$RB_PR_JSON"
[ "$(git rev-parse HEAD)" = "$RB_HEAD" ]
cat > "$RB_OUT" <<END
{"pr": {"repo": "https://github.com/$RB_NWO", "pr_number": $RB_PR_NUMBER, "base": "$RB_BASE", "head": "$RB_HEAD"},
 "agent": "$RB_AGENT",
 "findings": [{"file": "m.py", "start_line": 2, "end_line": 2, "message": "It runs what it is given.",
               "producer": "$RB_AGENT"}]}
END
"""


@pytest.fixture
def change(tmp_path: Path) -> Change:
    made = make_change(tmp_path / "project", {"m.py": "def f(a):\n    pass\n"}, {"m.py": "def f(a):\n    eval(a)\n"})
    return made.model_copy(update={"title": "Louder", "url": "https://github.com/acme/shop/pull/7"})


@pytest.fixture
def images(tmp_path: Path) -> Path:
    """The folder of the engine and its images."""
    folder = tmp_path / "images"
    folder.mkdir()
    for name, text in (("engine", ENGINE), ("mine", AGENT)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder


def container(images: Path, image: str = "mine", more: str = "") -> Reviewer:
    return load(Reviewer, f"container(image={image!r}, engine={str(images / 'engine')!r}, config=('model=m-5',){more})")


def test_an_agent_of_the_leaderboard_runs_unchanged(change: Change, images: Path) -> None:
    reviewer = container(images)
    assert reviewer.prepare([change]) == ()
    review = reviewer.review(change)
    (comment,) = review.comments
    assert comment.body == "It runs what it is given."
    assert comment.span is not None
    assert (comment.span.path, comment.span.start, comment.span.side) == ("m.py", 2, Side.NEW)
    assert review.system == "mine"
    assert "model=m-5" in (review.trace or "")


def test_it_gets_the_mounts_and_variables_of_the_contract_and_no_others(
    change: Change, images: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-agent")
    monkeypatch.setenv("NOT_FOR_IT", "secret")
    (images / "spy").write_text("env | sort > /tmp/e; ls -d /work/*; cat /tmp/e; ! touch /work/pr/x; exit 9")
    with pytest.raises(Failed) as error:
        container(images, "spy", ", env=('OPENAI_API_KEY',), network='models-only'").review(change)
    raw = error.value.raw or ""
    rows = raw.splitlines()
    assert rows[:3] == ["/work/out", "/work/pr", "/work/repo"]
    variables = dict(row.split("=", 1) for row in rows if row.startswith(("RB_", "GIT_", "OPENAI_", "NOT_")))
    assert len(variables.pop("RB_BASE")) == len(variables.pop("RB_HEAD")) == 40
    assert variables == {
        "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*",
        "OPENAI_API_KEY": "***", "RB_AGENT": "spy", "RB_ATTEMPT": "1", "RB_CONFIG_MODEL": "m-5",
        "RB_DIFF": "/work/pr/diff.patch", "RB_NWO": "acme/shop", "RB_OUT": "/work/out/findings.json",
        "RB_PR_JSON": "/work/pr/pr.json", "RB_PR_NUMBER": "7", "RB_REPO": "/work/repo",
    }  # fmt: skip
    log = (images / "log").read_text()
    assert "sk-of-the-agent" not in log, "a list of processes would show it"
    assert "--network models-only" in log


@pytest.mark.parametrize(("program", "kind", "words"), [
    ("exit 3", FailureKind.CRASH, "exit code 3"),
    ("true", FailureKind.UNREADABLE, "is empty"),
    ("echo '{' > $RB_OUT", FailureKind.UNREADABLE, "is not valid JSON"),
    (AGENT.replace('"head": "$RB_HEAD"', '"head": "0000"'), FailureKind.UNREADABLE, "another pull request"),
    (AGENT.replace('"start_line": 2', '"start_line": "two"'), FailureKind.UNREADABLE, "start_line"),
    ("sleep 60", FailureKind.TIMEOUT, "longer than 1 seconds"),
])  # fmt: skip
def test_what_the_benchmark_fails_is_a_failure_and_the_container_is_removed(
    change: Change, images: Path, program: str, kind: FailureKind, words: str
) -> None:
    (images / "bad").write_text(program)
    with pytest.raises(Failed, match=words) as error:
        container(images, "bad", ", seconds=1.0" if kind is FailureKind.TIMEOUT else "").review(change)
    assert error.value.kind is kind
    assert "accept=" not in error.value.remedy
    run, removal = (images / "log").read_text().splitlines()
    assert removal == f"rm --force {run.split()[3]}"


@pytest.mark.parametrize("sandbox", ["auto", "bwrap"])
def test_the_program_of_an_image_runs_without_one(change: Change, images: Path, sandbox: str) -> None:
    """Its variables hold absolute paths, which also hold after `cd`."""
    absolute = "cd /\nfor path in $RB_REPO/.git $RB_DIFF $RB_PR_JSON; do [ -e $path ] || exit 9; done\ncd $RB_REPO\n"
    text = AGENT.replace("echo extra > left-behind.txt\n", "")  # the sandbox's checkout is read-only
    text = text.replace("\n", f"\n{absolute}", 1)
    (images / "mine").write_text(text)
    spec = (
        f"command(run=({str(images / 'mine')!r},), contract='review_bench', config=('model=m',), sandbox={sandbox!r})"
    )
    reviewer = load(Reviewer, spec)
    assert reviewer.prepare([change]) == ()
    (comment,) = reviewer.review(change).comments
    assert comment.span is not None
    assert comment.span.start == 2


def test_what_cannot_be_is_refused_before_a_run(change: Change, images: Path, tmp_path: Path) -> None:
    for image in ("", "--privileged", "a b", "mine;id"):
        with pytest.raises(UserError, match="is not the name of an image"):
            container(images, image).prepare([change])
    with pytest.raises(UserError, match="is not the name of a network"):
        container(images, "mine", ", network='--privileged'").prepare([change])
    with pytest.raises(UserError, match="MY_KEY is not set"):
        container(images, "mine", ", env=('MY_KEY',)").prepare([change])
    with pytest.raises(UserError, match="no-such-engine does not exist"):
        load(Reviewer, "container(image='mine', engine='no-such-engine')").prepare([change])
    with pytest.raises(NeedsCode):
        container(images).prepare([change.model_copy(update={"git": None})])
    with pytest.raises(UserError, match="which a file may not decide"):
        load_from(Reviewer, "container(image='mine')", FromFile("bundle.json", tmp_path))
    (images / "down").touch()
    with pytest.raises(UserError, match="engine does not work here: Cannot connect to the daemon"):
        container(images).prepare([change])
    for wrong in ("config=('model=m',)", "contract='review_bench', checkout='none'"):
        with pytest.raises(UserError, match="contract"):
            load(Reviewer, f"command(run=('true',), {wrong})").prepare([change])
