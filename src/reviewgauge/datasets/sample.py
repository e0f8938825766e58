"""The sample that ships with ReviewGauge: 24 changes of one small repository, two thirds with planted problems.

Source: written for this project; docs/reference/sample.md says how it was made, and the folder sample/ of this
project's repository holds what it is made from.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from typing_extensions import override

from reviewgauge.core.data_card import Card
from reviewgauge.core.errors import UserError
from reviewgauge.core.labels import Label
from reviewgauge.core.parsing import records
from reviewgauge.core.protocols import Dataset
from reviewgauge.core.records import Case, Review
from reviewgauge.core.results import Drop
from reviewgauge.core.trust import FilePath
from reviewgauge.datasets.files.cards import read_card
from reviewgauge.datasets.files.local_files import data_home, locate
from reviewgauge.datasets.jsonl import Jsonl
from reviewgauge.repo.git.repository import Repository

CASES, BUNDLE, BRANCH = "cases.jsonl", "sample.bundle", "refs/heads/main"
MAINTAINED = "maintained"  # the branch that goes on where the cases end


@dataclass(frozen=True)
class Sample(Dataset):
    """The shipped sample; `path` names a folder with another build of it (cases.jsonl and sample.bundle)."""

    path: FilePath = ""

    @property
    @override
    def card(self) -> Card:
        return read_card("sample")

    def cases(self) -> Iterator[Case]:
        """The cases in the order of the history. The repository is unpacked into the data home on first use.

        Without git or write access the cases come without it; they contain their diffs.
        """
        git, _ = self._repository()
        file = self._folder() / CASES
        if not file.is_file():
            raise UserError(f"{file} does not exist", remedy="build it with sample/build.py")
        with file.open("rb") as stream:
            for case in records(Case, stream, file.name):
                yield case.model_copy(update={"change": case.change.model_copy(update={"git": git})})

    def recorded(self, **parameters: object) -> tuple[Sequence[Review], Sequence[Label]]:
        """The reviews of a language model that knew no answers, as system `blind-reader` (docs/reference/sample.md)."""
        return Jsonl(path=str(self._folder())).recorded(**parameters)

    def check_out(self, folder: Path, branch: str = "main") -> int:
        """Clone one branch of the repository, with its history, into `folder`; returns how many files it has.

        `main` is where the cases come from. `maintained` continues from there and fixes many planted problems: no
        measured tool may see it. Raises UserError where the folder is not empty.
        """
        if folder.exists() and any(folder.iterdir()):
            raise UserError(f"{folder} is not empty", remedy="give another folder with -o")
        self.tip(branch)
        words = ("clone", "--quiet", "--single-branch", "--branch", branch, self._bundle(), str(folder.absolute()))
        Repository(unpack(Path(self._bundle()), data_home())).run(*words, protocols=("file",))
        return len(Repository(folder / ".git").paths("HEAD"))

    def tip(self, branch: str) -> str:
        """The last commit of a branch. Raises UserError."""
        repository = Repository(unpack(Path(self._bundle()), data_home()))
        lines = repository.run("bundle", "list-heads", self._bundle()).decode().splitlines()
        tips = {name: commit for commit, name in (line.split(maxsplit=1) for line in lines)}
        if f"refs/heads/{branch}" not in tips:
            raise UserError(f"{BUNDLE} holds no branch {branch}")
        return tips[f"refs/heads/{branch}"]

    def code_remedy(self) -> str:
        """The reason why the repository could not be unpacked from the package."""
        return self._repository()[1]

    def notes(self) -> Sequence[Drop]:
        """Why the code is missing, if it is."""
        git, why = self._repository()
        return () if git else (Drop(item="the repository", by="sample", reason=f"{why}; the diffs are available"),)

    def _folder(self) -> Path:
        return locate("sample", self.path) if self.path else Path(__file__).parent / "_sample"

    def _bundle(self) -> str:
        return str((self._folder() / BUNDLE).absolute())

    def _repository(self) -> tuple[str | None, str]:
        try:
            return str(unpack(Path(self._bundle()), data_home())), ""
        except (OSError, UserError) as error:
            return None, str(error)


def unpack(bundle: Path, home: Path) -> Path:
    """The bare repository made from `bundle` below `home`, created unless it exists.

    It is created under a temporary name and then renamed, so that concurrent processes never see a partial one.
    Raises OSError, or UserError where git fails.
    """
    digest = hashlib.sha256(bundle.read_bytes()).hexdigest()[:12]
    target = home / f"sample-{digest}.git"
    if target.is_dir():
        return target
    home.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=".sample-", dir=home))
    try:
        repository = Repository(staging)
        repository.run("init", "--bare", "--quiet", "--initial-branch=main")
        heads = repository.run("bundle", "unbundle", str(bundle.absolute())).decode().split()
        repository.run("update-ref", BRANCH, heads[heads.index(BRANCH) - 1])
        try:
            staging.rename(target)
        except OSError:
            if not target.is_dir():  # otherwise another process was faster, with the same content
                raise
    except ValueError:
        raise UserError(f"{bundle.name} holds no branch main") from None
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return target
