"""A sample of the corpus through whole games: what the history holds of a reply, and what other players hear of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from agentsim.scenario.load import load
from tests.playing import play_scenario
from tests.replies.asked import ASKED, asked, scenario_of
from tests.replies.corpus import Outcome, Reply, Verdict, judged, replies, shown, value_at

LEAST = 120
OF_EVERY = 5
"""Of the replies to one question, one of so many is put into a game; of those that hold thinking, every second."""
PADDING = 60
"""How often the last decision of a kind is repeated: a game that went another way may ask more often."""


class Played(NamedTuple):
    """What a run made of a reply."""

    reply: Reply
    name: str
    outcome: Outcome
    reasoning: str
    heard: str
    """All that reaches other players, or the moderator."""
    turned_away: bool
    """Whether the game itself counts an invalid action of this player."""
    status: str


def sample() -> Iterator[tuple[Reply, str]]:
    """Replies with one of their questions each, and always the same."""
    met: dict[tuple[str, bool], int] = {}
    for reply in replies():
        name = reply.asked[len(reply.id) % len(reply.asked)]
        silent = not (reply.thought or reply.unheard)
        met[name, silent] = number = met.get((name, silent), -1) + 1
        if number % (OF_EVERY if silent else 2) == 0:
            yield reply, name


@pytest.fixture(scope="module", params=[12, pytest.param(3, marks=pytest.mark.slow)])
def played(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Played]:
    """One game for each reply of the sample, or for one of so many."""
    folder = tmp_path_factory.mktemp("games")
    some = sorted(sampled(), key=lambda each: each[1])[:: request.param]  # some of every question
    return [play(reply, name, folder / str(number)) for number, (reply, name) in enumerate(some)]


def play(reply: Reply, name: str, folder: Path) -> Played:
    """The whole game in which the question is answered by this reply, and everything else as the bots do."""
    folder.mkdir()
    wanted, question = ASKED[name], asked(name)
    (folder / "script.json").write_text(json.dumps(script(reply, name)), encoding="utf-8")
    (folder / "game.toml").write_text(wanted.scenario, encoding="utf-8")
    lenient = ["game_config.strict_bids=false"] if name.startswith("auction/") else []
    scenario = load(folder / "game.toml", overrides=[f'{seat_of(name)}="script:script.json"', *lenient])
    result = play_scenario(scenario, folder, env={}, stem="game")
    history = result.history
    assert history is not None, f"{reply.id} @ {name}: {result.error}"
    mine = [each for each in history["decisions"] if (each["player"], each["kind"]) == (wanted.player, wanted.kind)]
    decision = mine[question.nth - 1]
    first = decision["attempts"][0]
    texts, completion = history["texts"], first["completion"]
    assert texts[completion["text"]].strip() == reply.text.strip(), "another question was asked"
    outcome = decision["decision"] if first["code"] is None else first["code"]
    reasoning = "" if completion["reasoning"] is None else texts[completion["reasoning"]]
    heard = "\n".join(said(event) for event in events(history) if is_heard(event, wanted.player))
    turned_away = any(
        each["kind"] == "invalid_action" and wanted.player in each["visibility"] for each in events(history)
    )
    return Played(reply, name, outcome, reasoning, heard, turned_away, history["status"])


def script(reply: Reply, name: str) -> dict[str, list[Any]]:
    """The replies of the player who is asked, by kind: a bot's, but for the one."""
    wanted, question = ASKED[name], asked(name)
    kinds = {wanted.kind, *question.before, *question.after}
    lines: dict[str, list[Any]] = {}
    for kind in kinds:
        before, after = (
            [json.dumps(each) for each in part.get(kind, ())] for part in (question.before, question.after)
        )
        put = [{"text": reply.text, "finish_reason": reply.finish}] if kind == wanted.kind else []
        assert kind != wanted.kind or len(before) == question.nth - 1
        usual = (after or before or ["{}"])[-1]
        lines[f"{wanted.player}/{kind}"] = [*before, *put, *after, *[usual] * PADDING]
    lines["*"] = ["{}"] * PADDING
    return lines


def seat_of(name: str) -> str:
    """The key of the model of the player who is asked."""
    player = ASKED[name].player
    if player.startswith("@"):
        return f"staff.{player[1:]}.model"
    ids = [plan.id for plan in scenario_of(name).players]
    return f"players.{ids.index(player)}.model"


def events(history: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for round_ in history["rounds"]:
        yield from round_["events"]


def is_heard(event: Mapping[str, Any], player: str) -> bool:
    """Whether any other player sees this event."""
    audience = event["visibility"]
    return audience == "all" or any(each != player for each in audience)


def said(event: Mapping[str, Any]) -> str:
    return "\n".join([event["heading"], event["content"], *strings(event["data"])])


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from strings(part)


def verdict(each: Played) -> Verdict:
    return judged(each.reply, each.name, each.outcome)


def listed(offenders: list[Played]) -> str:
    return "\n".join(shown(each.reply, each.name, each.outcome) for each in offenders)


@cache
def sampled() -> tuple[tuple[Reply, str], ...]:
    return tuple(sample())


def test_the_sample_is_large_and_of_every_question() -> None:
    assert len(sampled()) >= LEAST
    assert {name for _, name in sampled()} == set(ASKED)


def test_every_game_is_played_to_its_end(played: list[Played]) -> None:
    assert {each.status for each in played} <= {"completed", "degraded"}


def test_no_decision_in_the_history_is_what_was_not_meant(played: list[Played]) -> None:
    offenders = [each for each in played if verdict(each) == "misread"]
    assert not offenders, f"{len(offenders)} of {len(played)} are misread:\n{listed(offenders)}"


def test_what_is_meant_stands_in_the_history_after_the_first_try(played: list[Played]) -> None:
    meant = [each for each in played if each.reply.formal]
    lost = [each for each in meant if verdict(each) != "right"]
    assert len(lost) <= 0.05 * len(meant), f"{len(lost)} of {len(meant)} are lost:\n{listed(lost)}"


def test_what_society_makes_nothing_of_is_counted_as_an_invalid_action(played: list[Played]) -> None:
    rejected = [each for each in played if each.reply.means == ("rejected",)]
    assert rejected
    offenders = [each for each in rejected if not each.turned_away]
    assert not offenders, f"{len(offenders)} of {len(rejected)} are not counted:\n{listed(offenders)}"


def test_nobody_else_hears_thinking(played: list[Played]) -> None:
    offenders = [
        each for each in played if any(part in each.heard for part in (*each.reply.thought, *each.reply.unheard))
    ]
    assert not offenders, f"of {len(offenders)} others hear what was not said:\n{listed(offenders)}"


def test_thinking_is_recorded_as_reasoning(played: list[Played]) -> None:
    lost = [each for each in played if not all(part in each.reasoning for part in each.reply.thought)]
    assert not lost, f"of {len(lost)} the reasoning is not recorded:\n{listed(lost)}"


def test_others_hear_what_is_said_aloud_and_nothing_that_is_secret(played: list[Played]) -> None:
    offenders = []
    for each in played:
        if verdict(each) != "right" or not each.reply.meant:
            continue
        aloud, secret = (list(spoken(each, fields)) for fields in (ASKED[each.name].words, ASKED[each.name].secret))
        heard = " ".join(each.heard.split())
        if any(words not in heard for words in aloud) or any(words in heard for words in secret):
            offenders.append(each)
    assert not offenders, f"of {len(offenders)} others hear something else:\n{listed(offenders)}"


def spoken(each: Played, fields: tuple[str, ...]) -> Iterator[str]:
    """What a reply says in these fields, where it has them; one word alone may stand anywhere."""
    meaning = next(part for part in each.reply.means if isinstance(part, Mapping))  # others have the same fields
    assert isinstance(meaning, Mapping)
    assert isinstance(each.outcome, Mapping)
    for field in fields:
        if isinstance(meaning.get(field), str):
            words = " ".join(str(value_at(each.outcome, field)).split())
            if " " in words:
                yield words
