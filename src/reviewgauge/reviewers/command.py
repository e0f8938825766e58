"""Your own program or coding agent, run on a scrubbed checkout of each change; what it prints is the review.

Source: no published method; an external tool is compared on the same terms as any other reviewer. What the program
finds, what is kept from it and what is not is in `docs/guides/review.md`.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path, PurePosixPath
from typing import ClassVar, Literal

from typing_extensions import override

from reviewgauge.core.errors import BadInput, NeedsCode, UserError, one_line
from reviewgauge.core.protocols import Format, Parsed, Reviewer
from reviewgauge.core.records import Change, Review
from reviewgauge.core.results import Drop, Failed, FailureKind
from reviewgauge.core.secrets import hide_secrets, secret_in
from reviewgauge.core.specs import load
from reviewgauge.core.trust import ProgramText, Word
from reviewgauge.formats.parsing.comments import NoPlace, detect
from reviewgauge.repo.guarded.run import UNSEEN, Ended, ProcessLimits, run_guarded
from reviewgauge.repo.guarded.sandbox import Sandbox, SandboxView, check_sandbox, find_program, needed, no_program
from reviewgauge.reviewers.reading.environment import (
    CASE,
    FILES,
    Checkout,
    ReviewEnvironment,
    as_text,
    check_findings,
    check_slots,
    filled,
    passed_files,
    place,
    settings,
)
from reviewgauge.reviewers.reading.programs import described, parameters, preset
from reviewgauge.reviewers.reading.review_files import ODD, fingerprint, foreign_paths, on_added_lines, placed, unique

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_INTERPRETERS = re.compile(r"(ba|da|z|k)?sh|python[0-9.]*|node|deno|bun|ruby|perl|php|Rscript")
_LAST_WORDS = 4_000  # characters of stderr in a trace
_SHOWN = 200  # characters of them in a message
_RAW = 20_000  # characters of an answer that could not be used


@dataclass(frozen=True)
class Command(Reviewer):
    """Runs `run` (a program and its arguments, without a shell) in a checkout of each change.

    `{base}`, `{head}`, `{workspace}`, `{case}`, `{diff}`, `{title}`, `{description}`, `{issues}`, `{given}` (the folder
    of those files), `{output}` and `{here}` (the folder that you are in) are replaced in arguments; the same stand in
    `REVIEWGAUGE_BASE` and so on, the case where `env` names `REVIEWGAUGE_CASE`. `{files}` or `{files:*.py,*.pyi}`, an
    argument of its own, becomes one for each changed file that is there. `{{word}}` is `{word}`. The review is what it
    prints, or what it writes to `output` (a path in the checkout, or `{output}`), in `format` (found out from the
    content when empty). `env` are the variables that are passed on. `accept` are the exit codes of a program that
    worked. `empty="silent"`: no output, or one without a place, means no findings; `"words"`: one without a place does.
    `lines` says which comments count. `stdin="diff"` feeds it the diff. `seconds`, `output_limit` (bytes) and
    `processes` end it. `checkout="none"` does without one, `history=True` has the real commits in it, `whole=False`
    makes do with the files at hand, `strip_agent_config=False` leaves files that steer coding agents in the folder, and
    `home` is a folder that each review gets a copy of.
    `sandbox="bwrap"` shows the program the checkout, read-only, and the system's folders, and no network, home or other
    process; `"bwrap+network"` leaves it the network; `visible` are further files and folders that it may read. `"off"`
    does without the PID namespace that programs get where the system allows one, as sudo does not work there.
    `contract="review_bench"` hands over and takes what ReviewBench's agent contract says, `config` are its settings.
    `preset` is how a reviewer in use is run; what you say yourself goes before, and `arguments` are added after `run`.
    """

    needs_diff: ClassVar[bool] = True
    runs_programs: ClassVar[bool] = True
    example: ClassVar[str] = 'command(run="./my-tool.sh")'

    run: tuple[ProgramText, ...] | list[ProgramText] | ProgramText = ()
    format: Word = ""
    output: ProgramText = ""
    env: tuple[ProgramText, ...] = ("PATH",)
    accept: tuple[int, ...] = (0,)
    empty: Literal["failure", "silent", "words"] = "failure"
    lines: Literal["all", "added"] = "all"
    stdin: Literal["", "diff"] = ""
    seconds: float = 900.0
    output_limit: int = 10_000_000
    processes: int = 256
    checkout: Checkout = "head"
    history: bool = False
    whole: bool = True
    strip_agent_config: bool = True
    home: ProgramText = ""
    sandbox: Sandbox = "auto"
    visible: tuple[ProgramText, ...] = ()
    contract: Literal["", "review_bench"] = ""
    config: tuple[ProgramText, ...] = ()
    preset: Word = ""
    arguments: tuple[ProgramText, ...] | list[ProgramText] | ProgramText = ()

    def __post_init__(self) -> None:
        if self.preset:  # written out, so that a run says how it was made where a preset is another one later
            usual = {one.name: one.default for one in fields(self)}
            for name, value in parameters(self.preset).items():
                if getattr(self, name) == usual[name]:
                    object.__setattr__(self, name, value)
        for name in ("run", "arguments"):
            given = getattr(self, name)
            object.__setattr__(self, name, tuple(shlex.split(given) if isinstance(given, str) else given))

    @classmethod
    @override
    def more(cls) -> str:
        return described()

    @property
    def default_name(self) -> str:
        """The preset, the program, or the script that an interpreter runs."""
        if self.preset:
            return self.preset
        words = [word for word in self._argv if not word.startswith("-")]
        if not words:
            return "command"
        named = len(words) > 1 and "/" in words[1] and " " not in words[1]
        script = named and _INTERPRETERS.fullmatch(Path(words[0]).name)
        return ODD.sub("_", Path(words[1] if script else words[0]).stem)

    @property
    def _sandboxed(self) -> bool:
        return self.sandbox.startswith("bwrap")

    @property
    def _output(self) -> str:
        return self.output or "{output}" * bool(self.contract)

    @property
    def _argv(self) -> tuple[str, ...]:
        return (*self.run, *self.arguments)

    def pins(self) -> Mapping[str, str]:
        """The SHA-256 of the program, and of the files below the current folder that its arguments name."""
        files = [file for file in _named(self) if file.is_file()]
        return {"sha256": fingerprint(files)} if files else {}

    def prepare(self, changes: Sequence[Change]) -> Sequence[Drop]:
        """Check every parameter; name the changes without code. Raises UserError, NeedsCode."""
        _check(self)
        if self.checkout == "none":
            return ()
        lost = [change for change in changes if change.git is None or change.head is None]
        if changes and len(lost) == len(changes):
            raise NeedsCode("command", remedy='work on the diff alone: checkout="none"')
        why = "its code is not at hand: a failure"
        return tuple(Drop(item=change.id or change.repo, by="command", reason=why) for change in lost)

    def review(self, change: Change) -> Review:
        """The review of `change`. Raises Failed where the program breaks, takes too long or is unreadable."""
        with place(
            change,
            self.env,
            checkout=self.checkout,
            history=self.history,
            whole=self.whole,
            strip_agent_config=self.strip_agent_config,
            agent=self.system if self.contract else "",
            home=self.home,
        ) as at:
            files = passed_files(change, at.folder)
            argv = [text for word in self._argv for text in filled(word, at.words, files)]
            if len(argv) == len([word for word in self._argv if not FILES.fullmatch(word)]) < len(self._argv):
                trace = f"{self.system} was not run: the change leaves none of the files that it looks at"
                return Review(case=change.id or change.repo, system=self.system, trace=trace)
            argv[0] = _program(self._argv, self.env) or argv[0]  # never one that data names
            view = None
            if self._sandboxed:
                readable = [at.folder, *needed(_named(self)), *_visible(self)]
                view = SandboxView(readable, at.scratch[:1], "network" in self.sandbox)
            limits = ProcessLimits(self.seconds, self.output_limit, self.processes, namespace=self.sandbox != "off")
            given = Path(at.words["diff"]) if self.stdin else None
            environment = {**at.environment, **settings(self.config)}
            ended = run_guarded(argv, at.folder, environment, limits, view=view, stdin=given, scratch=at.scratch)
            ended = replace(ended, err=_relative(ended.err, at.folder))
            try:
                self._check_ending(ended)
                output = as_text(self._written(at, ended) if self._output else ended.out)
                parsed = self._parsed(_relative(_without_secrets(output.data), at.folder), ended, at)
            except Failed as error:
                unproved = ended.unproved  # processes that may still run
                problem = error.problem + f"; {unproved}" * (unproved not in ("", UNSEEN))
                raw = "\n".join(filter(None, (unproved, error.raw)))
                raise Failed(error.kind, problem, remedy=error.remedy, raw=raw) from None
        comments = list(placed(parsed, change))
        kept = comments if self.lines == "all" else [c for c in comments if on_added_lines(c, change)]
        foreign, example = foreign_paths(parsed, [change])
        remarks = {
            f"comments on absolute paths outside of the checkout, such as {example}": foreign,
            "comments on lines that the change does not add were left out": len(comments) - len(kept),
            "bytes that are not UTF-8 were replaced": output.replaced,
        }
        trace = "\n".join(_trace(self.system, ended, at, parsed, remarks))
        return Review(case=change.id or change.repo, system=self.system, comments=unique(kept), trace=trace)

    def _check_ending(self, ended: Ended) -> None:
        """Raise Failed where the program did not work."""
        raw = _raw(ended)
        if ended.ending == "not started":
            raise Failed(FailureKind.CRASH, f"{self.system} could not be started: {ended.words}")
        ends = {
            "timeout": (FailureKind.TIMEOUT, f"took longer than {self.seconds:g} seconds", "seconds"),
            "output": (FailureKind.UNREADABLE, f"printed more than {self.output_limit:,} bytes", "output_limit"),
            "processes": (FailureKind.CRASH, f"had more than {self.processes:,} processes at a time", "processes"),
        }
        if ended.ending in ends:
            kind, what, limit = ends[ended.ending]
            raise Failed(kind, f"{self.system} {what} and was ended", remedy=f"{limit}= sets the limit", raw=raw)
        if ended.code not in self.accept:
            message = one_line(_last_words(ended)[-_SHOWN:], _SHOWN) or "it printed no error"
            accept = f'if that is not an error: accept={(*self.accept, ended.code)}, in a new folder or with name="..."'
            problem = f"{self.system} ended with {_code(ended)}: {message}"
            raise Failed(
                FailureKind.CRASH, problem, remedy=accept * (ended.code is not None and ended.code >= 0), raw=raw
            )

    def _written(self, at: ReviewEnvironment, ended: Ended) -> bytes:
        """The content of its output file; empty where there is none."""
        path = Path(at.folder, *filled(self._output, at.words))
        root = at.folder if path.is_relative_to(at.folder) else Path(at.words["output"]).parent
        try:
            file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            return b""
        except OSError as error:
            problem = f"{self.system} wrote {path.name}, which cannot be read: {error.strerror}"
            raise Failed(FailureKind.UNREADABLE, problem, raw=_raw(ended)) from None
        try:
            about = os.fstat(file)
            if not stat.S_ISREG(about.st_mode) or not path.resolve().is_relative_to(root):
                raise Failed(FailureKind.UNREADABLE, f"{self.system} wrote {path.name}, which is not a plain file")
            if about.st_size > self.output_limit:
                raise Failed(FailureKind.UNREADABLE, f"{self.system} wrote more than {self.output_limit:,} bytes")
            with os.fdopen(os.dup(file), "rb") as stream:
                return stream.read(self.output_limit)
        finally:
            os.close(file)

    def _parsed(self, data: bytes, ended: Ended, at: ReviewEnvironment) -> list[Parsed]:
        source = f"what {self.system} wrote" if self._output else f"what {self.system} printed"
        if not data.strip():
            if self.empty == "silent":
                return []
            remedy = 'if that is how it says "no findings": command(run=..., empty="silent")'
            raise Failed(FailureKind.UNREADABLE, f"{source} is empty", remedy=remedy, raw=_raw(ended))
        try:
            name = self.format or self.contract
            form = load(Format, name) if name else detect(data, source)
            parsed = list(form.read(data, source))
            if self.contract:
                check_findings(data, at.environment)
            return parsed
        except BadInput as error:
            if isinstance(error, NoPlace) and self.empty != "failure":
                return [Parsed(skipped=(Drop(item=source, by="command", reason=f"{error.problem}: left out"),))]
            text = hide_secrets(data[:_RAW].decode("utf-8", "replace"))
            raise Failed(FailureKind.UNREADABLE, error.problem, remedy=error.remedy, raw=text) from None


# --- checks before a run -------------------------------------------------------------------------------------------


def _check(command: Command) -> None:
    """Raise UserError for a parameter that cannot work."""
    argv = command._argv
    if not argv or not argv[0]:
        raise UserError("command needs a program", remedy="command(run=('./review.sh', '{diff}'))")
    if missing := [one for one in (argv[0], *_beside(command)) if not find_program(one, command.env)]:
        install = f"needs {preset(command.preset)['install']}" if command.preset else ""
        raise UserError(f"there is no program {missing[0]}", remedy=install) if install else no_program(missing[0])
    for name in command.env:
        if not _VARIABLE.fullmatch(name):
            raise UserError(
                f"{name.partition('=')[0]!r} in env is not a valid variable name",
                remedy="give the name without a value",
            )
        if name != CASE and name not in os.environ:
            raise UserError(f"the environment variable {name} is not set", remedy=f"export {name}=...")
    if min(command.seconds, command.output_limit, command.processes) <= 0:
        raise UserError("seconds, output_limit and processes of command must be above 0")
    if _climbs(command.output):
        raise UserError(
            f"output={command.output!r} is outside the checkout", remedy='use a path inside it, or "{output}"'
        )
    check_slots((*argv, command._output), contract=bool(command.contract), code=command.checkout != "none")
    settings(command.config)
    if command.config and not command.contract:
        raise UserError("config= belongs to a contract", remedy='contract="review_bench"')
    if command.contract and command.checkout != "head":
        raise UserError("the contract is about the code after the change", remedy="leave out checkout=")
    _check_sandbox(command)
    if command.home and not Path(command.home).expanduser().is_dir():
        raise UserError(f"home={command.home!r} is not a folder")
    if command.format:
        load(Format, command.format)
    script = next((word for word in argv[1:] if not word.startswith("-")), "")
    runs_script = _INTERPRETERS.fullmatch(Path(argv[0]).name) is not None and not {"-c", "-e", "-m"} & set(argv)
    if runs_script and script and not script.startswith(("/", "{")):
        remedy = f"write {{here}}/{script} for your own file"
        raise UserError(f"{script} would be looked for in the code under review, where the program runs", remedy=remedy)


def _check_sandbox(command: Command) -> None:
    """Raise UserError where the sandbox that is asked for does not work."""
    if command._sandboxed:
        check_sandbox()
        if command.output not in ("", "{output}"):
            raise UserError("the checkout is read-only in the sandbox", remedy='output="{output}"')
    if command.visible and not command._sandboxed:
        raise UserError("visible= is for a sandbox", remedy='sandbox="bwrap"')
    for path in _visible(command):
        if not path.exists():
            raise UserError(f"visible={str(path)!r} does not exist")


def _climbs(output: str) -> bool:
    path = PurePosixPath(output)
    return output != "{output}" and (path.is_absolute() or ".." in path.parts or path.parts[:1] == (".git",))


def _program(argv: Sequence[str], variables: Sequence[str]) -> str:
    return find_program(argv[0], variables) if argv else ""


def _named(command: Command) -> list[Path]:
    """The program, and the files below the current folder that its arguments name."""
    here = str(Path.cwd())
    named = [word.replace("{here}", here) for word in command._argv[1:] if word.startswith("{here}/")]
    beside = [find_program(one, command.env) for one in _beside(command)]
    return [Path(word) for word in (_program(command._argv, command.env), *beside, *named) if word]


def _beside(command: Command) -> Sequence[str]:
    """The programs that a preset calls by a shell."""
    return preset(command.preset).get("programs", ()) if command.preset else ()


def _visible(command: Command) -> list[Path]:
    here = str(Path.cwd())
    return [Path(word.replace("{here}", here)).expanduser().absolute() for word in command.visible]


# --- the trace of a review -----------------------------------------------------------------------------------------


def _trace(
    system: str, ended: Ended, at: ReviewEnvironment, parsed: Iterable[Parsed], remarks: Mapping[str, int]
) -> Iterator[str]:
    """The lines of the trace: how the program ended, remarks, drops, and the end of stderr."""
    yield f"{system} ended with {_code(ended)} after {ended.seconds:.1f} s"
    if ended.unproved:
        yield ended.unproved
    yield from (f"{count} {remark}" for remark, count in remarks.items() if count)
    counts = Counter((drop.by, drop.reason) for entry in parsed for drop in entry.skipped)
    counts.update((drop.by, drop.reason) for drop in at.left_out)
    yield from (f"{by}: {reason} ({count})" for (by, reason), count in sorted(counts.items()))
    if errors := _last_words(ended):
        yield "--- stderr, its end ---"
        yield errors


def _code(ended: Ended) -> str:
    code = ended.code or 0
    if code < 0:
        return f"signal {-code}"
    return f"exit code {code}" + f" (signal {code - 128})" * (128 < code < 160)


def _last_words(ended: Ended) -> str:
    text = _without_secrets(ended.err[-16 * _LAST_WORDS :]).decode("utf-8", "replace")
    return hide_secrets(text.replace("\x00", "\N{REPLACEMENT CHARACTER}")).strip()[-_LAST_WORDS:]


def _raw(ended: Ended) -> str:
    """The output of a failed program, for debugging."""
    out = hide_secrets(_without_secrets(ended.out[:_RAW]).decode("utf-8", "replace"))
    return "\n".join(filter(None, (out.strip(), _last_words(ended))))


def _without_secrets(data: bytes) -> bytes:
    """`data` without the values of variables that name a secret: a program may print its environment."""
    text = data.decode("utf-8", "surrogateescape")
    while name := secret_in(text):
        text = text.replace(os.environ[name].strip(), "***")
    return text.encode("utf-8", "surrogateescape")


def _relative(data: bytes, folder: Path) -> bytes:
    """`data` with paths of the checkout made relative: its folder has another name each time, and ids must not."""
    name = os.fsencode(folder)
    return data.replace(b"file://" + name + b"/", b"").replace(name + b"/", b"").replace(name, b".")
