"""The questions of the corpus of replies, each from a game that bots play up to it.

`read` is the only place where the corpus calls the reader.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agentsim import games
from agentsim.engine.decision import Decision
from agentsim.engine.play import GamePlay
from agentsim.engine.reading.reader import thoughts_in
from agentsim.engine.request import Ask, Request
from agentsim.games.monopoly.building import able
from agentsim.scenario.load import load
from agentsim.scenario.scenario import Scenario
from tests.games.monopoly.table import SEPARATE_TOML

__all__ = ["ASKED", "Asked", "Question", "asked", "read", "thinking_kept"]


def read(request: Request[Any], text: str, finish_reason: str = "stop") -> Decision:
    """Return the decision of a reply. Raises `DecisionError` if there is none or it is illegal."""
    reading = request.parse(text, truncated=finish_reason == "length")
    if not reading.checked:
        request.check(reading.decision)
    return reading.decision  # type: ignore[no-any-return] # of a request of any game


def thinking_kept(request: Request[Any], text: str) -> str:
    """Return the text that the reader takes out of a reply as thinking."""
    return "\n".join(thoughts_in(request, text))


@dataclass(frozen=True)
class Asked:
    """The place of a question: the first request of this `kind` to `player` for which `when` is true.

    `scenario` is the text of a scenario of bots; `about` tells authors of replies the names in it; `decides` is the
    main field of the decision.
    """

    scenario: str
    player: str
    kind: str
    about: str
    decides: str
    when: Callable[[Any], bool] = lambda request: True
    words: tuple[str, ...] = ()
    """Fields of the decision that others hear, perhaps one of them or the moderator alone."""
    secret: tuple[str, ...] = ()
    """Fields of the decision that no other player hears."""


@dataclass(frozen=True)
class Question:
    """A question, and the decisions needed to ask it again in a run."""

    request: Request[Any]
    nth: int
    before: Mapping[str, list[Any]] = field(repr=False)
    """The player's earlier decisions, by kind, as replies."""
    after: Mapping[str, list[Any]] = field(repr=False)
    """The later decisions of a bot in the player's place, by kind, as replies."""


def as_reply(decision: Decision) -> Any:
    """Return a decision as a model would write it."""
    values = decision.model_dump(mode="json")
    match type(decision).__name__:
        case "Acted":
            return values["action"]
        case "QuipsMade":
            return values["quips"]
        case _:
            return values


def scenario_of(name: str, *overrides: str) -> Scenario:
    """Return the scenario of a question, with bots in all seats but for `overrides`."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "asked.toml"
        path.write_text(ASKED[name].scenario, encoding="utf-8")
        return load(path, overrides=overrides)


@cache
def asked(name: str) -> Question:
    """Return the question of this name. Raises `AssertionError` if its game never asks it."""
    wanted, scenario = ASKED[name], scenario_of(name)
    game, bots = games.find(scenario.game), {plan.id: _policy(plan.model) for plan in scenario.players}
    play = GamePlay(game, scenario.config, list(bots), scenario.seed or 0, staff=sorted(scenario.staff))
    before: dict[str, list[Any]] = {}
    after: dict[str, list[Any]] = {}
    found: Ask | None = None
    wave = play.start()
    while wave is not None:
        decisions = []
        for ask in wave.asks:
            bot = game.bots[bots.get(ask.request.player, next(iter(bots.values())))]
            decision = bot(ask.request, play.bot_rng(ask))
            decisions.append(decision)
            if ask.request.player != wanted.player:
                continue
            if found is None and ask.request.kind == wanted.kind and wanted.when(ask.request):
                found = ask
            else:
                (before if found is None else after).setdefault(ask.request.kind, []).append(as_reply(decision))
        wave = play.answer(tuple(decisions))
    assert found is not None, f"{name}: its game asks {wanted.player} for no such {wanted.kind}"
    return Question(found.request, found.nth, before, after)


def _policy(model: Any) -> str:
    return str(getattr(model, "policy", None) or str(model).rpartition("/")[2])


def seats(*ids: str, model: str = "bot/random") -> str:
    """Return players in TOML, all on the same bot."""
    return "".join(f'[[players]]\nid = "{each}"\nmodel = "{model}"\n' for each in ids)


_LIMITS = "[limits]\nmax_fallback_rate = 1.0\n"


def island(seed: int, *ids: str, config: str = "") -> str:
    return f'game = "agent_island"\nseed = {seed}\n{_LIMITS}[game_config]\n{config}\n{seats(*(ids or "ABCD"))}'


def monopoly(seed: int, config: str = "max_turns = 60", model: str = "bot/random", separate: bool = True) -> str:
    players = seats("Shark", "Professor", "Hustler", "Turtle", model=model)
    settings = SEPARATE_TOML if separate else ""
    return f'game = "monopoly"\nseed = {seed}\n{_LIMITS}[game_config]\n{settings}{config}\n{players}'


def market(seed: int, config: str = "") -> str:
    table = (
        'artifacts = ["marketplace", "dialogue"]\nrounds = 2\ncapital = 60\nstock = { wheat = 4 }\n'
        'tools = ["calculator", "notebook"]\ntool_calls = 1\n'
    )
    return f'game = "market"\nseed = {seed}\n{_LIMITS}[game_config]\n{table}{config}\n{seats("A", "B", "C")}'


_EVERYTHING = 'phases = ["pitches", "sidebars", "quips", "votes"]\nmemory = "summary"'
_SPEECH: dict[str, Any] = {"words": ("text",)}
_TABLE_TALK: dict[str, Any] = {"words": ("public_speech",), "secret": ("private_thought",)}
_SUMMARIZER = '[staff.summarizer]\nmodel = "bot/random"\n'
_MODERATOR = '[staff.moderator]\nmodel = "bot/random"\n'
_INTERVIEW = '[[game_config.moderator]]\nround = 2\nagents = ["A"]\nquestion = "What do you want to do next?"\n'
_VILLAGE = ("Anna", "Boris", "Clara", "David", "Eva", "Frank")

ASKED: Mapping[str, Asked] = {
    "agent_island/vote": Asked(
        island(1),
        "A",
        "vote",
        "A votes for B, C or D",
        "vote",
        lambda request: len(request.ballot) == 3,
        secret=("explanation",),
    ),
    "agent_island/vote_names": Asked(
        island(1, "Zuri", "Amara", "Chioma", "Dmitri", "agent1", "agent10", "12"),
        "Zuri",
        "vote",
        "Zuri votes for Amara, Chioma, Dmitri, agent1, agent10 or 12",
        "vote",
        secret=("explanation",),
    ),
    "agent_island/jury": Asked(
        island(5),
        "A",
        "vote",
        "A, who is out, votes for the winner: B or C",
        "vote",
        lambda request: request.view.final and set(request.ballot) == set("BC"),
        secret=("explanation",),
    ),
    "agent_island/pitch": Asked(island(1), "A", "pitch", "A speaks to B, C and D", "text", **_SPEECH),
    "agent_island/pitch_names": Asked(
        island(1, "Zuri", "Amara", "Chioma", "Dmitri"),
        "Zuri",
        "pitch",
        "Zuri speaks to Amara, Chioma and Dmitri",
        "text",
        **_SPEECH,
    ),
    "agent_island/whisper": Asked(
        island(1, config=_EVERYTHING), "A", "whisper", "A speaks to its partner alone", "text", **_SPEECH
    ),
    "agent_island/summary": Asked(
        island(1, config=_EVERYTHING),
        "A",
        "summary",
        "A writes down what it wants to remember",
        "text",
        secret=("text",),
    ),
    "agent_island/approach": Asked(
        island(1, config=_EVERYTHING),
        "A",
        "approach",
        "A takes B, C, D or nobody aside",
        "partner",
        lambda request: set(request.free) == set("BCD"),
    ),
    "agent_island/answer_approach": Asked(
        island(1, config=_EVERYTHING), "A", "answer_approach", "B asks A", "accept", lambda request: request.by == "B"
    ),
    "agent_island/quips": Asked(
        island(1, config=_EVERYTHING),
        "A",
        "quips",
        "A says a line about each of B, C and D",
        "quips",
        words=("B", "C", "D"),
    ),
    "auction/bid": Asked(
        f'game = "auction"\nseed = 4\n{_LIMITS}[game_config]\nbudget = 1000\nmax_iterations = 3\n'
        '[game_config.items]\nscenario = "short"\nitems = [\n'
        '{ Name = "Visionary Compass", Quality = 61, IsRequired = true },\n'
        '{ Name = "Dented Kettle", Quality = 12, IsRequired = false },\n]\n'
        f"{seats('Alpha', 'Beta', 'Gamma')}",
        "Alpha",
        "bid",
        "Alpha bids for the first item, against Beta and Gamma; all have 1000",
        "bid",
        secret=("reasoning",),
    ),
    "monopoly/buy_or_auction": Asked(
        monopoly(1), "Shark", "buy_or_auction", "Shark buys the deed or has it auctioned", "action", **_TABLE_TALK
    ),
    "monopoly/auction_bid": Asked(
        monopoly(2, model="bot/hustler"),
        "Shark",
        "auction_bid",
        "Shark has 1500 or more; Professor, Hustler and Turtle bid too",
        "bid",
        lambda request: request.you.cash >= 1500 and request.lot.least < 20,
        **_TABLE_TALK,
    ),
    "monopoly/answer_trade": Asked(
        monopoly(1), "Shark", "answer_trade", "another player offers Shark a trade", "action", **_TABLE_TALK
    ),
    "monopoly/jail_action": Asked(
        monopoly(2, model="bot/shark"),
        "Shark",
        "jail_action",
        "Shark is in jail: pay_fine, roll_doubles or manage",
        "action",
        lambda request: request.actions == ("pay_fine", "roll_doubles", "manage"),
        **_TABLE_TALK,
    ),
    "monopoly/propose_trade": Asked(
        monopoly(1, model="bot/hustler"),
        "Shark",
        "propose_trade",
        "Shark owns 6 and 16, Hustler 5; Professor and Turtle own nothing",
        "propose_trade",
        lambda request: len(request.view.estate().tradeable(request.seat)) > 1,
        words=("public_speech",),
        secret=("private_thought",),
    ),
    "monopoly/manage_estate": Asked(
        monopoly(9, model="bot/shark"),
        "Shark",
        "manage_estate",
        "Shark may build on 1 and 3, and mortgage 1, 3, 15, 24, 27 and 34",
        "builds",
        lambda request: able(request.view.estate(), "build", request.seat) == [1, 3],
        **_TABLE_TALK,
    ),
    "monopoly/phase_action": Asked(
        monopoly(4, model="bot/hustler", separate=False),
        "Shark",
        "phase_action",
        "Shark may build on 1 and 3, mortgage 1, 3, 14, 19 and 23; Hustler owns 6, Professor 25, Turtle built on 31",
        "do",
        lambda request: len(request.kinds) == 2 and bool(able(request.view.estate(), "build", request.seat)),
        **_TABLE_TALK,
    ),
    "monopoly/raise_first": Asked(
        monopoly(9, model="bot/shark", separate=False),
        "Shark",
        "raise_first",
        "Shark is $37 short of the price of 39; hotels stand on 1 and 3; 15, 24, 27 and 34 may be mortgaged",
        "mortgages",
        lambda request: not request.bid,
        **_TABLE_TALK,
    ),
    "monopoly/lift_on_receipt": Asked(
        monopoly(14, model="bot/hustler", separate=False),
        "Shark",
        "lift_on_receipt",
        "Shark has received 25, mortgaged, and lifts its mortgage or does not",
        "action",
        **_TABLE_TALK,
    ),
    "monopoly/raise_cash": Asked(
        monopoly(2, model="bot/professor"),
        "Shark",
        "raise_cash",
        "Shark owes 400 and has 387; 14, 23, 26 and 27 may be mortgaged",
        "mortgages",
        **_TABLE_TALK,
    ),
    "monopoly/react": Asked(
        monopoly(1, model="bot/hustler"), "Shark", "react", "Shark's trade was accepted", "public_speech", **_TABLE_TALK
    ),
    "monopoly/summarize": Asked(
        monopoly(1, "max_turns = 12\ntalk_turns = 2\ntalk_chars = 300") + _SUMMARIZER,
        "@summarizer",
        "summarize",
        "the summarizer sums up what was said at the table",
        "summary",
        words=("summary",),
    ),
    "society/act": Asked(
        f'game = "society"\nseed = 1\n[defaults]\nreasks = 0\n{_LIMITS}[game_config]\ndays = 2\nactions_per_day = 2\n'
        + "".join(seats(f"agent{number}") for number in range(1, 6)),
        "agent1",
        "act",
        "agent #1 of 5 acts; there are posts to reply to",
        "action",
        lambda request: bool(request.world.posts),
        words=("content", "title", "description", "display_name"),
        secret=("reasoning",),
    ),
    "market/briefing": Asked(
        market(3), "A", "briefing", "A answers skip, or what is unclear", "action", secret=("working_memory",)
    ),
    "market/query": Asked(market(3), "A", "query", "A asks for something, or none", "query"),
    "market/action": Asked(
        market(3), "A", "action", "A, B and C trade wheat; A holds 60 and 4 wheat", "action", secret=("working_memory",)
    ),
    "market/interview": Asked(
        market(3, _INTERVIEW), "A", "interview", "A answers the moderator", "answer", words=("answer",)
    ),
    "market/moderate": Asked(
        market(3) + _MODERATOR, "@moderator", "moderate", "the moderator asks A, B, C, everybody or nobody", "ask"
    ),
    "werewolf/speak": Asked(
        f'game = "werewolf"\nseed = 1\n{_LIMITS}{seats(*_VILLAGE, model="bot/candid")}',
        "Anna",
        "speak",
        "Anna, who has the role of a villager, speaks to Boris, Clara, David, Eva and Frank",
        "text",
        words=("text",),
        secret=("thought",),
    ),
}
