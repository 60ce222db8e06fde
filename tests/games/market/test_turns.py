"""A turn: working memory, the last steps, queries and tools, forfeits, restrictions, simultaneous play, the end."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from agentsim.engine.play import GamePlay
from agentsim.engine.simulate import Simulation
from agentsim.errors import AmbiguousReply, DecisionError, UnreadableReply
from agentsim.games.market import GAME
from agentsim.games.market.artifacts.dialogue import Dialogue
from agentsim.games.market.config import MarketConfig
from agentsim.games.market.order_book import Traded
from agentsim.games.market.restrictions import _RULES, Restriction
from agentsim.games.market.state import Endowed, MarketEnded
from agentsim.games.market.turn import (
    Act,
    Acted,
    ActionForfeited,
    AskQuery,
    Brief,
    Briefed,
    BriefingAnswered,
    Forfeited,
    Observed,
    QueryForfeited,
    Remembered,
    ticker_line,
)
from agentsim.games.market.world import CAPITAL
from agentsim.records.run_files import RunFiles
from agentsim.runs.replay import prove
from agentsim.scenario.load import load
from tests.amounts import each_row
from tests.cli.command_line import ROOT
from tests.contract.harness import on_server
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer
from tests.games.market.market import SKIPS, asks, buys, does, play, results, sells
from tests.players.filled import Filled


def requests(played: Simulation, player: str, kind: type[Any]) -> list[Any]:
    return [ask.request for ask in played.asks(player) if isinstance(ask.request, kind)]


def test_a_turn_has_its_stages_in_order_and_the_answer_is_the_agents_alone() -> None:
    played = play({"A": [sells(5)], "B": [buys(5)]}, queries={"B": [asks("order_book", good="wheat")]})
    assert "Tools" not in requests(played, "B", AskQuery)[0].prompt().question[0], "there are none here"
    assert [ask.request.kind for ask in played.asks("B")] == ["briefing", "query", "action"]
    (told,) = [told for told in played.log if told.event.kind == "observed"]
    assert told.to == ("B",)
    assert played.events(Observed)[0].observation == {
        "good": "wheat",
        "bids": [],
        "asks": [{"price": 5, "quantity": 1}],
    }
    action = requests(played, "B", Act)[0].prompt().text()
    asked, answer = '{"good": "wheat"}', '{"good": "wheat", "bids": [], "asks": [{"price": 5, "quantity": 1}]}'
    assert f"OBSERVATION (order_book {asked}): {answer}" in action
    assert [(trade.buyer, trade.seller, trade.price) for trade in played.events(Traded)] == [("B", "A", 5)]


def test_a_market_without_queries_asks_for_actions_alone() -> None:
    played = play({"A": [SKIPS], "B": []}, queries=None)
    assert [ask.request.kind for ask in played.asks("A")] == ["briefing", "action"]
    head = requests(played, "A", Act)[0].prompt().text()
    assert "order_book" not in head


FOUR = "A turn has four stages:\n1. WORKING MEMORY: "
TWO = (
    "A turn has two stages:\n1. WORKING MEMORY: you are shown the text that you wrote with your last action.\n2. ACTION"
)


CONFIGS = [
    path for path in sorted((ROOT / "configs").glob("*.toml")) if 'game = "market"' in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_prompts_of_every_config_name_the_stages_that_a_turn_has(path: Path) -> None:
    scenario = load(path)
    config: Any = scenario.config
    run = GamePlay(GAME, config, [player.id for player in scenario.players], 1)
    wave, asked = run.start(), list[Any]()
    while wave is not None and len(asked) < 3 * len(scenario.players):
        asked += [ask.request for ask in wave.asks]
        wave = run.answer([GAME.bots["idle"](ask.request, run.bot_rng(ask)) for ask in wave.asks])
    assert asked
    for request in asked:
        text = request.prompt().text()
        assert (FOUR in text, TWO in text) == (config.queries, not config.queries)
        assert config.queries or not re.search("quer|observation", text, re.IGNORECASE)


@pytest.mark.parametrize(
    ("queries", "tools", "says"),
    [
        ({}, [], "2. QUERY: you may name one query, or none.\n3. OBSERVATION"),
        ({}, ["calculator"], "you may name one query, or none, and before it use tools, at most 2 times.\n"),
        (None, [], "last action.\n2. ACTION: you choose one action.\n"),
    ],
)
def test_the_stages_of_a_turn_are_those_that_there_are(queries: Any, tools: list[str], says: str) -> None:
    played = play({"A": [SKIPS], "B": []}, queries=queries, tools=tools)
    assert says in played.asks("A")[0].request.prompt().text()


def test_a_market_with_nothing_to_ask_for_has_two_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Dialogue, "inbox", None)
    played = play({"A": [SKIPS], "B": []}, queries={}, artifacts=["dialogue"])
    assert TWO in played.asks("A")[0].request.prompt().text()


def test_a_query_names_none_among_what_can_be_named() -> None:
    played = play({"A": [SKIPS], "B": []}, queries={}, tools=["calculator"])
    question = requests(played, "A", AskQuery)[0].prompt().question[0]
    assert "Name one query: none, order_book, last_trades, own_orders. Before it you may use tools" in question


def test_working_memory_is_shown_at_the_next_turn_to_its_agent_alone_and_is_cut() -> None:
    played = play({"A": [does("skip", "x" * 99), SKIPS], "B": []}, working_memory_chars=30)
    kept = "x" * 24 + " [cut]"
    assert [(event.agent, event.text) for event in played.events(Remembered)] == [("A", kept)]
    assert [request.now.memory for request in requests(played, "A", Act)] == ["", kept]
    assert f'WORKING MEMORY: {{"text": "{kept}"}}' in requests(played, "A", Act)[1].prompt().text()
    assert all("xxx" not in request.prompt().text() for request in requests(played, "B", Act))


def test_the_last_seven_steps_are_shown_and_prompts_stop_growing() -> None:
    played = play({"A": [buys(1)] * 50, "B": []})
    asked = requests(played, "A", Act)
    assert [len(request.now.steps) for request in asked] == [0, 1, 2, 3, 4, 5, 6, *[7] * 43]
    first = [json.loads(line) for line in asked[12].now.steps]
    assert [step["round"] for step in first] == [6, 7, 8, 9, 10, 11, 12]
    assert first[0]["action_parameters"] == {"good": "wheat", "price": 1, "quantity": 1}
    assert first[0]["result"] == "Order 6 rests with 1 at your price."
    lengths = [len(request.prompt().text()) for request in asked]
    assert max(lengths[25:]) - lengths[20] < 60, "what is shown after fifty rounds is as long as after twenty"


def test_what_happens_to_an_agent_between_its_turns_is_in_its_own_information_and_bounded() -> None:
    played = play({"A": [sells(1, 5), SKIPS, SKIPS], "B": [buys(1, 2), buys(1, 3)]}, order=["AB", "BA", "AB"])
    second = requests(played, "A", Act)[1]
    assert [json.loads(line) for line in second.now.news] == [
        {"your_order": 1, "sold": 2, "good": "wheat", "price": 1},
        {"your_order": 1, "sold": 3, "good": "wheat", "price": 1},
    ]
    third = requests(played, "A", Act)[2]
    assert json.loads(third.now.steps[1])["heard"][0]["sold"] == 2
    assert third.now.news == (), "it is told once"
    crowd = {f"B{number}": [does("send", to="A", text="hi")] for number in range(25)}
    played = play({"A": [SKIPS, SKIPS], **crowd}, artifacts=["dialogue"])
    news = requests(played, "A", Act)[1].now.news
    assert (len(news), json.loads(news[0])) == (21, {"earlier_and_not_shown": 5})


def test_tools_do_not_spend_the_turn_and_are_counted() -> None:
    played = play(
        {"A": [SKIPS], "B": []},
        queries={
            "A": [
                asks("calculator", expression="2 + 3"),
                asks("write_note", key="k", text="v"),
                asks("own_orders"),
            ]
        },
        tools=["calculator", "notebook"],
        tool_calls=2,
    )
    assert [event.observation for event in played.events(Observed)] == [{"result": 5}, {"notes": 1}, {"orders": []}]
    queries = requests(played, "A", AskQuery)
    assert [request.calls_left for request in queries] == [2, 1, 0]
    offered = [request.schema()["properties"]["query"]["enum"] for request in queries]
    assert ["calculator" in names for names in offered] == [True, True, False]
    assert len(requests(played, "A", Act)[0].observed) == 3


def test_the_last_steps_show_every_question_of_a_turn_with_its_answer() -> None:
    sums = [asks("calculator", expression="1 + 1"), asks("calculator", expression="1 +"), asks("own_orders")]
    played = play({"A": [SKIPS, SKIPS], "B": []}, queries={"A": sums}, tools=["calculator"])
    first, second = requests(played, "A", Act)
    assert 'OBSERVATION (calculator {"expression": "1 + 1"}): {"result": 2}' in first.prompt().text()
    assert "OBSERVATION (own_orders): " in first.prompt().text()
    assert json.loads(second.now.steps[0])["observed"] == [
        {"calculator": {"expression": "1 + 1"}, "answer": {"result": 2}},
        {"calculator": {"expression": "1 +"}, "answer": {"refused": "that is no expression"}},
        {"own_orders": {}, "answer": {"orders": []}},
    ]


@pytest.mark.parametrize(("calls", "asked"), [(0, 0), (1, 1), (2, 2)])
def test_nobody_is_asked_for_a_query_where_nothing_is_left_to_ask_for(
    monkeypatch: pytest.MonkeyPatch, calls: int, asked: int
) -> None:
    monkeypatch.setattr(Dialogue, "inbox", None)
    sums = [asks("calculator", expression="1 + 1")] * asked
    played = play(
        {"A": [SKIPS], "B": []},
        queries={"A": sums},
        artifacts=["dialogue"],
        tools=["calculator"][:calls],
        tool_calls=calls,
    )
    assert len(requests(played, "A", AskQuery)) == asked


@pytest.mark.parametrize("off", [{"queries": False}, {"tool_calls": 0}], ids=lambda off: next(iter(off)))
def test_tools_that_nobody_could_use_are_an_error(off: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=r"tools: they are used in the query stage, which \w+ = \w+ leaves out"):
        MarketConfig.from_toml({"tools": ["calculator"], **off})


def test_a_query_that_is_wrong_is_answered_with_the_reason_and_one_outside_the_format_is_forfeited() -> None:
    played = play({"A": [SKIPS], "B": [SKIPS]}, queries={"A": [asks("order_book", good="tin")], "B": [asks(None)]})
    assert [event.observation for event in played.events(Observed)] == [{"refused": "good must be one of: wheat"}]
    assert [(event.agent, event.stage) for event in played.events(Forfeited)] == [("B", "query")]
    assert len(requests(played, "B", Act)) == 1, "the action is not lost"


def test_an_answer_that_is_too_long_is_cut_to_what_the_config_allows() -> None:
    orders = [buys(1 + number % 5) for number in range(9)]
    played = play(
        {"A": [*orders, SKIPS], "B": []},
        queries={"A": [*[asks("none")] * 9, asks("own_orders")]},
        observation_chars=100,
    )
    (seen,) = played.events(Observed)
    assert len(seen.observation["too_long"]) == 100


ACTIONS = {
    "plain": '{"action": "skip", "action_parameters": {}, "working_memory": "m"}',
    "none as parameters": '{"action": "skip", "action_parameters": "None", "working_memory": "m"} and so on {"a": 1}',
    "white space before": '\n  {"action": "skip", "action_parameters": null, "working_memory": "m"}',
    "memory that is no text": '{"action": "skip", "action_parameters": {}, "working_memory": {"m": 1}}',
}
FORFEITS = {
    "words before": 'I skip. {"action": "skip", "action_parameters": {}, "working_memory": "m"}',
    "a fence before": '```json\n{"action": "skip", "action_parameters": {}, "working_memory": "m"}\n```',
    "no memory": '{"action": "skip", "action_parameters": {}}',
    "no object": "skip",
    "an unknown action": '{"action": "dance", "action_parameters": {}, "working_memory": "m"}',
    "parameters that are none": '{"action": "skip", "action_parameters": [1], "working_memory": "m"}',
}


def act(**config: Any) -> Act:
    request: Act = requests(play({"A": [SKIPS], "B": []}, **config), "A", Act)[0]
    return request


@pytest.mark.parametrize("text", ACTIONS.values(), ids=ACTIONS)
def test_a_reply_begins_with_the_action_and_what_follows_is_ignored(text: str) -> None:
    decision = act().parse(text).decision
    assert (decision.action, decision.action_parameters) == ("skip", {})
    assert "m" in decision.working_memory


@each_row("text", FORFEITS.values())
def test_a_reply_outside_the_format_is_no_action(text: str) -> None:
    request = act()
    with pytest.raises(DecisionError):
        request.check(request.parse(text).decision)


def test_a_lenient_market_takes_words_above_the_object() -> None:
    said = 'Well. {"price": 3} is too dear.\n{"action": "skip"}'
    assert act(lenient_format=True).parse(said).decision.action == "skip"
    with pytest.raises(UnreadableReply):
        act().parse(said)
    for doubt in (f"{said}\nThat is it.", '{"action": "buy", "action_parameters": {}} No: {"action": "skip"}'):
        with pytest.raises(AmbiguousReply):
            act(lenient_format=True).parse(doubt)


def test_a_forfeit_loses_the_action_keeps_the_memory_and_is_counted() -> None:
    played = play({"A": [does("skip", "kept"), does(None), SKIPS], "B": []})
    assert [(event.agent, event.stage) for event in played.events(Forfeited)] == [("A", "action")]
    assert requests(played, "A", Act)[2].now.memory == "kept"
    (ended,) = played.events(MarketEnded)
    assert {result.agent: result.forfeits for result in ended.results} == {"A": 1, "B": 0}


@pytest.mark.parametrize(
    ("says", "reasks", "repair"), [("", 0, False), ("[defaults]\nreasks = 2\nrepair = true", 2, True)]
)
def test_a_market_mends_nothing_and_asks_nothing_again_unless_the_scenario_says_so(
    says: str, reasks: int, repair: bool, tmp_path: Path
) -> None:
    seats = '[[players]]\nid = "A"\nmodel = "ollama/x"\n[[players]]\nid = "B"\nmodel = "ollama/x"'
    (tmp_path / "x.toml").write_text(f'game = "market"\n{says}\n{seats}', encoding="utf-8")
    assert {(plan.reasks, plan.repair) for plan in load(tmp_path / "x.toml").players} == {(reasks, repair)}


@pytest.mark.parametrize("config", [(), ("defaults.repair=true",)])
def test_json_that_json_loads_cannot_read_forfeits_the_stage_unless_the_scenario_mends_it(
    config: tuple[str, ...], tmp_path: Path
) -> None:
    def says(body: Any) -> str:
        text = body["messages"][-1]["content"]
        broken = '{"action": "skip", "action_parameters": {}, "working_memory": "m",}'
        return broken if "ACTION:" in text else varied_by_schema(body)

    with FakeServer(says).in_thread() as server:
        result = on_server("market", server.url(), tmp_path, "defaults.reasks=0", *config)
    told = [event for part in result.history["rounds"] for event in part["events"]]
    kinds = {kind: len([event for event in told if event["kind"] == kind]) for kind in ("acted", "forfeited")}
    assert kinds == ({"acted": 6, "forfeited": 0} if config else {"acted": 0, "forfeited": 6})


def test_the_briefing_is_answered_with_a_skip_or_in_words() -> None:
    played = play({"A": [], "B": []}, answers={"briefing": {"A": BriefingAnswered(action="skip", working_memory="go")}})
    assert [(event.agent, event.understood, event.text) for event in played.events(Briefed)] == [
        ("A", True, "go"),
        ("B", True, ""),
    ]
    assert requests(played, "A", Act)[0].now.memory == "go"
    request = requests(played, "A", Brief)[0]
    said = request.parse("What is a round?").decision
    assert (said.action, said.working_memory) == ("unclear", "What is a round?")
    assert play({"A": [], "B": []}, briefing=False).events(Briefed) == []


@pytest.mark.parametrize(
    ("rule", "action"),
    [
        ("one_unit", buys(1, 2)),
        ({"rule": "most_quantity", "limit": 3}, sells(1, 4)),
        ({"rule": "most_price", "limit": 9}, buys(10)),
        ({"rule": "least_price", "limit": 5}, sells(4)),
        ({"rule": "keep_capital", "limit": 50}, buys(6, 9)),
        ("only_buy", sells(1)),
        ("only_sell", buys(1)),
        ("buy_within_value", buys(8)),
        ("sell_within_value", sells(6)),
        ("no_messages_to_all", does("send", to="everyone", text="hi")),
        ("no_borrowing", does("borrow", amount=1, good="wheat", quantity=1)),
    ],
)
def test_a_restriction_is_shown_in_words_and_enforced_with_them(rule: Any, action: Any) -> None:
    own = {"ids": ["A"], "restrictions": [rule], "values": {"wheat": 7}}
    config: dict[str, Any] = {"artifacts": ["marketplace", "dialogue", "bank"], "agents": [own]}
    played = play({"A": [action], "B": [action]}, **config)
    words = Restriction.model_validate(rule if isinstance(rule, dict) else {"rule": rule}).words
    assert f"- {words}" in requests(played, "A", Act)[0].prompt().text()
    assert words not in requests(played, "B", Act)[0].prompt().text()
    assert results(played, "A") == [f"Refused: {words}"]
    assert results(played, "B") != [f"Refused: {words}"], "only whom it holds for is refused"
    (ended,) = played.events(MarketEnded)
    assert next(result for result in ended.results if result.agent == "A").refused == 1


def test_a_restriction_holds_for_what_an_order_is_replaced_by() -> None:
    own = {"ids": ["A"], "restrictions": ["buy_within_value"], "values": {"wheat": 7}}
    replaced = does("replace", order=1, price=8, quantity=1)
    played = play({"A": [buys(5), replaced, does("replace", order=1, price=6, quantity=1)], "B": []}, agents=[own])
    assert results(played, "A")[1:] == [
        "Refused: A buy price may not exceed your value of the unit.",
        "Your order 1 is withdrawn. Order 2 rests with 1 at your price.",
    ]


def test_every_restriction_is_tried_above() -> None:
    (mark,) = test_a_restriction_is_shown_in_words_and_enforced_with_them.pytestmark
    tried = {rule if isinstance(rule, str) else rule["rule"] for rule, _ in mark.args[1]}
    assert tried == set(_RULES)


def test_what_restrictions_allow_is_done() -> None:
    own = {"ids": ["A"], "restrictions": ["buy_within_value", "one_unit"], "values": {"wheat": 7}}
    played = play({"A": [buys(7)], "B": []}, agents=[own])
    assert [event.accepted for event in played.events(Acted) if event.agent == "A"] == [True]


def test_at_the_same_time_all_decide_on_one_state_and_act_in_the_drawn_order() -> None:
    played = play(
        {"A": [sells(5)], "B": [sells(4)], "C": [buys(5)]},
        queries={"C": [asks("order_book", good="wheat")]},
        order=["ABC"],
        simultaneous=True,
    )
    assert [event.observation["asks"] for event in played.events(Observed)] == [[]], "nobody has acted yet"
    waves = [[ask.request.kind for ask in wave.asks] for wave, _ in played.waves]
    assert waves == [["briefing"] * 3, ["query"] * 3, ["action"] * 3]
    assert [(trade.seller, trade.price) for trade in played.events(Traded)] == [("B", 4)]


def test_the_order_of_a_round_is_drawn_anew() -> None:
    from agentsim.engine.simulate import simulate
    from agentsim.games.market.state import OrderDrawn

    played = simulate(GAME, {"rounds": 9, "briefing": False}, ["A", "B", "C"], bot="idle")
    assert len({event.order for event in played.events(OrderDrawn)}) > 2


def test_a_stable_market_ends() -> None:
    played = play({"A": [sells(5)], "B": [buys(5)]}, order=["AB"], rounds=20, stable_rounds=3)
    assert played.outcome.reason == "the market was stable: no trade in 3 rounds"
    said = "Number of rounds: at most 20; the simulation ends earlier after 3 rounds without a trade\n"
    assert said in played.asks()[0].request.prompt().text()
    assert played.log[-1].round == 4


@pytest.mark.parametrize(("by", "winner"), [("capital", "A"), ("wealth", None)])
def test_standings_go_by_capital_or_with_goods_at_their_last_price(by: str, winner: str | None) -> None:
    played = play({"A": [sells(20)], "B": [buys(20)]}, standings=by)
    assert played.outcome.winner == winner
    scores = {place.player: place.score for place in played.outcome.standings}
    assert scores["A"] == {"capital": 120, "wealth": 300}
    assert scores["B"] == {"capital": 80, "wealth": 300}


def test_agents_begin_with_what_the_config_gives_them() -> None:
    own = [{"ids": ["B"], "capital": 7, "goods": {"wheat": 3}}, {"ids": ["C"], "goods": {}}]
    played = play({"A": [], "B": [], "C": []}, agents=own)
    assert {event.agent: event.holdings for event in played.events(Endowed)} == {
        "A": {CAPITAL: 100, "wheat": 10},
        "B": {CAPITAL: 7, "wheat": 3},
        "C": {CAPITAL: 100},
    }


@pytest.mark.parametrize(
    ("kind", "lines", "answer"),
    [
        (
            Act,
            ("buy", "wheat", "5", "2", "wait"),
            {
                "action": "buy",
                "action_parameters": {"good": "wheat", "price": 5, "quantity": 2},
                "working_memory": "wait",
            },
        ),
        (Act, ("skip", "m"), {"action": "skip", "action_parameters": {}, "working_memory": "m"}),
        (AskQuery, ("calculator", "2 + 3"), {"query": "calculator", "query_parameters": {"expression": "2 + 3"}}),
        (AskQuery, ("none",), {"query": "none", "query_parameters": {}}),
    ],
)
def test_a_person_is_asked_for_the_parameters_of_what_it_chose_alone(
    kind: type[Any], lines: tuple[str, ...], answer: dict[str, Any]
) -> None:
    played = play({"A": [SKIPS], "B": []}, queries={}, artifacts=["marketplace", "dialogue"], tools=["calculator"])
    request = requests(played, "A", kind)[0]
    assert Filled(request, *lines).answer() == answer
    request.check(request.parse(json.dumps(answer)).decision)


@pytest.mark.parametrize("single", [False, True])
def test_what_an_order_frees_as_it_takes_the_place_of_another_counts_as_free(single: bool) -> None:
    again = buys if single else lambda price: does("replace", order=1, price=price, quantity=1)
    config: dict[str, Any] = {"settings": {"marketplace": {"single_unit": single}}}
    played = play(
        {"A": [buys(60), again(71), again(70)], "B": []},
        restrictions=[{"rule": "keep_capital", "limit": 30}],
        **config,
    )
    assert [event.accepted for event in played.events(Acted) if event.agent == "A"] == [True, False, True]


def test_the_ticker_shows_what_is_left_of_an_order_that_has_traded() -> None:
    played = play({"A": [sells(5, 1), SKIPS], "B": [buys(6, 3)]}, ticker=True)
    assert "TICKER of wheat since your last turn, newest last: ask 5; traded at 5; bid 6." in (
        requests(played, "A", Act)[1].prompt().text()
    )


def test_what_a_forfeited_reply_lacked_is_told_to_its_agent_alone_and_replays(tmp_path: Path) -> None:
    def says(body: Any) -> str:
        text = body["messages"][-1]["content"]
        if "QUERY:" in text:
            return "The book, please."
        return '{"action": "skip", "action_parameters": {}}' if "ACTION:" in text else varied_by_schema(body)

    for explains in ("true", "false"):
        logs = tmp_path / explains
        with FakeServer(says).in_thread() as server:
            config = f"game_config.explain_forfeits={explains}"
            result = on_server("market", server.url(), logs, "defaults.reasks=0", config)
        assert prove(RunFiles(logs, "run")).complete
        told = [event for part in result.history["rounds"] for event in part["events"] if event["kind"] == "forfeited"]
        lacked = {"The object lacks `working_memory`.", "There is no decision in the reply."}
        assert {event["data"].get("lacked") for event in told} == (lacked if explains == "true" else {""})
        assert {len(event["visibility"]) for event in told} == {1}


def test_an_agent_reads_what_its_forfeited_replies_lacked() -> None:
    query, action = QueryForfeited(lacked="no words"), ActionForfeited(lacked="no key")
    played = play({"A": [action, SKIPS], "B": []}, queries={"A": [query]})
    first, second = requests(played, "A", Act)
    outside = "The reply was outside the format"
    assert f'OBSERVATION (forfeited): {{"reason": "{outside}: no words"}}' in first.prompt().text()
    assert json.loads(second.now.steps[0])["forfeited"] == f"{outside}: no key"


@pytest.mark.parametrize("queries", [{}, None])
def test_an_agent_sees_its_open_orders_and_what_it_has_with_every_artifact(queries: Any) -> None:
    artifacts = ["marketplace", "bank"]
    moves = [sells(9, 2), does("deposit", amount=30), SKIPS]
    played = play({"A": moves, "B": [buys(5), sells(8)]}, artifacts=artifacts, queries=queries)
    third = requests(played, "A", Act)[2]
    quotes = {} if queries is not None else {"best_quotes": {"wheat": {"bid": 5, "ask": 8}}}
    assert third.now.shown["marketplace"] == {**quotes, "your_orders": ["1 (sell 2 wheat at 9)"]}
    assert third.now.shown["bank"] == {"deposit": 30}
    text = third.prompt().text()
    assert '"your_orders": ["1 (sell 2' in text
    assert "INVENTORY: capital 70, wheat 10 (8 free)." in text


@pytest.mark.parametrize(("artifact", "quotes"), [("marketplace", "best_quotes"), ("lmsr", "next_share")])
def test_quotes_are_shown_unasked_in_a_market_without_a_query_stage_alone(artifact: str, quotes: str) -> None:
    asking = play({"A": [SKIPS], "B": [SKIPS]}, artifacts=[artifact], queries={})
    for ask in asking.asks():
        assert quotes not in ask.request.prompt().text()
    silent = play({"A": [SKIPS], "B": [SKIPS]}, artifacts=[artifact])
    for request in requests(silent, "A", Act):
        assert f'{artifact.upper()}: {{"{quotes}": ' in request.prompt().text()


def test_fields_of_a_schema_that_were_not_asked_for_are_not_echoed() -> None:
    nulls: dict[str, Any] = {"price": None, "quantity": None, "order": None}
    played = play(
        {"A": [does("skip", **nulls), SKIPS], "B": []},
        queries={"A": [asks("own_orders", good=None)]},
    )
    first, second = requests(played, "A", Act)
    assert "OBSERVATION (own_orders): " in first.prompt().text()
    assert "null" not in "".join(second.now.steps)


def test_the_last_seven_steps_are_whole_and_the_past_of_the_book_stands_in_them() -> None:
    book = asks("order_book", good="wheat")
    played = play({"A": [SKIPS] * 9, "B": [sells(20 - number) for number in range(9)]}, queries={"A": [book] * 9})
    steps = [json.loads(line) for line in requests(played, "A", Act)[8].now.steps]
    asked = [step["observed"] for step in steps]
    assert [each["order_book"] for (each,) in asked] == [{"good": "wheat"}] * 7
    assert [each["answer"]["asks"][0]["price"] for (each,) in asked] == [20, 19, 18, 17, 16, 15, 14]


@pytest.mark.parametrize("simultaneous", [False, True])
def test_a_step_holds_the_ticker_that_it_showed(simultaneous: bool) -> None:
    moves = {"A": [buys(3), buys(4), *[SKIPS] * 8], "B": [sells(20 - number) for number in range(10)]}
    played = play(moves, ticker=True, simultaneous=simultaneous, window=3)
    asked = requests(played, "A", Act)
    for number, request in enumerate(asked):
        shown = [json.loads(line).get("ticker") for line in request.now.steps]
        before = asked[max(0, number - 3) : number]
        assert shown == [ticker_line(each.now.signals) if each.now.signals else None for each in before]
    assert any("ask 17" in line for line in asked[6].now.steps)


def test_traits_are_the_scenarios_to_name_for_all_or_for_some() -> None:
    shy = {"name": "shy", "text": "You say little.", "agents": ["A"]}
    played = play({"A": [SKIPS], "B": [SKIPS]}, traits=[shy, {"name": "calm", "text": "You wait."}], window=5)
    texts = {player: requests(played, player, Act)[0].prompt().text() for player in "AB"}
    assert "- shy: You say little.\n- calm: You wait.\n" in texts["A"]
    assert "shy" not in texts["B"]
    assert "- calm: You wait.\n" in texts["B"]
    assert all("You are also shown your last 5 steps;" in text for text in texts.values())


BANKER: dict[str, Any] = {"name": "banker", "text": "You know the bank.", "agents": ["A"], "artifacts": ["bank"]}
QUICK: dict[str, Any] = {"name": "quick", "text": "You reckon fast.", "agents": ["B"], "tools": ["calculator"]}


def test_a_trait_brings_the_actions_queries_and_tools_that_it_names_to_its_agents_alone() -> None:
    played = play(
        {"A": [does("deposit", amount=30), SKIPS], "B": [SKIPS], "C": [SKIPS]},
        queries={"A": [asks("bank_account")], "B": [asks("calculator", expression="1 + 1")]},
        traits=[BANKER, QUICK],
    )
    assert results(played, "A")[0] == "Deposit 30, loan 0."
    offered = {player: requests(played, player, Act)[0].names for player in "ABC"}
    bank = ("deposit", "withdraw", "borrow", "repay")
    assert offered == {
        "A": (*offered["C"], *bank),
        "B": offered["C"],
        "C": ("skip", "buy", "sell", "replace", "cancel"),
    }
    queries = {player: [*requests(played, player, AskQuery)[0].offered] for player in "ABC"}
    assert queries["A"] == [*queries["C"], "bank_account"]
    assert queries["B"] == [*queries["C"], "calculator"]
    texts = {player: requests(played, player, Act)[0].prompt().text() for player in "ABC"}
    assert "- banker: You know the bank.\n  bank: keeps deposits" in texts["A"]
    assert "    - deposit(amount): put capital into the bank\n" in texts["A"]
    assert "- quick: You reckon fast.\n  - calculator(expression): evaluates" in texts["B"]
    assert "use tools, at most 2 times" in texts["B"]
    assert all("Number of artifacts: 1\n" in text for text in texts.values())
    assert not re.search("bank|calculator|use tools", texts["C"])
    assert requests(played, "A", Act)[1].now.shown["bank"] == {"deposit": 30}
    assert "bank" not in requests(played, "B", Act)[1].now.shown


def test_what_a_trait_does_not_bring_to_an_agent_is_no_action_or_query_of_it() -> None:
    played = play({"A": [SKIPS], "B": [SKIPS]}, queries={}, traits=[BANKER])
    for kind, key, name in ((Act, "action", "deposit"), (AskQuery, "query", "bank_account")):
        given = {"action_parameters": {"amount": 1}, "working_memory": ""} if kind is Act else {}
        said = json.dumps({key: name, **given})
        mine, other = (requests(played, player, kind)[0] for player in "AB")
        mine.check(mine.parse(said).decision)
        with pytest.raises(DecisionError):
            other.check(other.parse(said).decision)


def test_agents_with_the_same_artifacts_and_tools_share_one_menu() -> None:
    played = play({"A": [SKIPS], "B": [SKIPS], "C": [SKIPS]}, traits=[BANKER])
    menus = {player: requests(played, player, Act)[0].menu for player in "ABC"}
    assert menus["B"] is menus["C"]
    assert menus["A"] is not menus["B"]
    assert len({requests(played, player, Act)[0].prompt().rules[0] for player in "ABC"}) == 1, "the head is the same"
