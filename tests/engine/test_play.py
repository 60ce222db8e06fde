"""GamePlay: the numbers of waves and decisions, and rules that break their promises."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from agentsim.engine import Number, Options, Text
from agentsim.engine.event import Event, Everyone
from agentsim.engine.game import GameConfig
from agentsim.engine.play import GamePlay
from agentsim.engine.request import Request, Wave
from agentsim.engine.table import Table
from agentsim.errors import RulesBroken
from tests.engine.small import Amount, Bid, Say, SmallGame, Spoke, Word, policy


def _play(rules: Any, players: Sequence[str] = ("A", "B")) -> GamePlay:
    return GamePlay(SmallGame(rules), GameConfig(), players, seed=1)


def _waves(play: GamePlay) -> list[Wave]:
    waves, wave = [], play.start()
    while wave is not None:
        waves.append(wave)
        wave = play.answer([policy(ask.request, play.bot_rng(ask)) for ask in wave.asks])
    return waves


async def _three_waves(table: Table) -> None:
    await table.ask_all([Say(player="A"), Say(player="B")])
    await table.ask(Bid(player="B"))
    mixed: list[Request[Any]] = [Say(player="B"), Bid(player="A")]
    await table.ask_all(mixed)


def test_index_counts_all_wave_and_place_say_where_nth_counts_player_and_kind() -> None:
    numbers = [
        (ask.request.player, ask.request.kind, ask.index, ask.wave, ask.place, ask.nth)
        for wave in _waves(_play(_three_waves))
        for ask in wave.asks
    ]
    assert numbers == [
        ("A", "say", 1, 1, 0, 1),
        ("B", "say", 2, 1, 1, 1),
        ("B", "bid", 3, 2, 0, 1),
        ("B", "say", 4, 3, 0, 2),
        ("A", "bid", 5, 3, 1, 1),
    ]


def test_an_empty_wave_has_no_number() -> None:
    async def rules(table: Table) -> None:
        await table.ask_all([])
        await table.ask(Say(player="A"))

    assert [wave.number for wave in _waves(_play(rules))] == [1]


def test_a_game_without_decisions_is_over_at_once() -> None:
    async def rules(table: Table) -> None:
        table.tell(Spoke("A", "hi"), to=Everyone)

    play = _play(rules)
    assert play.start() is None
    assert play.outcome is not None
    assert len(play.log) == 1


def test_by_links_an_event_to_the_latest_decision_of_that_player() -> None:
    async def rules(table: Table) -> None:
        table.tell(Spoke("A", "before"), to=Everyone, by="A")
        await table.ask_all([Say(player="A"), Say(player="B")])
        table.tell(Spoke("B", "second"), to=Everyone, by="B")
        table.tell(Spoke("A", "first"), to=Everyone, by="A")
        await table.ask(Say(player="A"))
        table.tell(Spoke("A", "third"), to=Everyone, by="A")
        table.tell(Spoke("B", "still second"), to=Everyone, by="B")
        table.tell(Spoke("A", "narrated"), to=Everyone)

    play = _play(rules)
    _waves(play)
    assert [(told.event.content, told.by, told.decision) for told in play.log] == [
        ("before", "A", None),
        ("second", "B", 2),
        ("first", "A", 1),
        ("third", "A", 3),
        ("still second", "B", 2),
        ("narrated", None, None),
    ]


def test_a_bot_draws_from_a_stream_of_its_own_for_each_decision() -> None:
    """Asking one decision more shifts nobody's luck."""

    async def longer(table: Table) -> None:
        await table.ask(Say(player="B"))
        await _three_waves(table)

    def draws(rules: Any) -> dict[tuple[str, str, int], float]:
        play = _play(rules)
        return {
            (ask.request.player, ask.request.kind, ask.nth): play.bot_rng(ask).random()
            for wave in _waves(play)
            for ask in wave.asks
        }

    short, long = draws(_three_waves), draws(longer)
    assert len(set(short.values())) == len(short)
    assert {key: long[key] for key in short} == short


class _Foreign:
    def __init__(self, value: object) -> None:
        self.value = value

    def __await__(self) -> Any:
        yield self.value


@pytest.mark.parametrize("value", [None, 7, ("A",), [Say(player="A")]], ids=["None", "number", "names", "a list"])
def test_rules_that_await_anything_else_are_broken(value: object) -> None:
    async def rules(table: Table) -> None:
        await _Foreign(value)

    with pytest.raises(RulesBroken, match="awaited something that is not a request"):
        _play(rules).start()


def test_rules_that_sleep_are_broken() -> None:
    async def rules(table: Table) -> None:
        await table.ask(Say(player="A"))
        await asyncio.sleep(0)

    play = _play(rules)
    play.start()
    with pytest.raises(RulesBroken, match="awaited something that is not a request"):
        play.answer([Word(text="")])


class _Purse:
    def __init__(self) -> None:
        self.gold = 1

    def check(self) -> Sequence[str]:
        return [f"no purse holds {self.gold}"] if self.gold < 0 else []


@pytest.mark.parametrize(
    ("turns", "wave"), [((-1, 0, 0), 0), ((0, -5, 0), 1), ((0, 0, -5), 2)], ids=["before", "between", "at the end"]
)
def test_a_broken_invariant_is_named_with_the_wave_after_which_it_broke(turns: tuple[int, ...], wave: int) -> None:
    async def rules(table: Table) -> None:
        purse = _Purse()
        table.watch(purse)
        for turn in turns[:2]:
            purse.gold += 2 * turn
            await table.ask(Say(player="A"))
        purse.gold += 2 * turns[2]

    with pytest.raises(RulesBroken, match=rf"^after wave {wave}: no purse holds -\d+$"):
        _waves(_play(rules))


def test_rules_must_return_an_outcome() -> None:
    class Careless(SmallGame):
        async def play(self, table: Table, config: Any) -> Any:
            return None

    with pytest.raises(AssertionError, match="must return an Outcome"):
        GamePlay(Careless(_three_waves), GameConfig(), ["A"], 1).start()


def test_an_abandoned_game_runs_its_rules_no_further() -> None:
    seen = []

    async def rules(table: Table) -> None:
        try:
            await table.ask(Say(player="A"))
        finally:
            seen.append("closed")
        seen.append("went on")

    play = _play(rules)
    play.start()
    play.close()
    assert seen == ["closed"]
    assert play.outcome is None


class Shouted(Event, words="text"):
    text: str


class Count(Request[Amount]):
    def options(self) -> Options:
        return {"amount": Number(0, 9)}


class Whisper(Request[Word]):
    def options(self) -> Options:
        return {"text": Text(9, empty=True)}


def test_an_event_that_the_game_does_not_declare_is_refused_when_it_is_told() -> None:
    async def rules(table: Table) -> None:
        table.tell(Shouted("hi"), to=Everyone)

    with pytest.raises(RulesBroken, match="Shouted is told, and is not in the game's `events`"):
        _play(rules).start()


def test_a_request_that_the_game_does_not_declare_is_refused_when_it_is_asked() -> None:
    async def rules(table: Table) -> None:
        await table.ask(Whisper(player="A"))

    with pytest.raises(RulesBroken, match="Whisper is asked, and is not in the game's `requests`"):
        _play(rules).start()


def test_a_request_without_a_fallback_is_refused_at_its_first_question(monkeypatch: pytest.MonkeyPatch) -> None:
    async def rules(table: Table) -> None:
        await table.ask(Count(player="A"))

    monkeypatch.setattr(SmallGame, "requests", (Count,))
    problem = r"Count has no fallback for amount: give each option an `if_null`, or write `Count.fallback`"
    with pytest.raises(RulesBroken, match=problem):
        _play(rules).start()


def test_a_request_names_its_answer() -> None:
    with pytest.raises(TypeError, match=r"Silent names no answer: write `class Silent\(Request\[Answer\]\)`"):

        class Silent(Request):  # type: ignore[type-arg] # what is refused
            pass
