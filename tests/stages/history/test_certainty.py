"""How likely a label holds: the shipped weights are those of the table, and each sign says what it should."""

import labels
import pytest

from reviewgauge.core.records import ChangedFile
from reviewgauge.stages.from_git import FromGit
from reviewgauge.stages.history.labels import INTERCEPT, WEIGHTS, LabelledPlace, label_features, probability


def test_the_shipped_weights_are_fitted_to_the_table() -> None:
    intercept, weights = labels.unscaled(labels.fit(labels.table()))
    assert (intercept, *weights) == pytest.approx((INTERCEPT, *WEIGHTS), abs=0.002)


def test_likely_labels_hold_on_repositories_that_the_model_was_not_fitted_on() -> None:
    rows = [row for row in labels.table() if not row["refused"] and row["reading"] in labels.FITTED]
    likely, right = labels.out_of_fold(rows) >= FromGit.certainty, labels.holds(rows)
    assert right[likely].mean() > 0.78 and right[~likely].mean() < 0.55


def test_each_sign_says_what_it_should() -> None:
    head = "def fee(box):\n    if box.kind == 3 and box.open:\n        return tax(box) * 7\n    return 0\n"
    fix = _diff("-        return tax(box) * 7", "+        return tax(box) * 8", 3)
    usual = _probability(head, head, fix)
    broken = head.replace("box.kind == 3 and box.open", "box.sealed").replace("return 0", "return None")
    assert usual > _probability(head, broken, fix), "another change wrote the code around anew"
    large = _diff("-        return tax(box) * 7", "+        return tax(box) * 8" + "\n+        pass" * 20, 3)
    assert usual > _probability(head, head, large), "a large fix does more than mend"
    assert usual > _probability(head, head, fix, others=2), "a fix of what several changes brought mends none of them"
    assert usual > _probability(head, head, fix, days=900), "much else came in between"
    test = ChangedFile(path="tests/test_fee.py", patch="@@ -1,0 +2,1 @@\n+    assert fee(box) == 8")
    assert usual < _probability(head, head, fix, test), "it has a test that shows the defect"


def _probability(head: str, fixed: str, *fix: ChangedFile, others: int = 0, days: float = 3) -> float:
    return probability(label_features(fix, [LabelledPlace(3, head, fixed)], others, days))


def _diff(old: str, new: str, at: int) -> ChangedFile:
    lines = [line for line in (*old.split("\n"), *new.split("\n")) if line]
    counts = [sum(line[0] == sign for line in lines) for sign in "-+"]
    header = f"@@ -{at if counts[0] else 0},{counts[0]} +{at},{counts[1]} @@"
    return ChangedFile(path="fee.py", patch="\n".join([header, *lines]))
