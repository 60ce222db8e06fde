"""Werewolf: the game as the kernel sees it, from the deal to the end, with the audience of each event."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

from pydantic import Field

from agentsim.engine import Everyone, Game, GameConfig, Outcome, PlayerId, Table
from agentsim.engine.event import Audience
from agentsim.engine.game import Score
from agentsim.engine.panel import Progress
from agentsim.engine.wording import counted, cut
from agentsim.errors import ScenarioError
from agentsim.games.werewolf import invariants, panels, rules_text, words
from agentsim.games.werewolf.bots import BOTS
from agentsim.games.werewolf.state import NOBODY, ROLES, Role, Village
from agentsim.games.werewolf.words import WerewolfRequest


class WerewolfConfig(GameConfig):
    """The `[game_config]` table; players without another role are villagers."""

    werewolves: Annotated[int, Field(ge=1, le=8)] = 2
    """How many players are werewolves"""
    seer: bool = True
    """Whether there is a seer"""
    doctor: bool = True
    """Whether there is a doctor"""
    whispers: Annotated[int, Field(ge=0, le=5)] = 1
    """Messages of each werewolf to the others in a night"""
    speeches: Annotated[int, Field(ge=0, le=5)] = 1
    """Speeches of each living player in a day"""
    max_days: Annotated[int, Field(ge=1, le=50)] = 20
    """Days after which no team has won"""
    text_chars: Annotated[int, Field(ge=20, le=4_000)] = 400
    """Characters of a speech, a whisper or a thought"""

    def cast(self, players: int) -> dict[Role, int]:
        few: dict[Role, int] = {"werewolf": self.werewolves, "seer": int(self.seer), "doctor": int(self.doctor)}
        return few | {"villager": players - sum(few.values())}


class Werewolf(Game):
    name = "werewolf"
    title = "Werewolf"
    summary = "werewolves kill by night, the village hangs by day, and a player may lie about its role"
    scores: ClassVar[Mapping[str, Score]] = {
        "won": Score("won", ("lost", "won")),
        "survived": Score("survived", ("dead", "alive")),
    }
    config = WerewolfConfig
    requests = (words.Whisper, words.Hunt, words.Inspect, words.Protect, words.Speak, words.Vote)
    events = (
        words.Dealt,
        words.Thought,
        words.Inspected,
        words.Protected,
        words.Voted,
        words.Died,
        words.Said,
        words.Unmasked,
    )
    announcements = True
    bots = BOTS
    typical = ("candid",)
    seats = (3, None)
    public_scores = True
    reserved = frozenset({NOBODY})
    facts = panels.FACTS
    overview = staticmethod(panels.overview)
    truths = staticmethod(panels.truths)
    tables = staticmethod(panels.tables)
    invariants = staticmethod(invariants.invariants)
    panels = staticmethod(panels.panels)

    def admit(self, config: WerewolfConfig, players: Sequence[PlayerId]) -> None:
        super().admit(config, players)
        least = max(2 * config.werewolves + 1, config.werewolves + config.seer + config.doctor)
        if len(players) < least:
            most = min((len(players) - 1) // 2, len(players) - config.seer - config.doctor)
            problem = f"{config.werewolves} are too many of {counted(len(players), 'player')}, and need {least}"
            raise ScenarioError(problem, key="game_config.werewolves", valid=f"at most {most}")

    async def play(self, table: Table, config: WerewolfConfig) -> Outcome:
        course = Course(table, config)
        village = course.village
        for player, role in village.roles.items():
            table.tell(words.Dealt(player, role, course.pack if role == "werewolf" else ()), to=(player,))
        for number in range(1, config.max_days + 1):
            for part, play in (("Night", course.night), ("Day", course.day)):
                if not village.winners():
                    table.round(f"{part} {number}")
                    await play()
        unmasked = words.Unmasked(village.winners(), dict(village.roles))
        table.tell(unmasked, to=Everyone)
        return Outcome(unmasked.heading, village.standings())


class Course:
    """The nights and days of one village."""

    def __init__(self, table: Table, config: WerewolfConfig) -> None:
        self.table, self.config, self.limit = table, config, config.text_chars
        cast = config.cast(len(table.players))
        self.rules = rules_text.rules(table.players, cast, config)
        self.dealt = tuple(role for role in ROLES if cast[role])
        roles = table.chance.stream("roles").shuffled([role for role, count in cast.items() for _ in range(count)])
        self.village = Village(dict(zip(table.players, roles, strict=True)))
        self.pack = self.village.living("werewolf")
        table.watch(self.village, self.progress)

    def progress(self) -> Progress:
        """Return the day and who is alive. Roles are secret until the end."""
        village, nights = self.village, sum(title.startswith("Night") for title in self.table.rounds)
        players = sorted(self.table.players, key=lambda each: each in village.died)
        rows = tuple((each, "dead" if each in village.died else "alive", each not in village.died) for each in players)
        return Progress("day", nights, self.config.max_days, rows, (f"{len(village.living())} alive",))

    async def night(self) -> None:
        village, table, pack = self.village, self.table, self.village.living("werewolf")
        for _ in range(self.config.whispers if len(pack) > 1 else 0):
            for speaker in table.chance.stream("whispers").shuffled(pack):
                (remark,) = await self.ask([words.Whisper(**self.known(speaker))])
                table.tell(words.Said(speaker, cut(remark.text, self.limit), pack), to=pack, by=speaker)
        asked: list[words.Naming] = [words.Hunt(**self.known(each), targets=village.others(*pack)) for each in pack]
        asked += [words.Inspect(**self.known(each), targets=village.others(each)) for each in village.living("seer")]
        free = village.others(village.protected)
        asked += [words.Protect(**self.known(each), targets=free) for each in village.living("doctor")]
        village.protected, votes = NOBODY, {}
        for request, answer in zip(asked, await self.ask(asked), strict=True):
            player, target = request.player, answer.target
            if isinstance(request, words.Hunt):
                votes[player] = target
            elif isinstance(request, words.Protect):
                village.protected = target
                table.tell(words.Protected(player, target), to=(player,), by=player)
            elif target != NOBODY:
                inspected = words.Inspected(player, target, village.roles[target] == "werewolf")
                table.tell(inspected, to=(player,), by=player)
        most = self.count("night", votes, pack)
        victim = table.chance.stream("hunt").pick(most) if most else None
        self.die("night", None if victim == village.protected else victim)

    async def day(self) -> None:
        village, table = self.village, self.table
        for _ in range(self.config.speeches):
            for speaker in table.chance.stream("speeches").shuffled(village.living()):
                asked = words.Speak(**self.known(speaker), roles=self.dealt)
                (speech,) = await self.ask([asked])
                said = words.Said(speaker, cut(speech.text, self.limit), None, *asked.claimable[speech.claim])
                table.tell(said, to=Everyone, by=speaker)
        living = village.living()
        answers = await self.ask([words.Vote(**self.known(each), targets=village.others(each)) for each in living])
        votes = {voter: answer.target for voter, answer in zip(living, answers, strict=True)}
        most = self.count("day", votes, Everyone)
        self.die("day", most[0] if len(most) == 1 else None)

    def known(self, player: PlayerId) -> dict[str, Any]:
        """Return the fields of a question to a player: its own role, what it has heard, and who is alive."""
        roles, told = self.village.roles, [entry.event for entry in self.table.heard(player)]
        return {
            "player": player,
            "rules": self.rules,
            "when": self.table.rounds[-1],
            "role": roles[player],
            "pack": self.pack if player in self.pack else (),
            "living": self.village.living(),
            "dead": tuple(f"{dead} ({roles[dead]})" for dead in self.village.died),
            "heard": self.table.lines(player),
            "found": tuple(event for event in told if isinstance(event, words.Inspected)),
            "claims": tuple(event for event in told if isinstance(event, words.Said) and event.claim),
            "limit": self.limit,
        }

    async def ask(self, asked: Sequence[WerewolfRequest[Any]]) -> list[Any]:
        """Ask several players at the same moment, tell each its own reasons, and return the answers."""
        answers = await self.table.ask_all(asked)
        for request, answer in zip(asked, answers, strict=True):
            if thought := cut(getattr(answer, "thought", ""), self.limit):
                self.table.tell(words.Thought(request.player, thought), to=(request.player,), by=request.player)
        return answers

    def count(self, at: words.Part, votes: Mapping[PlayerId, PlayerId], to: Audience) -> list[PlayerId]:
        """Tell the votes and return the players with the most of them, in alphabetical order.

        Abstentions do not count.
        """
        self.table.tell(words.Voted(at, dict(votes)), to=to)
        tally = Counter(vote for vote in votes.values() if vote != NOBODY)
        return sorted(name for name, count in tally.items() if count == max(tally.values()))

    def die(self, at: words.Part, victim: PlayerId | None) -> None:
        self.village.died += [victim] if victim else []
        self.table.tell(words.Died(at, victim, self.village.roles[victim] if victim else None), to=Everyone)
