"""What is asked in GraphQL, since REST does not tell it: resolved threads, both ends of a forced push, closed issues.

Source: https://docs.github.com/en/graphql/reference/objects (PullRequestReviewThread, HeadRefForcePushedEvent,
RenamedTitleEvent, CrossReferencedEvent, ConnectedEvent). Each query pages through one connection by `$after`.
"""

from __future__ import annotations

THREADS = """query ReviewThreads($owner: String!, $name: String!, $number: Int!, $first: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      reviewThreads(first: $first, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes {
          isResolved
          isOutdated
          resolvedBy { __typename login }
          comments(first: 1) { nodes { databaseId } }
        }
      }
    }
  }
}
"""

_NAMED = "{ number repository { nameWithOwner } }"
_SOURCE = f"{{ __typename ... on Issue {_NAMED} ... on PullRequest {_NAMED} }}"
_BY = "createdAt actor { __typename login }"

TIMELINE = f"""query Timeline($owner: String!, $name: String!, $number: Int!, $first: Int!, $after: String) {{
  repository(owner: $owner, name: $name) {{
    pullRequest(number: $number) {{
      lastEditedAt
      closingIssuesReferences(first: 50) {{ nodes {_NAMED} }}
      timelineItems(first: $first, after: $after, itemTypes: [
        HEAD_REF_FORCE_PUSHED_EVENT, BASE_REF_CHANGED_EVENT, CROSS_REFERENCED_EVENT, CONNECTED_EVENT,
        DISCONNECTED_EVENT, RENAMED_TITLE_EVENT, MERGED_EVENT, CLOSED_EVENT, REOPENED_EVENT, READY_FOR_REVIEW_EVENT
      ]) {{
        pageInfo {{ hasNextPage endCursor }}
        nodes {{
          __typename
          ... on HeadRefForcePushedEvent {{ {_BY} beforeCommit {{ oid }} afterCommit {{ oid }} }}
          ... on BaseRefChangedEvent {{ {_BY} }}
          ... on CrossReferencedEvent {{ {_BY} source {_SOURCE} }}
          ... on ConnectedEvent {{ {_BY} source: subject {_SOURCE} }}
          ... on DisconnectedEvent {{ {_BY} source: subject {_SOURCE} }}
          ... on RenamedTitleEvent {{ {_BY} previousTitle }}
          ... on MergedEvent {{ {_BY} commit {{ oid }} }}
          ... on ClosedEvent {{ {_BY} }}
          ... on ReopenedEvent {{ {_BY} }}
          ... on ReadyForReviewEvent {{ {_BY} }}
        }}
      }}
    }}
  }}
}}
"""
