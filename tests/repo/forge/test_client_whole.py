"""Only what is whole is kept: no list where one was asked for is not an empty list, and parts are asked for again."""

from __future__ import annotations

import pytest
from pydantic import JsonValue

from reviewgauge.repo.forge.client import Forge
from scripted_endpoint import Say, Scripted
from scripted_forge import say


@pytest.mark.parametrize("answer", [None, {}, "x", 0, {"message": "later"}])
def test_no_list_is_not_an_empty_one_and_is_not_kept(answer: JsonValue, forge: Forge, server: Scripted) -> None:
    server.script = [say(answer), say([1])]
    assert list(forge.pages("repos/o/n/pulls/1/comments", version="v")) == [1]
    assert list(forge.pages("repos/o/n/pulls/1/comments", version="v")) == [1], "from disk"
    server.script = [say([]), say({"number": 1})]
    assert forge.get("repos/o/n/pulls/1", version="v") == {"number": 1}


def test_graphql_that_left_something_out_is_asked_again_the_next_time(forge: Forge, server: Scripted) -> None:
    part = {"data": {"repository": {"a": None}}, "errors": [{"message": "not now"}]}
    server.script = [say(part), say({"data": {"repository": {"a": 1}}})]
    assert forge.graphql("query", {}, version="v") == {"repository": {"a": None}}
    assert [forge.graphql("query", {}, version="v") for _ in range(2)] == [{"repository": {"a": 1}}] * 2
    assert forge.spent.requests == 2


def test_nothing_changed_is_no_answer_to_who_has_none(forge: Forge, server: Scripted) -> None:
    server.script = [Say(b"", 304), say({"number": 1})]
    assert forge.get("repos/o/n/pulls/1", version="v") == {"number": 1}
