"""ReviewGauge: how good is this code reviewer, on these changes?

Every verb of the command line is a function here with the same name: `reviewgauge.score("runs/mine", "hits")`, and so
are the modes of some: `edit` (review --edit), `rescore` (score --on), `classify` (score --labels), `curve` (compare
--attempts) and `scores` (info RUN). `tables(result)` makes tables of what any of them found. Those that ask models take
`models=ModelOptions(budget=5.0)`. Each is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from reviewgauge.core.version import __version__ as __version__

if TYPE_CHECKING:
    from reviewgauge.analysis.judge_check.report import JudgeOptions
    from reviewgauge.api.agree import agree
    from reviewgauge.api.annotate import annotate
    from reviewgauge.api.build import build
    from reviewgauge.api.bundle import bundle
    from reviewgauge.api.cache import cache
    from reviewgauge.api.check import check
    from reviewgauge.api.classify import classify
    from reviewgauge.api.compare import compare
    from reviewgauge.api.curve import curve
    from reviewgauge.api.demo import demo
    from reviewgauge.api.doctor import doctor
    from reviewgauge.api.edit import edit
    from reviewgauge.api.evolve import evolve
    from reviewgauge.api.export import export
    from reviewgauge.api.gate import gate
    from reviewgauge.api.get import get
    from reviewgauge.api.info import info
    from reviewgauge.api.init import init
    from reviewgauge.api.list import list_plugins as list
    from reviewgauge.api.plan import plan
    from reviewgauge.api.report import report
    from reviewgauge.api.rescore import rescore
    from reviewgauge.api.review import review
    from reviewgauge.api.score import score
    from reviewgauge.api.scores import scores
    from reviewgauge.api.study import study
    from reviewgauge.api.tables import tables
    from reviewgauge.api.validate import validate
    from reviewgauge.api.view import view
    from reviewgauge.engine.run.model_options import ModelOptions

__all__ = [
    "JudgeOptions",
    "ModelOptions",
    "agree",
    "annotate",
    "build",
    "bundle",
    "cache",
    "check",
    "classify",
    "compare",
    "curve",
    "demo",
    "doctor",
    "edit",
    "evolve",
    "export",
    "gate",
    "get",
    "info",
    "init",
    "list",
    "plan",
    "report",
    "rescore",
    "review",
    "score",
    "scores",
    "study",
    "tables",
    "validate",
    "view",
]


def __getattr__(name: str) -> object:
    if name == "ModelOptions":
        return import_module("reviewgauge.engine.run.model_options").ModelOptions
    if name == "JudgeOptions":
        return import_module("reviewgauge.analysis.judge_check.report").JudgeOptions
    if name == "inspect":  # scorers and tasks of inspect_ai, where that is installed
        return import_module("reviewgauge.inspect")
    if name in __all__:
        return getattr(import_module(f"reviewgauge.api.{name}"), "list_plugins" if name == "list" else name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():  # type: ignore[no-untyped-def]  # `list` names the verb in this module
    return [*globals(), *__all__]
