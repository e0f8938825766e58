"""An environment for Harbor that needs no daemon: bubblewrap, with a root of its own and what the Dockerfile copies.

It builds no image and installs nothing: what is asked for of an image (a base, packages) is what this machine has.
"""

# mypy: ignore-errors
import asyncio
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

from harbor.environments.base import BaseEnvironment, ExecResult
from harbor.environments.capabilities import EnvironmentCapabilities


class Held(BaseEnvironment):
    """One folder for each container."""

    @staticmethod
    def type():
        return "held"

    @property
    def capabilities(self):
        return EnvironmentCapabilities(
            disable_internet=True, network_allowlist=True, network_allowlist_hostnames=True, dynamic_network_policy=True
        )

    def _validate_definition(self):
        assert (self.environment_dir / "Dockerfile").is_file()

    async def _apply_network_policy(self, network_policy):
        pass

    async def start(self, force_build):
        self.top = Path(os.environ["HELD_TOP"]) / self.session_id
        for name in ("logs/agent", "logs/verifier", "logs/artifacts", "tests", "solution", "workspace", "tmp"):
            (self.top / name).mkdir(parents=True)
        for line in (self.environment_dir / "Dockerfile").read_text().splitlines():
            word, *rest = line.split() or [""]
            if word == "ADD":
                with tarfile.open(self.environment_dir / rest[0]) as tar:
                    tar.extractall(self.top / "workspace", filter="data")
            elif word == "COPY":
                shutil.copytree(self.environment_dir, self.top / "tests", dirs_exist_ok=True)

    async def stop(self, delete):
        pass

    def at(self, path):
        return self.top / str(path).lstrip("/")

    async def upload_file(self, source_path, target_path):
        self.at(target_path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source_path, self.at(target_path))

    async def upload_dir(self, source_dir, target_dir):
        shutil.copytree(source_dir, self.at(target_dir), dirs_exist_ok=True)

    async def download_file(self, source_path, target_path):
        shutil.copy(self.at(source_path), target_path)

    async def download_dir(self, source_dir, target_dir):
        shutil.copytree(self.at(source_dir), target_dir, dirs_exist_ok=True)

    async def exec(self, command, cwd=None, env=None, timeout_sec=None, user=None):
        argv = ["bwrap", "--tmpfs", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-net"]
        for path in sorted(Path("/").iterdir()):
            if path.name not in ("logs", "tests", "solution", "workspace", "proc", "dev", "tmp"):
                argv += ["--bind", str(path), str(path)]
        for name in ("logs", "tests", "solution", "workspace", "tmp"):
            argv += ["--bind", str(self.top / name), f"/{name}"]
        argv += ["--chdir", cwd or self.task_env_config.workdir or "/", "sh", "-c", command]
        path = f"{os.environ['HELD_BIN']}:{os.environ['PATH']}"
        done = await asyncio.to_thread(
            subprocess.run,
            argv,
            capture_output=True,
            text=True,
            timeout=timeout_sec,
            env={**os.environ, "PATH": path, **(env or {})},
        )
        return ExecResult(stdout=done.stdout, stderr=done.stderr, return_code=done.returncode)
