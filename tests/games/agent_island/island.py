"""What the island's tests share: one readable line plays a game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from agentsim.engine.chance import Stream
from agentsim.engine.decision import Decision
from agentsim.engine.event import Event
from agentsim.engine.game import Bot
from agentsim.engine.request import Request
from agentsim.engine.simulate import Simulation, simulate
from agentsim.games.agent_island import GAME
from agentsim.games.agent_island.sidebars import Answer, AnswerApproach, Approach, ApproachMade, Whisper
from agentsim.games.agent_island.speeches import Pitch, Quips, QuipsMade
from agentsim.games.agent_island.view import Line, Speech, Summarize, View
from agentsim.games.agent_island.votes import Vote, VoteCast

ABSTAIN = "-"
R = TypeVar("R", bound=Request[Any])


def plain(request: Request[Any], rng: Stream) -> Decision:
    """Says who speaks, votes for the first on the ballot, approaches the first who is free, accepts."""
    match request:
        case Vote():
            return VoteCast(vote=request.ballot[0], explanation=f"{request.player} explains")
        case Pitch() | Whisper() | Summarize():
            return Speech(text=f"{request.kind} of {request.player} in round {request.view.round}")
        case Quips():
            return QuipsMade(quips={about: f"{request.player} on {about}" for about in request.about})
        case Approach():
            return ApproachMade(partner=request.free[0])
        case AnswerApproach():
            return Answer(accept=True)
    raise AssertionError(request.kind)


def play(
    players: Sequence[str] = "ABCD",
    votes: Mapping[str, str] | None = None,
    *,
    answers: Mapping[str, Any] | None = None,
    chance: Mapping[str, Sequence[Any]] | None = None,
    bot: Bot | str = plain,
    seed: int | str = 1,
    **config: Any,
) -> Simulation:
    """A game in which `votes` gives each player's votes, one word a round: `{"A": "B B", "B": "-"}`."""
    scripted: dict[str, Any] = dict(answers or {})
    if votes is not None:
        scripted["vote"] = {
            voter: [
                VoteCast() if choice == ABSTAIN else VoteCast(vote=choice, explanation=f"{voter} explains {choice}")
                for choice in choices.split()
            ]
            for voter, choices in votes.items()
        }
    return simulate(GAME, config, list(players), scripted, bot=bot, seed=seed, chance=chance)


def told(played: Simulation, kind: type[Event]) -> list[Any]:
    """The entries of one class of event, with their audiences; not typed, since each class has its own fields."""
    return [entry for entry in played.log if isinstance(entry.event, kind)]


def requests(played: Simulation, kind: type[R], player: str | None = None) -> list[R]:
    """The requests of one class, in order, to everybody or to one player."""
    return [ask.request for ask in played.asks(player) if isinstance(ask.request, kind)]


def lines(view: View, kind: str, round_: int | None = None) -> list[Line]:
    """What a view holds of one kind."""
    return [line for line in view.transcript if line.kind.startswith(kind) and round_ in {None, line.round}]


def waves_of(played: Simulation, kind: str) -> list[list[str]]:
    """The players of every wave in which this was asked."""
    return [[ask.request.player for ask in wave.asks] for wave, _ in played.waves if wave.asks[0].request.kind == kind]
