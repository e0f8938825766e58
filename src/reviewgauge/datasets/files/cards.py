"""The cards of the public data sets: origin, version, licence, counts, checksums.

Checksums and sizes are those of the official files at the named commit; a commit is itself the checksum of its files.
"""

from __future__ import annotations

from reviewgauge.core.protocols import Card, Origin, Tree

_MARTIAN_COMMIT = "012d68202e56280855b85abb956410086008a7b2"
_OPUS = "results/anthropic_claude-opus-4-5-20251101"
_SONNET = "results/anthropic_claude-sonnet-4-5-20250929"
_GPT = "results/openai_gpt-5.2"
_MARTIAN_FILES = (
    ("LICENSE", 1_082, "3d0f7aacf358c3578c1e541bdd297b675d76805e6bf3dddaf89b6d2b45e3afad"),
    ("golden_comments/cal_dot_com.json", 10_994, "a1361509202cdaea0842838cd03253b82345c85fde320480ef874084ab2af470"),
    ("golden_comments/discourse.json", 10_671, "e18c62708f72066e5dc99eba05caf61572b73f93bdfa4c14374e56b44a1265a5"),
    ("golden_comments/grafana.json", 8_059, "15055ffefa1714d60cd18aab46612497087240ae99f93170e91b226696bc8182"),
    ("golden_comments/keycloak.json", 9_050, "a77fe83c5efbe50555d18083e58a65130882a293070c7fb79d1734223d6dcdc7"),
    ("golden_comments/sentry.json", 9_124, "d69844d950fac34f63fee221276074238c60e19344803ecd1375e52c4fef5b36"),
    (f"{_OPUS}/candidates.json", 548_070, "119cb6f50ce55d710ede3721b0e319d64090e91571d219a096c2a767187994d1"),
    (f"{_OPUS}/evaluations.json", 1_528_681, "d873952ca4086f071e183cb3eff80a67fa81226dc42305176284a6da31305870"),
    (f"{_SONNET}/candidates.json", 521_119, "82864094d04be42c65ccd2b6f44c0e13cce7a2e4fceb14c5b339d256e9747149"),
    (f"{_SONNET}/evaluations.json", 1_522_884, "7ac2f67c43cce0193a77b0899648fc6a54425409e8dc623c4d6c2254934c9357"),
    (f"{_GPT}/candidates.json", 582_467, "43bcb586d955005661c9d6d95fcf4a25ed3080d2b2d2228abd2cece9e5b83a79"),
    (f"{_GPT}/evaluations.json", 1_447_600, "1900d0dee35fb7dc854f1d258c08cf07568f30a4c71817688d810c8f506558b0"),
)
_AACR_COMMIT = "540dd9bdcc4de89427e156f8a47253a69fd18cb1"
_AACR_FILES = (
    ("LICENSE", 11_357, "c71d239df91726fc519c6eb72d318ec65820627232b2f796219e87dcf35d0ab4"),
    ("positive_samples.json", 1_100_995, "d8683cb240249bc4e0aff6428802bdffa7b7573ace600552cab1cd0cb7e905c9"),
    ("negative_samples.json", 496_162, "c0601008ec5f444317143b0ee59d7f99a0bc2b45735710d25c2f1a305ee519d0"),
)

_GRADED_COMMIT = "5767f094694c61df14d057d8b025aa7f147af6ea"
_GRADED_FILES = (("dataset.xlsx", 633_739, "82c688a1276307cb6478f26a52c544acd941ab29881eb5e3c9ac0d419a68cb9e"),)

_REVIEW_BENCH_COMMIT = "6ff0673df63afc62cb981287532431b4fd6ca005"

_CRSCORE_COMMIT = "a5c843fafa79c1dd11cbcaf572c9ccc3bfce8ee8"
_CRSCORE_TABLES = """
0cb985769e4f98cfadaef6e9fa3c9c23509815645d2f3153a9f1665d179ecc1d 112074 phase1/py_claim_acc_annot_marcus
9f59f334a4e411b421d2b1d8dbbc330dd7e3127f8cbcd3ffb0556ba8b4dfe22c 112524 phase1/py_claim_acc_annot_atharva
1400e27eca0541cb439e60fcb0fa1c313a77c613dcd7313692c59f32b15b3198 119832 phase1/java_claim_acc_annot_marcus
cd4bca9224900a5f107a17158382e2d68c14b538f07ab6a611c8e1a5642cd5dc 121100 phase1/java_claim_acc_annot_atharva
6ef09305dd157d83fef7c96ef92a5b7c18649edc0bc07f928968a668477190f5 114678 phase1/js_claim_acc_annot_marcus
e3734f836f12d9ebea189aa0e680c5358d26f3f0709f1eb7432a909da78760e1 112686 phase1/js_claim_acc_annot_atharva
4371ef19a6a41c942228db93566fea5c4cbfa1e5d210dd7f7a86cc9c1def0567 280868 phase2/py_marcus_review_qual_final
7671b24b0b4f944c47e9070bf5ccea44fcf747b715b3b82d203a7781696439bc 281139 phase2/py_atharva_review_qual_final
295ee958b0c4f7465ac8df15cd4d8ab7a3c11a62ff44dd12fbe83e16d6a3161c 285103 phase2/java_marcus_review_qual_final
e31df94579ba9ad38b676cd40ecf03effde267e8bef3aa2fcf47b15e72bffdfb 285436 phase2/java_atharva_review_qual_final
5ae86b03649624cd052113df8d89a7a868c2e8ce641cf4b5cee0cb77ac0f572b 301304 phase2/js_marcus_review_qual_final
c12c55e8d10fcdf5638daecb6be2cc77f8969dfb8507017a62e918203306edb4 301393 phase2/js_atharva_review_qual_final
dd51c1e01b71d755d609b949043b14f8baf57f2e7971b1af41f2c765f4d82ff3 266776 phase2/phase2_agreement_annot_last100_Marcus
a7fd8bb909489be822c8d8627d971be06cb432c980913fe00fbaeabca6d62131 266821 phase2/phase2_agreement_annot_last100_Atharva
"""  # checksum, bytes and name of each CSV file
_CRSCORE_FILES = (
    ("LICENSE", 1_069, "04f4b15b04cacc530ae0caebfb8a2cc2cbd57650f569d902790df5a740a816b8"),
    *(
        (f"{name}.csv", int(size), checksum)
        for checksum, size, name in map(str.split, _CRSCORE_TABLES.strip().splitlines())
    ),
)


def _origins(slug: str, commit: str, prefix: str, files: tuple[tuple[str, int, str], ...]) -> tuple[Origin, ...]:
    root = f"https://raw.githubusercontent.com/{slug}/{commit}"
    return tuple(
        Origin(name=name, url=f"{root}/{name if name == 'LICENSE' else prefix + name}", sha256=sha256, size=size)
        for name, size, sha256 in files
    )


MARTIAN = Card(
    title="Martian Code Review Bench, offline part",
    summary="Golden comments of real pull requests; for each of three model judges the candidate comments that it "
    "extracted from the posted reviews of twelve tools, and its verdicts.",
    origin="https://github.com/withmartian/code-review-benchmark",
    version=f"commit {_MARTIAN_COMMIT[:12]} (5 March 2026)",
    licence="MIT",
    may="use, change and pass on, also commercially, with the copyright notice; the reviewed projects keep their own "
    "licences",
    citation="Martian, Code Review Bench, 2026",
    languages=(),
    files=_origins("withmartian/code-review-benchmark", _MARTIAN_COMMIT, "offline/", _MARTIAN_FILES),
    expected={"changes": 50, "references": 137, "repositories": 5, "tools": 12, "judges": 3},
    traps=(
        "No diffs and no line numbers: nothing can be matched by place, and no reviewer that reads code can be run.",
        "Each judge extracted its own candidates: compare verdicts per change, tool and golden comment.",
        "A tool's stored tp counts golden comments and its fp counts candidates: tp + fp is not the number of "
        "candidates in 40 to 52 of the 600 reviews of a judge, and the stored precision passes 1 in some.",
        "Verdicts exist for the best candidate per golden comment only: the others are unknown, not negative.",
        "Of the 600 reviews of a judge 61 have no extracted candidates: 40 are empty, in 21 the posted comments "
        "themselves were judged.",
        "Many addresses are forks made for one tool's trial; the golden file's name tells the real project.",
    ),
)

AACR_BENCH = Card(
    title="AACR-Bench",
    summary="Review comments on 200 pull requests of 50 projects in ten languages, written by people and models and "
    "verified by people, with 640 comments known to be wrong.",
    origin="https://github.com/alibaba/aacr-bench",
    version=f"commit {_AACR_COMMIT[:12]} (29 January 2026)",
    licence="Apache-2.0",
    may="use, change and pass on, also commercially, with licence and notices; the reviewed projects keep their own "
    "licences",
    citation="Zhang et al., AACR-Bench: Evaluating Automatic Code Review with Holistic Repository-Level Context, "
    "arXiv:2601.19494, 2026",
    languages=("C", "C#", "C++", "Go", "Java", "JavaScript", "PHP", "Python", "Rust", "TypeScript"),
    files=_origins("alibaba/aacr-bench", _AACR_COMMIT, "dataset/", _AACR_FILES),
    expected={"changes": 200, "references": 1505, "rejected": 640, "repositories": 50, "languages": 10},
    traps=(
        "The files hold neither diffs nor titles nor descriptions: get the commits with --with-code.",
        "source_commit is the base and target_commit the head; the change is source...target, from the merge base "
        "on (two dots would add what happened on the main branch meanwhile).",
        "196 changes have right comments and 155 wrong ones; the 200 are the union of both files.",
        "Comments have no id in the files: ids here are made from their content.",
        "One comment's range is reversed (1153 to 1144); it is put right, and noted.",
        "change_line_count is the project's own count and differs from what git counts between the commits.",
    ),
)

REVIEW_BENCH = Card(
    title="ReviewBench",
    summary="What people, models and tools found in 219 pull requests of 187 repositories, right and wrong findings, "
    "each with severity, category, scope, difficulty and the context it takes; labelled by a model, audited by people.",
    origin="https://github.com/review-bench/ReviewBench",
    version=f"commit {_REVIEW_BENCH_COMMIT[:12]}",
    licence="MIT",
    may="use, change and pass on, also commercially, with the copyright notice; the reviewed projects keep their own "
    "licences",
    citation="ReviewBench, 2026",
    tree=Tree(
        url="https://github.com/review-bench/ReviewBench.git",
        commit=_REVIEW_BENCH_COMMIT,
        paths=("LICENSE", "golden", "corpus/manifest.json", "corpus/test/findings.json"),
    ),
    code_at="review-bench/{owner}_{name}",
    expected={
        "changes": 219,
        "repositories": 187,
        "changes of the test set": 25,
        "references of the test set": 352,
    },
    traps=(
        "Most findings were written by models, and a model gave every first label: look at the findings by producer, "
        "and score a model without those of its own family (exclude_producers).",
        "The golden set is what its producers found: what none of them found counts as wrong, or as nothing.",
        "A change without a right finding is not known to be clean.",
        "The golden set changes: its README counts 360 right findings of the test set in an older version, 352 here.",
        "The files hold no diffs: get the commits with --with-code. The change is base...head, from the merge base on.",
        "The pull requests, their comments and the findings are public: a model may know them.",
    ),
)

GRADED_REVIEWS = Card(
    title="GradedReviews",
    summary="1,291 Java methods with a reviewer's comment each, what four tools wrote in its place, and a grade from 1 "
    "to 5 for each of the 5,164 generated comments, agreed on by three people.",
    origin="https://github.com/openPaperLink/Assessment-of-Code-Review-Generation",
    version=f"commit {_GRADED_COMMIT[:12]} (5 December 2024)",
    licence="none stated",
    may="no licence is stated, so all rights are the authors': read it and publish figures about it, but do not pass "
    "it on without asking them",
    citation="Jiang et al., Deep Assessment of Code Review Generation Approaches: Beyond Lexical Similarity, "
    "arXiv:2501.05176, 2025",
    languages=("Java",),
    files=_origins("openPaperLink/Assessment-of-Code-Review-Generation", _GRADED_COMMIT, "DataSet/", _GRADED_FILES),
    expected={
        "changes": 1291,
        "references": 1291,
        "tools": 4,
        "reviews": 5164,
        "grade 1": 4690,
        "grade 2": 323,
        "grade 3": 64,
        "grade 4": 48,
        "grade 5": 39,
        "grade 1, Auger": 1246,
        "grade 1, LLaMA-Reviewer": 1127,
        "grade 1, Tufano's": 1095,
        "grade 1, commentFinder": 1222,
        "grade 5, LLaMA-Reviewer": 4,
        "grade 5, Tufano's": 29,
        "grade 5, commentFinder": 6,
    },
    traps=(
        "90.8% of the grades are 1: always say what the majority class alone would score.",
        "Grade 5 means identical. 35 of the 39 are equal to their reference to the character, the other four but for "
        "a space or a full stop, and no other review is: lexical metrics are right about them by definition. Look at "
        "grade < 5 too.",
        "The paper counts 88 reviews of grade 4 or 5; the published file has 87.",
        "The grades say how close a comment is to its reference. The code was not looked at, so a right comment about "
        "something else has grade 1.",
        "One consensus grade a review: the three votes, and the batches that they were given in, are not published, "
        "so the paper's Fleiss' kappa cannot be recomputed.",
        "One cell is the spreadsheet error #VALUE!, one is the number 7: both are graded rows and are kept as texts.",
        "Four pairs of rows (312 and 1067, 452 and 919, 686 and 1172, 771 and 1000) have the same method and the same "
        "reference: keep them in one fold.",
        "The tools repeat themselves: LLaMA-Reviewer wrote 836 different comments for 1,291 methods, one of them 175 "
        "times.",
        "The IDs run from 1 to 1,291. The paper says that they are those of the test set of Tufano et al.; they are "
        "not.",
        "The code is one method on one line; neither its project, nor its file, nor what the change did is known.",
    ),
)

CRSCORE_STUDY = Card(
    title="The human study of CRScore",
    summary="300 diffs in three languages with ten reviews each, nine by systems and one by a person: two people rated "
    "them for conciseness, comprehensiveness and relevance, said which claims and issues each review addresses, and "
    "which of the generated claims are correct.",
    origin="https://github.com/atharva-naik/CRScore",
    version=f"commit {_CRSCORE_COMMIT[:12]} (26 February 2025), folder human_study",
    licence="MIT",
    may="use, change and pass on, also commercially, with the copyright notice; the diffs come from projects with "
    "licences of their own",
    citation="Naik et al., CRScore: Grounding Automated Evaluation of Code Review Comments in Code Claims and Smells, "
    "arXiv:2409.19801, 2025",
    languages=("Python", "Java", "JavaScript"),
    files=_origins("atharva-naik/CRScore", _CRSCORE_COMMIT, "human_study/", _CRSCORE_FILES),
    expected={
        "changes": 300,
        "languages": 3,
        "references": 300,
        "claims": 1228,
        "systems": 10,
        "reviews": 3000,
        "rated reviews": 2909,
        "rated reviews without msg": 2619,
        "coded claims": 1466,
        "links": 2169,
        "reviews rated twice": 190,
    },
    traps=(
        "One rater a review: rows up to 499 (JavaScript 503) of phase 2 are Marcus's, later ones Atharva's. Only the "
        "190 reviews of the reliability test were rated twice, all of them Python and Atharva's in the study.",
        "The published alphas are those of rows 800 to 899 of the reliability test, one of its two batches; on all 190 "
        "reviews they are .06 to .07 lower.",
        "msg is the person's comment and the reference: leave it out of correlations and rankings.",
        "A claim has nothing to do with the review in its row, and links count places in the list of claims, from 1.",
        "The raters saw the correct claims, those that they had added and the analysers' issues. What CRScore uses is "
        'what the model wrote, right or wrong: claims="generated".',
        "Claims coded -2 (incomplete), 226 in all, are neither in Table 1 nor in the raters' list. The paper's "
        "codebook has a code 2 (ambiguous) in its place.",
        "31 claims and 38 issues were marked as unnecessary and still stand in the list; four links go to them.",
        "Nine changes were not rated at all: 98 / 98 / 95 were. The paper speaks of mislabelled languages and of "
        "99 / 98 / 96.",
        "All 139 blank reviews are CodeLLaMA's; where they are rated, they are rated 1, 1, 1.",
        "java-5289: the rater took three claims out of the list, and the issues moved up into rows typed as claims.",
        "The reliability test shows older lists of claims in 7 of its 20 changes, and the reviews in another order.",
        "Both raters' files hold codes for 115 Python and 16 Java claims of phase 1: an independent second label, not "
        "a second claim.",
    ),
)

CODE_REVIEWER = Card(
    title="CodeReviewer",
    summary="Hunks of pull requests in nine languages: whether each drew a comment, the comment, and the code that "
    "answered it, split into training, validation and test sets.",
    origin="https://zenodo.org/record/6900648",
    version="Zenodo record 6900648",
    licence="see the Zenodo record; the code comes from projects with licences of their own",
    may="what the Zenodo record and those licences say",
    citation="Li et al., Automating Code Review Activities by Large-Scale Pre-training, arXiv:2203.09095, 2022",
    languages=("C", "C#", "C++", "Go", "Java", "JavaScript", "PHP", "Python", "Ruby"),
    expected={"changes": 10_169, "references": 10_169},
    traps=(
        "y = 1 says that somebody commented on the hunk, so the verdict (it can stay as it is) is y = 0. What nobody "
        "commented on is not known to be right.",
        "The official code takes a missing y as 0 and passes over lines that are not JSON; here both are errors.",
        "The official code leaves out hunks whose header has no line counts (@@ -1 +1 @@) from the assess task; here "
        "they stay.",
        "Each comment is the one that somebody made: other comments may be as right, and many need the discussion "
        "around them to be understood.",
        "old and new of the refine task begin each line with a diff's marker; it is taken off here.",
        "The old file (oldf) is not carried over: a change holds its hunk.",
    ),
)

SWR_BENCH = Card(
    title="SWR-Bench",
    summary="Whole pull requests of 12 Python projects: 500 in which review brought change-points, each with its type, "
    "the discussion and the commit that answered, and 500 clean ones.",
    origin="the authors' repository, named in the paper",
    version="the file at hand",
    licence="see the authors' repository; the code comes from projects with licences of their own",
    may="what those licences say",
    citation="Zeng et al., Benchmarking and Studying the LLM-based Code Review, arXiv:2509.01494, 2025",
    languages=("Python",),
    expected={"changes": 1000, "clean": 500, "repositories": 12, "languages": 1},
    traps=(
        "Clean means that three requests to a model, and people, found no change-point in what was discussed: what "
        "nobody discussed is not known to be right.",
        "The paper speaks of 13 types; its table has 11 leaves, and 13 with E.1 and E.3. Both are read.",
        "A file that several commits change shows their patches one after the other, each with its own line numbers, "
        "until the code is fetched.",
        "The timeline, later commits and the change-points would give the answer away: they reach no reviewer. E-mail "
        "addresses are taken out.",
        "The paper's Table II prints 1.90 change-points per pull request that has any, which is some 950 references.",
    ),
)

SWE_CARE = Card(
    title="SWE-CARE",
    summary="Pull requests with the issues they resolve, at the commit that was reviewed, with the comments that "
    "people made there.",
    origin="https://github.com/inclusionAI/SWE-CARE",
    version="the file at hand",
    licence="see the authors' repository; the code comes from projects with licences of their own",
    may="what those licences say",
    citation="Guo et al., CodeFuse-CR-Bench, arXiv:2509.14856, 2025",
    languages=("Java", "Python"),
    traps=(
        "What people did not say is not known to be right: a pull request without comments has no verdict.",
        "The merged commit and patch, the hints and the comments would give the answer away: they reach no reviewer.",
        "The side of a comment is not stated: it is read off the last line of its hunk.",
    ),
)

CONTEXT_CRBENCH = Card(
    title="ContextCRBench",
    summary="Hunks that people commented on in 90 projects and nine languages, with issue, pull request and the "
    "function around the hunk, for three tasks: can it be merged, which line deserves a comment, what is the comment?",
    origin="the authors' repository, named in the paper",
    version="the file at hand",
    licence="see the authors' repository; the code comes from projects with licences of their own",
    may="what those licences say",
    citation="Hu et al., Benchmarking LLMs for Fine-Grained Code Review with Enriched Context in Practice, "
    "arXiv:2511.07017, 2025",
    languages=("C", "C#", "C++", "Go", "Java", "JavaScript", "Python", "Rust", "TypeScript"),
    expected={"changes": 67_910, "languages": 9},
    traps=(
        "`merged` is the answer of the first task. The paper does not say how a hunk of a merged pull request comes "
        "to be unmerged.",
        "GitHub's diff_hunk ends with the line that was commented on. Showing it gives the answer of the second task "
        "away, so the whole hunk is shown; an entry without one is left out of that task.",
        "The official evaluator counts only the first commented line, and puts wrong markers right: "
        "pass_at_k(variant='published').",
        "The conversation and the later comments would give the answer away: they reach no reviewer. E-mail "
        "addresses are taken out.",
    ),
)

JSONL = Card(
    title="Cases of your own",
    summary="A benchmark in ReviewGauge's own format: one case a line.",
    origin="made by you, or by a verb of ReviewGauge",
    version="format 1",
    licence="whatever its maker says",
    may="whatever its maker says",
)
