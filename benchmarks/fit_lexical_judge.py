"""Fit the offline judge's weights (and, when asked, its idf table) and print its card.

Stored are the final fit on everything, and beside it, for each repository, a whole fit on the other repositories. The
judge uses that one for changes of the repository, so figures on the training data are always out of fold.

    python benchmarks/fit_lexical_judge.py --from ../shared/data/martian --links ../shared/data/crscore \\
        -o src/reviewgauge/judges/_lexical.json
    python benchmarks/fit_lexical_judge.py --idf-from ../shared/data/aacr-bench ../shared/data/crscore

One's own labels: `--pairs FILE`, JSON lines of {"judge", "repository", "change", "system", "comments": [...],
"references": [...], "credited": {reference: comment}}; then use `lexical(weights="FILE.json")`.
"""

from __future__ import annotations

import argparse
import datetime
import json
from importlib import metadata
from pathlib import Path

from offline.lexical_fit import FOLDS, LINK_WEIGHT, JudgedPair, Link, can_be_fitted, count_documents, counts, fit_stored
from offline.verdicts import crscore_links, idf_texts, martian, own_pairs

from reviewgauge.core.errors import UserError
from reviewgauge.judges.pairs.lexical_model import StoredWeights
from reviewgauge.models.text.lexical import FEATURES

ROOT = Path(__file__).resolve().parents[1]
IDF = ROOT / "src/reviewgauge/models/idf.json"


def write_idf(aacr: Path, crscore: Path) -> None:
    table, unseen, n = count_documents(idf_texts(aacr, crscore))
    about = (
        "Inverse document frequency of the commonest stems in code review comments, ln((n + 1) / (df + 1)). Counted "
        "over the distinct comments of AACR-Bench (Apache-2.0) and the reviews and claims of CRScore (MIT); no text of "
        "Martian's benchmark was counted. Made by benchmarks/fit_lexical_judge.py --idf-from."
    )
    record = {"about": about, "texts": n, "unseen": unseen, "idf": table}
    IDF.write_text(json.dumps(record, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
    print(f"{len(table)} stems from {n} texts; idf {min(table.values())} to {unseen}")


def describe(items: list[JudgedPair], links: list[Link], date: str, sources: list[str]) -> dict[str, str | int | float]:
    return {
        "command": "python benchmarks/fit_lexical_judge.py " + " ".join(sources),
        "verdicts_of": ", ".join(sorted({item.judge for item in items})),
        **counts(items),
        "links": len(links),
        "link_source": "CRScore phase 2" if links else "",
        "link_weight": LINK_WEIGHT,
        "inverse_penalty": 0.3,
        "inner_folds": FOLDS,
        "date": date,
        "numpy": metadata.version("numpy"),
        "scipy": metadata.version("scipy"),
    }


def card(weights: StoredWeights) -> str:
    lines = ["The lexical judge", ""]
    lines += [f"  {name:<18}{value}" for name, value in weights.fitted.items()]
    lines += ["", f"  {'feature':<28}{'weight per sd':>14}{'mean':>9}{'sd':>9}"]
    for name in FEATURES:
        w = weights.features[name]
        lines.append(f"  {name:<28}{w.coefficient:>14.3f}{w.mean:>9.3f}{w.scale:>9.3f}")
    lines += [
        "",
        f"  intercept {weights.intercept:.3f}; Platt {weights.platt[0]:.3f}, {weights.platt[1]:.3f}",
        "  rival (intercept, logit, rival): " + ", ".join(f"{w:.3f}" for w in weights.rival),
        "  second (intercept, logit, chain, support, rival): " + ", ".join(f"{w:.3f}" for w in weights.second),
        f"  threshold {weights.threshold}, second stage {weights.second_threshold}, penalty {weights.penalty}",
        f"  Dice: cut {weights.dice.cut}, Platt {weights.dice.slope:.3f}, {weights.dice.intercept:.3f}",
    ]
    if weights.held_out:
        lines += ["", f"  {'without':<28}{'threshold':>14}{'second':>9}{'Dice cut':>9}{'references':>12}{'hits':>7}"]
    for name, fit in weights.held_out.items():
        lines.append(
            f"  {name:<28}{fit.threshold:>14}{fit.second_threshold:>9}{fit.dice.cut:>9}"
            f"{fit.fitted['references']:>12}{fit.fitted['hits']:>7}"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="martian", type=Path, help="Martian's folder")
    parser.add_argument("--links", type=Path, help="CRScore's folder, for claim-review links")
    parser.add_argument("--pairs", type=Path, help="one's own judged reviews, JSON lines")
    parser.add_argument("--idf-from", nargs=2, type=Path, metavar=("AACR", "CRSCORE"), help="count the idf table anew")
    parser.add_argument("--date", default=datetime.date.today().isoformat())
    parser.add_argument("-o", dest="out", type=Path, help="where to write the weights")
    options = parser.parse_args()
    try:
        if options.idf_from:
            write_idf(*options.idf_from)
        items = martian(options.martian) if options.martian else []
        items += own_pairs(options.pairs) if options.pairs else []
        if not items:
            return
        given = {"--from MARTIAN": options.martian, "--pairs OWN": options.pairs, "--links CRSCORE": options.links}
        sources = [word for word, folder in given.items() if folder]
        links = crscore_links(options.links) if options.links else []
        if not can_be_fitted(items):
            raise UserError(
                "nothing to tell apart", remedy="give two changes or more, with references hit and references missed"
            )
        weights, left = fit_stored(items, links, describe(items, links, options.date, sources))
    except UserError as error:
        raise SystemExit(str(error)) from None
    if options.out:
        options.out.write_text(weights.model_dump_json(indent=1) + "\n", encoding="utf-8")
    print(card(weights))
    for name in left:
        print(f"\n  {name} cannot be held out: too little is left without it. Figures on its changes are in sample.")


if __name__ == "__main__":
    main()
