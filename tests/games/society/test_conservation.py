"""Conservation in any society: no action makes, loses or owes a hundredth of any resource."""

from __future__ import annotations

from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsim.engine.chance import Stream
from agentsim.engine.decision import Decision
from agentsim.engine.request import Request
from agentsim.engine.simulate import Simulation
from agentsim.games.society.amounts import amount, number, share, shown
from agentsim.games.society.bots import BOTS
from agentsim.games.society.building import Contribute, Contributed, UpkeepPaid
from agentsim.games.society.config import SocietyConfig
from agentsim.games.society.evening import Consumed, DayEnded, Regrown, SocietyEnded
from agentsim.games.society.founding import SocietyBegan
from agentsim.games.society.requests import Act, Acted
from agentsim.games.society.shocks import LostToShock, ShockStruck
from agentsim.games.society.state import State, founded
from agentsim.games.society.voting import AllocationPaid, DividendPaid
from agentsim.games.society.work import Trade, Traded, Work, Worked
from tests.amounts import each_row, examples
from tests.games.society.society import play

Config: TypeAlias = dict[str, Any]


def greedy(asked: Request[Any], rng: Stream) -> Decision:
    """Give, build and work at the limits of the stock, or decide at random."""
    assert isinstance(asked, Act)
    you = asked.you
    if you.stock["food"] and rng.below(4) == 0:
        part = rng.pick((you.stock["food"], you.stock["food"] + 1, 1))
        other = rng.integer(0, asked.rules.agents)
        given = {"recipient_agent_id": other, "resource_type": "food", "amount": shown(part)}
        return Acted(action=Trade.model_validate(given))
    if asked.world.projects and rng.below(2):
        put = {"project_id": asked.world.projects[0].id, "amount": shown(max(1, you.stock["materials"]))}
        return Acted(action=Contribute.model_validate(put))
    if rng.below(3) == 0:
        return Acted(action=Work(work_type=rng.pick(("farm", "generate", "gather")), hours=1))
    return BOTS["random"](asked, rng)


AMOUNTS = st.sampled_from([0, 0.01, 0.25, 1, 2.5, 3, 10])
LAWS = st.lists(
    st.sampled_from(
        [
            {"kind": "tax", "resource": "all", "percent": 33},
            {"kind": "tax", "resource": "food", "percent": 100},
            {"kind": "dividend", "resource": "food", "amount": 0.7, "to": "all"},
            {"kind": "dividend", "resource": "energy", "amount": 3, "to": "dormant"},
            {"kind": "work_minimum", "hours": 1},
            {"kind": "voting_rule", "threshold": 50, "quorum": 1},
        ]
    ),
    max_size=4,
)


SHOCKS = st.builds(
    lambda what, percent, resource: {"day": 1, "what": what, "percent": percent, "resource": resource},
    st.sampled_from(["held", "pool", "commons", "rates"]),
    st.integers(1, 100),
    st.sampled_from(["food", "energy", "all"]),
)
STAKES: st.SearchStrategy[Config] = st.fixed_dictionaries(
    {
        "commons_capacity": st.sampled_from([0.01, 0.07, 33.33, 100, 5000]),
        "commons_start": st.sampled_from([0, 0.01, 0.5, 1]),
        "commons_regrowth": st.sampled_from([0, 0.25, 1, 4]),
        "skill_spread": st.sampled_from([0, 0.01, 0.5, 1]),
        "shocks": st.lists(SHOCKS, max_size=3),
    }
) | st.just({})


@st.composite
def societies(draw: st.DrawFn) -> tuple[Config, Simulation]:
    """Draw a short society with unusual settings."""
    config: Config = {
        "days": draw(st.integers(1, 6)),
        "actions_per_day": draw(st.integers(1, 3)),
        "voting_days": draw(st.integers(1, 2)),
        "permadeath": draw(st.booleans()),
        "starvation_days": draw(st.integers(1, 2)),
        "project_land": draw(st.sampled_from([0, 10, 1000])),
        "personalities": draw(st.sampled_from([["neutral"], ["freedom", "equality"]])),
        "laws": [{"title": "First", "terms": draw(LAWS)}],
    }
    amounts = (
        "start_food",
        "start_energy",
        "start_materials",
        "pool_food",
        "farm_cost",
        "farm_upkeep",
        "gather_energy",
    )
    config |= {name: draw(AMOUNTS) for name in amounts}
    config |= {name: draw(AMOUNTS) for name in ("daily_food", "dormant_energy")}
    config["wake_food"] = config["daily_food"] + draw(AMOUNTS)
    config["wake_energy"] = 1 + draw(AMOUNTS)
    config |= draw(STAKES)
    policy = draw(st.sampled_from([greedy, BOTS["random"]]))
    return config, play(agents=draw(st.integers(2, 7)), bot=policy, seed=draw(st.integers(0, 10**6)), **config)


@examples(80)
@given(societies())
def test_nothing_is_made_or_lost(drawn: tuple[Config, Simulation]) -> None:
    """The log agrees with the balance that `check()` verifies after every wave."""
    _, played = drawn
    (began,) = played.events(SocietyBegan)
    for day in played.events(DayEnded):
        for resource, total in day.totals.items():
            first = began.totals[resource]
            there = total.held + total.pool + total.consumed + total.spent
            assert there == first.held + first.pool + total.produced, f"{resource} on day {day.day}"
            assert min(total.held, total.pool, total.produced, total.consumed, total.spent) >= 0


@examples(40)
@given(societies())
def test_every_move_of_food_is_in_the_log(drawn: tuple[Config, Simulation]) -> None:
    """The stocks of agents and pool can be computed from the events alone."""
    _, played = drawn
    (began,) = played.events(SocietyBegan)
    (ended,) = played.events(SocietyEnded)
    held = began.totals["food"].held
    pool = began.totals["food"].pool
    materials = began.totals["materials"].held + began.totals["materials"].pool
    for event in (told.event for told in played.log):
        match event:
            case Worked():
                if event.resource == "food":
                    held, pool = held + event.made - event.taxed, pool + event.taxed
                materials += event.made * (event.resource == "materials")
            case Traded() if event.resource == "food" and not event.recipient:
                held, pool = held - event.amount, pool + event.amount
            case AllocationPaid() if event.resource == "food":
                held, pool = held + sum(event.paid.values()), pool - sum(event.paid.values())
            case DividendPaid() if event.resource == "food" and event.agents:
                paid = event.amount * (len(event.agents) - 1) + event.last
                held, pool = held + paid, pool - paid
            case LostToShock():
                held -= event.lost.get("food", 0)
            case ShockStruck(what="pool"):
                pool -= event.lost.get("food", 0)
                materials -= event.lost.get("materials", 0)
            case ShockStruck(what="held"):
                materials -= event.lost.get("materials", 0)
            case Consumed():
                held -= event.food
            case Contributed():
                materials -= event.amount
            case UpkeepPaid():
                materials -= event.materials
            case _:
                pass
    last = played.events(DayEnded)[-1].totals
    assert (held, pool) == (last["food"].held, last["food"].pool)
    assert held == sum(result.food for result in ended.results)
    assert materials == last["materials"].held + last["materials"].pool


@examples(60)
@given(societies())
def test_what_leaves_the_commons_is_farmed_or_lost_to_a_shock_and_what_comes_has_grown(drawn: Any) -> None:
    """On every evening, initial + regrown = stock + farmed + lost, and the stock is at most the capacity."""
    config, played = drawn
    (began,) = played.events(SocietyBegan)
    if not config.get("commons_capacity"):
        assert "commons" not in began.totals
        return
    stock = began.totals["commons"].pool
    for event in (told.event for told in played.log):
        match event:
            case Worked(work="farm"):
                stock -= event.made
            case ShockStruck(what="commons"):
                stock -= event.lost["food"]
            case Regrown():
                stock += event.regrown
                assert 0 <= event.stock == stock <= max(1, began.totals["commons"].pool, _capacity(config, began))
            case _:
                pass
        assert stock >= 0
    assert stock == played.events(DayEnded)[-1].totals["commons"].pool


def _capacity(config: Config, began: SocietyBegan) -> int:
    return amount(config["commons_capacity"]) * len(began.agents) // 100


def society(agents: int = 3) -> State:
    config = SocietyConfig.from_toml({})
    return founded(config, [f"agent{n}" for n in range(1, agents + 1)], ["neutral"] * agents)


def test_a_broken_balance_is_found() -> None:
    """Check that the invariants can fail."""
    state = society()
    assert list(state.check()) == []
    state.citizens[0].stock["food"] += 1
    assert "what is held is what all agents hold" in state.check()
    state.held["food"] += 1
    assert state.check() == ["food: initial and produced are held, in the pool, consumed or spent"]


def test_a_sleeper_that_should_be_awake_is_found() -> None:
    state = society()
    state.fall_dormant(state.citizens[1], ("food",))
    assert state.check() == ["agent #2 wakes when it has enough"]


@each_row(
    "written, hundredths",
    [(0, 0), (1, 100), (0.1, 10), (2.55, 255), ("3.10", 310), ("7.500", 750), (10**9, 10**11)],
)
def test_an_amount_is_read_exactly(written: Any, hundredths: int) -> None:
    assert amount(written) == hundredths
    assert amount(number(hundredths)) == hundredths


@each_row("written", [-1, 0.125, True, None, "1e3", "1,5", float("inf"), float("nan"), "", [1]])
def test_what_is_no_amount_is_refused(written: Any) -> None:
    with pytest.raises(ValueError, match="2 decimals"):
        amount(written)


@pytest.mark.parametrize(
    ("whole", "percent", "part"), [(5, 10, 1), (4, 10, 0), (15, 10, 2), (101, 50, 51), (99, 100, 99)]
)
def test_a_share_is_rounded_to_the_nearest_hundredth_halves_up(whole: int, percent: int, part: int) -> None:
    assert share(whole, percent, 100) == part


def test_the_gini_coefficient_is_that_of_the_textbook() -> None:
    state = society(4)
    assert state.gini() == 0.0
    for citizen in state.citizens[:3]:
        for resource in citizen.stock:
            citizen.stock[resource] = 0
    assert state.gini() == 0.75, "one of four has all"
