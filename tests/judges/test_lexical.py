from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewgauge.core.errors import BadInput, UserError
from reviewgauge.core.protocols import Judge
from reviewgauge.core.records import Case, Change, ChangedFile, Comment, Origin, Resolution, Review, Span
from reviewgauge.core.results import Verdict
from reviewgauge.core.specs import load
from reviewgauge.judges.lexical import Lexical, finding_names
from reviewgauge.judges.pairs.fixes import added_words, fix_text, with_fix
from reviewgauge.judges.pairs.lexical_model import (
    LexicalModel,
    LexicalWeights,
    StoredWeights,
    load_weights,
    repository_name,
    same_repository,
)
from reviewgauge.metrics.hits import Hits
from reviewgauge.repo.diff.diffs import parse_patch

BODIES = st.one_of(
    st.text(alphabet=st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=60),
    st.lists(st.sampled_from(["null", "user_id", "cache", "not", "12", "getUser", "`x`"]), max_size=8).map(" ".join),
)
GOLDEN = "The cache is written without holding the lock, so two requests race on `entry_table`."
SAID = "Race: `entry_table` of the cache is updated without taking the lock."
OTHER = "Typo in the name of this test."
EMPTY = "Please double check this line"


def table(
    comments: list[str], references: list[str], judge: Judge | None = None, repo: str = "a/b"
) -> list[list[Verdict]]:
    case = Case(id="c", change=Change(repo=repo), references=_comments("r", references))
    review = Review(case="c", system="s", comments=_comments("c", comments))
    rows = (judge or Lexical()).judge(case, review.comments, case.references, review)
    assert all(verdict is not None for row in rows for verdict in row)
    return [[verdict for verdict in row if verdict] for row in rows]


def _comments(prefix: str, bodies: list[str]) -> tuple[Comment, ...]:
    return tuple(Comment(id=f"{prefix}{n}", body=body) for n, body in enumerate(bodies))


def test_it_tells_the_same_finding_from_another() -> None:
    (same, other), (unlike, _) = table([SAID, OTHER], [GOLDEN, "Nothing closes the file handle."])
    assert same.same
    assert same.probability > 0.8
    assert "`entrytable`" in same.reason
    assert not other.same
    assert not unlike.same
    assert unlike.probability < 0.1


@given(st.lists(BODIES, max_size=3), st.lists(BODIES, max_size=3))
def test_any_text_gets_a_probability_and_the_order_does_not_matter(comments: list[str], references: list[str]) -> None:
    rows = table(comments, references)
    assert [len(row) for row in rows] == [len(references)] * len(comments)
    for row in rows:
        for verdict in row:
            assert 0 <= verdict.probability <= 1
            assert verdict.unsure == (0.1 < verdict.probability < 0.9)
            assert verdict.same == (verdict.probability >= Lexical().threshold) or verdict.same is True
    turned = table(comments[::-1], references[::-1])
    for row, mirrored in zip(rows, turned[::-1], strict=True):
        assert [v.probability for v in row] == pytest.approx([v.probability for v in mirrored[::-1]])


@given(BODIES)
def test_the_same_words_are_the_same(body: str) -> None:
    verdict = table(["  " + body + "\n", OTHER], [OTHER, body, GOLDEN])[0][1]
    assert verdict.same
    assert not verdict.unsure


@pytest.mark.parametrize("body", ["", "LGTM", "Nice work!", "👍", "..."])
def test_empty_praise_raises_nothing(body: str) -> None:
    for verdict in table([body], [GOLDEN, "Null dereference of the row.", "Wrong index."])[0]:
        assert verdict.probability < 0.05
        assert not verdict.same


def test_a_better_rival_makes_a_match_less_likely() -> None:
    alone = table([SAID], [GOLDEN])[0][0].probability
    beside = table([SAID], [GOLDEN, "`entry_table` of the cache: race, updated without taking the lock."])[0][0]
    assert beside.probability < alone


def test_two_phrasings_of_one_finding_are_no_rivals() -> None:
    first = Comment(id="a", body=GOLDEN)
    second = Comment(id="b", body="`entry_table` of the cache: race, updated without taking the lock.", same_as="a")
    assert finding_names([first, second]) == ["a", "a"]
    case = Case(id="c", change=Change(repo="a/b"), references=(first, second))
    review = Review(case="c", system="s", comments=_comments("c", [SAID]))
    rows = Lexical().judge(case, review.comments, case.references, review)
    assert rows[0][0] == table([SAID], [GOLDEN])[0][0]


def test_groups_that_point_at_each_other_end() -> None:
    loop = [Comment(id="a", body="x", same_as="b"), Comment(id="b", body="y", same_as="a")]
    assert finding_names(loop) == ["a", "a"]


def refined(said: dict[str, list[str]], references: list[str]) -> dict[str, list[list[Verdict | None]]]:
    case = Case(id="c", change=Change(repo="a/b"), references=_comments("r", references))
    reviews = {s: Review(case="c", system=s, comments=_comments("c", bodies)) for s, bodies in said.items()}
    judge = Lexical()
    tables = {s: judge.judge(case, r.comments, case.references, r) for s, r in reviews.items()}
    return {s: [list(row) for row in rows] for s, rows in judge.refine(case, tables, reviews).items()}


def test_agreement_of_others_makes_a_match_likelier() -> None:
    vague = "The `entry_table` update is not synchronized between requests."
    alone = refined({"one": [vague]}, [GOLDEN, OTHER])["one"][0][0]
    helped = refined({"one": [vague], "two": [vague + " " + SAID], "three": [SAID], "silent": []}, [GOLDEN, OTHER])
    together = helped["one"][0][0]
    assert alone is not None
    assert together is not None
    assert together.probability > alone.probability
    assert helped["silent"] == []


def test_refining_keeps_the_same_words_and_one_system_alone() -> None:
    case_alone = refined({"one": [SAID]}, [GOLDEN])["one"][0][0]
    assert case_alone == table([SAID], [GOLDEN])[0][0]
    kept = refined({"one": [GOLDEN], "two": [OTHER]}, [GOLDEN])["one"][0][0]
    assert kept is not None
    assert kept.same


def test_parameters() -> None:
    assert load(Judge, "lexical(cut=0.9)").threshold == 0.9
    assert load(Judge, "lexical(high=0.95)").sure == 0.95
    assert Lexical().estimate == "offline estimate"
    assert 0 < Lexical().penalty < 1
    assert set(Lexical().pins()) == {"lexical weights"}
    for wrong in ("lexical(low=0.9, high=0.1)", "lexical(cut=2.0)"):
        with pytest.raises(UserError):
            load(Judge, wrong)


def test_own_weights(tmp_path: Path) -> None:
    shipped = load_weights()[0]
    file = tmp_path / "own.json"
    file.write_text(shipped.model_copy(update={"threshold": 0.77}).model_dump_json())
    judge = Lexical(weights=str(file))
    assert judge.threshold == 0.77
    assert judge.pins() != Lexical().pins()
    with pytest.raises(UserError, match="cannot read"):
        _ = Lexical(weights=str(tmp_path / "absent.json")).threshold
    broken = tmp_path / "broken.json"
    broken.write_text(shipped.model_dump_json()[:-20])
    with pytest.raises(BadInput):
        _ = Lexical(weights=str(broken)).threshold
    fewer = json.loads(shipped.model_dump_json())
    del fewer["features"]["word_cosine"]
    broken.write_text(json.dumps(fewer))
    load_weights.cache_clear()
    with pytest.raises(UserError, match="other features"):
        _ = Lexical(weights=str(broken)).threshold


def own_file(tmp_path: Path, **changes: object) -> tuple[str, StoredWeights]:
    """Weights of one's own, and the same with a calibration turned down, fitted as it were without acme/shop."""
    shipped = load_weights()[0]
    fit = LexicalWeights.model_validate(shipped.model_dump(exclude={"held_out", "schema_version"}))
    down = fit.model_copy(update={"platt": (shipped.platt[0], shipped.platt[1] - 4), **changes})
    stored = shipped.model_copy(update={"held_out": {"Acme/Shop": down}})
    file = tmp_path / "own.json"
    file.write_text(stored.model_dump_json())
    return str(file), stored


FORMS = ("acme/shop", "ACME/Shop", "https://github.com/acme/shop", "git@github.com:acme/shop.git", "shop")


@pytest.mark.parametrize("repo", FORMS)
def test_a_repository_of_the_training_data_is_judged_by_the_fit_without_it(tmp_path: Path, repo: str) -> None:
    path, stored = own_file(tmp_path)
    pair = [SAID], [GOLDEN]
    final = table(*pair, Lexical(weights=path))[0][0]
    assert final == table(*pair)[0][0]
    held_out = table(*pair, Lexical(weights=path), repo)[0][0]
    expected = LexicalModel(stored.held_out["Acme/Shop"]).first([[SAID]], [GOLDEN], ["r0"])[0][0]
    assert held_out.probability == pytest.approx(expected, abs=1e-4)
    assert held_out.probability < final.probability - 0.1


def test_other_repositories_are_judged_by_the_final_fit(tmp_path: Path) -> None:
    path, stored = own_file(tmp_path)
    for repo in ("acme/shops", "acme2/shop", "acme/shop/part", "x"):
        assert stored.fold(repo) == ""
        assert stored.without(repo) is stored
        assert table([SAID], [GOLDEN], Lexical(weights=path), repo) == table([SAID], [GOLDEN])


def test_same_goes_by_the_threshold_of_the_fit_that_was_used(tmp_path: Path) -> None:
    path, _ = own_file(tmp_path, platt=load_weights()[0].platt, threshold=0.99, second_threshold=0.98)
    judge = Lexical(weights=path)
    final, held_out = table([SAID], [GOLDEN], judge)[0][0], table([SAID], [GOLDEN], judge, "acme/shop")[0][0]
    assert (final.probability, final.same, held_out.same) == (held_out.probability, True, False)
    assert judge.threshold == load_weights()[0].threshold
    assert table([SAID], [GOLDEN], Lexical(weights=path, cut=0.5), "acme/shop")[0][0].same  # one's own cut goes first


def test_the_second_stage_is_held_out_too(tmp_path: Path) -> None:
    path, _ = own_file(tmp_path, platt=load_weights()[0].platt, second=(-9.0, 0.0, 0.0, 0.0, 0.0))
    for repo, low in (("a/b", False), ("acme/shop", True)):
        case = Case(id="c", change=Change(repo=repo), references=_comments("r", [GOLDEN]))
        reviews = {s: Review(case="c", system=s, comments=_comments("c", [SAID])) for s in ("one", "two")}
        judge = Lexical(weights=path)
        tables = {s: judge.judge(case, r.comments, case.references, r) for s, r in reviews.items()}
        verdict = judge.refine(case, tables, reviews)["one"][0][0]
        assert verdict is not None
        assert (verdict.probability < 0.01) is low
        assert verdict.same is not low


def test_the_shipped_file_stays_small_and_holds_no_repository_in_its_own_fit() -> None:
    stored = load_weights()[0]
    assert len(stored.model_dump_json()) < 20_000
    assert set(stored.held_out) == {"calcom/cal.com", "getsentry/sentry", "grafana/grafana"}
    for name, fit in stored.held_out.items():
        assert name not in str(fit.fitted["repositories"]).split(", ")
        assert len(str(fit.fitted["repositories"]).split(", ")) == 2


NAMES = st.from_regex(r"[a-z0-9][a-z0-9-]{0,8}/[a-z0-9][a-z0-9.-]{0,8}[a-z0-9]", fullmatch=True).filter(
    lambda name: not name.endswith((".git", "-git"))
)


@given(NAMES)
def test_the_usual_forms_of_a_name_are_one(name: str) -> None:
    short = ("{}", " {}/", "{}.git", "github.com/{}", "git@github.com:{}.git", "ssh://git@h.x:22/{}.git")
    pages = (
        "https://github.com/{}", "http://h.x:80/{}.git", "https://github.com/{}/pull/7", "https://h.x/{}/-/tree/main",
    )  # fmt: skip
    forms = (*short, *pages)
    assert {repository_name(form.format(name)) for form in forms} == {name}
    assert repository_name(name.upper()) == name
    assert same_repository(name, name.split("/")[1])
    assert not same_repository(name, "z" + name)


FIXED = Comment(
    id="fix",
    body="Fixed cookies",
    origin=Origin.FIX,
    resolution=Resolution(diff="@@ -1 +1 @@\n-jar.update(cookies)\n+jar.clear_expired_cookies(now)"),
)


def fixed_by(body: str, reference: Comment = FIXED) -> float:
    case = Case(id="c", change=Change(repo="shop"), references=(reference,))
    said = Comment(id="a", body=body)
    review = Review(case="c", system="s", comments=(said,))
    verdict = Lexical().judge(case, [said], [reference], review)[0][0]
    assert verdict is not None
    return verdict.probability


def test_a_fix_is_recognised_by_the_words_that_it_brought() -> None:
    expert = "update only ever adds: cookies that expired stay in the jar, so call clear_expired_cookies"
    assert fixed_by(expert) > 0.5
    assert fixed_by(expert) > fixed_by(expert, FIXED.model_copy(update={"resolution": None}))
    assert fixed_by("jar.update(cookies) is hard to read") < fixed_by(expert)
    assert fixed_by("Please check the cookies") <= 0.4, "one shared word says little"
    assert fixed_by("Fixed cookies") > 0.99


def test_what_the_change_holds_is_no_evidence() -> None:
    patch = "@@ -1 +1,2 @@\n pass\n+jar.update(expired)\n" + "@@ -90 +91,2 @@\n pass\n+session.redirect(url)\n"
    file = ChangedFile(path="shop/cookies.py", patch=patch)
    change = Change(repo="shop", title="Keep cookies of a session", description="On each redirect.", files=(file,))
    told = "Fix cookies of a session after a redirect: the jar kept expired ones"
    fix = FIXED.model_copy(update={"body": told})

    def judged(body: str, line: int | None = None, at: int = 3) -> float:
        said = Comment(id="a", body=body, span=line and Span(path=file.path, start=line))
        known = fix.model_copy(update={"span": Span(path=file.path, start=at)})
        case = Case(id="c", change=change, references=(known,))
        verdict = Lexical().judge(case, [said], [known], Review(case="c", system="s", comments=(said,)))[0][0]
        assert verdict is not None
        return verdict.probability

    template = "fix(cookies): fixed Keep cookies of a session: jar update expired session redirect url"
    expert = "Nothing ever goes away: expired ones should be cleared from the jar now, else they stay for good"
    assert fixed_by(template, fix) > 0.9, "the words are those of the fix"
    assert judged(template) == judged(template, 2) == judged("Please look again."), "but the change holds them all"
    assert judged(expert, 2) > 0.5 > judged(expert, 91), "a comment may name what stands on its lines, nothing else"
    assert judged(expert, 2) > 0.5 > judged(expert, 2, at=91), "and only for a finding that stands there"


def test_models_read_the_fix_and_of_other_references_the_text_alone() -> None:
    assert "+jar.clear_expired_cookies(now)" in with_fix(FIXED) and "A later fix" in with_fix(FIXED)
    assert with_fix(FIXED.model_copy(update={"origin": Origin.REVIEW})) == "Fixed cookies"
    fix = fix_text(FIXED)
    assert fix is not None and (fix.said, fix.brought) == ("Fixed cookies", "clear_expired_cookies now")
    assert fix_text(Comment(id="r", body="x")) is None


def test_code_that_a_comment_quotes_is_not_its_own_words() -> None:
    long = Resolution(diff=" a = first(second, third)\n-return fourth + fifth - sixth + seventh\n+return 1")
    other = FIXED.model_copy(update={"resolution": long})

    def own(body: str, fix: Comment = FIXED, patch: str | None = None) -> list[str]:
        change = Change(repo="shop", files=(ChangedFile(path="shop/jar.py", patch=patch),) if patch else ())
        return added_words(Comment(id="a", body=body, span=Span(path="shop/jar.py", start=1)), fix, change).split()

    assert own("`JAR.update( cookies )` looks odd") == ["`", ".", "(", ")`", "looks", "odd"]
    assert own("update the jar of cookies") == ["update", "the", "jar", "of", "cookies"]
    assert own("the fifth - sixth + seventh", other) == ["the", "fifth", "-", "sixth", "+", "seventh"]
    assert own("fourth + fifth - sixth + seventh, is it?", other) == ["+", "-", "+", ",", "is", "it?"]
    assert own("a first second third time", other) == ["time"]
    placed = other.model_copy(update={"span": Span(path="shop/jar.py", start=1)})
    said = own("`pack(jar, into, box)` is hard to read: why box", placed, "@@ -0,0 +1 @@\n+pack(jar, into, box)")
    assert said[-6:] == ["is", "hard", "to", "read:", "why", "box"], "what it does not quote it may name"
    assert fixed_by("`jar.update(cookies)` may be wrong") < fixed_by("cookies are updated in the wrong way") + 0.4


@pytest.mark.parametrize(("body", "suggestion", "least", "most"), [
    ("Please double check this line", None, 0, 0.01),
    ("This line may return an error: handle the value", None, 0, 0.01),
    ("Rather:", "    jar.clear_expired_cookies(now, keep=limit)", 0.9, 1),
    ("Use `jar.clear_expired_cookies(now, keep=limit)`", None, 0.9, 1),
    ("Rather:", "    jar.update(cookies, keep=limit)", 0, 0.5),
    ("Rather:", "    return limit", 0, 0.5),
])  # fmt: skip
def test_proposed_code_is_compared_with_what_the_fix_put_in_and_common_words_say_nothing(
    body: str, suggestion: str | None, least: float, most: float
) -> None:
    new = "-return update(cookies, keep=limit)\n+check_line(jar.clear_expired_cookies(now, keep=limit))\n+return limit"
    fix = FIXED.model_copy(update={"body": "Fix the error of a value", "resolution": Resolution(diff=new)})
    change = Change(
        repo="shop", files=(ChangedFile(path="a.py", patch="@@ -0,0 +1 @@\n+jar.update(cookies, keep=limit)"),)
    )
    said = Comment(id="a", body=body, suggestion=suggestion)
    review = Review(case="c", system="s", comments=(said,))
    ((verdict,),) = Lexical().judge(Case(id="c", change=change, references=(fix,)), [said], [fix], review)
    assert verdict is not None and least <= verdict.probability <= most


@pytest.mark.parametrize(
    ("says", "most"),
    [(EMPTY, 0.05), (f"{EMPTY}: `{{}}`", 0.15), ("`{}`", 0.15), ("`{}` is hard to read, rename it", 0.15)],
)
def test_the_headline_pays_no_empty_comment_on_a_labelled_line(demo: tuple[Path, str], says: str, most: float) -> None:
    """On the labels of the sample's history, empty words had .23 of a finding, and the quoted line .30."""
    earned = []
    for line in (demo[0] / "runs/demo/bench/cases.jsonl").read_text(encoding="utf-8").splitlines():
        case = Case.model_validate_json(line)
        lines = {(f.path, at): text for f in case.change.files for at, text in _new_lines(f.patch or "")}
        spans = {one.id: one.span for one in case.references if one.span is not None and one.span.start is not None}
        bodies = {name: says.format(lines.get((span.path, span.start), "")) for name, span in spans.items()}
        comments = tuple(Comment(id=name, body=bodies[name], span=span) for name, span in spans.items())
        found = Hits().parts(case, Review(case=case.id, system="s", comments=comments))
        assert not isinstance(found, str)
        earned += [group.probability or 0.0 for group in found.matching.groups] if found.matching else []
    assert len(earned) > 10 and sum(earned) / len(earned) < most


def _new_lines(patch: str) -> Iterator[tuple[int | None, str]]:
    return ((line.new, line.text.strip()) for hunk in parse_patch(patch) for line in hunk.lines)
