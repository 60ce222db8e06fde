"""The `[game]` table of the Agent Island project's files, and the same game in our words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentsim.engine.simulate import Simulation, simulate
from agentsim.errors import ScenarioError
from agentsim.games.agent_island import GAME
from agentsim.games.agent_island.config import AgentIslandConfig
from agentsim.games.agent_island.project import LONGEST, GameTable
from agentsim.games.agent_island.sidebars import ExchangeBegan, Paired, TakenAside, Whispered
from agentsim.games.agent_island.speeches import Pitched, Quipped
from agentsim.games.agent_island.view import IslandRequest, RoundBegan, Speech, Summarized
from agentsim.games.agent_island.votes import Eliminated, PollOpened, Vote, VoteCast, Won
from tests.amounts import each_row
from tests.games.agent_island.island import plain, requests, told

USUAL = ["pitches", "votes", "elimination", "consolidate_memory"]
FINAL = {"round": 3, "phases": ["pitches", "votes"], "round_type": "final"}
GAME_TABLE: dict[str, Any] = {
    "num_players": 4,
    "num_rounds": 3,
    "phases": USUAL,
    "rules_prompt": "\nFour begin, and one wins.\n",
    "round_overrides": [FINAL],
}


def seats(*humans: str, players: str = "ABCD") -> list[dict[str, Any]]:
    return [{"player_id": player, "model": "human" if player in humans else "x/y"} for player in players]


def translated(*humans: str, players: str = "ABCD", **changed: Any) -> dict[str, Any]:
    table = GameTable.model_validate_json(json.dumps(GAME_TABLE | changed))
    return table.translated(seats(*humans, players=players))


def play(*humans: str, players: str = "ABCD", memory: dict[str, str] | None = None, **changed: Any) -> Simulation:
    """A game of that table, on plain answers; `memory` is the players' own."""
    config = translated(*humans, players=players, **changed)["game_config"]
    GAME.admit(AgentIslandConfig.from_toml(config), list(players))
    return simulate(GAME, {**config, "memory_of": memory or {}}, list(players), bot=plain)


def test_the_usual_game_is_pitches_votes_and_a_final() -> None:
    played = play()
    assert [event.phases for event in played.events(RoundBegan)] == [
        ("pitches", "votes", "elimination", "summaries"),
        ("pitches", "votes", "elimination", "summaries"),
        ("pitches", "votes"),
    ]
    assert (len(played.events(Eliminated)), len(played.events(Won))) == (2, 1)
    rules = requests(played, IslandRequest)[0].prompt().rules[0]
    assert rules.startswith("Four begin, and one wins.\nThe record contains everything you have heard")


def test_those_who_summarize_do_where_a_round_consolidates_memory_and_nowhere_else() -> None:
    memory = {"A": "summary", "C": "summary"}
    played = play(memory=memory)
    assert [(entry.round, entry.event.player) for entry in told(played, Summarized)] == [
        (1, "A"),
        (1, "C"),
        (2, "A"),
        (2, "C"),
    ]
    assert play(memory=memory, phases=USUAL[:3]).events(Summarized) == []


def test_sidebars_are_secret_not_to_be_declined_and_opened_by_every_player() -> None:
    played = play(phases=["sidebars", *USUAL], phase_config={"sidebars": {"messages_per_exchange": 3}})
    assert [entry.round for entry in told(played, TakenAside)] == [1] * 4 + [2] * 3
    assert len(played.events(Whispered)) == 7 * 3
    assert played.events(Paired) == []
    assert not [ask for ask in played.asks() if ask.request.kind == "answer_approach"]


def test_a_rounds_sidebars_take_the_place_of_the_games_whole() -> None:
    again = {"round": 2, "phases": ["sidebars", *USUAL], "phase_config": {"sidebars": {"num_exchanges": 2}}}
    played = play(
        phases=["sidebars", *USUAL],
        phase_config={"sidebars": {"num_exchanges": 3, "messages_per_exchange": 4}},
        round_overrides=[again, FINAL],
    )
    assert [(event.exchanges, event.messages) for event in played.events(ExchangeBegan)] == [(3, 4)] * 3 + [(2, 2)] * 2
    assert len([entry for entry in told(played, Whispered) if entry.round == 1]) == 4 * 3 * 4
    assert len([entry for entry in told(played, Whispered) if entry.round == 2]) == 3 * 2 * 2


def test_quips_at_the_end_are_by_all_players_but_persons_and_each_hears_those_before() -> None:
    override = FINAL | {"phases": ["pitches", "votes", "opponent_quips"]}
    played = play(round_overrides=[override])
    assert len(played.events(Quipped)) == 12
    assert played.log[-1].event.kind == "quip"
    asked = [ask.request for ask in played.asks() if ask.request.kind == "quips"]
    first = asked[0].player
    assert [f"{first} on" in request.prompt().text() for request in asked] == [False, True, True, True]
    with_a_person = play("B", round_overrides=[override])
    assert {event.player for event in with_a_person.events(Quipped)} == {"A", "C", "D"}
    assert {event.about for event in with_a_person.events(Quipped)} == set("ABCD")


def test_votes_without_an_elimination_are_a_poll() -> None:
    poll = {"round": 1, "phases": ["pitches", "votes", "consolidate_memory"]}
    played = play(round_overrides=[poll, FINAL])
    assert [entry.round for entry in told(played, PollOpened)] == [1]
    assert [event.round for event in played.events(Eliminated)] == [2]


def test_rounds_may_be_without_votes_and_a_stray_elimination_does_nothing() -> None:
    talk = {"round": 1, "phases": ["elimination", "sidebars"]}
    played = play(round_overrides=[talk, FINAL])
    assert played.events(RoundBegan)[0].phases == ("sidebars",)
    assert [event.round for event in played.events(Eliminated)] == [2]


def test_words_are_as_long_as_any_game_allows_since_that_project_cuts_none() -> None:
    config = AgentIslandConfig.from_toml(translated()["game_config"])
    limits = {name: value for name, value in config if name.endswith("_chars")}
    assert limits == dict.fromkeys(
        ("pitch_chars", "explanation_chars", "message_chars", "quip_chars", "summary_chars"), LONGEST
    )
    long = "x" * 5_000
    played = simulate(GAME, translated()["game_config"], list("ABCD"), {"pitch": Speech(text=long)}, bot=plain)
    assert {event.text for event in played.events(Pitched)} == {long}


def test_a_voter_votes_before_it_explains_as_in_that_project() -> None:
    vote = requests(play(), Vote)[0]
    assert list(vote.schema()["properties"]) == ["vote", "explanation"]
    assert vote.answer_line.startswith('Answer: {"vote": "<')
    reply = json.dumps({"vote": vote.ballot[1], "explanation": "Since it said so."})
    assert vote.parse(reply).decision == VoteCast(vote=vote.ballot[1], explanation="Since it said so.")
    ours = simulate(GAME, {}, list("ABCD"), bot=plain)
    assert list(requests(ours, Vote)[0].schema()["properties"]) == ["explanation", "vote"]


def test_two_rounds_without_votes_differ_in_their_phases_alone() -> None:
    quiet = [{"round": 1, "phases": ["sidebars"]}, {"round": 2, "phases": ["pitches"]}]
    played = play(num_rounds=4, round_overrides=[*quiet, FINAL | {"round": 4}])
    assert [event.phases for event in played.events(RoundBegan)][:2] == [("sidebars",), ("pitches",)]
    assert [event.round for event in played.events(Eliminated)] == [3]


def test_a_game_may_be_without_a_final() -> None:
    played = play(round_overrides=[])
    assert (len(played.events(Eliminated)), played.events(Won)) == (3, [])
    assert played.outcome.winner is not None, "the last one standing"


def test_of_two_tables_for_a_round_the_last_one_counts() -> None:
    played = play(round_overrides=[{"round": 3, "phases": USUAL, "round_type": "final"}, FINAL | {"phases": ["votes"]}])
    assert played.events(RoundBegan)[2].phases == ("votes",)
    silent = {"round": 3, "phases": ["votes"]}
    assert play(round_overrides=[FINAL, silent]).events(Won), "what the last does not say stays"


def test_logging_changes_nothing_and_a_game_id_gives_the_seed() -> None:
    assert translated(logs_dir="elsewhere", log_prefix="mine") == translated(logs_dir="") == translated()
    first, second = translated(game_id="one"), translated(game_id="two")
    assert 0 <= first["seed"] < 2**63
    assert first["seed"] != second["seed"]
    assert first == translated(game_id="one")
    assert "seed" not in translated(game_id="")


@each_row(
    "changed, key, words",
    [
        ({"num_players": 5}, "game.num_players", "is 5, but there are 4 players"),
        ({"num_rounds": 4, "round_overrides": []}, "game.num_rounds", "4 of 4 players are eliminated"),
        (
            {"num_rounds": 4, "round_overrides": [FINAL | {"round": 4}]},
            "game.num_rounds",
            "3 of 4 players are eliminated",
        ),
        ({"round_overrides": [FINAL | {"round": 4}]}, "game.round_overrides.0.round", "there is no round 4"),
        ({"round_overrides": [FINAL | {"phases": USUAL}]}, "game.round_overrides", 'round 3 is "final" and has'),
        ({"round_overrides": [FINAL | {"round": 2}]}, "game.round_overrides", "more rounds follow"),
        ({"round_type": "final"}, "game.round_overrides", "more rounds follow"),
        ({"phases": ["votes", "elimination"] * 2}, "game.phases", "more than one vote"),
        ({"phases": ["pitches", "votes"]}, "game.phases", "its jury would be empty"),
    ],
)
def test_what_makes_no_game_is_refused_in_the_files_own_words(changed: dict[str, Any], key: str, words: str) -> None:
    with pytest.raises(ScenarioError, match=words) as caught:
        translated(**changed)
    assert caught.value.key == key
