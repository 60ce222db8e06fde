"""Chance: draws that never change, streams that never disturb each other, scripts for tests."""

from __future__ import annotations

import gc
import weakref
from collections import Counter
from collections.abc import Sequence
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsim.engine.chance import Chance, Stream

NAMES = st.text("abcxyz/1", min_size=1, max_size=6)
GOLDEN_DICE = [2, 4, 6, 5, 2, 4, 6, 5, 3, 1, 6, 2]
GOLDEN_ORDER = "DFBACGE"
GOLDEN_RANDOM = 0.6285475939525647
GOLDEN_WORD = 13113294886870788205
GOLDEN_PICK = "S"
GOLDEN_LASTING = 8


def _chi_squared(counts: Sequence[int]) -> float:
    expected = sum(counts) / len(counts)
    return sum((count - expected) ** 2 / expected for count in counts)


def test_golden_draws_since_every_old_journal_depends_on_them() -> None:
    """Changing any of these numbers makes every history ever recorded unreplayable."""
    dice = Chance(7).stream("dice")
    assert [dice.integer(1, 6) for _ in range(12)] == GOLDEN_DICE
    assert Chance(7).stream("order").shuffled("ABCDEFG") == list(GOLDEN_ORDER)
    assert Chance("salted/1").stream("x").random() == GOLDEN_RANDOM
    assert [Chance(0).stream("wide").below(2**64)] == [GOLDEN_WORD]
    assert Chance(7).once("bot/A/vote/1").pick("PQRSTUV") == GOLDEN_PICK


@given(st.integers(0, 2**63), NAMES)
def test_the_same_seed_and_name_give_the_same_stream(seed: int, name: str) -> None:
    one, two = Chance(seed).stream(name), Chance(seed).stream(name)
    assert [one.random() for _ in range(6)] == [two.random() for _ in range(6)]


@given(st.lists(NAMES, min_size=2, max_size=5, unique=True), st.integers(0, 9))
def test_a_new_draw_in_one_stream_shifts_no_other(names: list[str], extra: int) -> None:
    quiet, busy = Chance(3), Chance(3)
    for _ in range(extra):
        busy.stream(names[0]).random()
        busy.once("somewhere").random()
    for name in names[1:]:
        assert [quiet.stream(name).random() for _ in range(5)] == [busy.stream(name).random() for _ in range(5)]


def test_streams_of_other_names_and_seeds_are_other_streams() -> None:
    firsts = {Chance(seed).stream(name).random() for seed in range(20) for name in ("a", "b", "a/b", "")}
    assert len(firsts) == 80


def test_asking_again_goes_on_and_once_begins_anew() -> None:
    chance = Chance(1)
    assert chance.stream("a") is chance.stream("a")
    assert chance.stream("a").random() != chance.stream("a").random()
    assert chance.once("a").random() == chance.once("a").random()


@pytest.mark.parametrize(("bound", "critical"), [(2, 10.83), (3, 13.82), (6, 20.52), (10, 27.88), (52, 87.97)], ids=str)
def test_below_is_uniform(bound: int, critical: float) -> None:
    """Chi-squared over 20,000 draws; critical values for p = 0.001 at bound - 1 degrees of freedom."""
    stream = Chance("uniform").stream(str(bound))
    counts = Counter(stream.below(bound) for _ in range(20_000))
    assert set(counts) == set(range(bound))
    assert _chi_squared([counts[value] for value in range(bound)]) < critical


def test_every_order_of_four_is_equally_likely() -> None:
    """23 degrees of freedom, p = 0.001."""
    stream = Chance("orders").stream("x")
    counts = Counter("".join(stream.shuffled("ABCD")) for _ in range(24_000))
    assert _chi_squared([counts["".join(order)] for order in permutations("ABCD")]) < 49.73


def test_successive_draws_are_independent() -> None:
    """Pairs of dice: 35 degrees of freedom, p = 0.001."""
    stream = Chance("pairs").stream("x")
    counts = Counter((stream.below(6), stream.below(6)) for _ in range(36_000))
    assert _chi_squared([counts[a, b] for a in range(6) for b in range(6)]) < 66.62


def test_a_bound_that_does_not_divide_the_words_is_not_biased() -> None:
    """Taking a word modulo 3 * 2**62 would give the low third twice the weight."""
    stream = Chance(1).stream("bias")
    low = sum(stream.below(3 * 2**62) < 2**62 for _ in range(3_000))
    assert 850 < low < 1_150


@given(st.integers(-50, 50), st.integers(0, 40), st.integers(0, 1000))
def test_integer_includes_both_ends(low: int, width: int, seed: int) -> None:
    value = Chance(seed).stream("x").integer(low, low + width)
    assert low <= value <= low + width
    if width == 1:
        assert {Chance(s).stream("x").integer(low, low + 1) for s in range(40)} == {low, low + 1}


@given(st.lists(st.integers(), max_size=30), st.integers(0, 100))
def test_shuffled_is_a_new_list_of_the_same_items(items: list[int], seed: int) -> None:
    before = list(items)
    assert sorted(Chance(seed).stream("x").shuffled(items)) == sorted(before)
    assert items == before


@pytest.mark.parametrize("bound", [0, -1, 2**64 + 1])
def test_a_bound_nothing_can_be_drawn_from_is_refused(bound: int) -> None:
    with pytest.raises(AssertionError):
        Stream("x").below(bound)


def test_script_gives_the_first_results_then_the_seed_goes_on() -> None:
    script: dict[str, list[Any]] = {"dice": [6, 1], "order": [["B", "A"]], "who": ["B"], "x": [0.5], "n": [3]}
    chance = Chance(5, script)
    dice = chance.stream("dice")
    assert [dice.integer(1, 6), dice.integer(1, 6)] == [6, 1]
    assert chance.stream("order").shuffled(["A", "B"]) == ["B", "A"]
    assert chance.stream("who").pick(["A", "B", "C"]) == "B"
    assert chance.stream("x").random() == 0.5
    assert chance.stream("n").below(4) == 3
    plain = Chance(5)
    for name in ("dice", "order", "who", "x", "n", "unscripted"):
        assert chance.stream(name).random() == plain.stream(name).random()


@pytest.mark.parametrize(
    ("draw", "result"),
    [
        (lambda stream: stream.integer(1, 6), 7),
        (lambda stream: stream.pick(["A", "B"]), "C"),
        (lambda stream: stream.shuffled(["A", "B"]), ["A", "A"]),
        (lambda stream: stream.below(3), 3),
        (lambda stream: stream.below(3), "A"),
    ],
    ids=["integer", "pick", "order", "below", "not-a-number"],
)
def test_a_script_cannot_give_what_could_not_be_drawn(draw: object, result: object) -> None:
    assert callable(draw)
    with pytest.raises(AssertionError, match=r"scripted result|is no order of"):
        draw(Chance(1, {"x": [result]}).stream("x"))


# lasting streams


def test_a_lasting_stream_is_the_same_for_all_decisions_of_one_bot() -> None:
    """Its tastes; its moods differ from decision to decision."""
    chance = Chance(7)
    decisions = [chance.once(f"bot/A/bid/{nth}", per_game="bot/A/lasting") for nth in (1, 2, 3)]
    assert len({stream.per_game("value/1").random() for stream in decisions}) == 1
    assert len({stream.random() for stream in decisions}) == 3


def test_lasting_streams_of_other_bots_names_and_seeds_are_other_streams() -> None:
    firsts = {
        Chance(seed).once(f"bot/{bot}/bid/1", per_game=f"bot/{bot}/lasting").per_game(name).random()
        for seed in (1, 2)
        for bot in ("A", "B")
        for name in ("value/1", "value/2")
    }
    assert len(firsts) == 8


@given(st.integers(0, 9), st.integers(0, 9))
def test_a_lasting_stream_shifts_nothing_and_is_shifted_by_nothing(before: int, drawn: int) -> None:
    plain, busy = Chance(3).once("d", per_game="l"), Chance(3).once("d", per_game="l")
    for _ in range(before):
        assert busy.random() == plain.random()
    taste = busy.per_game("x")
    assert [taste.random() for _ in range(drawn)] == [
        *_randoms(Chance(3).once("other", per_game="l").per_game("x"), drawn)
    ]
    assert busy.per_game("x").random() == plain.per_game("x").random(), "asking for it again begins it anew"
    assert busy.random() == plain.random()


def _randoms(stream: Stream, count: int) -> list[float]:
    return [stream.random() for _ in range(count)]


def test_golden_lasting_draw_since_old_journals_depend_on_it() -> None:
    assert Chance(7).once("bot/A/bid/1", per_game="bot/A/lasting").per_game("value/1").integer(1, 100) == GOLDEN_LASTING


def test_where_nothing_lasts_longer_it_belongs_to_the_stream_itself() -> None:
    assert Stream("a").per_game("x").random() == Stream("a/x").random()
    assert Stream("a").per_game("x").random() != Stream("b").per_game("x").random()


def test_after_a_salt_every_stream_goes_its_own_way_and_the_same_word_the_same_way() -> None:
    def drawn(*words: str) -> list[int]:
        chance = Chance(7)
        held = chance.stream("dice")
        before = held.below(10**9)
        for word in words:
            chance.add_salt(word)
        return [before, held.below(10**9), chance.stream("new").below(10**9), chance.once("bot/1").below(10**9)]

    plain, salted = drawn(), drawn("1")
    assert plain[0] == salted[0], "what was drawn before stays"
    assert all(one != other for one, other in zip(plain[1:], salted[1:], strict=True)), "a stream that is held, too"
    assert drawn("1") == salted
    assert len({tuple(drawn(*words)) for words in (("1",), ("2",), ("1", "2"), ("2", "1"))}) == 4


def test_a_salt_leaves_what_lasts_of_a_bot() -> None:
    def taste(chance: Chance) -> int:
        return chance.once("bot/A/vote/1", per_game="bot/A/lasting").per_game("risk").below(10**9)

    chance = Chance(7)
    before = taste(chance)
    chance.add_salt("1")
    assert taste(chance) == before


def test_a_stream_is_freed_with_its_last_reference_since_each_decision_of_a_bot_has_one() -> None:
    gc.disable()
    try:
        stream = Chance(1).once("bot/A/choose/1", per_game="bot/A/lasting")
        stream.per_game("mood").random()
        stream.random()
        gone = weakref.ref(stream)
        del stream
        assert gone() is None, "it is part of a cycle, which costs a collection"
    finally:
        gc.enable()
