"""Count how rare n-grams are in texts of your own, for `tfidf(idf="FILE.json")`; or make the shipped table anew.

    python benchmarks/count_idf.py comments.jsonl --field body -o my_idf.json
    python benchmarks/count_idf.py --aacr ../shared/data/aacr-bench -o src/reviewgauge/models/idf_chars.json

A text file is read line by line, one text a line; of JSON lines the named field is read.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.parsing import lines, parse_json
from reviewgauge.datasets.aacr_bench import AacrBench
from reviewgauge.models.text.idf import Grams, IdfFile

SHIPPED = (
    "Inverse document frequency of the commonest character n-grams within words in code review comments, "
    "ln((n + 1) / (df + 1)). Counted over the distinct comments of AACR-Bench (Apache-2.0); no text of GradedReviews, "
    "CRScore or Martian's benchmark was counted. Made by benchmarks/count_idf.py --aacr."
)


def aacr(folder: Path) -> Iterator[str]:
    for case in AacrBench(path=str(folder)).cases():
        yield from (comment.body for comment in (*case.references, *case.rejected))


def read(path: Path, field: str) -> Iterator[str]:
    with path.open("rb") as stream:
        for number, line in lines(stream, str(path)):
            if path.suffix != ".jsonl":
                yield line.decode("utf-8", "replace").strip()
                continue
            record = parse_json(line, f"{path}, line {number}")
            text = record.get(field) if isinstance(record, dict) else None
            if not isinstance(text, str):
                raise BadInput(str(path), "is not a text", record=number, field=field, remedy="name it with --field")
            yield text


def count_idf(texts: Iterable[str], grams: Grams, *, most: int, about: str) -> IdfFile:
    """A table of the `most` commonest n-grams of `texts`, for a file. A text that occurs twice counts once.

    The value of all others is that of an n-gram half as common as the rarest that is kept.
    """
    distinct = {text for text in texts if text.strip()}
    if not distinct:
        raise UserError("no text to count n-grams in")
    found = Counter(gram for text in distinct for gram in set(grams.strings(text)))
    kept = sorted(found.items(), key=lambda item: (-item[1], item[0]))[:most]
    rarest = kept[-1][1] if len(found) > most else 0
    total = len(distinct) + 1
    return IdfFile(
        about=about,
        texts=len(distinct),
        unseen=round(math.log(total / (rarest / 2 + 1)), 2),
        analyzer=grams.analyzer,
        low=grams.low,
        high=grams.high,
        stem=grams.stem,
        stop_words=grams.stop_words,
        idf={gram: round(math.log(total / (count + 1)), 2) for gram, count in sorted(kept)},
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="*", type=Path, help="text files, or JSON lines")
    parser.add_argument("--field", default="body", help="the field of JSON lines that holds the text")
    parser.add_argument("--aacr", type=Path, metavar="FOLDER", help="count the comments of AACR-Bench")
    parser.add_argument("--analyzer", choices=("chars", "words"), default="chars")
    parser.add_argument("--lengths", nargs=2, type=int, metavar=("LOW", "HIGH"), help="3 5 for chars, 1 1 for words")
    parser.add_argument("--most", type=int, default=5000, help="n-grams that the table holds; the others are rare")
    parser.add_argument("-o", dest="out", type=Path, required=True)
    options = parser.parse_args()
    low, high = options.lengths or ((3, 5) if options.analyzer == "chars" else (1, 1))
    try:
        texts = [text for path in options.texts for text in read(path, options.field)]
        texts += aacr(options.aacr) if options.aacr else ()
        about = SHIPPED if options.aacr else f"Counted over {', '.join(path.name for path in options.texts)}."
        table = count_idf(texts, Grams(options.analyzer, low, high), most=options.most, about=about)
    except (UserError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    record = json.loads(table.model_dump_json())
    options.out.write_text(json.dumps(record, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
    print(f"{len(table.idf)} n-grams from {table.texts} texts; idf {min(table.idf.values())} to {table.unseen}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
