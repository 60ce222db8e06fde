"""The tables that the page of any game has: by model, between each two, and what was said beside what was done."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from agentsim.engine.event import AGAINST, FOR, NAMED, NEITHER, Sign
from agentsim.engine.panel import DataTable
from agentsim.records.events import InteractionCount, Pair
from agentsim.records.history import History
from agentsim.report import markup
from agentsim.report.game_panels import (
    MOST_KINDS,
    MOST_PAIRS,
    MOST_PERIODS,
    MOST_ROWS,
    event_labels,
    model_table,
    pairs_table,
    said_and_done_table,
)
from agentsim.report.page import PageOptions, render
from agentsim.report.player_view import as_seen_by
from tests.report.dom import parse
from tests.report.sample import NOTHING, document, sample


def of_models(*models: str, **changes: Any) -> History:
    doc = document() | changes
    for record, model in zip(doc["players"][:4], models, strict=True):
        record["model"] = model
    return History.model_validate(doc)


def test_the_numbers_of_a_column_have_the_same_decimals_if_they_are_of_like_size() -> None:
    made = markup.table(DataTable("", ("a", "b", "c"), ((9.97, 1, 0.143), (12.0, 2, 1933.2), (None, 30, 7))))
    assert [[cell.text for cell in row] for row in made.rows] == [
        ["9.97", "1", "0.143"],
        ["12.00", "2", "1,933.2"],
        ["–", "30", "7"],
    ]


def by_model(history: History, actions: dict[str, Counter[str]]) -> dict[str, dict[str, Any]]:
    table = model_table(history, actions, event_labels(history.game))
    assert table is not None
    return {str(row[0]): dict(zip(table.columns, row, strict=True)) for row in table.rows}


DEEDS = {"A": Counter(pitch=3, vote=3), "B": Counter(pitch=1), "C": Counter(pitch=4), "D": Counter(vote=1)}


def test_deeds_are_means_over_the_players_of_a_model() -> None:
    found = by_model(of_models("x", "x", "x", "y"), DEEDS)
    assert found["x"] | {"fallbacks": None} == {
        "model": "x", "players": 3, "mean rank": 2.0, "pitch": 2.67, "vote": 1.0, "fallbacks": None,
    }  # fmt: skip
    assert (found["y"]["pitch"], found["y"]["vote"], found["y"]["mean rank"]) == (0.0, 1.0, 4.0)


def test_fallbacks_are_a_share_of_decisions() -> None:
    history = of_models("x", "y", "y", "y")
    asked = [decision for decision in history.decisions if decision.player == "B"]
    others = [decision for decision in history.decisions if decision.player in "CD"]
    fell = sum(decision.source == "fallback" for decision in (*asked, *others))
    assert fell
    found = by_model(history, DEEDS)
    assert found["y"]["fallbacks"] == round(fell / (len(asked) + len(others)), 3)
    assert found["x"]["fallbacks"] == 0


def test_bots_alone_have_no_column_of_fallbacks() -> None:
    history = of_models("x", "x", "y", "y")
    bots = [replace(decision, source="bot") for decision in history.decisions]
    assert "fallbacks" not in by_model(history.model_copy(update={"decisions": bots}), DEEDS)["x"]


def test_kinds_of_events_have_the_labels_that_the_game_gives_them() -> None:
    assert by_model(of_models("x", "x", "y", "y"), {player: Counter(eliminated=1) for player in "ABCD"})["x"][
        "elimination"
    ]


def test_one_model_or_one_player_each_compares_nothing() -> None:
    assert model_table(of_models("x", "x", "x", "x"), DEEDS, {}) is None
    assert model_table(sample(), DEEDS, {}) is None, "the cards of the players say it"


def test_as_one_player_saw_it_no_models_are_told() -> None:
    history = of_models("x", "x", "y", "y")
    assert "By model" in render(history, [], PageOptions(), name="run", css="")
    seen = as_seen_by(history, "A")
    assert "By model" not in render(seen, [], PageOptions(as_seen_by="A"), name="run", css="")


def test_without_an_end_there_are_no_ranks() -> None:
    found = by_model(of_models("x", "x", "x", "y", outcome=None, status="interrupted"), DEEDS)
    assert found["x"]["mean rank"] is None


def test_rare_kinds_stay_in_the_cards() -> None:
    many = {player: Counter({f"kind{index}": 20 - index for index in range(20)}) for player in "ABCD"}
    table = model_table(of_models("x", "x", "y", "y"), many, {})
    assert table is not None
    assert table.columns[3:-1] == tuple(f"kind{index}" for index in range(MOST_KINDS))


# between each two


def action(at: int, what: str, sign: Sign = NEITHER, times: int = 1, **more: float) -> InteractionCount:
    return InteractionCount(
        at, what, sign, times, int(more.get("after_naming", 0)), more.get("amount"), int(more.get("turned", 0))
    )


def titles(last: int) -> dict[int, str]:
    return {number: f"Turn {number}: Somebody" for number in range(last + 1)}


ADA_BO = Pair(
    "Ada",
    "Bo",
    (
        action(1, NAMED),
        action(1, "wrote to", times=2),
        action(1, "gave food", FOR, 2, after_naming=2, amount=7.5),
        action(3, "voted no", AGAINST, turned=1),
    ),
    ((3, AGAINST),),
)
BO_ADA = Pair("Bo", "Ada", (action(1, "wrote to"),), ())


def test_a_row_is_a_pair_and_a_column_a_round_in_which_anything_was_done() -> None:
    table = pairs_table([ADA_BO, BO_ADA], titles(9))
    assert table is not None
    assert table.columns == ("who to whom", "for", "against", "turned", "Turn 1", "Turn 3", "named in", "then for")
    assert table.title == "For and against each other"
    nothing = (None,) * 2
    assert table.rows == (
        (
            "Ada → Bo",
            2,
            1,
            "against (Turn\u00a03)",
            "wrote to\u00a0×2, +\u00a0gave food\u00a0×2 (7.5)",
            "−\u00a0voted no",
            1,
            1,
        ),
        ("Bo → Ada", None, None, None, "wrote to", None, *nothing),
    )
    assert "turns when" in table.note
    assert "Named in" in table.note


def test_where_there_is_only_talk_nothing_is_said_of_for_and_against() -> None:
    table = pairs_table([BO_ADA], titles(1))
    assert table is not None
    assert (table.title, table.columns) == ("Between each two", ("who to whom", "Turn 1"))
    assert "+" not in table.note


def test_there_is_no_table_where_nobody_did_anything_or_one_only_named_another() -> None:
    assert pairs_table([], {}) is None
    assert pairs_table([Pair("Ada", "Bo", (action(1, NAMED),), ())], titles(1)) is None


def test_of_many_rounds_several_share_a_column_and_nothing_is_counted_twice() -> None:
    actions = tuple(action(at, "voted no", AGAINST) for at in range(1, 101))
    table = pairs_table([Pair("Ada", "Bo", actions, ())], titles(100))
    assert table is not None
    spans = table.columns[2:]
    assert len(spans) == MOST_PERIODS
    assert (spans[0], spans[-1]) == ("Turn 1\u00a0to\u00a013", "Turn 92\u00a0to\u00a0100")
    counts = [int(str(cell).rpartition("×")[2]) for cell in table.rows[0][2:]]
    assert counts == [*[13] * 7, 9]
    assert table.rows[0][1] == sum(counts)


def test_of_many_pairs_the_busiest_are_shown_in_the_order_of_players_and_the_rest_is_said() -> None:
    many = [Pair("Ada", f"p{n}", (action(1, "voted no", AGAINST, 1 + n % 50),), ()) for n in range(100)]
    table = pairs_table(many, titles(1))
    assert table is not None
    assert len(table.rows) == MOST_PAIRS
    assert min(row[1] for row in table.rows if isinstance(row[1], int)) == 36
    names = [str(row[0]).rpartition("p")[2] for row in table.rows]
    assert names == sorted(names, key=int)
    assert f"{MOST_PAIRS} busiest of 100" in table.note


# said, thought and done

WORDS = {"speech": "I would never buy that.", "thought": "I need it badly.", "to": "B"}


def event(
    seq: int, content: str, visibility: Any = "all", heading: str = "A speaks", decision: int = 1
) -> dict[str, Any]:
    return {
        "seq": seq, "kind": "spoke", "heading": heading, "role": "player A", "content": content, "data": {},
        "visibility": visibility, "prompt": None, "reasoning": None, "metadata": {"decision": decision},
    }  # fmt: skip


def game(*events: dict[str, Any], decision: Any = None, reasoning: str = "", times: int = 1) -> History:
    doc = document()
    doc["rounds"] = [{"index": 0, "title": "Turn 4", "events": list(events)}]
    attempts = [{"messages": [], "completion": {"text": 0, "reasoning": 1, "usage": NOTHING}}] if reasoning else []
    made = {"wave": 1, "player": "A", "kind": "act", "fingerprint": "", "decision": decision or WORDS,
            "source": "model", "fallback_reason": None, "attempts": attempts, "parse": None}  # fmt: skip
    doc["decisions"] = [made | {"index": index, "place": index} for index in range(1, times + 1)]
    doc["texts"] = ["", reasoning]
    return History.model_validate(doc)


def said_rows(history: History, *, reasoning: bool = False) -> list[dict[str, Any]]:
    table = said_and_done_table(history, reasoning=reasoning)
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows] if table else []


def test_speech_thought_and_deed_of_one_decision_stand_in_one_row() -> None:
    found = said_rows(
        game(
            event(1, "I would never buy that."),
            event(2, "I need it badly.", ["A"], "A thinks"),
            event(3, "It costs 200.", "all", "A buys Baltic Avenue"),
        )
    )
    assert found == [
        {
            "when": "Turn 4", "who": "A", "said": "I would never buy that.", "to": "all",
            "thought": "I need it badly.", "did": "A buys Baltic Avenue",
        }
    ]  # fmt: skip
    [row] = said_rows(game(event(1, "I would never buy that."), event(2, "I need it badly.", [])))
    assert row["thought"] == "I need it badly.", "one for the log alone is one, too"


def test_words_to_some_name_them() -> None:
    [row] = said_rows(game(event(1, "I would never buy that.", ["A", "B"]), event(2, "done", heading="A buys")))
    assert (row["said"], row["to"], row["did"]) == ("I would never buy that.", "B", "A buys")


def test_words_alone_and_deeds_alone_compare_nothing() -> None:
    assert said_rows(game(event(1, "I would never buy that."))) == []
    assert said_rows(game(event(1, "It costs 200.", heading="A buys"))) == []


def test_an_event_that_is_words_and_deed_at_once_is_both() -> None:
    decision = {"offer": {"cash": 92, "actions": []}, "pitch": "Everybody wins."}
    [row] = said_rows(game(event(1, "Everybody wins.", heading="A offers B $92"), decision=decision))
    assert (row["said"], row["did"]) == ("Everybody wins.", "A offers B $92")


def test_reasoning_is_a_thought_where_the_page_may_hold_it() -> None:
    history = game(event(1, "I would never buy that."), reasoning="They must not know.")
    assert said_rows(history) == []
    [row] = said_rows(history, reasoning=True)
    assert row["reasoning"] == "They must not know.", "the model's reasoning is not the player's thought"


def test_words_are_found_in_nested_decisions() -> None:
    history = game(
        event(1, "Hello."),
        event(2, "voted", heading="A votes"),
        decision={"action": {"speech": " Hello. ", "tags": ["x"]}},
    )
    [row] = said_rows(history)
    assert (row["said"], row["did"]) == ("Hello.", "A votes")


def test_of_very_many_rows_the_first_are_shown() -> None:
    events = [
        part
        for index in range(1, MOST_ROWS + 3)
        for part in (
            event(2 * index, "I would never buy that.", decision=index),
            event(2 * index + 1, "I need it badly.", ["A"], decision=index),
        )
    ]
    table = said_and_done_table(game(*events, times=MOST_ROWS + 2), reasoning=False)
    assert table is not None
    assert len(table.rows) == MOST_ROWS
    assert table.note.endswith("The first 1,500 of 1,502.")


def test_a_column_in_which_nobody_has_anything_is_left_out() -> None:
    table = said_and_done_table(
        game(event(1, "I would never buy that."), event(2, "It costs 200.", "all", "A buys")), reasoning=False
    )
    assert table is not None
    assert table.columns == ("when", "who", "said", "to", "did")
    assert table.title == "Said and done"


def test_a_column_of_numbers_and_words_is_aligned_as_one() -> None:
    rows = (("Lamp", "passes", "B", None), ("Clock", 90, "A", 12), ("Rope", None, "A", "a word that goes on and on"))
    panel = DataTable("Bids", ("item", "A", "taken by", "price"), (*rows, ("Saw", 3, "B", 4)), heat=True)
    page = parse(render(sample(), [panel], PageOptions(), name="n", css="")).one("figure", cls="table")
    for column, number in (("A", True), ("taken by", False), ("price", True)):
        at = panel.columns.index(column)
        cells = [page.one("thead").all("th")[at], *(row.all("td")[at - 1] for row in page.one("tbody").all("tr"))]
        assert {"number" in cell.attrs.get("class", "").split() for cell in cells} == {number}, column


def test_a_column_of_long_words_with_a_number_among_them_is_aligned_as_words() -> None:
    words = "a word that goes on and on"
    panel = DataTable("Actions", ("item", "did"), (("Lamp", words), ("Clock", 90), ("Rope", words)))
    page = parse(render(sample(), [panel], PageOptions(), name="n", css="")).one("figure", cls="table")
    assert not page.all("td", cls="number")
