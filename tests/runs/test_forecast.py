"""The forecast: prompts and tokens measured on a rehearsal, which calls no model and ends."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest

from agentsim import games
from agentsim.engine.chance import Chance
from agentsim.models.prices import estimated_tokens
from agentsim.records.load import load_history
from agentsim.runs.forecast import Forecast, ModelForecast, alike, forecast, text_lengths, wordy
from agentsim.runs.game_in_progress import new_play
from agentsim.scenario.load import load
from agentsim.scenario.scenario import Scenario
from benchmarks.forecast import foreseen as measured
from benchmarks.forecast import society
from benchmarks.personas import persona
from tests.amounts import each_row, one_in, some_of
from tests.cli.command_line import agentsim
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer
from tests.runs.island import FOUR, play, scenario_text

PRICES = '[prices."fake/echo"]\ninput = 1000.0\noutput = 2000.0\n'
NOWHERE = "http://127.0.0.1:9/v1"


def scenario(directory: Path, players: str = FOUR, head: str = "", *overrides: str) -> Scenario:
    path = directory / "island.toml"
    path.write_text(scenario_text(NOWHERE, f"{PRICES}{players}", head), encoding="utf-8")
    return load(path, overrides=overrides)


def written(directory: Path, text: str) -> Scenario:
    path = directory / "society.toml"
    path.write_text(text, encoding="utf-8")
    return load(path)


def foreseen(scenario: Scenario, **bounds: float) -> Forecast:
    return forecast(scenario, games.find(scenario.game), **bounds)  # type: ignore[arg-type]  # bounds by name


def test_a_game_without_luck_in_its_length_is_foreseen_call_by_call(tmp_path: Path) -> None:
    part = foreseen(scenario(tmp_path)).models["fake/echo"]
    with FakeServer(varied_by_schema).in_thread() as server:
        play(server.url(), tmp_path / "real")
        assert part.calls == len(server.received)
        first = [message["content"] for message in server.received[0].body["messages"]]
    assert part.shortest_answer is not None
    assert part.shortest_answer.request.kind == "vote", "which has nothing to say"
    assert part.longest is not None
    assert part.longest.tokens > estimated_tokens(first)


def test_the_first_prompt_is_the_one_that_is_sent(tmp_path: Path) -> None:
    """The measured prompt is the one of a model player, with its persona."""
    players = FOUR.replace('id = "A"\n', 'id = "A"\nprompt = "Speak softly."\n')
    one = foreseen(scenario(tmp_path, players), most_decisions=1).models["fake/echo"]
    with FakeServer(varied_by_schema).in_thread() as server:
        play(server.url(), tmp_path / "real", "limits.concurrency=1", players=players)
        sent = [message["content"] for message in server.received[0].body["messages"]]
    assert "Speak softly." in sent[0]
    assert (one.calls, one.prompt) == (1, estimated_tokens(sent))


def test_costs_follow_from_tokens_and_prices(tmp_path: Path) -> None:
    part = foreseen(scenario(tmp_path, FOUR, "", "defaults.max_tokens=100")).models["fake/echo"]
    assert part.usd is not None
    assert part.most_usd is not None
    assert part.usd == pytest.approx((part.prompt * 1000 + part.completion * 2000) / 1e6)
    assert part.most_completion == 100 * part.calls
    assert part.completion <= part.most_completion
    assert part.most_usd > 2 * part.prompt * 1000 / 1e6 * 0.99 + part.most_completion * 2000 / 1e6
    assert 0 < part.repeated < part.prompt


def test_at_most_is_what_the_dearest_of_a_chain_would_take(tmp_path: Path) -> None:
    """The budget reserves for the dearest model of the chain."""
    dear = '[prices."fake/dear"]\ninput = 1000.0\noutput = 9000.0\n'
    alone = foreseen(scenario(tmp_path, dear + FOUR, "", 'defaults.model="fake/dear"')).models["fake/dear"]
    chained = foreseen(scenario(tmp_path, dear + FOUR, "", 'defaults.model=["fake/echo", "fake/dear"]'))
    part = chained.models["fake/echo"]
    assert alone.usd is not None
    assert part.usd is not None
    assert part.usd < alone.usd
    assert part.most_usd == chained.total().most_usd == alone.most_usd
    unknown = foreseen(scenario(tmp_path, FOUR, "", 'defaults.model=["fake/echo", "fake/unpriced"]'))
    assert unknown.models["fake/echo"].usd is not None
    assert unknown.models["fake/echo"].most_usd is None


def test_what_models_say_is_taken_to_be_half_of_what_they_may_say(tmp_path: Path) -> None:
    """The replies of bots are so short that the forecast of later prompts would be too low."""
    short = foreseen(scenario(tmp_path, FOUR, "", "game_config.pitch_chars=50")).models["fake/echo"]
    long = foreseen(scenario(tmp_path, FOUR, "", "game_config.pitch_chars=4000")).models["fake/echo"]
    assert short.calls == long.calls
    assert long.prompt > 2 * short.prompt
    assert long.completion > 2 * short.completion


def test_bots_people_and_scripts_cost_nothing_and_each_model_has_its_own_part(tmp_path: Path) -> None:
    (tmp_path / "script.json").write_text('{"*": []}', encoding="utf-8")
    players = (
        '[[players]]\nid = "A"\n[[players]]\nid = "B"\nmodel = "ollama/llama3.2"\n'
        '[[players]]\nid = "C"\nmodel = "bot/grudge"\n[[players]]\nid = "D"\nmodel = "human"\n'
        '[[players]]\nid = "E"\nmodel = "script:script.json"\n'
    )
    found = foreseen(scenario(tmp_path, players))
    assert list(found.models) == ["fake/echo", "ollama/llama3.2"]
    assert found.models["ollama/llama3.2"].usd == 0.0
    total = found.total()
    assert total.calls == sum(part.calls for part in found.models.values()) < found.decisions
    assert total.usd == found.models["fake/echo"].usd


def test_a_game_of_bots_alone_needs_no_forecast(tmp_path: Path) -> None:
    found = foreseen(scenario(tmp_path, FOUR, "", 'defaults.model="bot/random"'))
    assert (found.models, found.decisions, found.ended) == ({}, 0, True)


@pytest.mark.slow
def test_a_big_game_is_cut_short_and_says_so(tmp_path: Path) -> None:
    players = '[[players]]\nid = "p"\ncount = 300\n'
    cut = foreseen(scenario(tmp_path, players), most_decisions=400, most_seconds=3600)
    assert (cut.ended, cut.decisions) == (False, 400)
    ticks = iter(range(10_000))
    slow = foreseen(scenario(tmp_path), most_seconds=5, clock=lambda: next(ticks))  # type: ignore[arg-type]  # by name
    assert (slow.ended, slow.decisions) == (False, 5)


@each_row(
    "one, other, count",
    [("", "", 0), ("abc", "", 0), ("abc", "abd", 2), ("abc", "abc", 3), ("abc", "abcd", 3), ("xbc", "abc", 0)],
)
def test_the_common_beginning_of_two_texts_is_counted(one: str, other: str, count: int) -> None:
    assert alike(one, other) == alike(other, one) == count


def test_validate_prints_it_and_what_limits_would_do(tmp_path: Path) -> None:
    scenario(tmp_path)
    said = agentsim("validate", "--config", "island.toml", "--set", "limits.max_calls=3", cwd=tmp_path)
    assert (said.code, said.err) == (0, "")
    rows = said.out.splitlines()
    assert rows[5] == "forecast, an estimate from games on bots, without re-asks and retries:"
    assert rows[6].startswith("  fake/echo: 18 calls; ")
    assert "completion tokens, at most 294,912; cost $" in rows[6], (
        "without a cap a reply is reckoned with 16,384 tokens"
    )
    assert rows[7] == "  with texts of so many characters on average: explanation 300, text 600"
    assert rows[8] == "  more than limits.max_calls = 3: the run would stop there"
    said = agentsim("validate", "--config", "island.toml", "--set", "limits.max_cost_usd=0.01", cwd=tmp_path)
    assert said.out.splitlines()[-1] == "  limits.max_cost_usd = 0.01 would stop the run"


def test_an_unknown_price_is_said_to_be_unknown(tmp_path: Path) -> None:
    (tmp_path / "island.toml").write_text(scenario_text(NOWHERE), encoding="utf-8")
    said = agentsim("validate", "--config", "island.toml", cwd=tmp_path)
    assert said.code == 0, said.err
    assert said.out.splitlines()[6].endswith("; unknown price")


def test_two_models_are_added_up(tmp_path: Path) -> None:
    players = FOUR + '[[players]]\nid = "E"\nmodel = "ollama/llama3.2"\n'
    scenario(tmp_path, players)
    said = agentsim("validate", "--config", "island.toml", cwd=tmp_path)
    models = [row.strip().partition(": ")[0] for row in said.out.splitlines()[7:]]
    assert models[:3] == ["fake/echo", "ollama/llama3.2", "in all"]


def test_validate_says_where_a_cap_is_small_for_a_model_that_thinks(tmp_path: Path) -> None:
    scenario(tmp_path)
    words = ("validate", "--config", "island.toml", "--set", "defaults.model=ollama/qwen3:8b")
    small = agentsim(*words, "--set", "defaults.max_tokens=500", cwd=tmp_path)
    assert small.code == 0
    what = "max_tokens = 500 is small for ollama/qwen3:8b, which thinks before it answers"
    assert what in small.err
    off = "defaults.client_kwargs={ reasoning_effort = 'none' }"
    for fine in (("defaults.max_tokens=4096",), (), ("defaults.max_tokens=500", off)):
        settings = [word for setting in fine for word in ("--set", setting)]
        assert "is small" not in agentsim(*words, *settings, cwd=tmp_path).err


@pytest.mark.parametrize("name", games.names())
def test_policies_that_stand_for_models_are_bots_of_the_game(name: str) -> None:
    game = games.find(name)
    assert set(game.typical) <= set(game.bots)
    assert "random" not in game.typical, "which plays on where a model would not"


@pytest.mark.parametrize("seed", [None, 7])
@one_in(2)
def test_the_middle_of_three_games_of_the_typical_policies_is_foreseen(tmp_path: Path, seed: int | None) -> None:
    """Without a seed these are games in three worlds; with a seed, one world with three sets of luck."""
    told = written(tmp_path, society(8, 'preset = "inequality"\ndays = 16'))
    game = games.find("society")
    worlds = [(0, ""), (1, ""), (2, "")] if seed is None else [(7, ""), (7, "7/1"), (7, "7/2")]

    def calls(world: int, luck: str) -> int:
        play, count = new_play(replace(told, seed=world), game), 0
        bots = {f"agent{number}": game.bots[("farmer", "citizen")[number % 2]] for number in range(1, 9)}
        wave, other = play.start(), Chance(luck) if luck else None
        while wave is not None:
            count += len(wave.asks)
            decisions = [bots[ask.request.player](ask.request, play.bot_rng(ask, other)) for ask in wave.asks]
            wave = play.answer([wordy(ask.request, said) for ask, said in zip(wave.asks, decisions, strict=True)])
        return count

    played = sorted(calls(*world) for world in worlds)
    found = foreseen(replace(told, seed=seed))
    assert found.total().calls == played[1]
    assert found.least <= played[0] <= played[1] <= played[2] <= found.most
    assert played[0] < played[2]


def test_tokens_go_by_the_calls_that_are_foreseen() -> None:
    found = Forecast({"a": ModelForecast("a", calls=10, prompt=1_000, usd=2.0), "b": ModelForecast("b")})
    found.take({"a": 15, "b": 0})
    part = found.models["a"]
    assert (part.calls, part.prompt, part.usd) == (15, 1_500, 3.0)


@some_of("preset", ("classic", "commons", "frontier", "inequality"), "commons")
def test_calls_of_scripted_personas_are_foreseen_within_a_tenth(preset: str) -> None:
    """The personas are not among the game's bots."""
    found = measured(preset, society(20, f'preset = "{preset}"\ndays = 12'), lambda _: persona)
    assert found.off <= 0.1
    assert found.contained
    assert found.least < found.expected, "some bots fall asleep"


def test_validate_says_at_least_and_at_most(tmp_path: Path) -> None:
    written(tmp_path, society(4, "days = 13"))
    said = agentsim("validate", "--config", "society.toml", cwd=tmp_path)
    assert "  93-156 calls across other seeds and bots" in said.out.splitlines()


def test_some_prompts_of_a_large_wave_stand_for_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def seen() -> ModelForecast:
        return foreseen(written(tmp_path, society(50, "days = 2"))).models["ollama/any"]

    some = seen()
    monkeypatch.setattr("agentsim.runs.forecast.MOST_MEASURED", 50)
    every = seen()
    assert some.calls == every.calls == 300
    assert some.most_completion == every.most_completion
    assert some.prompt != every.prompt
    assert some.prompt == pytest.approx(every.prompt, rel=0.03)
    assert some.completion == pytest.approx(every.completion, rel=0.2)


def test_a_played_game_tells_how_long_texts_are(tmp_path: Path) -> None:
    """A fake model writes less than half of what is allowed; like that game, it is foreseen."""
    with FakeServer(varied_by_schema).in_thread() as server:
        history = load_history(play(server.url(), tmp_path / "pilot").files.history)
        lengths = text_lengths(history.decisions)
        sent = [sum(len(message["content"]) for message in each.body["messages"]) for each in server.received]
    pitches = [record.decision["text"] for record in history.decisions if record.kind == "pitch"]
    assert lengths["pitch", "text"] == round(fmean(map(len, pitches)))
    like = forecast(scenario(tmp_path), games.find("agent_island"), lengths=lengths)
    assert like.texts["text"] / like.said["text"] == pytest.approx(lengths["pitch", "text"], rel=0.3)
    assert like.total().prompt == pytest.approx(sum(sent) / 4, rel=0.1)
    assert foreseen(scenario(tmp_path)).total().prompt > 1.15 * like.total().prompt


def test_validate_like_a_played_game(tmp_path: Path) -> None:
    with FakeServer(varied_by_schema).in_thread() as server:
        play(server.url(), tmp_path / "logs", stem="pilot")
    path = scenario(tmp_path).path
    assert path is not None
    plain, like = (
        agentsim("validate", "--config", path.name, *more, cwd=tmp_path).out.splitlines()
        for more in ([], ["--like", "pilot"])
    )
    row = "  with texts of so many characters on average: "
    said = [next(line for line in lines if line.startswith(row)) for lines in (plain, like)]
    assert said[0] != said[1]
    (tmp_path / "society.toml").write_text(society(4, "days = 2"), encoding="utf-8")
    wrong = agentsim("validate", "--config", "society.toml", "--like", "pilot", cwd=tmp_path)
    assert (wrong.code, wrong.err) == (2, "agentsim: --like pilot: is a game of agent_island, not of society\n")
