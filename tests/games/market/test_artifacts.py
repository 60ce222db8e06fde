"""Artifacts: the example of the documentation is played as it stands there; registration, bank, dialogue."""

from __future__ import annotations

import json
import re
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from agentsim.engine import Everyone, Table
from agentsim.engine.chance import Chance
from agentsim.engine.menu import MenuItem, variant
from agentsim.engine.options import Choice, Number, Text
from agentsim.engine.simulate import simulate
from agentsim.errors import RulesBroken, ScenarioError
from agentsim.games.market import GAME, artifacts
from agentsim.games.market.artifacts.bank import Banked
from agentsim.games.market.artifacts.dialogue import Messaged
from agentsim.games.market.experiment import PeriodEnded
from agentsim.games.market.restrictions import Restriction, RuleName
from agentsim.games.market.turn import Act, Acted, Observed
from agentsim.games.market.world import Exchanged, Reported, Transferred
from tests.games.market.market import SKIPS, SMITH, asks, buys, does, play, results, sells

DOCUMENT = Path(__file__).parents[3] / "docs" / "artifacts.md"


LOTTERY, POSTED = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture
def documented(monkeypatch: pytest.MonkeyPatch) -> None:
    """The examples of the documentation, as a distribution would bring them."""
    bring(monkeypatch, LOTTERY, "Lottery")
    bring(monkeypatch, POSTED, "PostedOffers")


def bring(monkeypatch: pytest.MonkeyPatch, source: str, kind: str) -> None:
    """An artifact of another distribution, by its source."""
    module = ModuleType(f"of_another_distribution_{kind}")
    exec(compile(source, "docs/artifacts.md", "exec"), module.__dict__)
    known: Any = vars(artifacts)["entry_points"](group="agentsim.artifacts")
    entry = EntryPoint(getattr(module, kind).name, f"{module.__name__}:{kind}", "agentsim.artifacts")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(artifacts, "entry_points", lambda group: [*known, entry] if group == entry.group else [])


@pytest.mark.usefixtures("documented")
def test_the_first_example_of_the_documentation_is_short_and_plays() -> None:
    assert len(LOTTERY.splitlines()) < 70
    config: dict[str, Any] = {"artifacts": ["marketplace", "lottery"], "settings": {"lottery": {"every": 2}}}
    played = play(
        {
            "A": [does("stake", amount=30), SKIPS, does("stake", amount=5)],
            "B": [does("stake", amount=99), SKIPS, SKIPS],
            "C": [SKIPS, does("buy", good="wheat", price=10, quantity=8), does("stake", amount=40)],
        },
        queries={"A": [asks("lottery_pot"), asks("none"), asks("lottery_pot")]},
        **config,
    )
    assert results(played) == [
        "You have 30 of 30 in the pot.",
        "Refused: amount must be a whole number, 1 to 50",
        *["You skipped."] * 3,
        "Order 1 rests with 8 at your price.",
        "You have 5 of 5 in the pot.",
        "You skipped.",
        "Refused: the most that you can stake is 20",
    ]
    assert [event.observation for event in played.events(Observed)] == [
        {"pot": 0, "yours": 0, "rounds_after_this": 2},
        {"pot": 0, "yours": 0, "rounds_after_this": 0},
    ]
    assert [event.text for event in played.events(Reported)] == ["A wins 30."]
    assert [(e.giver, e.taker, e.amount) for e in played.events(Transferred)] == [
        ("A", "@lottery", 30),
        ("@lottery", "A", 30),
        ("A", "@lottery", 5),
        ("@lottery", "A", 5),  # the last round is over, and this pot is never drawn
    ]
    text = played.asks("A")[0].request.prompt().text()
    assert "lottery: takes stakes. Every 2 rounds" in text
    assert "amount: whole number, 1 to 50; how much" in text


@pytest.mark.usefixtures("documented")
def test_the_examples_play_on_bots_and_their_invariants_are_watched() -> None:
    played = play(
        {"A": [], "B": [], "C": []}, queries={}, bot="random", artifacts=["lottery", "posted_offers"], rounds=15, seed=2
    )
    assert len(played.events(Reported)) > 2
    assert played.events(Exchanged)


@pytest.mark.usefixtures("documented")
def test_an_experiment_runs_on_the_market_of_the_documentation() -> None:
    assert len(POSTED.splitlines()) < 80
    table = {"kind": "induced_values", **SMITH, "periods": 2}
    rules = ["buy_within_value", "sell_within_value"]
    config = {"artifacts": ["posted_offers"], "experiment": table, "restrictions": rules}
    played = simulate(GAME, config, [f"T{number}" for number in range(22)], bot="zi_c", seed=1)
    periods = played.events(PeriodEnded)
    assert [each.equilibrium_price for each in periods] == [200, 200]
    assert all(each.allocative_efficiency > 0.8 and each.quantity >= 5 for each in periods)
    assert all(each.alpha is not None for each in periods)
    assert not [event for event in played.events(Acted) if "above the" in event.result]
    buyer = next(ask.request for ask in played.asks("T0") if isinstance(ask.request, Act))
    assert buyer.names == ("skip", "take"), "what means to sell is not offered to who only buys"
    shown = {panel.title for panel in GAME.panels(played.log, [])}
    assert shown >= {"Periods", "Supply and demand", "Allocative efficiency", "Convergence", "Surplus", "Prices"}
    assert len(GAME.tables(played.log, [])["trades"].rows) == sum(each.quantity for each in periods)


@pytest.mark.usefixtures("documented")
def test_artifacts_are_registered_by_their_files() -> None:
    own = {"bank", "call_market", "dialogue", "lmsr", "marketplace", "redemption"}
    assert artifacts.names() == sorted({*own, "lottery", "posted_offers"})
    for name in own:
        assert f"| `{name}` | `{'`, `'.join(artifacts.find(name).meaning)}` |" in DOCUMENT.read_text(encoding="utf-8")
    with pytest.raises(ValueError, match=r"there is no artifact 'banc' \(did you mean bank\?\)"):
        artifacts.find("banc")


def test_two_things_of_one_name_are_refused_before_anything_is_played(monkeypatch: pytest.MonkeyPatch) -> None:
    class Second(artifacts.find("bank")):  # type: ignore[misc] # a class that is found by name
        name = "second"

    entry = EntryPoint("second", "x:y", "agentsim.artifacts")
    monkeypatch.setattr(artifacts, "entry_points", lambda group: [entry])
    monkeypatch.setattr(EntryPoint, "load", lambda self: Second)
    config: Any = GAME.config.from_toml({"artifacts": ["bank", "second"]})
    with pytest.raises(ScenarioError, match="two things are called deposit"):
        GAME.admit(config, ["A", "B"])


def test_a_message_to_one_agent_reaches_it_alone_and_one_to_all_everybody() -> None:
    played = play(
        {
            "A": [does("send", to="B", text="psst"), SKIPS],
            "B": [SKIPS, does("send", to="everyone", text="hello")],
            "C": [],
        },
        queries={"B": [asks("none"), asks("inbox")], "C": [asks("none"), asks("inbox")]},
        artifacts=["dialogue"],
        rounds=2,
    )
    private, public = played.events(Messaged)
    assert (private.to, public.to) == (("B",), None)
    (heard,) = [told for told in played.log if told.event is private]
    assert [heard.heard_by(agent) for agent in "ABC"] == [True, True, False]
    seen = {event.agent: event.observation["messages"] for event in played.events(Observed)}
    assert seen["B"] == [{"round": 1, "from": "A", "text": "psst"}]
    assert seen["C"] == [{"round": 2, "from": "B", "text": "hello", "to": "everyone"}]
    told = [ask.request for ask in played.asks("B") if ask.request.kind == "action"]
    assert '{"message_from": "A", "text": "psst"}' in told[0].prompt().text(), "it is read without a query"


BANK: dict[str, Any] = {
    "artifacts": ["marketplace", "bank"],
    "settings": {"bank": {"capital": 50, "deposit_rate": 100, "loan_rate": 500, "loan_to_value": 50}},
}


def test_deposits_bear_interest_as_long_as_the_bank_can_pay_and_count_in_the_standings() -> None:
    played = play({"A": [does("deposit", amount=100), *[SKIPS] * 9], "B": []}, **BANK)
    earned = [event.amount for event in played.events(Banked) if event.what == "interest earned"]
    assert earned[:3] == [10, 11, 12]
    assert sum(earned) == 50, "the bank makes no capital"
    assert played.outcome.standings[0].score["capital"] == 150


def test_a_loan_is_covered_by_goods_at_their_last_price_and_lost_with_them_when_it_grows_above() -> None:
    played = play(
        {
            "A": [sells(10), does("borrow", amount=26, good="wheat", quantity=5), SKIPS, SKIPS],
            "B": [buys(10), SKIPS, does("borrow", amount=1, good="wheat", quantity=99), SKIPS],
        },
        **BANK,
    )
    assert "5 wheat are good for 25 at the last price" in results(played, "A")[1]
    played = play(
        {"A": [sells(10), does("borrow", amount=25, good="wheat", quantity=5), SKIPS, SKIPS], "B": [buys(10)]}, **BANK
    )
    owed = [(event.what, event.loan) for event in played.events(Banked)]
    assert owed == [("borrowed", 25), ("interest owed", 38), ("foreclosed", 0)]
    (taken,) = [event for event in played.events(Transferred) if event.asset == "wheat"]
    assert (taken.giver, taken.amount) == ("A", 5)


@pytest.mark.parametrize(("rate", "owed"), [(20, 12), (0, 10)])
def test_a_small_loan_is_not_free_and_the_bank_says_how_it_rounds(rate: int, owed: int) -> None:
    settings = {"bank": {"deposit_rate": 20, "loan_rate": rate}}
    moves = [sells(20), does("borrow", amount=10, good="wheat", quantity=2), does("deposit", amount=49), SKIPS]
    played = play({"A": moves, "B": [buys(20)]}, artifacts=["marketplace", "bank"], settings=settings)
    last = [ask.request for ask in played.asks("A") if isinstance(ask.request, Act)][-1]
    assert last.now.shown["bank"] == {"deposit": 49, "loan": owed, "pledged": {"wheat": 2}}
    text = played.asks("A")[0].request.prompt().text()
    assert "bear 20 thousandths a round as long as it can pay, rounded down to whole capital" in text
    assert f"at {rate} thousandths a round, rounded up to whole capital" in text


def test_what_is_paid_back_frees_what_was_pledged() -> None:
    played = play(
        {
            "A": [
                sells(10),
                does("borrow", amount=20, good="wheat", quantity=4),
                does("repay", amount=30),
                sells(10, 9),
            ],
            "B": [buys(10)],
        },
        **BANK,
    )
    assert results(played, "A")[2:] == ["Deposit 0, loan 0.", "Order 3 rests with 9 at your price."]


def test_a_parameter_that_two_things_share_by_name_may_be_whatever_either_allows() -> None:
    small = MenuItem("pay", "", {"price": Number(2, 3), "to": Choice(("a",))})
    large = MenuItem("buy", "", {"price": Number(1, None), "to": Choice(("b", "a"))})
    words = MenuItem("say", "", {"price": Text(400), "to": Text(400)})
    for order in ((small, large), (large, small)):
        both = variant("action", order).schema()["properties"]
        assert both["price"] == {"type": ["integer", "null"], "minimum": 1}
        assert set(both["to"]["enum"]) == {"a", "b", None}
    assert variant("action", (small, words)).schema()["properties"] == {
        "price": {"type": ["integer", "string", "null"]},
        "to": {"type": ["string", "null"]},
    }
    assert variant("action", (small, large, words)).schema()["required"] == ["price", "to"]


def test_the_inbox_begins_with_the_news_so_that_what_is_too_long_loses_the_oldest() -> None:
    crowd = {f"B{number}": [does("send", to="A", text=f"{number} {'x' * 290}")] for number in range(10)}
    config: dict[str, Any] = {"artifacts": ["dialogue"], "observation_chars": 1_500}
    played = play({"A": [SKIPS, SKIPS], **crowd}, queries={"A": [asks("none"), asks("inbox")]}, **config)
    (seen,) = played.events(Observed)
    senders = [message["from"] for message in seen.observation["messages"]]
    assert senders == ["B9", "B8", "B7", "B6"][: len(senders)]
    assert seen.observation["more_and_not_shown"] == 10 - len(senders) < 8
    assert len(json.dumps(seen.observation)) <= 1_500


def test_ten_messages_as_long_as_they_may_be_are_heard_and_read_in_the_inbox_whole() -> None:
    crowd = {f"B{number}": [does("send", to="everyone", text=f"{number} {'x' * 298}")] for number in range(10)}
    played = play({"A": [SKIPS, SKIPS], **crowd}, artifacts=["dialogue"], queries={"A": [asks("none"), asks("inbox")]})
    last = [ask.request for ask in played.asks("A") if isinstance(ask.request, Act)][-1]
    assert [json.loads(line)["text"][0] for line in last.now.news] == [str(number) for number in range(10)]
    assert len(played.events(Observed)[0].observation["messages"]) == 10


def test_who_has_written_to_all_is_told_to_every_other_and_what_is_too_much_is_counted() -> None:
    crowd = {f"B{number}": [does("send", to="everyone", text=str(number))] for number in range(25)}
    played = play({**crowd, "A": [SKIPS, does("send", to="everyone", text="a"), SKIPS]}, artifacts=["dialogue"])
    first, second, third = (ask.request for ask in played.asks("A") if isinstance(ask.request, Act))
    assert [json.loads(line) for line in first.now.news] == [
        {"earlier_and_not_shown": 5},
        *({"message_from": f"B{number}", "to": "everyone", "text": str(number)} for number in range(5, 25)),
    ]
    assert (second.now.news, third.now.news) == ((), ()), "each is told once, and nobody of words of its own"


def test_of_more_notes_than_an_answer_holds_the_oldest_are_left_out_and_counted() -> None:
    writes = [asks("write_note", key=str(number), text="x" * 300) for number in range(20)]
    queries = [each for number in range(10) for each in (*writes[2 * number : 2 * number + 2], asks("none"))]
    queries += [asks("write_note", key="0", text="new"), asks("read_notes"), asks("none")]
    played = play({"A": [SKIPS] * 11, "B": []}, queries={"A": queries}, tools=["notebook"], observation_chars=1_500)
    found = played.events(Observed)[-1].observation
    assert list(found["notes"]) == ["0", "19", "18", "17", "16"]
    assert found["more_and_not_shown"] == 15
    assert len(json.dumps(found)) <= 1_500


def test_the_latest_trade_is_shown_first() -> None:
    played = play(
        {"A": [buys(5), buys(6), SKIPS], "B": [sells(5), sells(6)]},
        queries={"A": [*[asks("none")] * 2, asks("last_trades")]},
    )
    assert [trade["price"] for trade in played.events(Observed)[0].observation["trades"]] == [6, 5]


def test_restrictions_leave_an_action_alone_that_has_a_known_name_and_other_parameters() -> None:
    rules: tuple[RuleName, ...] = ("most_price", "most_quantity", "least_price", "keep_capital")
    for name in ("buy", "sell"):
        for rule in rules:
            assert Restriction(rule=rule, limit=1).allows(name, {"item": "hat"})


@pytest.mark.parametrize("artifact", ["marketplace", "call_market"])
def test_an_event_that_only_some_hear_names_them_as_private(artifact: str) -> None:
    """`Table.tell` then refuses every other audience."""
    config: dict[str, Any] = {
        "artifacts": [artifact, "dialogue", "bank"],
        "agents": [{"ids": ["A"], "values": {"wheat": 9}}],
        "settings": {artifact: {"price_max": 12}},
        "moderator": [{"round": 2, "question": "Why?"}],
        "rounds": 12,
    }
    heard = set()
    for seed in range(4):
        played = play({"A": [], "B": [does(None)], "C": []}, queries={}, bot="random", seed=seed, **config)
        for told in played.log:
            confidants = told.event.confidants("ABC")
            if isinstance(told.to, tuple):
                heard.add(told.event.kind)
                assert confidants is not None
                assert confidants >= {agent for agent in told.to if agent in "ABC"}, told
            elif told.to is Everyone:
                assert confidants is None, told
    private = {"acted", "forfeited", "observed", "remembered", "messaged", "banked", "redeemed", "transferred", "asked"}
    assert heard >= private | ({"ordered", "withdrawn"} if artifact == "call_market" else set())
    with pytest.raises(RulesBroken, match="acted is private, and is told to B, C"):
        Table(["A", "B", "C"], Chance(0)).tell(Acted("A", "skip", {}, True, ""), to=Everyone)
