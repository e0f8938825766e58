"""How likely a label holds: the shipped weights are those of the table, and each sign says what it should."""

from datetime import UTC, datetime

import labels
import pytest

from reviewgauge.core.records import ChangedFile
from reviewgauge.repo.szz.trace import Inducing
from reviewgauge.stages.from_git import FromGit
from reviewgauge.stages.history.labels import INTERCEPT, WEIGHTS, LabelledPlace, label_features, probability


def test_the_shipped_weights_are_fitted_to_the_table() -> None:
    intercept, weights = labels.unscaled(labels.fit(labels.table()))
    assert (intercept, *weights) == pytest.approx((INTERCEPT, *WEIGHTS), abs=0.002)


def test_likely_labels_hold_on_repositories_that_the_model_was_not_fitted_on() -> None:
    # Reading 6 is of five other languages, where the probability ranks little: docs/guides/build.md says how many hold.
    rows = [row for row in labels.table() if row["reading"] != "6"]
    likely, right = labels.out_of_fold(rows) >= FromGit.certainty, labels.holds(rows)
    assert right[likely].mean() > 0.8 and right[~likely].mean() < 0.6


def test_each_sign_says_what_it_should() -> None:
    head = "def fee(box):\n    if box.kind == 3 and box.open:\n        return tax(box) * 7\n    return 0\n"
    fix = _diff("-        return tax(box) * 7", "+        return tax(box) * 8", 3)
    new = _diff("", "+" + head.rstrip().replace("\n", "\n+"), 1)
    renamed = _diff("-        return tax(item) * 7", "+        return tax(box) * 7", 3)
    written = _probability(head, head, new, fix)
    assert written > _probability(head, head, renamed, fix), "the same words had stood there before"
    broken = head.replace("box.kind == 3 and box.open", "box.sealed").replace("return 0", "return None")
    assert written > _probability(head, broken, new, fix), "another change wrote the code around anew"
    large = _diff("-        return tax(box) * 7", "+        return tax(box) * 8" + "\n+        pass" * 20, 3)
    assert written > _probability(head, head, new, large), "a large fix does more than mend"
    assert written < _probability(head, head, new, fix, "Fix the fee when a box is open"), "says when it goes wrong"
    assert written > _probability(head, head, new, fix, "Fix support of open boxes"), "nobody had promised that"


def _probability(head: str, fixed: str, change: ChangedFile, fix: ChangedFile, title: str = "Fix the fee") -> float:
    line = Inducing(
        commit="a" * 40, path="fee.py", line=3, text="return tax(box) * 7", fix="b" * 40, fix_path="fee.py", fix_line=3,
        reason="modified by the fix", when=datetime(2024, 1, 1, tzinfo=UTC),
    )  # fmt: skip
    return probability(label_features([change], [fix], title, [LabelledPlace(3, head, fixed, line)]))


def _diff(old: str, new: str, at: int) -> ChangedFile:
    lines = [line for line in (*old.split("\n"), *new.split("\n")) if line]
    counts = [sum(line[0] == sign for line in lines) for sign in "-+"]
    header = f"@@ -{at if counts[0] else 0},{counts[0]} +{at},{counts[1]} @@"
    return ChangedFile(path="fee.py", patch="\n".join([header, *lines]))
