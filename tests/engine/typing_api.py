"""The types that mypy must infer for the kernel; mypy reads this file, and no test runs it."""

from __future__ import annotations

from typing import assert_type

from agentsim.engine.decision import Reading
from agentsim.engine.event import Heard
from agentsim.engine.table import Table
from tests.engine.small import Amount, Bid, Say, Word


async def an_answer_has_the_type_of_its_request(table: Table) -> None:
    assert_type(await table.ask(Say(player="A")), Word)
    assert_type(await table.ask(Bid(player="A")), Amount)


async def a_wave_gives_a_list_of_them(table: Table) -> None:
    assert_type(await table.ask_all(Bid(player=player) for player in table.players), list[Amount])
    assert_type(await table.ask_all([Say(player="A")]), list[Word])


async def _part(table: Table) -> int:
    return (await table.ask(Bid(player="A"))).amount


async def parts_give_a_list_of_what_they_return(table: Table) -> None:
    assert_type(await table.together([_part(table)]), list[int])


def a_request_knows_its_decision(table: Table) -> None:
    assert_type(Bid(player="A").fallback(), Amount)
    assert_type(Bid(player="A").parse("{}"), Reading[Amount])
    assert_type(table.heard("A"), Heard)


async def a_forgotten_await_is_an_error(table: Table) -> None:
    table.ask(Bid(player="A"))  # type: ignore[unused-coroutine] # that mypy reports it is what is tested


async def a_wrong_decision_is_an_error(table: Table) -> None:
    word: Word = await table.ask(Bid(player="A"))  # type: ignore[arg-type] # as above
    del word
