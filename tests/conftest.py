"""Fixtures that every unit shares, and how much the property tests try."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from filelock import FileLock

import fake_rules.behaviours
from documented import run
from reviewgauge.models.chat.client import ChatClient
from reviewgauge.models.request.model_spec import ChatSettings
from waiting import HANGS

# Vectors that tests embed are kept beside pytest's own cache, never in the home of whoever runs them.
os.environ.setdefault("REVIEWGAUGE_CACHE", str(Path(__file__).parents[1] / ".pytest_cache" / "reviewgauge"))

fake_rules.behaviours.register()

# Compiled files are kept, whatever the environment says: workers and the processes that tests start would compile the
# package and the tests anew each time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Every commit of plain git would start another program, which looks whether there is garbage to collect.
os.environ |= {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "maintenance.auto", "GIT_CONFIG_VALUE_0": "false"}

# A shell that starts this in the background has it ignore interrupts, and so would every program that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Examples per property: 10 while working, 100 in CI, the same each time: what a change did not break stays green.
# `--hypothesis-profile=explore` draws others. No deadline, because a machine may be busy.
_UNHURRIED = hypothesis.settings(deadline=None, suppress_health_check=list(hypothesis.HealthCheck))
hypothesis.settings.register_profile("quick", _UNHURRIED, max_examples=10, derandomize=True)
hypothesis.settings.register_profile("ci", _UNHURRIED, max_examples=100, derandomize=True)
hypothesis.settings.register_profile("explore", _UNHURRIED, max_examples=500, derandomize=False)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "quick")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by what they need; `make quick` runs those without a mark."""
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        unit = _unit(item.path)
        if unit == "docs":
            item.add_marker("pages")
        if unit in ("cli", "api", "repo", "stages"):
            item.add_marker("processes")
        if "browser" in fixtures:
            item.add_marker("browser")
        if "shared_data" in fixtures:
            item.add_marker("reference")
    items.sort(
        key=lambda item: _unit(item.path) != "docs"
    )  # what takes longest first: no worker waits for it at the end


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say why tests were skipped, and how to repeat the order, which is another one each time."""
    skipped = (one.longrepr[2].removeprefix("Skipped: ") for one in terminalreporter.stats.get("skipped", ()))
    for reason, count in Counter(skipped).most_common():
        terminalreporter.write_line(f"{count} skipped: {reason}")
    if seed := config.getoption("randomly_seed", None):
        terminalreporter.write_line(f"order: --randomly-seed={seed}")


@pytest.fixture(autouse=True)
def whole_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Verbs break no line: where one breaks depends on the length of the temporary folder's name, which it may hold."""
    monkeypatch.setenv("COLUMNS", "10000")


@pytest.fixture
def hundred_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Verbs break lines as they do away from a terminal."""
    monkeypatch.delenv("COLUMNS")


def _unit(path: Path) -> str:
    return path.relative_to(Path(__file__).parent).parts[0]


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own."""
    monkeypatch.setenv("REVIEWGAUGE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def own_client(own_cache: Path) -> Iterator[ChatClient]:
    """A client of the test's own, which keeps no answer."""
    with ChatClient(ChatSettings(cache=False)) as client:
        yield client


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The official files of the public data sets: `../shared/data` beside the clone, or `$REVIEWGAUGE_TEST_DATA`."""
    folder = Path(os.environ.get("REVIEWGAUGE_TEST_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"the public data sets are not at {folder}: no row of them is part of the project")
    return folder


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder in which `reviewgauge demo` ran, and what it printed; run once for all workers. Tests change copies."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "demo"
    printed = folder / "printed.txt"
    with FileLock(f"{folder}.lock"):
        if not printed.exists():
            folder.mkdir()
            done = run("reviewgauge demo", folder)
            assert done.returncode == 0, done.stderr
            printed.write_text(done.stdout, encoding="utf-8")
    return folder, printed.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real Chromium that may touch nothing outside. It ends with its file: its event loop bars `asyncio.run`."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if (chromium := shutil.which("chromium")) is None:
        pytest.skip("chromium is not installed")
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
    arguments.append("--disable-dev-shm-usage")  # which is small in containers
    with playwright.sync_playwright() as running:
        try:
            found = running.chromium.launch(executable_path=chromium, args=arguments, timeout=0)
        except playwright.Error as error:
            pytest.skip(f"chromium does not start here: {str(error).partition(os.linesep)[0]}")
        for name in ("new_page", "new_context"):
            setattr(found, name, _patient(getattr(found, name)))
        yield found
        found.close()


def _patient(make: Callable[..., Any]) -> Callable[..., Any]:
    """What it makes waits for what a test waits for as long as a busy machine takes, not for 30 seconds."""

    def made(**options: Any) -> Any:
        page = make(**options)
        page.set_default_timeout(1000 * HANGS)
        return page

    return made
