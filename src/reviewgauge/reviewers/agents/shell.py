"""The tool that runs a command: in a sandbox of bubblewrap's, on a scrubbed checkout that cannot be written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, ClassVar

from pydantic import Field

from reviewgauge.repo.git.folders import scratch_folder
from reviewgauge.repo.guarded.environment import clean_environment
from reviewgauge.repo.guarded.run import ProcessLimits, run_guarded
from reviewgauge.repo.guarded.sandbox import SandboxView
from reviewgauge.repo.mirrors.workspaces import workspace
from reviewgauge.reviewers.agents.code import ReviewedCode
from reviewgauge.reviewers.agents.conversation import Handler
from reviewgauge.reviewers.agents.tools import LONGEST, ToolArguments
from reviewgauge.reviewers.programs.environment import speaks_to_agents

_LIMITS = ProcessLimits(seconds=60.0, output=1_000_000, processes=64, errors=4_000)


class RunCommand(ToolArguments):
    """Run a shell command in the new version of the code. It has a minute, no network, and writes in $TMPDIR only."""

    tool: ClassVar[str] = "run"

    command: Annotated[str, Field(min_length=1, max_length=4_000)]


@contextmanager
def shell(code: ReviewedCode) -> Iterator[Handler]:
    """The tool `run`, with a checkout of its own that is removed afterwards. Raises UserError."""
    with (
        scratch_folder() as top,
        workspace(code.repository, code.commit("new"), code.commit("old"), hidden=speaks_to_agents) as made,
    ):
        environment = {**clean_environment(top, ()), "PATH": os.defpath}

        def run(call: RunCommand) -> str:
            argv, view = ["/bin/sh", "-c", call.command], SandboxView([made.folder], [top])
            scratch = (top, made.folder.parent)
            ended = run_guarded(argv, made.folder, environment, _LIMITS, view=view, scratch=scratch)
            how = f"exit code {ended.code}" if ended.ending == "exit" else f"ended by its limit: {ended.ending}"
            printed = (ended.out.rstrip() + b"\n" + ended.err).decode("utf-8", "replace").rstrip()
            for folder, name in ((made.folder, "."), (top, "$SCRATCH")):  # they have other names each time: a replay
                printed = printed.replace(str(folder), name)  # asks what was asked
            return f"{how}\n{printed[:LONGEST]}"

        yield Handler(RunCommand, run)
