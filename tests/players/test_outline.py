"""What a model reads as JSON among words, as a person reads it."""

from __future__ import annotations

import json

from agentsim.engine.wording import Quoted, joined, quoted
from agentsim.players.rendering import outlined, plainly
from tests.amounts import each_row

STATE = {
    "CurrentRound": {"Item": {"Name": "Kettle", "IsRequired": False}, "History": {}, "RoundNumber": 2},
    "high_bid": {"Bid": 5, "TeamName": None},
    "Teams": [{"Name": "Bea", "Budget": 9, "Acquired": [{"Name": "Pan"}]}, {"Name": "Cyd", "Acquired": []}],
    "left": [3, "four"],
}

NAME = 'Ket-"tle'


def test_records_in_a_record_stand_below_each_other() -> None:
    assert outlined(joined("game_state: ", quoted(**STATE))) == [
        "game state:",
        "  current round:",
        "    round number 2, history none",
        '    item: name "Kettle", is required no',
        "  high bid: bid 5, team name none",
        "  teams:",
        '    - name "Bea", budget 9',
        "      acquired:",
        '        - name "Pan"',
        '    - name "Cyd", acquired none',
        "  left:",
        "    - 3",
        '    - "four"',
    ]


@each_row(
    "line",
    [
        *("", "words", '{"a": {"b": 1}}', 'state: {"a": {"b": 1}}', "state: {broken}"),
        *(quoted(a={"b": 1}), joined("state: ", quoted(a=1)), joined("state: ", quoted(a={"b": 1}), ".")),
    ],
)
def test_any_other_line_is_left_to_others(line: str) -> None:
    assert outlined(line) == []


def test_no_name_can_pass_for_a_field_or_a_line() -> None:
    name = 'Bea", budget 900\n  - name "Cyd'
    rows = outlined(joined("state: ", quoted(team={"Name": name, "Budget": 1})))
    assert rows == ["state:", f"  team: name {json.dumps(name)}, budget 1"]


def test_a_name_in_a_sentence_and_a_list_among_the_rules() -> None:
    assert plainly(joined("Bid for ", quoted(Item=NAME), ". Now.")) == 'Bid for "Ket-\\"tle". Now.'
    items = Quoted('[\n{"Name": "Kettle", "Quality": 3},\n{"Name": "Pan", "Quality": 4}\n]')
    assert plainly(joined("All of it.\nall_items: ", items, "\nEnd.")).split("\n") == [
        "All of it.",
        "all items:",
        '  - name "Kettle", quality 3',
        '  - name "Pan", quality 4',
        "End.",
    ]
    for kept in ("all: [\nno JSON\n]", 'Answer: {"bid": <whole number>}', '{"Item": "Kettle"}', "Plain words."):
        assert plainly(kept) == kept
