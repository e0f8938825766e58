"""What an attacker did, done again: each ends in one clear line, and does nothing. See docs/explanation/security.md."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sqlite3
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from bundle_toys import tamper
from git_project import commit, run_git
from reviewgauge.api.validation_data import scales_and_people
from reviewgauge.cli.main import main
from reviewgauge.cli.output import emit
from reviewgauge.core.base import escape_cell, unescape_cell
from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.files import write_named
from reviewgauge.core.parsing import MOST_VALUES, parse_record
from reviewgauge.core.protocols import Format, Measured, Metric
from reviewgauge.core.records import Case, Change, Comment, Issue, Review
from reviewgauge.core.specs import load, signature
from reviewgauge.datasets.files.labels import from_json
from reviewgauge.engine.build.recipes import read_recipe
from reviewgauge.models.cache import stores
from reviewgauge.models.cache.stores import RecordedCalls
from reviewgauge.models.http.replies import RetryableError, read_json
from reviewgauge.repo.analysers.run import installed
from reviewgauge.repo.git import repository
from reviewgauge.stages.sampling.audit import check_tables

pytestmark = pytest.mark.processes
SECRET = "alias ls='ls --color'\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of others: two reviewers on the sample, scored."""
    folder = tmp_path_factory.mktemp("theirs") / "run"
    assert main(["review", "sample", "silent", "-o", str(folder)]) == 0
    assert main(["score", str(folder), "hits", "--resamples", "20"]) == 0
    return folder


@pytest.fixture
def theirs(made: Path, tmp_path: Path) -> Path:
    """A copy of it that may be armed."""
    copy = tmp_path / "run"
    copy.mkdir()
    for file in made.iterdir():
        if file.is_file():
            (copy / file.name).write_bytes(file.read_bytes())
    return copy


@pytest.fixture
def bashrc(tmp_path: Path) -> Iterator[Path]:
    file = tmp_path / "home" / ".bashrc"
    file.parent.mkdir()
    file.write_text(SECRET)
    yield file
    assert file.read_text() == SECRET, "a file outside of the run was written"


@pytest.mark.parametrize(("verb", "name"), [
    ("score", "lock"), ("score", "scores.jsonl"), ("score", "calls.jsonl"), ("review", "manifest.json.tmp"),
    ("review", "reviews.jsonl.torn"), ("validate", "labels.jsonl"), ("bundle", "reviews.jsonl"),
    ("report", "scores.jsonl"),
])  # fmt: skip
def test_a_link_in_a_run_is_named(
    theirs: Path, bashrc: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, verb: str
) -> None:
    (theirs / name).unlink(missing_ok=True)
    (theirs / name).symlink_to(bashrc)
    run = str(theirs)
    words = {
        "score": ["score", run, "hits", "--resamples", "20"],
        "review": ["review", "sample", "parrot", "-o", run],
        "validate": ["validate", run, "hits"],
        "bundle": ["bundle", run, "-o", str(tmp_path / "b.zip")],
        "report": ["report", run, "-o", str(tmp_path / "r.html")],
    }[verb]
    assert main(words) == 2
    error = capsys.readouterr().err
    assert f"{name} is a link, which could lead out of the folder" in error
    assert error.count("error:") == 1


@pytest.mark.parametrize(
    "name", ["build.lock", "memory.sqlite", "cases.jsonl.tmp", "card.json.tmp", "reviews.jsonl.tmp", ".scratch"]
)
def test_a_link_in_a_benchmark_is_named(
    tmp_path: Path, bashrc: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    bench = tmp_path / "bench"
    bench.mkdir()
    (bench / name).symlink_to(bashrc if name != ".scratch" else bashrc.parent)
    assert main(["build", "sample", "-o", str(bench), "--recipe", "local"]) == 2
    assert f"{name} is a link" in capsys.readouterr().err
    assert [file.name for file in bashrc.parent.iterdir()] == [".bashrc"]


def test_a_line_of_many_small_values_takes_no_memory() -> None:
    raw = b'{"repo":"a/b","files":[' + b"{}," * MOST_VALUES + b"{}]}"
    with pytest.raises(BadInput, match=r"line 3: holds [\d,]+ values, over"):
        parse_record(Change, raw, "cases.jsonl", 3)
    fields = b",".join(b'"k%d":1' % number for number in range(20_000))
    with pytest.raises(BadInput, match="has 20,000 problems"):
        parse_record(Change, b'{"repo":"a/b",' + fields + b"}", "cases.jsonl", 3)


def naming(dataset: str) -> Callable[[str], str]:
    """What gives a manifest another data set."""
    return lambda text: text.replace('"sample"', json.dumps(dataset))


def test_a_bundle_runs_no_program(made: Path, tmp_path: Path) -> None:
    archive, marker = tmp_path / "b.zip", tmp_path / "PWNED"
    assert main(["bundle", str(made), "-o", str(archive), "--resamples", "20"]) == 0
    for armed in (
        f"sample | generate(reviewers=(\"command(run=('/bin/sh','-c','id > {marker}'), checkout='none')\",))",
        f"sample | generate(reviewers=(\"command(run='touch {marker}')\",))",
        "sample | first(cases=1) | from_forge(repos=('a/b',), api='http://127.0.0.1:9/')",
    ):
        evil = tamper(archive, "runs/run/manifest.json", naming(armed))
        assert main(["check", str(evil)]) == 1, "its tables are of another data set"
        assert main(["check", str(evil), "--from", str(made)]) == 1
        assert not marker.exists()


def test_a_bundle_publishes_no_file_that_a_run_names(
    theirs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = tmp_path / "docker" / "config.json"
    secret.parent.mkdir()
    secret.write_text('{"auths": "hunter2"}')
    for spec in (f"meteor(wordnet={str(secret)!r})", f"hits(judge=\"lexical(weights='{secret}')\")"):
        scores = theirs / "scores.jsonl"
        lines = [json.loads(line) for line in scores.read_text().splitlines()]
        scores.write_text("".join(json.dumps({**line, "metric": spec}) + "\n" for line in lines))
        assert main(["bundle", str(theirs), "-o", str(tmp_path / "b.zip"), "--resamples", "20"]) == 2
        error = capsys.readouterr().err
        assert f"scores rest on {secret}, which would be published with the bundle" in error
        assert not (tmp_path / "b.zip").exists()


def test_a_machine_without_files_stops_the_run(tmp_path: Path) -> None:
    code = "import sys; from reviewgauge.cli.main import main; sys.exit(main(sys.argv[1:]))"
    job = [sys.executable, "-c", code, "review", "sample", "analyser", "-o", str(tmp_path / "r")]
    words = ["/bin/sh", "-c", 'ulimit -n 20; exec "$@"', "sh", *job]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "error: this machine ran out: too many open files" in done.stderr
    assert "Traceback" not in done.stderr
    kept = [file.read_text() for file in (tmp_path / "r").glob("reviews.jsonl")]  # it may run out before there is one
    assert '"failure"' not in "".join(kept)


@pytest.mark.parametrize("char", ["\x9b", "\x9d", "\u202e", "\x1b", "\u2066", "\u200b"])
def test_json_steers_no_terminal(capsys: pytest.CaptureFixture[str], char: str) -> None:
    emit(Issue(number=1, title=f"x{char}[31my"), True, lambda: "")
    out = capsys.readouterr().out
    assert char not in out
    assert json.loads(out)["title"] == f"x{char}[31my"


@pytest.mark.parametrize("lead", ["", " ", "\xa0", "\u200b", "\ufeff", "\u202e", "\u3000", "\u2060"])
@pytest.mark.parametrize("formula", ["=cmd|'/c calc'!A1", "+1", "-1", "@SUM(A1)", "\uff1d1", "\uff0b1"])
def test_a_spreadsheet_runs_no_cell(lead: str, formula: str) -> None:
    assert escape_cell(lead + formula) == "'" + lead + formula
    assert unescape_cell(escape_cell(lead + formula)) == lead + formula


@pytest.mark.parametrize("spec", [
    ".".join(["a"] * 1500), "a(b=" * 1500 + "1" + ")" * 1500, "hits(judge='" + "a." * 5000 + "b')",
])  # fmt: skip
def test_an_endless_spec_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str], spec: str) -> None:
    assert main(["review", "sample", spec, "-o", str(tmp_path / "r")]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1


def test_a_recipe_nested_too_deeply_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "deep.toml"
    file.write_text("a = " + "[" * 3000 + "]" * 3000)
    assert main(["build", "sample", "--recipe", str(file), "-o", str(tmp_path / "b")]) == 2
    assert "deep.toml: is nested too deeply" in capsys.readouterr().err


@pytest.mark.parametrize("key", ["a", '"a"', "'a'"])
def test_a_recipe_of_endless_keys_takes_no_time(tmp_path: Path, capsys: pytest.CaptureFixture[str], key: str) -> None:
    file = tmp_path / "slow.toml"
    for before in ("", "s = 'it\\'\n", 's = """\n"\\"" .\n"""\n', "s = '''\nit's'''\n", '# "\n'):
        file.write_text(f"{before}[{' . '.join([key] * 5000)}]\n" + "b=1\n" * 5000)
        assert main(["build", "sample", "--recipe", str(file), "-o", str(tmp_path / "b")]) == 2
        assert "slow.toml: holds a key of more than 20 dots" in capsys.readouterr().err
    file.write_text("a=1\n" * 20_000)
    assert main(["build", "sample", "--recipe", str(file), "-o", str(tmp_path / "b")]) == 2
    assert "is longer than 65,536 bytes" in capsys.readouterr().err


def test_a_recipe_of_many_numbers_is_read(tmp_path: Path) -> None:
    file = tmp_path / "numbers.toml"
    texts = "[" + "1.5, " * 40 + "]\ns = 'a" + ".b" * 40 + "'  # " + "." * 40
    file.write_text(f"title = 't'\n[parameters]\nn = {texts}\n[[stage]]\nuse = 'first'\n")
    assert read_recipe(str(file)).parameters["s"] == "a" + ".b" * 40


@pytest.mark.drill
@pytest.mark.parametrize("spec", ["edit", "edit(unit='words')", "rouge", "rouge(variant='rouge-score')"])
def test_endless_texts_are_not_aligned(spec: str) -> None:
    ours, theirs = ("".join(f"{number} " for number in range(n, n + 110_000)) for n in (0, 900_000))
    change = Change(repo="a/b")
    reference = Comment(id="r", body=theirs, author="ann")
    case = Case(id="1", change=change, references=(reference,))
    review = Review(case="1", system="s", comments=(Comment(id="c", body=ours),))
    metric = load(Metric, spec)
    (found,) = metric.parts_many([(case, review)])
    assert found == metric.parts(case, review)
    assert isinstance(found, str) and "too long to align" in found
    same = review.model_copy(update={"comments": (Comment(id="c", body=theirs),)})
    assert isinstance(metric.parts(case, same), Measured)
    assert metric.bounds(case) is not None


@pytest.mark.parametrize("many", [
    "\n".join(f"{n * (2**61 - 1)}: 1" for n in range(1, 2000)),
    "<<: [" + ", ".join("{" + f"{n}: 1, " * 900 + "}" for n in range(3)) + "]",
    '!!merge "x": [{a: 1}, {b: 2}]',
])  # fmt: skip
def test_keys_of_one_hash_take_no_time(many: str) -> None:
    with pytest.raises(BadInput, match=r"of more than 1,000 keys|it merges objects"):
        load(Format, "pr_agent").read(f"code_suggestions: []\n{many}\n".encode(), "a.yaml")


def _case_with_git(folder: Path, git: str, commits: list[str]) -> Path:
    change = {"repo": "a/b", "git": git, "base": commits[0], "head": commits[1]}
    file = folder / "cases.jsonl"
    file.write_text(json.dumps({"id": "1", "change": change}) + "\n")
    return file


def test_loose_objects_that_are_linked_one_by_one_are_not_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    private, bench = tmp_path / "private", tmp_path / "bench"
    commits = [commit(private, {"a.txt": "one\n"}), commit(private, {"a.txt": "hunter2\n"})]
    run_git(tmp_path, "init", "-q", "bench/shop")
    for theirs in (private / ".git" / "objects").glob("??/*"):
        ours = bench / "shop" / ".git" / "objects" / theirs.parent.name
        ours.mkdir(exist_ok=True)
        (ours / theirs.name).symlink_to(theirs)
    file = _case_with_git(bench, "shop", commits)
    assert main(["info", str(file)]) == 2
    captured = capsys.readouterr()
    assert "outside the folder of the file" in captured.err
    assert "hunter2" not in captured.err + captured.out


@pytest.mark.parametrize("how", ["include", "HEAD"])
def test_a_pipe_that_git_would_wait_for_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr(repository, "_CONFIG_SECONDS", 1.0)
    shop = tmp_path / "shop"
    commits = [commit(shop, {"a.txt": "one\n"}), commit(shop, {"a.txt": "two\n"})]
    if how == "HEAD":
        (shop / ".git" / "HEAD").unlink()
        os.mkfifo(shop / ".git" / "HEAD")
    else:
        os.mkfifo(tmp_path / "fifo")
        with (shop / ".git" / "config").open("a") as config:
            config.write(f"[include]\n\tpath = {tmp_path / 'fifo'}\n")
    main(["info", str(_case_with_git(tmp_path, "shop", commits))])
    error = capsys.readouterr()
    assert "does not finish reading the configuration" in error.err + error.out or "is a pipe" in error.err + error.out


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    """A benchmark of others, built from a history here."""
    history = tmp_path / "history"
    commit = "-c user.name=a -c user.email=a@b commit -q --allow-empty -m One"
    history.mkdir()
    for words in ("init -q", commit, "branch kept"):
        subprocess.run(["git", *words.split()], cwd=history, check=True)
    main(["build", str(history), "-o", str(tmp_path / "bench")])
    assert (tmp_path / "bench" / "memory.sqlite").exists()
    return tmp_path / "bench"


def build_again(bench: Path) -> int:
    return main(["build", str(bench.parent / "history"), "-o", str(bench)])


@pytest.mark.parametrize("name", ["config.new", "packed-refs.new", "HEAD.new", "objects/pack/x.pack"])
def test_a_link_in_a_mirror_is_named(bench: Path, bashrc: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    (bench / "repos" / "history.git" / name).symlink_to(bashrc)
    assert build_again(bench) == 2
    assert f"{name} is a link" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["objects", "refs", "commondir"])
def test_a_mirror_that_leads_into_another_repository_is_named(
    bench: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    private = tmp_path / "history" / ".git"
    (private / "objects" / "pack").mkdir(exist_ok=True)
    (private / "objects" / "pack" / "tmp_mine").touch()
    before = sorted(file.relative_to(private) for file in private.rglob("*"))
    place = bench / "repos" / "history.git" / name
    if name == "commondir":
        place.write_text(f"{private}\n")
    else:
        shutil.rmtree(place)
        place.symlink_to(private / name)
    assert build_again(bench) == 2
    assert f"{name} {'leads out of' if name == 'commondir' else 'is a link'}" in capsys.readouterr().err
    assert sorted(file.relative_to(private) for file in private.rglob("*")) == before


def test_a_journal_deletes_no_file(bench: Path, bashrc: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # https://www.sqlite.org/fileformat.html#rollbackjournal: a hot journal, and the name of a super-journal at its end
    memory = bench / "memory.sqlite"
    memory.unlink()
    with closing(sqlite3.connect(memory)) as database:
        database.execute("CREATE TABLE memory (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID")
    magic, name = bytes.fromhex("d9d505f920a163d7"), bytes(bashrc)
    header = (magic + struct.pack(">IIIII", 0, 0, memory.stat().st_size // 4096, 512, 4096)).ljust(512, b"\0")
    tail = struct.pack(">I", 0x40000000 // 4096 + 1) + name + struct.pack(">II", len(name), sum(name)) + magic
    (bench / "memory.sqlite-journal").write_bytes(header + tail)
    assert build_again(bench) == 2
    assert "memory.sqlite-journal names another file, which would be deleted" in capsys.readouterr().err


@pytest.mark.parametrize("sql", [
    "CREATE VIEW memory AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x AS key, x AS value"
    " FROM c",
    "CREATE TABLE memory (key BLOB PRIMARY KEY, value BLOB AS (zeroblob(900000000))) WITHOUT ROWID",
])  # fmt: skip
def test_a_memory_computes_nothing(bench: Path, capsys: pytest.CaptureFixture[str], sql: str) -> None:
    for file in bench.glob("memory.sqlite*"):
        file.unlink()
    with closing(sqlite3.connect(bench / "memory.sqlite")) as database:
        database.execute(sql)
    assert build_again(bench) == 2
    assert "'memory', which is not ours" in capsys.readouterr().err


def recorded_as(run: Path, spec: str) -> None:
    """Let the scores of a run say that `spec` measured them."""
    file = run / "scores.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    parts = {"value": 0.5, "expected": 0.5, "above_lowest": 0.5}
    file.write_text("".join(json.dumps(line | {"metric": spec, "parts": parts}) + "\n" for line in lines))


def test_reading_figures_fetches_no_model_and_waits_for_no_pipe(
    theirs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[object] = []
    monkeypatch.setattr("reviewgauge.models.embeddings.load.open_address", lambda *more: asked.append(more))
    model = "openai:m@http://127.0.0.1:1/v1"
    inner = signature(load(Metric, f"embedding(model={model!r})"))
    fit = {"means": [0], "scales": [1], "weights": [1], "cuts": [0, 1], "floor": 0}
    words = {"metrics": [inner], "features": [[inner, "mean"]], "grades": [1, 2, 3], "final": fit, "rows": 3}
    (theirs / "evil.json").write_text(json.dumps(words | {"dimension": "x", "dataset": "y"}))
    out = ["-o", str(tmp_path / "r.html")]
    recorded_as(theirs, f"combined(file={str(theirs / 'evil.json')!r}, ask=({model!r},))")
    assert main(["report", str(theirs), *out]) == 0
    assert asked == []
    os.mkfifo(tmp_path / "pipe")
    recorded_as(theirs, f"combined(file={str(tmp_path / 'pipe')!r}, ask=())")
    assert main(["report", str(theirs), *out]) == 2
    assert "pipe is not a plain file" in capsys.readouterr().err


def test_a_nul_in_the_uri_of_a_finding_is_no_traceback(tmp_path: Path) -> None:
    place = {"physicalLocation": {"artifactLocation": {"uri": "a%00b.py"}, "region": {"startLine": 1}}}
    result = {"message": {"text": "Null dereference"}, "locations": [place]}
    file = tmp_path / "a.sarif"
    file.write_text(
        json.dumps({"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "t"}}, "results": [result]}]})
    )
    case = tmp_path / "cases.jsonl"
    case.write_text(json.dumps({"id": "1", "change": {"repo": "a/b"}}) + "\n")
    assert main(["review", str(case), f"replay(path={str(file)!r})", "-o", str(tmp_path / "run")]) == 0


def test_an_answer_of_many_small_values_takes_no_memory() -> None:
    with pytest.raises(RetryableError, match="holds over 500,000 values"):
        read_json(b'{"choices":[' + b"[]," * 500_000 + b"[]]}")


def make_history(folder: Path) -> Path:
    commit(folder, {"a.txt": "one\n"})
    return folder


@pytest.mark.parametrize("how", ["gitdir", "commondir"])
def test_a_repository_that_names_another_one_is_not_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], how: str
) -> None:
    private, theirs = make_history(tmp_path / "private"), make_history(tmp_path / "theirs")
    if how == "gitdir":
        shutil.rmtree(theirs / ".git")
        (theirs / ".git").write_text(f"gitdir: {private / '.git'}\n")
    else:
        (theirs / ".git" / "commondir").write_text(f"{private / '.git'}\n")
    assert main(["build", str(theirs), "-o", str(tmp_path / "bench")]) == 2
    assert "private/.git, which does not know of it" in capsys.readouterr().err


def test_a_linked_work_tree_and_a_submodule_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = make_history(tmp_path / "home")
    run_git(home, "worktree", "add", "-q", str(tmp_path / "linked"))
    outer = make_history(tmp_path / "outer")
    run_git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(home), "inner")
    for place in (tmp_path / "linked", outer / "inner"):
        main(["build", str(place), "-o", str(tmp_path / f"bench-{place.name}")])
        assert "does not know of it" not in capsys.readouterr().err
        assert (tmp_path / f"bench-{place.name}" / "card.md").exists()


@pytest.mark.parametrize("name", ["shallow", "HEAD", "packed-refs"])
def test_an_endless_file_of_a_repository_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    theirs = make_history(tmp_path / "theirs")
    with (theirs / ".git" / name).open("ab") as file:
        file.truncate(1 << 34)  # sparse: an archive of a few bytes
    assert main(["build", str(theirs), "-o", str(tmp_path / "bench")]) == 2
    assert f"{name} is over" in capsys.readouterr().err


def test_the_current_folder_runs_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "evil-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text("[pydantic]\nevil = evilplug:plugin\n")
    for name in ("evilplug", "fqdn", "webcolors", "pandas", "cython"):
        (tmp_path / f"{name}.py").write_text(f"open('MARKER-{name}', 'w')\nplugin = None\n")
    code = "import sys; from reviewgauge.cli.main import main; sys.exit(main(sys.argv[1:]))"
    words = [sys.executable, "-P", "-c", code, "info", "sample"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not list(tmp_path.glob("MARKER*"))


def test_a_place_on_path_in_the_current_folder_runs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cloned, marker = tmp_path / "cloned", tmp_path / "ran"
    run_git(tmp_path, "init", "-q", str(cloned))
    commit(cloned, {"a.py": "import os\n"})
    for folder in (cloned, cloned / ".git"):
        for name in ("git", "eslint", "ruff"):
            (folder / name).write_text(f"#!/bin/sh\ntouch {marker}\n")
            (folder / name).chmod(0o755)
    for empty in ("", "."):
        monkeypatch.setenv("PATH", f"{empty}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.chdir(cloned)
        assert repository.Repository(cloned).run("rev-parse", "HEAD")
        installed()
    assert not marker.exists()


def test_the_gate_writes_through_no_link(theirs: Path, bashrc: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = str(theirs)
    assert main(["review", "sample", "parrot", "-o", run]) == 0
    assert main(["score", run, "hits", "--resamples", "20"]) == 0
    monkeypatch.chdir(bashrc.parent)
    for name in ("gate.md", "gate.xml"):
        Path(name).symlink_to(bashrc)
    words = ["--margin", ".5", "--markdown", "gate.md", "--junit", "gate.xml"]
    main(["gate", run, "--system", "parrot", "--against", "silent", *words])
    assert not any(Path(name).is_symlink() for name in ("gate.md", "gate.xml"))


def test_a_record_that_unpacks_without_end_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "LARGEST_RECORD", 3_000_000)
    (tmp_path / "calls.jsonl.gz").write_bytes(gzip.compress(b"\n" * 5_000_000))
    with pytest.raises(BadInput, match="unpacks to more than 3,000,000 bytes"):
        RecordedCalls(tmp_path / "calls.jsonl.gz")


def test_a_record_of_endless_lines_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "MOST_CALLS", 100)
    keys = b"".join(b'{"key":"%064x"}\n' % number for number in range(101))
    (tmp_path / "calls.jsonl.gz").write_bytes(gzip.compress(keys))
    with pytest.raises(BadInput, match="line 101: is over the limit of 100 lines"):
        RecordedCalls(tmp_path / "calls.jsonl.gz")


def test_a_label_of_many_small_values_takes_no_memory() -> None:
    raw = b'{"id":"1","x":[' + b"{}," * MOST_VALUES + b"{}]}\n"
    with pytest.raises(BadInput, match=r"line 1: holds [\d,]+ values, over"):
        list(from_json(raw, "labels.jsonl"))


def test_json_nested_too_deeply_is_no_free_text() -> None:
    data = b'My answer:\n{"results": ' + b"[" * 50_000 + b"]" * 50_000 + b"}\n"
    with pytest.raises(BadInput, match="holds JSON that is cut off or broken"):
        load(Format, "markdown").read(data, "out.md")


def test_a_metric_of_a_file_is_shown_on_one_line(theirs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recorded_as(theirs, "hits\n99 scores removed" + "!" * 500)
    capsys.readouterr()
    assert main(["info", str(theirs)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("hits 99 scores") and out.count("!") < 100


def test_the_paths_of_a_run_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("id,rater,dimension,value\na,b,grade,3\n")
    (tmp_path / "cases.jsonl").write_text("")
    assert scales_and_people(f"jsonl(path={str(tmp_path)!r})") == ({}, frozenset())
    assert scales_and_people("graded_reviews")[0]


def test_a_folder_of_reviews_is_not_read_through_links(
    tmp_path: Path, bashrc: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "01-locker-listing.md").symlink_to(bashrc)
    for path in (theirs, theirs / "{case}.md"):
        assert main(["review", "sample", f"replay(path={str(path)!r})", "-o", str(tmp_path / "r")]) == 2
        assert "01-locker-listing.md is a link" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["cases.jsonl", "more.jsonl", "labels.csv", "reviews.jsonl"])
def test_a_folder_of_cases_is_not_read_through_links(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    bench, case = tmp_path / "bench", '{"id": "a", "change": {"repo": "r"}, "verdict": true}\n'
    bench.mkdir()
    if name in ("labels.csv", "reviews.jsonl"):
        (bench / "cases.jsonl").write_text(case)
        (bench / "reviews.jsonl").write_text("")
    (tmp_path / "elsewhere").write_text(case)
    (bench / name).unlink(missing_ok=True)
    (bench / name).symlink_to(tmp_path / "elsewhere")
    assert main(["review", str(bench), "recorded", "-o", str(tmp_path / "r")]) == 2
    assert f"{name} is a link" in capsys.readouterr().err


def test_a_folder_that_nobody_named_is_no_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "victim").mkdir()
    for name in ("validity-sample", "runs"):
        (tmp_path / name).symlink_to("victim")
    monkeypatch.chdir(tmp_path)
    for words in (["validate", "sample", "rouge"], ["validate", "sample", "rouge", "--fit", "x.json"], ["demo"]):
        assert main(words) == 2
        assert "is a link, which could lead anywhere" in capsys.readouterr().err
    assert not list((tmp_path / "victim").iterdir())


def test_a_link_to_a_pipe_is_not_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "out.md").symlink_to("pipe")
    write_named(tmp_path / "out.md", b"ours")
    assert (tmp_path / "out.md").read_bytes() == b"ours" and not (tmp_path / "out.md").is_symlink()
    write_named(Path("/dev/stdout"), b"")


def test_a_sheet_of_an_audit_is_no_link_and_no_pipe(tmp_path: Path, bashrc: Path) -> None:
    (tmp_path / "audit").mkdir()
    sheet = tmp_path / "audit" / "labels-zz.csv"
    os.mkfifo(sheet)
    with pytest.raises(UserError, match="is not a plain file"):
        check_tables(tmp_path)
    sheet.unlink()
    sheet.symlink_to(bashrc)
    with pytest.raises(UserError, match="is a link"):
        check_tables(tmp_path)


def test_a_sheet_with_two_columns_of_marks_is_refused(tmp_path: Path) -> None:
    (tmp_path / "audit").mkdir()
    (tmp_path / "audit" / "labels.csv").write_text("id,shown,decided,reason,correct,note,correct\nx1,a,b,c,n,,y\n")
    with pytest.raises(BadInput, match="two columns correct"):
        check_tables(tmp_path)


@pytest.mark.parametrize(("heading", "row", "problem"), [
    ('id,"shown,decided,reason",text,why,correct,note', "x1,a,b,c,n,,y", "more cells than the heading"),
    ("id,shown,decided,reason,correct,note", "x1,a,b,c,y,,n", "more cells than the heading"),
])  # fmt: skip
def test_a_sheet_is_read_as_a_spreadsheet_shows_it(tmp_path: Path, heading: str, row: str, problem: str) -> None:
    (tmp_path / "audit").mkdir()
    (tmp_path / "audit" / "labels.csv").write_text(f"{heading}\n{row}\n")
    with pytest.raises(BadInput, match=problem):
        check_tables(tmp_path)


def test_folders_upon_folders_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    deep = tmp_path / "theirs"
    for _ in range(250):
        deep = deep / "d"
    deep.mkdir(parents=True)
    assert main(["review", "sample", f"replay(path={str(tmp_path / 'theirs')!r})", "-o", str(tmp_path / "r")]) == 2
    assert "more than 200 levels of folders" in capsys.readouterr().err
