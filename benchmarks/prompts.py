"""What models are asked: a prompt of every kind of question from the middle of a game, and what prompts cost.

    python -m benchmarks.prompts                  # writes docs/prompts
    python -m benchmarks.prompts --tokens         # prints the tokens of every kind of question as JSON

Each game is played once, on its own bots in the seats of models, who say as much as a forecast reckons with. Of each
kind of question one from the middle is shown, as a model would be sent it: of the middle fifth the one with most to
decide, by the length of its state and question. Tokens are those of the package's own estimate. What a provider can
cache is the part that the seat's last prompt, or the model's last one, began with too. A `survey` is what an
interview of any game asks, off the record, and no part of a game's tokens.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

from agentsim.engine.game import bots_of
from agentsim.engine.request import Ask, Request
from agentsim.engine.survey import Survey, decided_by
from agentsim.games import find
from agentsim.models.base import prompt_messages
from agentsim.models.prices import estimated_tokens
from agentsim.runs.forecast import alike, wordy
from agentsim.runs.game_in_progress import new_play
from agentsim.scenario.load import load
from agentsim.scenario.scenario import Scenario

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "prompts"
PARTS = ("rules", "history", "state", "question")
_SENTENCES = (
    "I say what I mean to do, and I mean it.",
    "We both gain if we agree before the others do.",
    "Look at what was promised last time, and at what came of it.",
    "I keep my own count of who helped whom.",
    "That price is too high for what it brings.",
    "Give me a reason that I can repeat to the rest.",
    "I do not need this deal, but I would take a fair one.",
    "Nothing is settled until everyone has spoken.",
)
_SIX = '{ id = "agent", count = 6, model = "openrouter/openai/gpt-4.1" }'


class Source(NamedTuple):
    """A scenario of the repository, changes to it, and the bots that sit in its seats in turn."""

    config: str
    bots: tuple[str, ...]
    overrides: tuple[str, ...] = ()


GAMES: Mapping[str, tuple[Source, ...]] = {
    "agent_island": (
        Source("configs/agent_island_sidebars.toml", ("grudge", "loyal", "random")),
        Source("agentsim/games/agent_island/tiny.toml", ("random",)),
    ),
    "auction": (Source("configs/auction.toml", ("truthful", "sniper", "hoarder")),),
    "monopoly": (
        Source("configs/monopoly.toml", ("shark", "professor", "hustler", "turtle"), ("game_config.max_turns=120",)),
        Source("agentsim/games/monopoly/tiny.toml", ("random",)),
        Source("agentsim/games/monopoly/tiny_separate.toml", ("random",)),
    ),
    "society": (
        Source(
            "configs/society.toml",
            ("efficiency", "equality", "freedom", "stability", "neutral"),
            ("game_config.days=8", f"players=[{', '.join([_SIX] * 4)}]"),
        ),
        Source("configs/society_survey.toml", ("citizen",), (f"players=[{_SIX}, {_SIX}]",)),
    ),
    "market": (
        Source("configs/market.toml", ("zip", "fundamentalist", "zi_c")),
        Source("agentsim/games/market/tiny.toml", ("random",)),
    ),
    "werewolf": (Source("configs/werewolf.toml", ("candid",)),),
}


@dataclass
class Kind:
    """The questions of one kind: the prompts in the order in which they were asked, and the sums of tokens by part."""

    prompts: list[tuple[Ask, list[str]]] = field(default_factory=list)
    parts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PARTS, 0))
    cacheable: int = 0

    @property
    def count(self) -> int:
        return len(self.prompts)

    def shown(self) -> int:
        """Return the index of the prompt to show: in the middle fifth, the one with the longest state and question."""
        middle = range(self.count * 2 // 5, self.count - self.count * 2 // 5)

        def decided(number: int) -> int:
            prompt = self.prompts[number][0].request.prompt()
            return estimated_tokens([*prompt.state, *prompt.question])

        return max(middle, key=decided)

    def figures(self) -> dict[str, Any]:
        """Return means for a question of this kind: tokens by part and in all, and the share that can be cached."""
        total = sum(self.parts.values())
        means = {part: round(tokens / self.count) for part, tokens in self.parts.items()}
        return {"asked": self.count, **means, "total": round(total / self.count), "cacheable": self.cacheable / total}


def asked(game: str) -> dict[str, Kind]:
    """Return every kind of question of a game, in the order in which the game lists them."""
    kinds: dict[str, Kind] = {}
    for source in GAMES[game]:
        found = _played(load(ROOT / source.config, overrides=source.overrides), source.bots)
        kinds = {**found, **kinds}  # a later scenario adds only kinds that earlier ones do not ask
    requests: list[type[Request[Any]]] = [*find(game).requests, Survey]
    return {request.kind: kinds[request.kind] for request in requests if request.kind in kinds}


def _played(scenario: Scenario, bots: tuple[str, ...]) -> dict[str, Kind]:
    scenario = replace(scenario, seed=scenario.seed or 7)
    game = find(scenario.game)
    seats = {plan.id: plan for plan in scenario.seats}
    policies = dict(zip(seats, cycle(bots), strict=False))
    kinds: dict[str, Kind] = defaultdict(Kind)
    last: dict[tuple[str, str], str] = {}
    turned = cycle([" ".join(("", *_SENTENCES[at:], *_SENTENCES[:at])) for at in range(len(_SENTENCES))])
    play = new_play(scenario, game)
    wave = play.start()
    while wave is not None:
        decisions = []
        for ask in wave.asks:
            plan = seats[ask.request.player]
            decision = decided_by(bots_of(game)[policies[plan.id]], ask.request, play.bot_rng(ask))
            decisions.append(wordy(ask.request, decision, next(turned)))
            _count(kinds[ask.request.kind], ask, plan.prompt or "", last, ((plan.model, ""), (plan.model, plan.id)))
        wave = play.answer(decisions)
    return kinds


def _count(kind: Kind, ask: Ask, persona: str, last: dict[Any, str], keys: tuple[Any, ...]) -> None:
    prompt = ask.request.prompt()
    texts = [message.text for message in prompt_messages(ask.prompt(), persona)]
    whole = "".join(texts)
    longest = max(alike(last.get(key, ""), whole) for key in keys)
    last.update(dict.fromkeys(keys, whole))
    kind.cacheable += min(estimated_tokens(texts), estimated_tokens([whole[:longest]]))
    for part in PARTS:
        said = [persona] if part == "rules" and persona else []
        kind.parts[part] += estimated_tokens([*getattr(prompt, part), *said])
    kind.prompts.append((ask, texts))


def page(game: str, kinds: Mapping[str, Kind]) -> str:
    """Return the page of a game, with its prompts from the middle."""
    lines = [f"# {find(game).title}: what models are asked", ""]
    lines += ["Made by `python -m benchmarks.prompts`. Each prompt is from the middle of those of its kind.", ""]
    for name, kind in kinds.items():
        number = kind.shown()
        ask, texts = kind.prompts[number]
        lines += [f"## {name}", "", f"Asked of {ask.request.player}, number {number + 1} of {kind.count}.", ""]
        lines += ["~~~~text", "\n\n".join(texts), "~~~~", ""]
    return "\n".join(lines)


def table(figures: Mapping[str, Mapping[str, Any]]) -> str:
    """Return all kinds of questions with their tokens."""
    lines = [
        "# What models are asked",
        "",
        *(__doc__ or "").split("\n\n", 2)[2].strip().splitlines(),
        "",
        "Tokens of a prompt, means over one game.",
        "",
        "| game | question | asked | rules | history | state | question | total | cacheable |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|",
        *(row for game in figures for row in _rows(game, figures[game])),
        "",
    ]
    return "\n".join(lines)


def _rows(game: str, kinds: Mapping[str, Any]) -> Iterator[str]:
    for name, kind in kinds.items():
        parts = " | ".join(f"{kind[part]:,}" for part in ("asked", *PARTS, "total"))
        yield f"| [{game}]({game}.md) | {name} | {parts} | {kind['cacheable']:.0%} |"
    of_game = [kind for name, kind in kinds.items() if name != Survey.kind]
    calls = sum(kind["asked"] for kind in of_game)
    tokens = sum(kind["asked"] * kind["total"] for kind in of_game)
    yield f"| {game} | **a game** | {calls:,} | | | | | {tokens:,} | |"


def written(games: Mapping[str, Any] = GAMES) -> dict[str, str]:
    """Return the files of the folder by name."""
    kinds = {game: asked(game) for game in games}
    figures = {game: {name: kind.figures() for name, kind in of.items()} for game, of in kinds.items()}
    pages = {f"{game}.md": page(game, of) for game, of in kinds.items()}
    return {**pages, "README.md": table(figures)}


def main() -> None:
    """Write the folder, or print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tokens", action="store_true", help="print the tokens of every kind of question as JSON")
    if parser.parse_args().tokens:
        figures = {game: {name: kind.figures() for name, kind in asked(game).items()} for game in GAMES}
        print(json.dumps(figures, indent=1))
        return
    FOLDER.mkdir(exist_ok=True)
    for name, text in written().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(FOLDER / name)


if __name__ == "__main__":
    main()
