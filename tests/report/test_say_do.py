"""What was said beside what was thought and done by the same decision; whose words they are, the decision shows."""

from __future__ import annotations

from typing import Any

from agentsim.history.record import History
from agentsim.report.tables import MOST_ROWS, say_do_table
from tests.report.sample import document, sample

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
    tries = [{"messages": [], "reply": None, "reasoning": [0] if reasoning else None, "error": None}]
    made = {"wave": 1, "player": "A", "kind": "act", "decision": decision or WORDS, "source": "model",
            "fallback_reason": None, "tries": tries, "parse": None, "model": "m", "provider": None,
            "usage": None}  # fmt: skip
    doc["decisions"] = [made | {"index": index} for index in range(1, times + 1)]
    doc["texts"] = [reasoning] if reasoning else []
    return History.model_validate(doc)


def rows(history: History, *, reasoning: bool = False) -> list[dict[str, Any]]:
    table = say_do_table(history, reasoning=reasoning)
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows] if table else []


def test_speech_thought_and_deed_of_one_decision_stand_in_one_row() -> None:
    found = rows(
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


def test_a_thought_for_the_log_alone_is_one_too() -> None:
    [row] = rows(game(event(1, "I would never buy that."), event(2, "I need it badly.", [])))
    assert row["thought"] == "I need it badly."


def test_words_to_some_name_them() -> None:
    [row] = rows(game(event(1, "I would never buy that.", ["A", "B"]), event(2, "done", heading="A buys")))
    assert (row["said"], row["to"], row["did"]) == ("I would never buy that.", "B", "A buys")


def test_words_alone_and_deeds_alone_compare_nothing() -> None:
    assert rows(game(event(1, "I would never buy that."))) == []
    assert rows(game(event(1, "It costs 200.", heading="A buys"))) == []


def test_an_event_that_is_words_and_deed_at_once_is_both() -> None:
    decision = {"offer": {"cash": 92, "deeds": []}, "pitch": "Everybody wins."}
    [row] = rows(game(event(1, "Everybody wins.", heading="A offers B $92"), decision=decision))
    assert (row["said"], row["did"]) == ("Everybody wins.", "A offers B $92")


def test_reasoning_is_a_thought_where_the_page_may_hold_it() -> None:
    history = game(event(1, "I would never buy that."), reasoning="They must not know.")
    assert rows(history) == []
    [row] = rows(history, reasoning=True)
    assert row["thought"] == "They must not know."


def test_words_are_found_in_nested_decisions() -> None:
    history = game(
        event(1, "Hello."),
        event(2, "voted", heading="A votes"),
        decision={"action": {"speech": " Hello. ", "tags": ["x"]}},
    )
    [row] = rows(history)
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
    table = say_do_table(game(*events, times=MOST_ROWS + 2), reasoning=False)
    assert table is not None
    assert len(table.rows) == MOST_ROWS
    assert table.note.endswith("The first 1,500 of 1,502.")


def test_the_sample_has_some_only_with_its_reasoning() -> None:
    table = say_do_table(sample(), reasoning=True)
    assert table is not None
    assert {row[1] for row in table.rows} <= {"A", "B", "C", "D"}


def test_a_column_in_which_nobody_has_anything_is_left_out() -> None:
    table = say_do_table(
        game(event(1, "I would never buy that."), event(2, "It costs 200.", "all", "A buys")), reasoning=False
    )
    assert table is not None
    assert table.columns == ("when", "who", "said", "to", "did")
    assert table.title == "Said and done"
