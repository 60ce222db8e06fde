"""Drawn lists: what each kind of market is, over many seeds, and that a list belongs to its seed for ever."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsim.games.auction.items import KINDS, MOST_EXTRA, THEMES, Item, draw, read_items, written

REQUIRED = THEMES["blaster"].required

seeds = st.integers(0, 2**63 - 1)


def required(items: tuple[Item, ...]) -> list[Item]:
    return [item for item in items if item.required]


def junk(items: tuple[Item, ...]) -> list[Item]:
    return [item for item in items if not item.required]


def qualities(items: list[Item] | tuple[Item, ...]) -> set[int]:
    return {item.quality for item in items}


@given(seeds, st.sampled_from(KINDS))
def test_a_drawn_list_is_an_items_file_with_all_ten_and_no_junk_twice(seed: int, kind: str) -> None:
    items = draw(kind, seed)
    assert read_items(written(items)) == items
    assert {item.name for item in required(items)} == set(REQUIRED)
    assert len({item.name for item in junk(items)}) == len(junk(items))
    assert draw(kind, seed) == items


@given(seeds)
def test_standard_has_ten_and_five_of_middling_quality(seed: int) -> None:
    items = draw("standard", seed)
    assert (len(required(items)), len(junk(items))) == (10, 5)
    assert qualities(items) <= set(range(40, 71))


@given(seeds)
def test_scarcity_has_the_ten_and_nothing_else(seed: int) -> None:
    items = draw("scarcity", seed)
    assert sorted(item.name for item in items) == sorted(REQUIRED)
    assert qualities(items) <= set(range(40, 71))


@given(seeds)
def test_abundance_has_each_of_the_ten_twice_in_two_qualities(seed: int) -> None:
    items = draw("abundance", seed)
    assert not junk(items)
    assert set(Counter(item.name for item in items).values()) == {2}
    assert len(set(items)) == 20
    assert qualities(items) <= set(range(1, 101))


@given(seeds)
def test_high_quality_is_above_ninety_throughout(seed: int) -> None:
    items = draw("high_quality", seed)
    assert (len(required(items)), len(junk(items))) == (10, 5)
    assert qualities(items) <= set(range(91, 101))


@given(seeds)
def test_trap_sells_fifteen_tempting_pieces_of_junk_before_the_ten(seed: int) -> None:
    items = draw("trap", seed)
    assert [item.required for item in items] == [False] * 15 + [True] * 10
    assert min(qualities(items[:15])) > max(qualities(items[15:]))


@given(seeds, st.integers(0, MOST_EXTRA))
def test_random_has_the_ten_and_as_many_others_as_asked_for(seed: int, extra: int) -> None:
    items = draw("random", seed, extra)
    assert (len(required(items)), len(junk(items))) == (10, extra)
    assert len({item.name for item in items}) == len(items)
    assert qualities(items) <= set(range(1, 101))
    assert set(required(items)) == set(required(draw("random", seed, 0))), "the ten do not depend on the others"


@pytest.mark.parametrize("kind", KINDS)
def test_lists_differ_between_seeds_in_items_and_order(kind: str) -> None:
    lists = [draw(kind, seed) for seed in range(50)]
    assert len({frozenset(items) for items in lists}) == 50
    assert len({tuple(item.name for item in items) for items in lists}) == 50


@pytest.mark.parametrize("kind", ["standard", "high_quality", "random"])
def test_junk_stands_among_the_required(kind: str) -> None:
    orders = [[item.required for item in draw(kind, seed)] for seed in range(50)]
    assert len(set(map(tuple, orders))) > 40


def test_every_quality_of_the_range_is_drawn() -> None:
    drawn = [draw("random", seed, 50) for seed in range(20)]
    assert set().union(*map(qualities, drawn)) == set(range(1, 101))


def test_kinds_are_drawn_apart() -> None:
    assert required(draw("standard", 1)) != required(draw("scarcity", 1))


def test_more_junk_than_names_is_numbered_copies() -> None:
    names = [item.name for item in junk(draw("random", 3, len(THEMES["blaster"].others) + 2))]
    copies = [name for name in names if name.endswith(" No. 2")]
    assert len(copies) == 2
    assert {name.removesuffix(" No. 2") for name in copies} < set(names)


def test_there_are_forty_names_of_junk_or_more_and_none_sounds_required() -> None:
    assert len(set(THEMES["blaster"].others)) == len(THEMES["blaster"].others) >= 40
    assert not [name for name in THEMES["blaster"].others if name.startswith("The ")]


def test_a_seeds_list_never_changes() -> None:
    """The files in `items/` and every random game of old depend on it."""
    first = draw("random", 1)[:3]
    assert [(item.name, item.quality) for item in first] == [
        ("The Catalyst Ignition Spark", 24),
        ("The Visionary Compass", 76),
        ("The Cross-Domain Harmonizer", 25),
    ]
