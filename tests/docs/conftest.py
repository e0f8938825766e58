"""What several pages begin with."""

from __future__ import annotations

from pathlib import Path

import pytest

from documented import run


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder in which `reviewgauge demo` ran, and what it printed."""
    folder = tmp_path_factory.mktemp("demo")
    done = run("reviewgauge demo", folder)
    assert done.returncode == 0, done.stderr
    return folder, done.stdout
