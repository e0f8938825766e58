"""Choose the repositories that the next stage reads, by the rule of ContextCRBench or of AACR-Bench.

Source: ContextCRBench (arXiv:2511.07017), section 2.1.1: per language the 100 most starred, the language over 60% of
it, active within six months, over 5,000 issues and pull requests. AACR-Bench (arXiv:2601.19494, appendix A): in the top
2,000 both by new stars and by closed pull requests of a window, then five per language by new stars.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal

from reviewgauge.core.building import BuildContext, Candidate, CardSection, Decision, RepositoryCandidate
from reviewgauge.core.errors import UserError
from reviewgauge.core.protocols import Stage
from reviewgauge.core.results import Drop
from reviewgauge.repo.forge.access import SCHEME
from reviewgauge.repo.forge.client import Forge
from reviewgauge.repo.forge.replies import Unavailable
from reviewgauge.stages.pull_requests import repositories as rules
from reviewgauge.stages.pull_requests.candidates import remember_repositories
from reviewgauge.stages.pull_requests.repositories import Refused, count_items, language_share, most_starred

CHOSEN, FORGE = "repositories.jsonl", "forge"


@dataclass(frozen=True)
class SelectRepos(Stage):
    """`rule` is `context_crbench` or `aacr_bench`; what it leaves out is dropped with the criterion that failed.

    `candidates` is a CSV or JSON lines file with the fields of RepositoryCandidate. Without one the forge is asked,
    which can answer the first rule only: nobody but an archive of events counts the new stars of a window. `day` is
    that from which "within six months" counts back; ContextCRBench crawled in April 2025. What the forge said is kept
    in the folder for this day, so the choice stays the same there. The paper's manual check of what is left is yours to
    do: the chosen ones stand in repositories.jsonl beside the benchmark. Where the build's source names repositories
    (`github:owner/name`), there is nothing to choose.
    """

    rule: Literal["context_crbench", "aacr_bench"] = "context_crbench"
    candidates: str = ""
    languages: tuple[str, ...] = ()
    day: str = "2025-04-30"
    top: int = 100
    share: float = 0.6
    months: float = 6.0
    volume: int = 5000
    rank: int = 2000
    per_language: int = 5
    api: str = ""
    tokens: tuple[str, ...] = ("GITHUB_TOKEN",)

    def __post_init__(self) -> None:
        date.fromisoformat(self.day)

    def apply(self, items: Iterable[Candidate], context: BuildContext) -> Iterator[Candidate | Drop | Decision]:
        """What came in, then a drop for each repository that is not chosen. Nothing where the user named some."""
        yield from items
        if SCHEME in context.source:
            return
        if self.rule == "aacr_bench":
            if not self.candidates:
                raise UserError(
                    "the rule aacr_bench ranks by the new stars of a window, which a forge does not tell",
                    remedy="give candidates='repositories.csv' with new_stars and closed_pulls, from GH Archive",
                )
            given = rules.read_candidates(Path(self.candidates).expanduser())
            chosen, refused = rules.ranked(given, self._languages, self.rank, self.per_language)
        else:
            chosen, refused = self._by_context_rule(context)
        for one in refused:
            yield self.drop(one.name, one.reason, one.detail)
        if not chosen:
            raise UserError("no repository meets the rule", remedy="drops.jsonl says at which criterion each was lost")
        self._keep(context, chosen, len(refused))

    @property
    def _languages(self) -> tuple[str, ...]:
        paper = rules.AACR_LANGUAGES if self.rule == "aacr_bench" else rules.CONTEXT_LANGUAGES
        return self.languages or paper

    def _by_context_rule(self, context: BuildContext) -> tuple[list[RepositoryCandidate], list[Refused]]:
        today = date.fromisoformat(self.day)
        if self.candidates:
            given = rules.read_candidates(Path(self.candidates).expanduser())
            found, refused = rules.popular(given, self._languages, self.top)
            judged = [(one, rules.unfit(one, today, self.share, self.months, self.volume)) for one in found]
        else:
            with Forge.open(
                context.folder / FORGE, api=self.api, tokens=self.tokens, progress=context.progress
            ) as forge:
                found, refused = rules.popular(self._starred(forge, context), self._languages, self.top)
                judged = []
                for number, one in enumerate(found):
                    context.progress("repositories looked up", number, len(found))
                    judged.append(self._look_up(forge, one, today))
        return [one for one, no in judged if no is None], refused + [no for _, no in judged if no is not None]

    def _starred(self, forge: Forge, context: BuildContext) -> Iterator[RepositoryCandidate]:
        for number, language in enumerate(self._languages):
            context.progress("languages searched", number, len(self._languages))
            yield from most_starred(forge, language, self.top, self._version)

    def _look_up(
        self, forge: Forge, one: RepositoryCandidate, today: date
    ) -> tuple[RepositoryCandidate, Refused | None]:
        """A repository with what the rule needs, asked for as long as it may still be chosen; and why it is not."""
        try:
            one = one.model_copy(update={"language_share": language_share(forge, one, self._version)})
            refused = rules.unfit(one.model_copy(update={"issues_and_pulls": self.volume + 1}), today, *self._limits)
            if refused is None:
                one = one.model_copy(update={"issues_and_pulls": count_items(forge, one.name, self._version)})
                refused = rules.unfit(one, today, *self._limits)
        except Unavailable as error:
            return one, Refused(one.name, f"repository {error.reason}", str(error))
        return one, refused

    @property
    def _version(self) -> str:
        return f"chosen for {self.day}"

    @property
    def _limits(self) -> tuple[float, float, int]:
        return self.share, self.months, self.volume

    def _keep(self, context: BuildContext, chosen: list[RepositoryCandidate], refused: int) -> None:
        (context.folder / CHOSEN).write_bytes(b"".join(one.to_line() for one in chosen))
        remember_repositories(context, [one.name for one in chosen])
        context.report(
            CardSection(
                by="select_repos",
                title="Repositories that were chosen",
                text=f"By the rule of {self.rule}, out of {len(chosen) + refused:,}; the others are in drops.jsonl.",
                columns=("repository", "language", "stars", "new stars"),
                rows=tuple((one.name, one.language, one.stars, one.new_stars) for one in chosen),
                figures={"candidates": len(chosen) + refused, "chosen": len(chosen)},
            )
        )
