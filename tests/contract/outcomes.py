"""Golden outcomes: events, decisions, standings and prompts of games on bots, independent of the formats of agentsim.

The kernel alone plays each small scenario (`tiny*.toml` of every game, and `tests/golden/scenarios`) with the policies
that it names. `tests/golden/outcomes/NAME.txt` has a line of digests for each seed, and, for short games, the first one
as text. `python -m tests.contract.outcomes` rewrites the files; review the diff.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from agentsim import games
from agentsim.engine.decision import Decision
from agentsim.engine.event import EveryoneType, LoggedEvent
from agentsim.engine.game import Outcome, bots_of
from agentsim.engine.play import GamePlay
from agentsim.engine.request import Ask
from agentsim.engine.survey import decided_by
from agentsim.scenario.load import load

GOLDEN = Path(__file__).parent.parent / "golden"
OUTCOMES = GOLDEN / "outcomes"
SEEDS = range(1, 7)
"""The seeds of the digests; the game of the first is written as text."""
MOST_AS_TEXT = 60
"""The largest number of decisions of a game that is written as text."""


def scenarios() -> dict[str, Path]:
    """Return the scenarios by name: GAME, GAME_VARIANT and those of `tests/golden/scenarios`."""
    folder = Path(games.__file__).parent
    tiny = {path.parent.name + path.stem.removeprefix("tiny"): path for path in folder.glob("*/tiny*.toml")}
    more = {path.stem: path for path in (GOLDEN / "scenarios").glob("*.toml")}
    return dict(sorted((tiny | more).items()))


class FinishedGame(NamedTuple):
    """The requests with their decisions and prompts, the log, and the outcome of one game."""

    asks: tuple[tuple[Ask, Decision, str], ...]
    log: tuple[LoggedEvent, ...]
    outcome: Outcome


def play(path: Path, seed: int) -> FinishedGame:
    """Play a scenario with the policies that it names; prompts are rendered when the request is made."""
    scenario = load(path)
    game = games.find(scenario.game)
    config = game.config.from_toml(scenario.config.model_dump(mode="json"))
    policies = {plan.id: bots_of(game)[plan.model.removeprefix("bot/")] for plan in scenario.players}
    of_staff = bots_of(game)["random"]
    players = tuple(policies)
    run = GamePlay(game, config, players, seed, staff=tuple(sorted(scenario.staff)))
    asks: list[tuple[Ask, Decision, str]] = []
    wave = run.start()
    while wave is not None:
        prompts = [_prompt(ask) for ask in wave.asks]
        decisions = [
            decided_by(policies.get(ask.request.player, of_staff), ask.request, run.bot_rng(ask)) for ask in wave.asks
        ]
        for ask, decision, prompt in zip(wave.asks, decisions, prompts, strict=True):
            ask.request.check(decision)
            asks.append((ask, decision, prompt))
        wave = run.answer(decisions)
    assert run.outcome is not None
    return FinishedGame(tuple(asks), tuple(run.log), run.outcome)


def outcome_text(path: Path, seeds: Sequence[int] = SEEDS) -> str:
    """Return the text of a scenario's golden file, with the lines of these seeds, which begin with the first."""
    played = {seed: play(path, seed) for seed in seeds}
    first = played[SEEDS[0]]
    lines = [f"seed {seed}: {_digests(game)}" for seed, game in played.items()]
    if len(first.asks) <= MOST_AS_TEXT:
        lines += ["", f"# seed {SEEDS[0]}", *_as_text(first)]
    return "\n".join(lines) + "\n"


def _digests(game: FinishedGame) -> str:
    of: Mapping[str, Callable[[FinishedGame], Iterator[str]]] = {
        "events": lambda game: map(_event, game.log),
        "decisions": lambda game: (_decided(ask, decision) for ask, decision, _ in game.asks),
        "standings": lambda game: _standings(game.outcome),
        "prompts": lambda game: (prompt for *_, prompt in game.asks),
    }
    return ", ".join(f"{len(made)} {what} {_digest(made)}" for what, lines in of.items() if (made := list(lines(game))))


def _digest(lines: list[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]


def _as_text(game: FinishedGame) -> Iterator[str]:
    known: dict[str, list[str]] = {}
    yield from map(_event, game.log)
    for ask, decision, prompt in game.asks:
        yield f"--- {_decided(ask, decision)}"
        lines, before = prompt.split("\n"), known.get(ask.request.player, [])
        # only the lines that are not in the player's last prompt
        yield from (f"  | {line}" for line in lines if line not in set(before))
        known[ask.request.player] = lines
    yield from _standings(game.outcome)


def _prompt(ask: Ask) -> str:
    prompt = ask.prompt()
    return "\n".join((*prompt.rules, *prompt.history, *prompt.state, *prompt.question))


def _decided(ask: Ask, decision: Decision) -> str:
    asked = f"{ask.index}. wave {ask.wave}, {ask.request.player}, {ask.request.kind} {ask.nth}"
    return f"{asked}: {decision.model_dump_json()}"


def _event(logged: LoggedEvent) -> str:
    to = "everyone" if isinstance(logged.to, EveryoneType) else ", ".join(logged.to) or "the log alone"
    event = logged.event
    data = json.dumps(event.data(), ensure_ascii=False, default=str)
    return f"* round {logged.round} [{to}] {event.kind}: {event.heading} | {event.content} | {data}"


def _standings(outcome: Outcome) -> Iterator[str]:
    yield f"=== {outcome.reason}"
    yield from (f"{place.rank or 0}. {place.player} {dict(place.score)}" for place in outcome.standings)


def main() -> None:
    """Write the golden outcomes of every scenario."""
    OUTCOMES.mkdir(exist_ok=True)
    for name, path in scenarios().items():
        (OUTCOMES / f"{name}.txt").write_text(outcome_text(path), encoding="utf-8")


if __name__ == "__main__":
    main()
