"""Work: its yield, its cost, and its conditions."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pytest

from agentsim.games.society.work import Worked
from tests.amounts import each_row
from tests.games.society.town import Town, build, contribute, dividend, law, post, propose, tax, vote, work

RATE = {"farm": Decimal("2.0"), "generate": Decimal("1.5"), "gather": Decimal("0.5")}
ENERGY = {"farm": Decimal("0.5"), "generate": Decimal(0), "gather": Decimal("1.0")}
MAKES = {"farm": "food", "generate": "energy", "gather": "materials"}
EFFICIENCY = [Decimal(share) for share in ("1", ".95", ".90", ".85", ".80", ".75", ".72", ".70")]
CENT = Decimal("0.01")


def made(kind: str, hours: int, times: Decimal = Decimal(1)) -> Decimal:
    """Return hours x rate x efficiency x `times`, to 0.01."""
    return (hours * RATE[kind] * EFFICIENCY[hours - 1] * times).quantize(CENT, ROUND_HALF_UP)


@each_row("hours", range(1, 9))
@each_row("kind", RATE)
def test_work_makes_hours_times_rate_times_efficiency_and_costs_energy(kind: str, hours: int) -> None:
    town = Town("20 20 20", "10 10 5").tick({1: work(kind, hours)})
    after = dict.fromkeys(("food", "energy", "materials"), Decimal(20))
    after[MAKES[kind]] += made(kind, hours)
    after["energy"] -= hours * ENERGY[kind]
    assert [Decimal(part) for part in town.held(1).split()] == list(after.values())
    (worked,) = town.events(Worked)
    assert (worked.work, worked.hours, worked.resource) == (kind, hours, MAKES[kind])
    assert Decimal(worked.made) / 100 == made(kind, hours)
    assert Decimal(worked.energy) / 100 == hours * ENERGY[kind]


@pytest.mark.parametrize(
    ("kind", "table"),
    [
        ("farm", "2 3.8 5.4 6.8 8 9 10.08 11.2"),
        ("generate", "1.5 2.85 4.05 5.1 6 6.75 7.56 8.4"),
        ("gather", "0.5 0.95 1.35 1.7 2 2.25 2.52 2.8"),
    ],
)
def test_the_yield_table(kind: str, table: str) -> None:
    """The table is computed by hand, so that it shares no code with the rules."""
    for hours, amount in enumerate(table.split(), start=1):
        (worked,) = Town("20 20 20", "10 10 5").tick({1: work(kind, hours)}).events(Worked)
        assert Decimal(worked.made) / 100 == Decimal(amount)


def test_only_its_worker_hears_of_work() -> None:
    (told,) = Town().tick({1: work()}).told(Worked)
    assert told.to == ("p1",)


@each_row("hours", [0, 9, -1, 25, 2.5, "2.5", None, True, "three", [3, 4], {}, 10**40])
def test_hours_are_whole_from_1_to_those_of_a_day(hours: Any) -> None:
    town = Town().tick({1: work("farm", hours)})
    assert town.held(1) == "10 10 5"
    ((agent, reason),) = town.refused()
    assert agent == 1
    assert reason.startswith("Invalid action data: ") or reason == "Failed to parse action"


@each_row("hours", [2, 2.0, "2", " 2 ", [2], "2 hours", "２", "٢"])
def test_hours_beyond_doubt_are_read(hours: Any) -> None:
    assert Town().tick({1: work("farm", hours)}).held(1) == "13.8 9 5"


@pytest.mark.parametrize("kind", ["fish", "", None, 1, ["farm", "gather"]])
def test_other_work_is_none(kind: Any) -> None:
    town = Town().tick({1: work(kind)})
    assert (town.held(1), len(town.refused())) == ("10 10 5", 1)


@pytest.mark.parametrize("kind", ["Farm", ["farm"], "`farm`"])
def test_work_in_other_letters_or_alone_in_a_list_is_read(kind: Any) -> None:
    town = Town().tick({1: work(kind, 2)})
    assert (town.held(1), town.refused()) == ("13.8 9 5", [])


def test_hours_of_all_ticks_of_a_day_count_together() -> None:
    town = Town("10 10 5", "10 10 5")
    assert town.tick({1: work("generate", 5)}).held(1) == "10 16 5"
    assert town.tick({1: work("generate", 4)}).refused() == [(1, "only 3 of 8 hours are left today")]
    assert town.held(1) == "10 16 5"
    town.day({1: work("generate", 3)})
    assert (town.refused(), town.held(1)) == ([], "9 19.05 5")  # 16 + 4.05 - 1


def test_every_day_has_its_hours_anew() -> None:
    town = Town("10 10 5", "10 10 5").day({1: work("generate", 8)}).tick({1: work("generate", 8)})
    assert town.refused() == []
    assert town.asked[1].you.hours == 8


def test_efficiency_is_that_of_the_hours_of_one_action() -> None:
    """Two actions of one hour yield more than one of two hours."""
    town = Town("10 10 5", "10 10 5").tick({1: work("farm", 1)}).tick({1: work("farm", 1)})
    assert town.held(1) == "14 9 5"


@pytest.mark.parametrize(("food", "works"), [("1", True), ("0.99", False), ("0", False)])
def test_work_needs_one_food_and_does_not_eat_it(food: str, works: bool) -> None:
    town = Town(f"{food} 10 0", "10 10 5").tick({1: work("generate", 2)})
    if works:
        assert town.held(1) == "1 12.85 0"
    else:
        assert town.refused() == [(1, f"work needs 1 food, and you hold {food}")]
        assert town.held(1) == f"{food} 10 0"


@pytest.mark.parametrize(
    ("kind", "energy", "works"),
    [("farm", "1.5", True), ("farm", "1.49", False), ("gather", "3", True), ("gather", "2.99", False)],
)
def test_work_needs_the_energy_that_it_costs(kind: str, energy: str, works: bool) -> None:
    town = Town(f"5 {energy} 0", "10 10 5").tick({1: work(kind, 3)})
    assert (town.refused() == []) is works
    assert town.held(1).split()[1] == ("0" if works else energy)


def test_who_has_no_energy_can_generate() -> None:
    assert Town("5 0 0", "10 10 5").tick({1: work("generate", 8)}).held(1) == "5 8.4 0"


def test_food_given_away_earlier_in_the_tick_does_not_matter_to_others() -> None:
    """The agent's own food at its turn counts, and a gift earlier in the same tick makes the work possible."""
    gift = {"action": "trade", "recipient_agent_id": 1, "resource_type": "food", "amount": 1}
    assert Town("0 5 0", "10 10 5").tick({2: gift, 1: work("generate", 1)}).held(1) == "1 6.5 0"
    assert len(Town("0 5 0", "10 10 5").tick({1: work("generate", 1), 2: gift}).refused()) == 1


def test_a_rejected_action_costs_nothing_and_only_its_author_hears_of_it() -> None:
    town = Town().tick({1: work("farm", 8), 2: post("Good morning")}).tick({1: work("farm", 1)})
    assert town.refused() == [(1, "only 0 of 8 hours are left today")]
    assert ["Action rejected: only 0 of 8 hours are left today" in each.line for each in town.notices(1)] == [True]
    assert [notice.kind for notice in town.notices(2)] == []


# effects of laws and structures


@pytest.mark.parametrize(
    ("kind", "resource", "percent", "kept"),
    [
        ("farm", "food", 10, "1.8"),
        ("farm", "all", 100, "0"),
        ("farm", "energy", 10, "2"),
        ("generate", "energy", 33, "1"),  # 0.495 rounds to 0.50
        ("gather", "materials", 1, "0.49"),  # 0.005 rounds to 0.01
    ],
)
def test_a_tax_is_a_share_of_what_work_produces(kind: str, resource: str, percent: int, kept: str) -> None:
    town = Town("10 10 10", "1 1 1", pool="0 0 0 0", laws=[law(tax(percent, resource))]).tick({1: work(kind, 1)})
    (worked,) = town.events(Worked)
    assert Decimal(worked.made - worked.taxed) / 100 == Decimal(kept)
    pooled = dict(zip(("food", "energy", "materials"), town.pool.split(), strict=False))
    assert Decimal(pooled[MAKES[kind]]) == RATE[kind] - Decimal(kept)


@pytest.mark.parametrize(("percents", "pooled"), [((30, 40), "1.4"), ((60, 60), "2"), ((1, 1, 1, 1), "0.08")])
def test_taxes_add_up_to_a_hundred_percent_at_most(percents: tuple[int, ...], pooled: str) -> None:
    laws = [law(tax(percent, "food" if percent % 4 else "all")) for percent in percents]
    town = Town(pool="0 0 0 0", laws=laws).tick({1: work("farm", 1)})
    assert town.pool.split()[0] == pooled


def test_a_tax_falls_on_work_and_on_nothing_else() -> None:
    gift = {"action": "trade", "recipient_agent_id": 2, "resource_type": "food", "amount": 5}
    laws = [law(tax(100), dividend(1, "food"))]
    town = Town("10 10 5", "10 10 5", pool="2 0 0 0", laws=laws).day({1: gift})
    assert (town.held(1), town.held(2), town.pool) == ("5 9 5", "15 9 5", "0 0 0 0")  # 1 of the pool each, 1 eaten


@pytest.mark.parametrize(
    ("farms", "hours", "food"), [(1, 1, "2.4"), (1, 7, "12.1"), (2, 1, "2.8"), (3, 3, "8.64")], ids=str
)
def test_farms_add_a_fifth_each_to_farm_work(farms: int, hours: int, food: str) -> None:
    """10.08 x 1.2 = 12.096; 5.4 x 1.6 = 8.64."""
    town = Town("50 50 500", "50 50 5", voting_days=1, actions_per_day=20)
    town.decree(*[propose("infrastructure", build("farm"))] * farms)
    town.day(*({1: contribute(number, 50)} for number in range(1, farms + 1)))
    (worked,) = town.tick({1: work("farm", hours)}).events(Worked)
    assert Decimal(worked.made) / 100 == Decimal(food) == made("farm", hours, 1 + farms * Decimal("0.2"))
    assert town.tick({2: work("generate", 1)}).events(Worked)[0].made == 150


def test_a_tax_is_taken_of_the_whole_yield_with_its_bonus() -> None:
    town = Town("50 50 100", "50 50 5", voting_days=1, actions_per_day=4, laws=[law(tax(25))])
    town.decree(propose("infrastructure", build("generator"))).day({1: contribute(1, 75)})
    (worked,) = town.tick({1: work("generate", 1), 2: vote(1)}).events(Worked)
    assert (worked.made, worked.taxed) == (180, 45)
