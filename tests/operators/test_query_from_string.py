from __future__ import annotations

import pytest

from planted import changes, clean, code_of, planted
from reviewgauge.operators.query_from_string import QueryFromString

SQL = "SELECT a FROM b WHERE c = "
CASES = [
    ("python", f'db.execute("{SQL}%s", (name,))', f"db.execute(f\"{SQL}'{{name}}'\")"),
    ("python", f'db.execute("{SQL}? AND d = ?", [a.b, c])', f"db.execute(f\"{SQL}'{{a.b}}' AND d = '{{c}}'\")"),
    ("python", f'db.execute("{SQL}%s", name)', None),  # who knows how many these are
    ("python", f'db.execute("{SQL}%s", (name(),))', None),
    ("python", 'shop.execute("order %s", (name,))', None),
    ("python", 'subprocess.run(["git", ref], check=True)', 'subprocess.run(f"git {ref}", shell=True, check=True)'),
    ("python", 'db.execute("SELECT a FROM b LIMIT ?", [count])', None),  # a number
    ("javascript", "db.query('SELECT a FROM b WHERE c = $2 AND d = $1', [c, d]);", None),  # in another order
    ("python", 'subprocess.run(["git", "log"])', None),
    ("python", 'subprocess.run([sys.executable, "-m", ref])', None),
    ("javascript", f"db.query('{SQL}$1', [name]);", f"db.query(`{SQL}'${{name}}'`);"),
    ("tsx", f"await db.query('{SQL}?', [user.id]);", f"await db.query(`{SQL}'${{user.id}}'`);"),
    (
        "go",
        f'import "fmt"\n\nfunc f() {{\n    db.Query("{SQL}?", name)\n    fmt.Println()\n}}',
        f'import "fmt"\n\nfunc f() {{\n    db.Query(fmt.Sprintf("{SQL}\'%v\'", name))\n    fmt.Println()\n}}',
    ),
    ("go", f'func f() {{\n    db.Query("{SQL}?", name)\n}}', None),  # fmt is not imported
]  # fmt: skip


@pytest.mark.parametrize(("language", "before", "after"), CASES)
def test_what_is_built_from_text(language: str, before: str, after: str | None) -> None:
    found = planted(QueryFromString(), code_of(language, before))
    assert [one.after for one in found] == ([clean(after, language)] if after else [])
    assert all("injection: `" in one.body for one in found)


def test_another_list_of_the_same_values_does_no_harm() -> None:
    assert changes(QueryFromString(), *CASES[0][:2], safe=True) == [f'db.execute("{SQL}%s", [name])']
    assert changes(QueryFromString(), *CASES[5][:2], safe=True) == [
        'subprocess.run(["git", ref], shell=False, check=True)'
    ]
