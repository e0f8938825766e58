"""An agent in a container image that keeps ReviewBench's agent contract: as it runs for that leaderboard, it runs here.

Source: https://github.com/review-bench/ReviewBench, `AGENT_CONTRACT.md`: the mounts below /work, the variables `RB_*`,
one `findings.json`.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from reviewgauge.core.errors import UserError, one_line
from reviewgauge.core.protocols import Reviewer
from reviewgauge.core.records import Change, Review
from reviewgauge.core.results import Drop, Failed
from reviewgauge.core.trust import ProgramText
from reviewgauge.repo.guarded.run import Ended, ProcessLimits, run_guarded
from reviewgauge.repo.guarded.sandbox import find_program, passed_on
from reviewgauge.reviewers.command import Command
from reviewgauge.reviewers.reading.environment import HANDED_OVER, PATHS, settings

_OF_THE_ENGINE = (
    "PATH HOME XDG_RUNTIME_DIR XDG_CONFIG_HOME XDG_DATA_HOME DOCKER_HOST DOCKER_CONTEXT DOCKER_CONFIG CONTAINER_HOST"
)
_IMAGE = re.compile(r"[A-Za-z0-9][\w./:@-]{0,300}")
_MOUNTS = ("-v", "{workspace}:/work/repo", "-v", "{pr}:/work/pr:ro", "-v", "{out}:/work/out")
_SHORT = ProcessLimits(seconds=60.0, output=10_000, processes=256, errors=2_000, namespace=False)


@dataclass(frozen=True)
class Container(Reviewer):
    """Runs `image` by `engine` (docker, podman) on each change, in a fresh container that is removed afterwards.

    `env` are the variables that it gets, such as its key; `config` settings such as `model=gpt-5.5` become
    `RB_CONFIG_MODEL`. `network` is the engine's network to run it in (empty: the engine's default). `seconds` ends it.
    `history` as for `command`.
    """

    example: ClassVar[str] = 'container(image="ghcr.io/you/reviewer:1")'
    needs_diff: ClassVar[bool] = True
    runs_programs: ClassVar[bool] = True

    image: ProgramText
    env: tuple[ProgramText, ...] = ()
    config: tuple[ProgramText, ...] = ()
    network: ProgramText = ""
    engine: ProgramText = "docker"
    seconds: float = 900.0
    history: bool = False

    @property
    def default_name(self) -> str:
        """The image, without its place and its tag."""
        name = self.image.partition("@")[0].rpartition("/")[2].partition(":")[0]
        return re.sub(r"[^A-Za-z0-9._-]", "_", name) or "container"

    def _command(self, name: str) -> Command:
        """The command that runs the container `name`."""
        passed = [*HANDED_OVER, *settings(self.config), *self.env]
        options = [*_MOUNTS, *(part for key, path in PATHS.items() for part in ("-e", f"{key}={path}"))]
        options += [part for key in passed for part in ("-e", key)]  # without values, which a process list shows
        options += ["--network", self.network] if self.network else []
        return Command(
            run=(self.engine, "run", "--rm", "--name", name, *options, self.image),
            name=self.system,
            env=(*self._variables, *self.env),
            seconds=self.seconds,
            history=self.history,
            contract="review_bench",
            config=self.config,
            sandbox="off",  # the container is one, and its engine may be set-user-ID
        )

    @property
    def _variables(self) -> tuple[str, ...]:
        return tuple(name for name in _OF_THE_ENGINE.split() if name in os.environ)

    def prepare(self, changes: Sequence[Change]) -> Sequence[Drop]:
        """Check every parameter; name the changes without code. Raises UserError, NeedsCode."""
        if not _IMAGE.fullmatch(self.image):
            raise UserError(f"image={self.image!r} is not the name of an image", remedy="ghcr.io/you/agent@sha256:...")
        if self.network.startswith("-"):
            raise UserError(f"network={self.network!r} is not the name of a network")
        drops = self._command("unnamed").prepare(changes)
        ended = self._ask_engine("version")
        if ended.code != 0:
            reason = one_line(ended.err.decode("utf-8", "replace"))
            raise UserError(f"{self.engine} does not work here: {reason or f'it ended with {ended.code}'}")
        return drops

    def review(self, change: Change) -> Review:
        """What the agent wrote to its `findings.json`. Raises Failed."""
        name = f"reviewgauge-{secrets.token_hex(8)}"
        try:
            return self._command(name).review(change)
        except Failed as error:
            remedy = error.remedy if error.remedy.startswith("seconds=") else ""  # others are not parameters of this
            raise Failed(error.kind, error.problem, remedy=remedy, raw=error.raw) from None
        finally:
            self._ask_engine("rm", "--force", name)  # it outlives its client, where that was ended

    def _ask_engine(self, *words: str) -> Ended:
        program = find_program(self.engine, self._variables) or self.engine
        return run_guarded([program, *words], Path("/"), passed_on(self._variables), _SHORT)
