"""Simulate: playing a game synchronously with scripted answers, for tests.

There is no event loop, no player and no model. A request without an answer or a bot is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from agentsim.engine.decision import Decision
from agentsim.engine.event import Event, LoggedEvent, PlayerId
from agentsim.engine.game import Bot, Game, Outcome, bots_of
from agentsim.engine.play import GamePlay
from agentsim.engine.request import Ask, Request, Wave
from agentsim.engine.survey import Interview, decided_by
from agentsim.lazy import dataclass

Answer: TypeAlias = Decision | Callable[[Request[Any]], Decision]
Answers: TypeAlias = Mapping[str, Answer | Mapping[PlayerId, Answer | Sequence[Answer]]]
"""By kind of request: one answer for all, or by player one answer, or a list that is used up in order."""


@dataclass(frozen=True)
class Simulation:
    """A finished game: its outcome, log, and every wave with its decisions."""

    outcome: Outcome
    log: tuple[LoggedEvent, ...]
    waves: tuple[tuple[Wave, tuple[Decision, ...]], ...]

    def events(self, kind: type[Event]) -> list[Any]:
        """Return the events of one class, in order."""
        return [told.event for told in self.log if isinstance(told.event, kind)]

    def asks(self, player: PlayerId | None = None) -> list[Ask]:
        """Return every ask, or one player's."""
        return [ask for wave, _ in self.waves for ask in wave.asks if player in {None, ask.request.player}]


def simulate(
    game: Game,
    config: Mapping[str, Any],
    players: Sequence[PlayerId],
    answers: Answers | None = None,
    *,
    bot: Bot | str | None = None,
    seed: int | str = 1,
    chance: Mapping[str, Sequence[Any]] | None = None,
    staff: Sequence[str] = (),
    names: Mapping[PlayerId, str] | None = None,
    check: bool = True,
    interviews: Sequence[Interview] = (),
) -> Simulation:
    """Play a whole game: scripted `answers` first, then `bot` (a policy or its name) for other requests.

    Every decision is checked like a player's, unless `check` is off. Raises `AssertionError` for a request without an
    answer, and for unused answers in a list.
    """
    play = GamePlay(
        game,
        game.config.from_toml(config),
        players,
        seed,
        staff=staff,
        names=names,
        script=chance,
        interviews=interviews,
    )
    policy = bots_of(game)[bot] if isinstance(bot, str) else bot
    script = _Script(answers or {}, policy)
    waves: list[tuple[Wave, tuple[Decision, ...]]] = []
    wave = play.start()
    while wave is not None:
        decisions = tuple(script.answer(play, ask) for ask in wave.asks)
        for ask, decision in zip(wave.asks, decisions, strict=True) if check else ():
            ask.request.check(decision)
        waves.append((wave, decisions))
        wave = play.answer(decisions)
    left = [f"{kind} of {player}" for (kind, player), unused in script.lists.items() if unused]
    assert not left, f"answers never asked for: {', '.join(left)}"
    assert play.outcome is not None
    return Simulation(play.outcome, tuple(play.log), tuple(waves))


class _Script:
    """The scripted answers; `lists` are those that are used up, by kind and player."""

    def __init__(self, answers: Answers, policy: Bot | None) -> None:
        self._answers, self._policy = answers, policy
        self.lists = {
            (kind, player): list(given)
            for kind, by in answers.items()
            if isinstance(by, Mapping)
            for player, given in by.items()
            if isinstance(given, Sequence)
        }

    def answer(self, play: GamePlay, ask: Ask) -> Decision:
        request = ask.request
        given: Any = self._answers.get(request.kind)
        if isinstance(given, Mapping):
            given = given.get(request.player)
        if isinstance(given, Sequence):
            left = self.lists[request.kind, request.player]
            given = left.pop(0) if left else None
        if given is None and self._policy is not None:
            return decided_by(self._policy, request, play.bot_rng(ask))
        assert given is not None, f"no answer is given to {request.kind} of {request.player} (number {ask.nth})"
        decision = given if isinstance(given, Decision) else given(request)
        assert isinstance(decision, Decision)
        return decision
