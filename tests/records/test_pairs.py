"""Pairs: dealings summed up by pair, round and action; who turned; what followed on being named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from hypothesis import given
from hypothesis import strategies as st

from agentsim.engine.event import (
    AGAINST,
    FOR,
    NAMED,
    NEITHER,
    Audience,
    Event,
    Everyone,
    Interaction,
    LoggedEvent,
    Past,
    Sign,
)
from agentsim.records.events import InteractionCount, Pair, pairs
from tests.engine.small import Spoke

PLAYERS = ("Ada", "Bo", "Cy")


class Did(Event, content=""):
    """One dealing, as it is."""

    who: str
    whom: str
    action: str
    sign: Sign = NEITHER
    amount: float | None = None

    def interactions(self, past: Past) -> Iterator[Interaction]:
        yield Interaction(self.who, self.whom, self.action, self.sign, self.amount)


class Denounced(Did, words="text"):
    """An action and words about it at once."""

    text: str = ""


def told(*events: Event, at: int = 1, to: Audience = Everyone) -> list[LoggedEvent]:
    return [
        LoggedEvent(event, to, at, getattr(event, "who", None) or getattr(event, "player", None)) for event in events
    ]


def between(log: Sequence[LoggedEvent], who: str, whom: str) -> Pair:
    (found,) = [pair for pair in pairs(log, PLAYERS, {}) if (pair.who, pair.whom) == (who, whom)]
    return found


def test_deeds_are_counted_by_round_and_amounts_added() -> None:
    log = [
        *told(Did("Ada", "Bo", "gave", FOR, 3), Did("Ada", "Bo", "gave", FOR, 4.5), Did("Ada", "Bo", "wrote to")),
        *told(Did("Ada", "Bo", "gave", FOR, 1), Did("Bo", "Ada", "said no", AGAINST), at=2),
    ]
    assert between(log, "Ada", "Bo").actions == (
        InteractionCount(1, "gave", FOR, 2, 0, 7.5, 0),
        InteractionCount(1, "wrote to", NEITHER, 1, 0, None, 0),
        InteractionCount(2, "gave", FOR, 1, 0, 1, 0),
    )
    assert between(log, "Bo", "Ada").times(AGAINST) == 1


def test_pairs_stand_in_the_order_of_the_players_and_only_players_are_in_them() -> None:
    log = told(
        *(Did(who, whom, "met") for who, whom in (("Cy", "Ada"), ("Ada", "Cy"), ("Ada", "Bo"))),
        *(Did(who, whom, "met") for who, whom in (("Ada", "Ada"), ("@moderator", "Ada"), ("Ada", "the pool"))),
    )
    assert [(pair.who, pair.whom) for pair in pairs(log, PLAYERS, {})] == [("Ada", "Bo"), ("Ada", "Cy"), ("Cy", "Ada")]


def test_a_pair_turns_when_a_deed_against_follows_one_for_or_the_other_way_round() -> None:
    signs: list[tuple[int, Sign]] = [
        (1, FOR),
        (2, NEITHER),
        (3, FOR),
        (4, AGAINST),
        (5, NEITHER),
        (6, FOR),
        (6, AGAINST),
    ]
    log = [each for at, sign in signs for each in told(Did("Ada", "Bo", f"did {sign}", sign), at=at)]
    pair = between(log, "Ada", "Bo")
    assert pair.turns == ((4, AGAINST), (6, FOR), (6, AGAINST))
    assert [(action.round, action.turned) for action in pair.actions] == [
        (1, 0),
        (2, 0),
        (3, 0),
        (4, 1),
        (5, 0),
        (6, 1),
        (6, 1),
    ]


def test_what_another_pair_did_turns_nobody() -> None:
    log = told(Did("Ada", "Bo", "gave", FOR), Did("Bo", "Ada", "hit", AGAINST), Did("Ada", "Cy", "hit", AGAINST))
    assert all(not pair.turns for pair in pairs(log, PLAYERS, {}))


def test_words_for_all_name_those_who_are_in_them_once_an_event() -> None:
    log = [
        *told(Spoke("Ada", "Bo, Bo and Ada!")),
        *told(Spoke("Ada", "Bo"), at=2),
        *told(Spoke("Ada", "Cy"), to=("Cy",)),
    ]
    (pair,) = pairs(log, PLAYERS, {})
    assert pair.actions == (
        InteractionCount(1, NAMED, NEITHER, 1, 0, None, 0),
        InteractionCount(2, NAMED, NEITHER, 1, 0, None, 0),
    )
    assert pair.named == 2


def test_an_event_that_declares_whom_it_names_and_says_so_too_names_once() -> None:
    (pair,) = pairs(told(Denounced("Ada", "Bo", NAMED, text="Bo it is.")), PLAYERS, {})
    assert pair.actions == (InteractionCount(1, NAMED, NEITHER, 1, 0, None, 0),)


def test_players_are_named_as_the_game_calls_them() -> None:
    (pair,) = pairs(told(Spoke("Ada", "The Shark is strong.")), PLAYERS, {"Bo": "The Shark"})
    assert (pair.who, pair.whom) == ("Ada", "Bo")


def test_what_follows_on_being_named_in_the_same_round_is_counted() -> None:
    log = [
        *told(Did("Ada", "Bo", "hit", AGAINST), Spoke("Ada", "Bo is my friend."), Did("Ada", "Bo", "hit", AGAINST)),
        *told(Did("Ada", "Bo", "hit", AGAINST), at=2),
        *told(Spoke("Ada", "Bo!"), Did("Ada", "Bo", "gave", FOR), at=3),
    ]
    pair = between(log, "Ada", "Bo")
    assert [
        (action.round, action.action, action.times, action.after_naming)
        for action in pair.actions
        if action.action != NAMED
    ] == [
        (1, "hit", 2, 1),
        (2, "hit", 1, 0),
        (3, "gave", 1, 1),
    ]
    assert (pair.named, pair.after_naming(AGAINST), pair.after_naming(FOR)) == (2, 1, 1)


def test_words_that_tell_of_a_deed_were_not_said_before_it() -> None:
    log = told(Denounced("Ada", "Bo", "hit", AGAINST, text="I hit Bo."))
    assert between(log, "Ada", "Bo").after_naming(AGAINST) == 0
    assert between([*told(Spoke("Ada", "Bo!")), *log], "Ada", "Bo").after_naming(AGAINST) == 1


_did = st.builds(
    Did,
    st.sampled_from(PLAYERS),
    st.sampled_from(PLAYERS),
    st.sampled_from(["gave", "hit", "wrote to"]),
    st.sampled_from([FOR, NEITHER, AGAINST]),
    st.none() | st.integers(0, 9),
)
_words = st.builds(
    Spoke, st.sampled_from(PLAYERS), st.lists(st.sampled_from((*PLAYERS, "and")), max_size=4).map(" ".join)
)


@given(st.lists(st.tuples(st.integers(0, 4), _did | _words), max_size=40))
def test_the_sums_over_pairs_and_rounds_are_what_was_told(given_: list[tuple[int, Event]]) -> None:
    log = [each for at, event in sorted(given_, key=lambda pair: pair[0]) for each in told(event, at=at)]
    found = pairs(log, PLAYERS, {})
    deals = [event for _, event in given_ if isinstance(event, Did) and event.who != event.whom]
    counted = Counter(
        (pair.who, pair.whom, d.action, d.sign) for pair in found for d in pair.actions for _ in range(d.times)
    )
    assert {key: n for key, n in counted.items() if key[2] != NAMED} == Counter(
        (each.who, each.whom, each.action, each.sign) for each in deals
    )
    assert sum(d.amount or 0 for pair in found for d in pair.actions) == sum(each.amount or 0 for each in deals)
    for pair in found:
        assert len(pair.turns) == sum(action.turned for action in pair.actions)
        assert all(one[1] != other[1] for one, other in zip(pair.turns, pair.turns[1:], strict=False))
        assert all(action.after_naming <= action.times for action in pair.actions)
        assert max(pair.after_naming(FOR), pair.after_naming(AGAINST)) <= pair.named
        assert [action.round for action in pair.actions] == sorted(action.round for action in pair.actions)
