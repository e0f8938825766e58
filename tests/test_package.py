"""The wheel and the sdist have everything, and the demo runs from an empty environment outside of the tree."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

import reviewgauge

pytest.importorskip("hatchling", reason="hatchling is not installed: nothing can be built here")
ROOT = Path(__file__).parents[1]
pytestmark = [pytest.mark.processes, pytest.mark.slow]


def do(*words: str | Path, cwd: Path, **more: str) -> str:
    """What a program prints, which must end well."""
    environment = os.environ | more
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(source: Path, kind: str, out: Path) -> Path:
    do(sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", out, cwd=source)
    (made,) = out.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return made


@pytest.fixture(scope="module")
def tracked() -> list[str]:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("this is not a clone: git does not say which files are the project's")
    files = do("git", "ls-files", "-z", cwd=ROOT).split("\0")
    return [file for file in files if file and (ROOT / file).is_file()]


@pytest.fixture(scope="module")
def clean(tracked: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project's own files alone, without what lies beside them here."""
    folder = tmp_path_factory.mktemp("clean")
    for file in tracked:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / file, folder / file)
    return folder


@pytest.fixture(scope="module")
def wheel(clean: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(clean, "wheel", tmp_path_factory.mktemp("wheel"))


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_wheel_has_each_file_of_the_package_and_no_other(tracked: list[str], wheel: Path) -> None:
    own = {file.removeprefix("src/") for file in tracked if file.startswith("src/reviewgauge/")}
    found = contents(wheel)
    about = {name for name in found if ".dist-info/" in name}
    assert set(found) - about == own
    assert {Path(name).name for name in about} >= {"METADATA", "RECORD", "entry_points.txt", "LICENSE"}
    assert {Path(name).suffix for name in own} >= {".j2", ".css", ".js", ".toml", ".txt", ".jsonl"}


def test_the_sdist_has_each_file_of_the_project_and_makes_the_same_wheel(
    tracked: list[str], clean: Path, wheel: Path, tmp_path: Path
) -> None:
    with tarfile.open(build(clean, "sdist", tmp_path / "sdist")) as archive:
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.glob("reviewgauge-*")
    found = {str(file.relative_to(unpacked)) for file in unpacked.rglob("*") if file.is_file()}
    assert found - {"PKG-INFO"} == set(tracked)
    assert contents(build(unpacked, "wheel", tmp_path / "again")) == contents(wheel)


def test_the_version_stands_in_one_place(tracked: list[str], wheel: Path) -> None:
    assert wheel.name == f"reviewgauge-{reviewgauge.__version__}-py3-none-any.whl"
    files = [ROOT / file for file in tracked if file.startswith("src/") and file.endswith(".py")]
    assert [file.name for file in files if reviewgauge.__version__ in file.read_text("utf-8")] == ["version.py"]
    assert "\nversion = " not in (ROOT / "pyproject.toml").read_text("utf-8")


def test_the_docs_name_the_index_only_with_the_words_once_released(tracked: list[str]) -> None:
    for file in tracked:
        if (
            file.startswith(("docs/", "src/")) and file.endswith((".md", ".py", ".j2", ".toml", ".ipynb"))
        ) or file == "README.md":
            text = " ".join((ROOT / file).read_text("utf-8").split())
            for found in re.finditer(r"(?:pipx?|uv tool|uv pip) install reviewgauge\b(?!\[)", text):
                assert "once released" in text[max(0, found.start() - 80) : found.end() + 80].lower(), file


@pytest.mark.drill
@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_the_demo_runs_from_an_empty_environment(installer: str, wheel: Path, tmp_path: Path) -> None:
    """No network: what it depends on is lent by this environment, the package itself is not."""
    empty = tmp_path / "empty"
    venv.create(empty, with_pip=installer == "pip")
    python = empty / "bin" / "python"
    if installer == "pip":
        do(python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", wheel, cwd=tmp_path)
    elif shutil.which("uv") is None:
        pytest.skip("uv is not installed")
    else:
        do("uv", "pip", "install", "--offline", "--no-deps", "--python", python, wheel, cwd=tmp_path)
    (site,) = empty.glob("lib/python3*/site-packages")
    (site / "lent.pth").write_text(sysconfig.get_paths()["purelib"] + "\n", encoding="utf-8")
    where = do(python, "-c", "import reviewgauge; print(reviewgauge.__file__)", cwd=tmp_path)
    assert where.startswith(str(site))
    home = {"HOME": str(tmp_path), "REVIEWGAUGE_CACHE": str(tmp_path / "cache")}
    assert "blind-reader leads" in do(empty / "bin" / "reviewgauge", "demo", cwd=tmp_path, **home)
    assert "<svg" in (tmp_path / "runs" / "demo" / "report.html").read_text("utf-8")


def test_the_image_has_git_and_starts_without_rights() -> None:
    """As far as that can be told from the text; the release list says how the image is built and tried."""
    lines = re.sub(r"\\\n\s*", " ", (ROOT / "Containerfile").read_text("utf-8")).splitlines()
    last = lines[max(at for at, line in enumerate(lines) if line.startswith("FROM")) :]
    installed = next(line for line in last if "apt-get install" in line)
    assert {"git", "ca-certificates", "bubblewrap"} <= set(installed.split())
    assert [line for line in last if line.startswith("USER")] == ["USER 1000"]
    assert last.index("USER 1000") < last.index('ENTRYPOINT ["reviewgauge"]')
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert {".git", ".venv", "runs"} <= set(ignored), "secrets of a clone and results stay out of the image"


@pytest.mark.parametrize("verb", ["build {root} -o bench", "demo"])
def test_without_git_a_verb_that_needs_it_says_so_in_one_line(verb: str, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "reviewgauge", *verb.format(root=ROOT).split()]
    home = {"PATH": str(tmp_path), "HOME": str(tmp_path), "REVIEWGAUGE_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(words, cwd=tmp_path, env=os.environ | home, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "error: git is not installed (install git 2.31 or newer)"
    assert "Traceback" not in done.stderr
