"""The lines under a result: what was done, what failed, and what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence

from reviewgauge.analysis.doctor.limits import SIZE, smallest_difference
from reviewgauge.core.reports.build_card import BuildCard
from reviewgauge.core.reports.leaderboard import Leaderboard
from reviewgauge.core.results import Drop
from reviewgauge.engine.bundle.contents import OWN_LICENCE, RunEntry
from reviewgauge.engine.classify import Sorted
from reviewgauge.engine.review import ReviewTotals
from reviewgauge.engine.run.model_options import Spending
from reviewgauge.engine.run.progress import WorkTotals
from reviewgauge.engine.score import ScoreTotals
from reviewgauge.stages.history.card import CURVE, HOSTS
from reviewgauge.views.figures import counted

MOST_SYSTEMS = 20  # more systems than this are counted, not named
MOST_NOTES = 12
_WANTED = 0.1  # the difference of two recalls that people want to see


# --- review --------------------------------------------------------------------------------------------------------


def review_line(totals: ReviewTotals, spent: Spending) -> str:
    """What one reviewer did, or all recorded systems."""
    names = ", ".join(totals.systems[:MOST_SYSTEMS])
    if len(totals.systems) > MOST_SYSTEMS:
        names += f" and {len(totals.systems) - MOST_SYSTEMS} more systems"
    if spent.estimated:
        return f"{names}: {counted(totals.left, 'review')} to make"
    parts = [f"{counted(totals.done, 'review')} with {counted(totals.comments, 'comment')}", *_failed(totals)]
    if totals.skipped:
        before = f", {totals.failed_before} of them failures" if totals.failed_before else ""
        parts.append(f"{totals.skipped} already there{before}")
    if totals.older:
        parts.append(f"{totals.older} kept from another version of the reviewer")
    parts += _left(totals)
    if totals.cost.calls and not spent.sentence:
        price = "price unknown" if totals.cost.dollars is None else f"${totals.cost.dollars:.2f}"
        parts.append(f"{counted(totals.cost.calls, 'model call')}, {price}")
    return f"{names}: {'; '.join(parts)}; {totals.seconds:.1f} s"


def after_review(run: str, totals: Sequence[ReviewTotals], metrics: Sequence[str]) -> list[str]:
    """Suggested next command, and what to do about failures; empty if interrupted."""
    if any(one.stopped for one in totals):
        return []
    failed = _count_failed(totals)
    useless = [", ".join(one.systems) for one in totals if one.all_failed]
    lines = [f"{names}: every review failed; {run}/reviews.jsonl says why" for names in useless]
    if failed:
        lines.append(f"{failed} failed: the same command with --only failed tries them again")
    return lines if len(useless) == len(totals) else [*lines, f"next: reviewgauge score {run} {' '.join(metrics)}"]


def drop_notes(drops: Sequence[Drop]) -> list[str]:
    """What was dropped or could not be used, the most frequent reason first, with one example each."""
    by_reason: dict[tuple[str, str], list[str]] = {}
    for drop in drops:
        by_reason.setdefault((drop.by, drop.reason), []).append(drop.item)
    ranked = sorted(by_reason.items(), key=lambda item: -len(item[1]))
    lines = [
        f"note: {by}: {reason} ({items[0] if len(items) == 1 else f'{len(items)} times, first {items[0]}'})"
        for (by, reason), items in ranked[:MOST_NOTES]
    ]
    if len(ranked) > MOST_NOTES:
        lines.append(f"note: {len(ranked) - MOST_NOTES} more kinds of notes; --json has all")
    return lines


# --- score and validate ----------------------------------------------------------------------------------------------


def score_line(totals: ScoreTotals, estimated: bool) -> str:
    """What measuring one metric did."""
    if estimated:
        return "; ".join(filter(None, (f"{counted(totals.left, 'review')} to measure", totals.would_run)))
    parts = [f"{counted(totals.done, 'review')} measured"]
    parts += [f"{totals.skipped} measured before"] if totals.skipped else []
    parts += [f"{totals.not_applicable} not applicable"] if totals.not_applicable else []
    parts += _failed(totals)
    parts += [f"{counted(totals.failed_reviews, 'review')} had failed"] if totals.failed_reviews else []
    return f"{'; '.join([*parts, *_left(totals)])}; {totals.seconds:.1f} s"


def nothing_scored(board: Leaderboard) -> bool:
    """Whether all that the metric has by now are failures, its own or those of the reviews."""
    worked = sum(row.scored + row.not_applicable for row in board.systems)
    return not worked and any(row.failed for row in board.systems)


def after_score(run: str, totals: Sequence[ScoreTotals], boards: Sequence[Leaderboard]) -> list[str]:
    """What to do about failures; empty if interrupted."""
    if any(one.stopped for one in totals):
        return []
    lines = [
        f"{board.label}: nothing could be measured; {run}/scores.jsonl says why"
        for board in boards
        if nothing_scored(board)
    ]
    if failed := _count_failed(totals):
        lines.append(f"{failed} failed: the same command with --only failed tries them again")
    if any(one.failed_reviews for one in totals):
        lines.append("failed reviews are made again by the command that made them, with --only failed")
    scored = any(row.scored for board in boards for row in board.systems)
    return [*lines, f"next: reviewgauge report {shlex.quote(run)} -o report.html"] if scored else lines


def measuring_line(totals: Sequence[ScoreTotals], seconds: float, estimated: bool) -> str:
    """What measuring all metrics did."""
    left = sum(one.left for one in totals)
    if estimated:
        return f"{counted(left, 'review')} to measure"
    counts = {
        "measured before": sum(one.skipped for one in totals),
        "not applicable": sum(one.not_applicable for one in totals),
        "failed": sum(sum(one.failed.values()) for one in totals),
        "failed before": sum(one.failed_before for one in totals),
    }
    parts = [f"{counted(sum(one.done for one in totals), 'review')} measured"]
    parts += [f"{n:,} {what}" for what, n in counts.items() if n]
    had_failed = sum(one.failed_reviews for one in totals)
    parts += [f"{counted(had_failed, 'review')} had failed"] if had_failed else []
    parts += [f"{left:,} left undone"] if left else []
    return f"{'; '.join(parts)}; {seconds:.1f} s"


def after_measuring(totals: Sequence[ScoreTotals]) -> list[str]:
    """What to do about failures; empty if interrupted."""
    failed = _count_failed(totals)
    if not failed or any(one.stopped for one in totals):
        return []
    return [f"{failed:,} failed: the same command with --retry-failed tries them again"]


def _count_failed(totals: Sequence[WorkTotals]) -> int:
    return sum(sum(one.failed.values()) + one.failed_before for one in totals)


def _failed(totals: WorkTotals) -> list[str]:
    kinds = ", ".join(f"{kind} {n}" for kind, n in totals.failed.items())
    return [f"{sum(totals.failed.values())} failed ({kinds})"] if totals.failed else []


def _left(totals: WorkTotals) -> list[str]:
    return [f"{totals.left} left undone"] if totals.stopped and totals.left else []


# --- build, bundle and classify ------------------------------------------------------------------------------------


def build_lines(folder: str, card: BuildCard, reviews: int, before: str = "") -> list[str]:
    """What a build wrote into `folder`, and the suggested next commands; see `BuildResult.before`."""
    if not card.cases:
        rest = f"{before} is as it was" if before else f"the funnel and {folder}/drops.jsonl say why"
        return [f"{folder}: no case is left; {rest}"]
    kinds = [
        f"{card.counts[name]} {name}" for name in ("changed", "clean", "without a verdict") if card.counts.get(name)
    ]
    n = card.counts.get("findings", 0)
    findings = f"{n} finding{'' if n == 1 else 's'}"
    where = shlex.quote(folder)
    posted = f"{reviews} posted reviews: reviewgauge review {where} recorded -o RUN"
    size = next((one for one in card.sections if one.title == SIZE), None)
    curve = [row for one in card.sections if one.title.startswith(CURVE) for row in one.rows]
    checks = any(one.by == "check_labels" for one in card.sections)
    return [
        f"{folder}: {card.cases} cases ({', '.join(kinds)}), {findings}, benchmark {card.benchmark[:12]}",
        *([f"{before}: the benchmark that was there before"] if before not in ("", folder) else []),
        *([posted] if reviews else []),
        f"card: {folder}/card.md; every drop with its reason: {folder}/drops.jsonl",
        *([f"to check: reviewgauge annotate init labels.db {where}"] if checks else []),
        *([f"labels: {size.text}"] if size else []),
        *([f"--set certainty=... {'; '.join(_curve(curve))}"] if size and curve else []),
        *_or_injected(card),
        *([] if size and size.warnings else [f"next: reviewgauge doctor {where}"]),
    ]


def _or_injected(card: BuildCard) -> Iterator[str]:
    """What the recipe `injected` would give, where the labels of a history show no difference of .10."""
    hosts = sum(int(one.figures.get(HOSTS, 0)) for one in card.sections)
    changed = card.counts.get("changed", 0)
    now, then = smallest_difference(changed) or 1.0, smallest_difference(hosts) or 1.0
    if hosts > changed and now > _WANTED:
        found = f"defects put into up to {hosts:,} recent changes, each beside its clean twin"
        yield f"or --recipe injected: {found}; so many show a difference of {then:.2f}"


def _curve(rows: Sequence[Sequence[object]]) -> Iterator[str]:
    """How many changes get a label at each certainty, over all histories, and which share of the labels should hold."""
    for least in sorted({float(str(row[0])) for row in rows}, reverse=True):
        here = [[float(str(cell)) for cell in row] for row in rows if row[0] == least]
        labels = sum(row[2] for row in here)
        holds = sum(row[2] * row[3] for row in here) / labels
        yield f"{least:g}: {sum(row[1] for row in here):,.0f} changes, {holds:.0%} of the labels should hold"


def bundle_notes(runs: Sequence[RunEntry]) -> list[str]:
    """Notes for the user who is about to publish a bundle of these runs."""
    lines = []
    for entry in runs:
        if entry.texts == "all":
            why = f", {entry.why}" if entry.why else ""
            if entry.licence == OWN_LICENCE:
                why = ": your own data, which --without-texts leaves out"
            lines.append(f"note: {entry.name} holds the texts of {entry.cases} cases (licence: {entry.licence}{why})")
        else:
            texts = f"its cases and of {entry.withheld:,} reviews"
            lines.append(f"note: {entry.name} leaves out the texts of {texts}: {entry.why}")
        if entry.left_out:
            lines.append(f"note: {entry.name} leaves out what is not part of a run: {', '.join(entry.left_out)}")
    return lines


def classify_lines(found: Sorted, spent: Spending) -> list[str]:
    """What a model sorted into which classes, one fact a line."""
    left_out = [f"not asked: {count:,} ({reason})" for reason, count in _most_first(found.left_out)]
    if any(reason.startswith("no diff hunk") for reason in found.left_out):
        left_out.append("  without_code=True asks without the hunk; such classes are not published ones")
    if spent.estimated:  # the classes of a dry run are the fake model's
        return [*left_out, spent.sentence]
    width = max((len(name) for name in found.classes), default=0)
    lines = [f"{found.dimension} of {found.of}, by {found.rater} ({found.setting}){': fake' if found.fake else ''}"]
    lines += [f"  {name:<{width}}  {count:>6,}" for name, count in _most_first(found.classes)]
    lines.append(f"{found.done:,} sorted" + (f"; {found.skipped:,} sorted before" if found.skipped else ""))
    if found.known:
        share = f"{found.agree:,} of {found.known:,} ({found.agree / found.known:.1%})"
        lines.append(f"as the data says, where it does: {share}")
    lines += left_out
    for kind, count in _most_first(found.failed):
        what = "undecided" if kind == "undecided" else f"failed ({kind})"
        lines.append(f"{what}: {count:,}, such as: {found.reasons[kind]}")
    return lines + ([spent.sentence] if spent.sentence else [])


def _most_first(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
