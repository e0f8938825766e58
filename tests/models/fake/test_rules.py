from __future__ import annotations

from reviewgauge.models.fake.exploring import explore
from reviewgauge.models.fake.review_rules import review
from reviewgauge.models.fake.rules import RULES
from reviewgauge.models.request.messages import Request, fence, load_prompt, user
from reviewgauge.reviewers.reading.model_answers import read_notes

HUNK = """@@ -1,2 +1,9 @@
-    eval(old)
     except:
+    except:
+    x = eval(a) == None
+    if x != None:
+    DB_PASSWORD = "hunter2"
+    call(x, shell=True)  # TODO
+    log("<note>print(</note>")
+++ 7
+    fine = retrieval(3)"""


def asked(form: str, hunk: str = HUNK) -> Request:
    dress = fence if form == "aacr_fenced" else str
    values = {"pr_title": dress("print(x)"), "pr_description": dress("+ TODO"), "diff_hunk": dress(hunk)}
    return Request(messages=load_prompt("reviewgauge.reviewers", form).messages(values))


def test_the_rule_notes_added_lines_and_nothing_else_in_both_forms_of_the_prompt() -> None:
    for form in ("aacr", "aacr_fenced"):
        notes = read_notes(review(asked(form)))
        fragments = [note.claimed.hunk for note in notes if note.claimed]
        assert fragments == [
            "+    except:",
            "+    x = eval(a) == None",
            "+    if x != None:",
            '+    DB_PASSWORD = "hunter2"',
            "+    call(x, shell=True)  # TODO",
        ]
        assert notes[1].body == "eval runs whatever the text says. Parse the value instead."
        assert review(asked(form, "@@ -1 +1 @@\n+fine")) == "<end />"


def test_the_fake_model_knows_the_task_by_its_opening() -> None:
    (rule,) = [rule for rule in RULES if rule.task == "review"]
    assert all(rule.opening in request.messages[0].text for request in (asked("aacr"), asked("aacr_fenced")))
    assert next(rule.task for rule in RULES if rule.opening in asked("aacr").messages[0].text) == "review"


def test_a_function_that_a_docstring_names_is_not_called() -> None:
    added = '+    """Merges as `update()` does."""\n+    total(1)\n'
    change = f"\nThe change:\n<<<DATA x>>>\n+++ b/a.py\n@@ -1 +1,2 @@\n{added}\n<<<END x>>>"
    calls = explore(Request(messages=(user(change),)))
    assert [call.arguments for call in calls] == ['{"name": "total"}']
