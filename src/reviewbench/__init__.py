"""ReviewBench: how good is this code reviewer, on these changes?

Every verb of the command line is a function here with the same name: `reviewbench.score("runs/mine", "hits")`.
They are imported when they are first used, so importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from reviewbench.cli.agree import agree
    from reviewbench.cli.build import build
    from reviewbench.cli.bundle import bundle
    from reviewbench.cli.cache import cache
    from reviewbench.cli.calibrate import calibrate
    from reviewbench.cli.check import check
    from reviewbench.cli.classify import classify
    from reviewbench.cli.compare import compare
    from reviewbench.cli.demo import demo
    from reviewbench.cli.doctor import doctor
    from reviewbench.cli.fake_server import fake_server
    from reviewbench.cli.gate import gate
    from reviewbench.cli.get import get
    from reviewbench.cli.info import info
    from reviewbench.cli.judge_check import judge_check
    from reviewbench.cli.list import list_plugins as list
    from reviewbench.cli.plan import plan
    from reviewbench.cli.report import report
    from reviewbench.cli.review import review
    from reviewbench.cli.score import score
    from reviewbench.cli.validate import validate

__all__ = [
    "agree",
    "build",
    "bundle",
    "cache",
    "calibrate",
    "check",
    "classify",
    "compare",
    "demo",
    "doctor",
    "fake_server",
    "gate",
    "get",
    "info",
    "judge_check",
    "list",
    "plan",
    "report",
    "review",
    "score",
    "validate",
]


def __getattr__(name: str) -> object:
    if name in __all__:
        return getattr(import_module(f"reviewbench.cli.{name}"), "list_plugins" if name == "list" else name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():  # type: ignore[no-untyped-def]  # `list` names the verb in this module
    return [*globals(), *__all__]
