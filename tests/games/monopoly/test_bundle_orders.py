"""Bundles: whatever order of their steps is legal is found, as trying all orders shows."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from agentsim.errors import IllegalDecision
from agentsim.games.monopoly.board import GROUPS
from agentsim.games.monopoly.building import Bundle, change_estate, why_not
from agentsim.games.monopoly.state import BANK, Estate, Kind


def carried_out_in_some_order(estate: Estate, wanted: tuple[tuple[int, int], ...], kind: Kind) -> bool:
    """By trying all orders, one legal step at a time; `wanted` are positions with how many buildings on each."""
    tried: set[tuple[int, ...]] = set()

    def goes_on(now: Estate, left: tuple[int, ...]) -> bool:
        if not any(left):
            return True
        if left in tried:
            return False
        tried.add(left)
        for index, (lot, _) in enumerate(wanted):
            if left[index] and not why_not(now, kind, 0, lot):
                then = now.copy()
                then.change(kind, lot)
                if goes_on(then, (*left[:index], left[index] - 1, *left[index + 1 :])):
                    return True
        return False

    return goes_on(estate, tuple(count for _, count in wanted))


@given(st.data())
def test_a_bundle_is_carried_out_where_any_order_of_it_is_legal(data: st.DataObject) -> None:
    groups = data.draw(
        st.lists(st.sampled_from(["brown", "light_blue", "dark_blue", "pink"]), min_size=2, max_size=3, unique=True)
    )
    owner, houses = [BANK] * 40, [0] * 40
    for lot in (lot for group in groups for lot in GROUPS[group]):
        owner[lot] = 0
    for group in groups:
        low = data.draw(st.integers(0, 4))
        for lot in GROUPS[group]:
            houses[lot] = low + data.draw(st.integers(0, 1))
    estate = Estate(owner, houses, [False] * 40, data.draw(st.integers(0, 12)), data.draw(st.integers(0, 6)))
    building = data.draw(st.booleans())
    wanted = []
    for lot in (lot for group in groups for lot in GROUPS[group]):
        most = 5 - houses[lot] if building else houses[lot]
        if count := data.draw(st.integers(0, most)):
            wanted.append((lot, count))
    razed = any(all(dict(wanted).get(lot, 0) == houses[lot] for lot in GROUPS[group]) for group in groups)
    assume(building or not razed)  # a whole group may be sold at once, which is no order of single steps
    parts = [
        {
            "position": lot,
            "type": "hotel" if (houses[lot] + step == 4 if building else houses[lot] - step == 5) else "house",
        }
        for lot, count in wanted
        for step in range(count)
    ]
    bundle = Bundle.model_validate({"builds" if building else "sells": parts})
    legal = carried_out_in_some_order(estate.copy(), tuple(wanted), "build" if building else "sell")
    try:
        change_estate(estate.copy(), 0, 10**6, bundle)
    except IllegalDecision:
        assert not legal
    else:
        assert legal
