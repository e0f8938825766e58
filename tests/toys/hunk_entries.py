"""One entry in ContextCRBench's official form. What a reviewer must not see holds the word SECRET."""

from __future__ import annotations

from typing import Any

HEAD = "@@ -10,3 +10,4 @@ def run():"
CONTENT = " a = 1\n-b = 2\n+b = 3\n+c = 4\n return a"


def entry(**changes: Any) -> dict[str, Any]:
    return {
        "id": 17,
        "full_name": "acme/shop",
        "lang": "Python",
        "issue_number": 3,
        "issue_tilte": "b is wrong",
        "issue_body": "it should be 3",
        "issue_comment": ["SECRET issue talk"],
        "pr_number": 7,
        "pr_title": "Set b",
        "pr_body": "Fixes #3, jo@example.org",
        "pr_comment": ["SECRET talk"],
        "merged": False,
        "created_at": "2022-03-04T00:00:00Z",
        "commit_id": "c" * 40,
        "original_commit_id": "a" * 40,
        "path": "a.py",
        "start_line": None,
        "original_start_line": None,
        "start_side": None,
        "line": 12,
        "original_line": 12,
        "side": "RIGHT",
        "original_position": 4,
        "position": 4,
        "subject_type": "line",
        "review_comment": ["SECRET comment", "SECRET reply"],
        "diff_hunk": f"{HEAD}\n a = 1\n-b = 2\n+b = 3\n+c = 4",
        "diff_hunk_head": HEAD,
        "diff_hunk_content": CONTENT,
        "diff_hunk_content_with_line_number": "[10][10] a = 1",
        "diff_hunk_original_start_line": 10,
        "diff_hunk_original_end_line": 12,
        "diff_hunk_start_line": 10,
        "diff_hunk_end_line": 13,
        "file_path_before": "a.py",
        "file_path_after": "a.py",
        "comment_lines": ["[][12]"],
        "content_before": "SECRET whole file",
        "content_after": "SECRET whole file",
        "snippet_before": "def run():\n    ...",
        "snippet_start_line_before": 9,
        "snippet_end_line_before": 12,
        "snippet_after": "def run():\n    pass",
        "snippet_start_line_after": 9,
        "snippet_end_line_after": 13,
        "all_line_number": ["[10][10]", "[11][]", "[][11]", "[][12]", "[12][13]"],
    } | changes
