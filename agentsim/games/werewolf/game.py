"""Werewolf: the game as the kernel sees it, from the deal to the end, and who is told what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

from pydantic import Field

from agentsim.engine import Bot, Event, Everyone, GameConfig, LogEntry, Outcome, PlayerId, Request, Table, quoted
from agentsim.engine.panel import Frame, Panel
from agentsim.engine.wording import cut, listed
from agentsim.errors import ScenarioError
from agentsim.games.werewolf import events
from agentsim.games.werewolf.bots import BOTS
from agentsim.games.werewolf.panels import panels, tables
from agentsim.games.werewolf.requests import Hunt, Inspect, Naming, Protect, Speak, Vote, Whisper
from agentsim.games.werewolf.village import NOBODY, Role, Village


class WerewolfConfig(GameConfig):
    """The `[game_config]` table; players without another role are villagers."""

    werewolves: Annotated[int, Field(ge=1, le=8)] = 2
    seer: bool = True
    doctor: bool = True
    whispers: Annotated[int, Field(ge=0, le=5)] = 1
    speeches: Annotated[int, Field(ge=0, le=5)] = 1
    max_days: Annotated[int, Field(ge=1, le=50)] = 20
    text_chars: Annotated[int, Field(ge=20, le=4_000)] = 400

    def cast(self, players: int) -> dict[Role, int]:
        """How many of so many players have each role."""
        few: dict[Role, int] = {"werewolf": self.werewolves, "seer": int(self.seer), "doctor": int(self.doctor)}
        return few | {"villager": players - sum(few.values())}


class Werewolf:
    name: ClassVar[str] = "werewolf"
    title: ClassVar[str] = "Werewolf"
    summary: ClassVar[str] = "werewolves kill by night, the village hangs by day, and a player may lie about its role"
    rules_version: ClassVar[int] = 1
    config: ClassVar[type[GameConfig]] = WerewolfConfig
    requests: ClassVar[tuple[type[Request[Any]], ...]] = (Whisper, Hunt, Inspect, Protect, Speak, Vote)
    events: ClassVar[tuple[type[Event], ...]] = events.EVENTS
    bots: ClassVar[Mapping[str, Bot]] = BOTS
    staff: ClassVar[frozenset[str]] = frozenset()

    def admit(self, config: WerewolfConfig, players: Sequence[PlayerId]) -> None:
        least = max(2 * config.werewolves + 1, config.werewolves + config.seer + config.doctor)
        if len(players) < least:
            raise ScenarioError(f"{len(players)} players are too few", key="players", valid=f"at least {least}")
        if NOBODY in players:
            raise ScenarioError(f"a vote for {NOBODY} is an abstention", key="players", valid="any other id")

    async def play(self, table: Table, config: WerewolfConfig) -> Outcome:
        course = Course(table, config)
        village, pack = course.village, course.village.living("werewolf")
        for player, role in village.roles.items():
            table.tell(events.Dealt(player, role, pack if role == "werewolf" else ()), to=(player,))
        for number in range(1, config.max_days + 1):
            table.round(f"Night and day {number}")
            await course.night()
            if not village.winners():
                await course.day()
            if village.winners():
                break
        unmasked = events.Unmasked(village.winners(), dict(village.roles))
        table.tell(unmasked, to=Everyone)
        return Outcome(unmasked.heading, village.standings())

    def panels(self, log: Sequence[LogEntry], players: Sequence[PlayerId]) -> list[Panel]:
        return panels(tables(log, players))

    def tables(self, log: Sequence[LogEntry], players: Sequence[PlayerId]) -> Mapping[str, Frame]:
        return tables(log, players)


class Course:
    """The nights and days of one village."""

    def __init__(self, table: Table, config: WerewolfConfig) -> None:
        self.table, self.config, cast = table, config, config.cast(len(table.players))
        counts = listed([f"{role} {count}" for role, count in cast.items() if count])
        self.terms = f"The players are {listed(table.players)}. How many have each role: {counts}. "
        self.terms += f"If no team has won after day {config.max_days}, none does."
        roles = table.chance.stream("roles").shuffled([role for role, count in cast.items() for _ in range(count)])
        self.village = Village(dict(zip(table.players, roles, strict=True)))
        table.watch(self.village)

    async def night(self) -> None:
        village, table, pack = self.village, self.table, self.village.living("werewolf")
        for _ in range(self.config.whispers if len(pack) > 1 else 0):
            for speaker in table.chance.stream("whispers").shuffled(pack):
                remark = await table.ask(Whisper(**self.known(speaker)))
                whispered = events.Whispered(speaker, cut(remark.text, self.config.text_chars))
                table.tell(whispered, to=pack, by=speaker)
        asked: list[Naming] = [Hunt(**self.known(each), targets=village.others(*pack)) for each in pack]
        asked += [Inspect(**self.known(each), targets=village.others(each)) for each in village.living("seer")]
        free = village.others(village.protected)
        asked += [Protect(**self.known(each), targets=free) for each in village.living("doctor")]
        chosen = await self.choose(asked)
        village.protected = NOBODY
        for request in asked:
            player, target = request.player, chosen[request.player]
            if isinstance(request, Inspect) and target != NOBODY:
                inspected = events.Inspected(player, target, village.roles[target] == "werewolf")
                table.tell(inspected, to=(player,), by=player)
            elif isinstance(request, Protect):
                village.protected = target
                table.tell(events.Protected(player, target), to=(player,), by=player)
        votes = {each: chosen[each] for each in pack}
        table.tell(events.Voted("night", votes), to=pack)
        most = most_named(votes)
        victim = table.chance.stream("hunt").pick(most) if most else None
        self.die("night", None if victim == village.protected else victim)

    async def day(self) -> None:
        village, table = self.village, self.table
        for _ in range(self.config.speeches):
            for speaker in table.chance.stream("speeches").shuffled(village.living()):
                asked = Speak(**self.known(speaker, "Day"))
                speech = await table.ask(asked)
                self.think(speaker, speech.thought)
                claim = asked.claimable.get(speech.claim, (None, None, False))
                said = events.Said(speaker, cut(speech.text, self.config.text_chars), *claim)
                table.tell(said, to=Everyone, by=speaker)
        living = village.living()
        votes = await self.choose([Vote(**self.known(each, "Day"), targets=village.others(each)) for each in living])
        table.tell(events.Voted("day", votes), to=Everyone)
        most = most_named(votes)
        self.die("day", most[0] if len(most) == 1 else None)

    def known(self, player: PlayerId, part: str = "Night") -> dict[str, Any]:
        """What a player may know, as the fields of a question: what it has heard, its own role, and who lives."""
        village, heard = self.village, [(told.round, told.event) for told in self.table.heard(player)]
        return {
            "player": player,
            "terms": self.terms,
            "when": f"{part} {len(self.table.rounds) - 1}",
            "role": village.roles[player],
            "pack": next(event.pack for _, event in heard if isinstance(event, events.Dealt)),
            "living": village.living(),
            "dead": tuple(f"{dead} ({village.roles[dead]})" for dead in village.died),
            "heard": tuple(as_line(number, event) for number, event in heard),
            "found": tuple(event for _, event in heard if isinstance(event, events.Inspected)),
            "claims": tuple(event for _, event in heard if isinstance(event, events.Said) and event.claim),
            "limit": self.config.text_chars,
        }

    async def choose(self, asked: Sequence[Naming]) -> dict[PlayerId, str]:
        """Each names a player, all at the same moment."""
        answers = await self.table.ask_all(asked)
        for request, answer in zip(asked, answers, strict=True):
            self.think(request.player, answer.thought)
        return {request.player: answer.target for request, answer in zip(asked, answers, strict=True)}

    def think(self, player: PlayerId, thought: str) -> None:
        if text := cut(thought, self.config.text_chars):
            self.table.tell(events.Thought(player, text), to=(player,), by=player)

    def die(self, at: events.Part, victim: PlayerId | None) -> None:
        """All are told who has died, if any has, and what it was."""
        self.village.died += [victim] if victim else []
        self.table.tell(events.Died(at, victim, self.village.roles[victim] if victim else None), to=Everyone)


def as_line(number: int, event: Event) -> str:
    """What was heard, as one line of JSON."""
    return quoted(round=number, event=event.heading, **{"words" if event.words else "fact": event.content})


def most_named(votes: Mapping[PlayerId, PlayerId]) -> list[PlayerId]:
    """Those with the most votes, in alphabetical order; a vote for nobody is none."""
    tally = Counter(vote for vote in votes.values() if vote != NOBODY)
    return sorted(name for name, count in tally.items() if count == max(tally.values()))
