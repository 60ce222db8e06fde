"""What `agentsim influence` says of a message: against what is planted, and in any game."""

from __future__ import annotations

import asyncio
import json
import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agentsim as library
from agentsim.engine import Choice, Number, Options, PerKey
from agentsim.engine.decision import Decision
from agentsim.engine.event import AGAINST, FOR, Event, Everyone, InteractionRule
from agentsim.engine.game import GameConfig
from agentsim.engine.play import GamePlay
from agentsim.engine.request import Request
from agentsim.engine.table import Table
from agentsim.engine.wording import Prompt
from agentsim.errors import BudgetReached, UsageError
from agentsim.records.load import load_history
from agentsim.records.run_files import RunFiles
from agentsim.runs.decide import DecisionResult, decision_record_of
from agentsim.runs.game_in_progress import DecidedWave
from agentsim.runs.player_message import NEUTRAL, messages, neutral
from agentsim.scenario.load import load
from agentsim.studies.influence import ALL, BranchResult, Influence, Responses, Swapped, influences, responses
from benchmarks.influence_world import MESSAGE, persuasion, sides, true_effect
from tests.cli.command_line import ROOT, Said, agentsim, snapshot, trio
from tests.engine.small import Say, SmallGame, Spoke, Word
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer
from tests.playing import play_scenario
from tests.runs.island import play

QUIET = ("--logs-dir", ".", "--display", "none")
PLEA = "Keep me, and I will repay you tomorrow."
VILLAGE = {
    "game": "agent_island",
    "seed": 5,
    "defaults": {"model": "mine"},
    "game_config": {"pitch_chars": 60, "explanation_chars": 20},
    "players": [{"id": name} for name in ("Ada", "Ben", "Cem")],
}


class Listening:
    """Says a plea as Ada; votes by lot, against Ada with a chance of 0.6, or 0.1 where it heard the plea."""

    def __init__(self) -> None:
        self.luck = random.Random(11)

    async def complete(self, call: library.Call, sampling: library.Sampling) -> str:
        assert call.schema is not None
        fields = call.schema["properties"]
        if "vote" not in fields:
            return json.dumps({"text": PLEA if call.tag.startswith("Ada/") else "Good evening to all."})
        ballot = sorted(fields["vote"]["enum"])
        others = [name for name in ballot if name != "Ada"]
        heard = PLEA in "".join(text for _, text in call.messages)
        against = "Ada" in ballot and self.luck.random() < (0.1 if heard else 0.6)
        return json.dumps({"explanation": "So.", "vote": "Ada" if against or not others else self.luck.choice(others)})


def effect(found: Influence, measure: str, player: str) -> Any:
    (one,) = [each for each in found.listeners if (each.measure, each.player) == (measure, player)]
    return one


@pytest.fixture(scope="module")
def village(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished game of models that listen to Ada."""
    directory = tmp_path_factory.mktemp("village")
    library.run_sync(VILLAGE, models={"mine": Listening()}, name="trunk", logs_dir=directory)
    return directory


@pytest.fixture(scope="module")
def bots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("bots")
    play_scenario(load(trio(directory)), directory, env={}, stem="parent")
    return directory


def asked(directory: Path, *words: str) -> Said:
    return agentsim("influence", *words, *QUIET, cwd=directory)


def test_a_planted_persuader_is_found_and_a_message_without_effect_is_not(village: Path) -> None:
    run = library.load("trunk", logs_dir=village)
    assert isinstance(run, library.RecordedRun)
    pitch = {each.player: each.index for each in reversed(run.decisions) if each.kind == "pitch"}
    options: dict[str, Any] = {"logs_dir": village, "models": {"mine": Listening()}}
    (plea,) = asyncio.run(library.influence("trunk", at=pitch["Ada"], branches=24, **options))
    assert (plea.message.speaker, plea.message.words, plea.message.instead) == ("Ada", PLEA, "")
    assert (plea.message.listeners, plea.pairs) == (("Ben", "Cem"), 24)
    for measure in ("vote = Ada", "voted to eliminate = Ada"):
        every = effect(plea, measure, ALL)
        assert every.low_adj < -0.5 < every.high_adj < 0, "0.1 less 0.6, of both"
        assert every.low < -0.5 < every.high
        assert sum(effect(plea, measure, name).mean for name in ("Ben", "Cem")) / 2 == pytest.approx(every.mean)
    assert effect(plea, "for (+1) or against (-1) Ada", ALL).low > 0
    (idle,) = asyncio.run(library.influence("trunk", at=pitch["Ben"], swap="neutral", branches=12, **options))
    assert not idle.identical, "players draw of their own"
    ends = [(each.low_adj, each.high_adj) for each in (*idle.listeners, *idle.outcome)]
    known = [(low, high) for low, high in ends if low is not None and high is not None]
    assert known
    assert [(low, high) for low, high in known if not low <= 0 <= high] == []


@pytest.mark.parametrize("limit", [{"max_calls": 1}, {"max_wall_s": 1e-9}], ids=["calls", "time"])
def test_limits_in_python_hold_for_each_branch(limit: dict[str, Any], village: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(village, tmp_path / "logs"))
    options: dict[str, Any] = {"swap": "neutral", "branches": 1, "logs_dir": folder, "models": {"mine": Listening()}}
    with pytest.raises(BudgetReached):
        asyncio.run(library.influence("trunk", at=1, **options, **limit))


def test_what_bots_do_not_hear_does_nothing_and_the_same_command_again_plays_nothing(bots: Path) -> None:
    said = asked(bots, "parent", "--at", "1", "--swap", "neutral", "--branches", "5", "--json")
    assert said.code == 0, said.err
    (line,) = json.loads(said.out)
    assert (line["pairs"], line["unpaired"], line["identical"]) == (5, 0, True), "a grudge counts characters alone"
    words, instead = line["message"]["words"], line["message"]["instead"]
    assert (len(instead), instead) == (len(words), neutral(len(words)))
    shown = asked(bots, "parent", "--at", "1", "--swap", "neutral", "--branches", "5")
    assert "All that followed is the same in every one of 5 pairs: the message did nothing." in shown.out
    before = snapshot(bots)
    assert asked(bots, "parent", "--at", "1", "--swap", "neutral", "--branches", "4", "--json").code == 0
    assert snapshot(bots) == before
    asked(bots, "parent", "--at", "1", "--swap", "silence", "--branches", "5")
    new = sorted({name for name in snapshot(bots) if name.endswith(".json")} - set(before))
    assert new == [f"parent_at1_silence_b{number}.json" for number in range(1, 6)], "the said ones are shared"


def test_a_stopped_command_goes_on_and_asks_nothing_twice(tmp_path: Path) -> None:
    with FakeServer(varied_by_schema).in_thread() as server:
        play(server.url(), tmp_path, stem="parent")
        before = server.started["ok"]
        # one branch at a time: the stop of one cancels calls in flight of others, which are asked again
        again = ("parent", "--at", "10", "--branches", "2", "--jobs", "1")
        stopped = asked(tmp_path, *again, "--max-calls", "2")
        assert (stopped.code, stopped.out) == (5, "")
        assert "parent_at10_said_b1 was stopped: the same command goes on with it" in stopped.err
        ended = asked(tmp_path, *again, "--max-calls", "99", "--json")
        assert ended.code == 0, ended.err
        assert json.loads(ended.out)[0]["pairs"] == 2
        branches = [load_history(path) for path in tmp_path.glob("parent_at10_*.json")]
        assert len(branches) == 4
        assert server.started["ok"] - before == sum(each.paid.calls for each in branches)


def test_a_stop_of_several_branches_at_once_repeats_the_calls_in_flight_alone(tmp_path: Path) -> None:
    with FakeServer(varied_by_schema).in_thread() as server:
        play(server.url(), tmp_path, stem="parent")
        before = server.started["ok"]
        again = ("parent", "--at", "10", "--branches", "2")
        assert asked(tmp_path, *again, "--max-calls", "2").code == 5
        begun = [RunFiles(tmp_path, path.stem) for path in tmp_path.glob("parent_at10_*.jsonl")]
        kept = sum(load_history(files.history).paid.calls for files in begun if files.history.is_file())
        in_flight = server.started["ok"] - before - kept
        assert asked(tmp_path, *again, "--max-calls", "99", "--json").code == 0
        branches = [load_history(path) for path in tmp_path.glob("parent_at10_*.json")]
        assert server.started["ok"] - before == sum(each.paid.calls for each in branches) + in_flight


def test_each_is_a_message_of_every_player_of_the_round(bots: Path) -> None:
    said = asked(bots, "parent", "--at", "2", "--each", "--branches", "6", "--json")
    assert said.code == 0, said.err
    lines = json.loads(said.out)
    assert [line["message"]["at"] for line in lines] == [1, 2, 3]
    assert {line["message"]["speaker"] for line in lines} == set("ABC")


def test_intervals_that_hold_together_hold_for_all_messages_that_were_asked_about() -> None:
    generator = np.random.default_rng(4)
    found = [(MESSAGE, sides(generator, pairs=20, added=added)) for added in (0.25, 0.0)]
    for alone, one in zip(influences(found[:1])[0].listeners, influences(found)[0].listeners, strict=True):
        assert (alone.measure, alone.mean, alone.low, alone.high) == (one.measure, one.mean, one.low, one.high)
        assert one.low_adj is not None
        assert alone.low_adj is not None
        assert one.low_adj < alone.low_adj


def test_a_message_is_what_others_hear_of_a_decision_and_silence_is_what_the_request_has(tmp_path: Path) -> None:
    """A speech beside a thought, a line on each player, and a post that may not be empty."""
    found: dict[str, Any] = {}
    kinds = {("said", True), ("quip", True), ("whisper", False), ("posted", True)}
    for config in ("werewolf_bots", "agent_island_sidebars", "society_bots"):
        days = {"game_config.days": 1} if config == "society_bots" else {}
        scenario = load(ROOT / "configs" / f"{config}.toml", seed=2, model="bot/random", overrides=days)
        files = play_scenario(scenario, tmp_path, env={}, stem=config).files
        run = library.load(config, logs_dir=tmp_path)
        assert isinstance(run, library.RecordedRun)
        for event in run.events:
            if (event.kind, event.visibility == "all") in kinds and event.content and event.kind not in found:
                (found[event.kind],) = messages(files, event.metadata["decision"])
                assert found[event.kind].words_of(found[event.kind].decision).splitlines()[0] == event.content
    said, quip, whisper, post = (found[kind] for kind in ("said", "quip", "whisper", "posted"))
    assert said.swapped().arm == whisper.swapped().arm == quip.swapped().arm == "silence"
    kept = said.decision.model_dump() | {"text": ""}
    assert said.swapped().instead.model_dump() == kept, "thought and claim stay"
    assert quip.swapped().instead.quips == {}, "no quip may be empty, and the fallback has none"
    assert len(whisper.listeners) == 1, "who is not told does not hear"
    assert post.swapped().arm == "neutral", "a post may not be empty"
    with pytest.raises(UsageError, match=r"silence: cannot replace the words of decision .* must not be empty"):
        post.swapped("silence")


def test_neutral_words_are_as_long_as_the_message() -> None:
    for length in (*range(1, 60), 160, 400, 1_000):
        words = neutral(length)
        assert (len(words), words) == (length, words.strip())
        whole = words.rstrip(".")
        assert (NEUTRAL * 9).startswith(whole)
        assert not (NEUTRAL * 9)[len(whole)].isalpha(), "no word is cut"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("nosuch", "--at", "1"), ".: there is no run called 'nosuch'"),
        (("parent", "--at", "99"), "parent: has no decision 99 (valid: 1 to "),
        (("parent", "--at", "4"), "parent: decision 4 says nothing that another player hears"),
        (("parent", "--at", "1", "--words", "x" * 9_999), "--words: must have at most "),
        (("parent", "--at", "1", "--words", "x", "--swap", "silence"), "--words: take the place of the message"),
    ],
)
def test_what_cannot_be_swapped_is_a_line(words: tuple[str, ...], problem: str, bots: Path) -> None:
    before = snapshot(bots)
    said = asked(bots, *words)
    assert (said.code, said.out, said.line[: len(problem)]) == (2, "", problem)
    assert snapshot(bots) == before


def test_words_are_as_valid_as_a_players_and_a_swap_that_there_is_not_is_a_line(bots: Path) -> None:
    words: dict[str, Any] = {"at": 1, "words": "Trust\x1b[2J me\udcff.", "branches": 1, "logs_dir": bots}
    (found,) = asyncio.run(library.influence("parent", **words))
    assert found.message.instead == "Trust me\ufffd."
    assert found.message.swap.startswith("words_")
    with pytest.raises(UsageError, match=r"--swap: there is no 'noise' \(valid: silence, neutral\)"):
        asyncio.run(library.influence("parent", at=1, swap="noise", logs_dir=bots))  # type: ignore[arg-type] # tested


class Move(Decision):
    thought: str
    accept: bool
    to: str | None
    shares: dict[str, int]


class Decide(Request[Move]):
    """Whether to trade, with whom, and what for each."""

    def options(self) -> Options:
        return {"to": Choice(("A", "B", "C", None)), "shares": PerKey(("x", "y"), Number(0, 9))}

    def prompt(self) -> Prompt:
        return Prompt((), (), (), ())

    def fallback(self) -> Move:
        return Move(thought="", accept=False, to=None, shares={})

    def fingerprint_fields(self) -> dict[str, Any]:
        return {"player": self.player}


class Paid(Event, content="", interactions=(InteractionRule("who", "whom", "paid", FOR, amount="amount"),)):
    who: str
    whom: str
    amount: int


class Hit(Event, content="", interactions=(InteractionRule("who", "whom", "hit", AGAINST),)):
    who: str
    whom: str


def test_the_next_of_each_listener_is_its_first_after_it_heard_in_a_game_of_any_kind() -> None:
    async def rules(table: Table) -> None:
        await table.ask(Decide(player="B"))
        together: list[Request[Any]] = [Say(player="A"), Decide(player="B")]
        await table.ask_all(together)
        table.tell(Spoke("A", "hello"), to=("A", "B", "C"), by="A")
        table.tell(Paid("B", "A", 2), to=Everyone)  # decided with the message
        await table.ask_all([Decide(player="C"), Decide(player="D")])
        table.tell(Hit("B", "A"), to=Everyone, by="B")  # decided with the message, and told late
        for whom in ("C", "A"):
            await table.ask_all([Decide(player="B"), Decide(player="C")])
            table.tell(Paid("B", whom, 5), to=Everyone)
            table.tell(Hit("B", "C"), to=Everyone)
            table.tell(Paid("C", "A", 7), to=Everyone, by="C")

    made_so = ((True, "A", 9), (True, "C", 8), (False, None, 4), (True, "A", 5), (True, "A", 3))
    answers = iter(
        Move(thought="so", accept=accept, to=to, shares={"x": x, "y": 1})
        for accept, to, x in (*made_so, *[(False, "C", 8)] * 3)
    )
    play = GamePlay(SmallGame(rules), GameConfig(), ("A", "B", "C", "D"), seed=1)
    play.table.events = play.table.requests = None  # the small game declares others

    def waves() -> Any:
        wave = play.start()
        while wave is not None:
            made = [Word(text="hello") if isinstance(ask.request, Say) else next(answers) for ask in wave.asks]
            rulings = [DecisionResult(one, "bot") for one in made]
            records = {
                ask.place: decision_record_of(ask, ruling) for ask, ruling in zip(wave.asks, rulings, strict=True)
            }
            yield DecidedWave(wave, records, dict(enumerate(made)))
            wave = play.answer(made)

    found = responses(waves(), play.log, heard=3, speaker="A", listeners=("B", "C"))
    assert found.chosen == {
        ("decide.accept", "B"): "yes",
        ("decide.to", "B"): "A",
        ("decide.accept", "C"): "",
        ("decide.to", "C"): "none",
        ("paid", "B"): "",
        ("hit", "B"): "",
        ("paid", "C"): "A",
    }
    towards = "for (+1) or against (-1) A"
    assert found.amounts == {
        **{
            (f"decide.shares.{key}", who): value
            for who, x in (("B", 3), ("C", 4))
            for key, value in (("x", x), ("y", 1))
        },
        ("paid: amount", "B"): 5,
        ("paid: amount", "C"): 7,
        (towards, "B"): 0,  # its first signed action is to C
        (towards, "C"): 1,
    }


def test_shares_are_of_all_branches_and_amounts_of_those_that_have_one() -> None:
    message = Swapped("r", 1, "any", "A", "pitch", 1, "Hi.", "silence", "", ("B", "C"))

    def side(*branches: tuple[dict[str, str], dict[str, float]]) -> dict[int, BranchResult]:
        made = [Responses({("vote", who): x for who, x in votes.items()}, {("bid", who): y for who, y in bids.items()})
                for votes, bids in branches]  # fmt: skip
        return {number: BranchResult(each, {("rank", "A"): 1.0}, number) for number, each in enumerate(made)}

    said = side(({"B": "A"}, {"B": 4.0}), ({"B": "A", "C": "C"}, {"B": 6.0}), ({}, {}))
    silent = side(({"B": "C"}, {}), ({"B": "A"}, {"B": 1.0}))
    (found,) = influences([(message, (said, silent))])
    assert (found.pairs, found.unpaired) == (2, 1)
    assert {(each.measure, each.player): (each.mean, each.pairs) for each in found.listeners} == {
        ("vote = A", ALL): (0.25, 2),
        ("vote = A", "B"): (0.5, 2),
        ("vote = A", "C"): (0.0, 2),
        ("vote = C", ALL): (0.0, 2),
        ("vote = C", "B"): (-0.5, 2),
        ("vote = C", "C"): (0.5, 2),
        ("bid", "B"): (5.0, 1),
    }
    assert [(each.measure, each.player, each.mean) for each in found.outcome] == [("rank", "A", 0.0)]


def test_in_a_world_whose_truth_is_known_estimates_are_right_on_average() -> None:
    """The rates of the intervals are `benchmarks/inference.py`."""
    generator = np.random.default_rng(3)
    found = [persuasion(generator, pairs=20, added=0.25) for _ in range(40)]
    for index, one in enumerate(found[0].listeners):
        means = [each.listeners[index].mean for each in found]
        assert np.mean(means) == pytest.approx(true_effect(one.measure, 0.25), abs=4 * np.std(means) / 40**0.5)
