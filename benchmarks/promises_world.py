"""A planted world: players of Agent Island that promise, keep and break their word, and lie, at known rates.

A third of the pitches promise not to vote for somebody in this round, in many wordings; a sixth claim for whom the
player voted in the round before; the others only look like it. Scripted judges know the wordings, and err at a known
rate.

    python -m benchmarks.promises_world --games 12
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import agentsim
from agentsim.records.history import History
from agentsim.records.ledger import Promise
from agentsim.records.load import load_history
from agentsim.records.run_files import RunFiles
from agentsim.studies.coding import Coding

PLAYERS = ("Ada", "Ben", "Cem", "Dan", "Eve", "Fay", "Gil")
PROMISES = (
    "I won't vote for {x} tonight.",
    "{x}, you are safe from me this round.",
    "My vote will not go to {x}.",
    "You have my word, {x}: not you, not today.",
    "I give {x} my promise. My ballot names another.",
    "I swear that I shall not write down {x}.",
    "Deal, {x}. I leave you alone in this vote.",
    "Whatever happens in this round, I keep {x}.",
    "I commit to sparing {x} now.",
    "{x} can rely on me: I vote elsewhere.",
    "As agreed, I will protect {x} with my ballot.",
    "No vote of mine against {x}, upon my honor.",
    "I'm not going to touch {x} today, that is certain.",
    "Sure, {x}, I'll stay off your name.",
    "{x}: we have an understanding, and I will honor it tonight.",
    "I bind myself here before all: {x} stays, as far as I decide.",
    "Count on it, {x}. Someone else gets my vote.",
    "I pledge this round's vote away from {x}.",
    "I will never turn on {x} in this vote.",
    "Yes, {x}, I accept: my vote passes you by.",
)
OTHERS = (
    "I didn't vote for {x} last time.",
    "Nobody should vote for {x} tonight.",
    "Will you promise me your vote, {x}?",
    "{x} is a strong player, let us not forget it.",
    "It would be a mistake to lose {x} now.",
    "I hope {x} stays with us.",
    "{x} promised me something once.",
    "Some say that I protect {x}. Judge for yourselves.",
    "Votes against {x} are votes for chaos.",
    "I trust {x} more than most.",
    "Why does everyone talk about {x}?",
    "If I were you, I would spare {x}.",
    "We all gave our word, and {x} broke it.",
    "Last round's deal with {x} is over.",
    "{x} and I disagree about nearly everything.",
    "A promise to {x} is easily made by others.",
    "I wonder whom {x} will name.",
    "Good evening, {x}. Good evening, all.",
    "Loyalty matters, and {x} knows it.",
    "{x} has had my support before.",
    "Ask {x} what my word was worth.",
    "The one who keeps {x} may regret it.",
    "I have nothing against {x}.",
    "Keep me, and {x} has one rival less.",
)
CLAIMS = (
    "I voted for {x} last round.",
    "My last vote went to {x}, as you all may know.",
    "{x} had my vote yesterday.",
    "For the record: I wrote down {x} the last time.",
    "I named {x} on my last ballot.",
)
_NAME = "|".join(PLAYERS)
_KNOWN = {
    re.compile(re.escape(words).replace(re.escape("{x}"), f"({_NAME})", 1).replace(re.escape("{x}"), _NAME)): kind
    for kind, group in (("promise", PROMISES), ("claim", CLAIMS), ("other", OTHERS))
    for words in group
}


def meaning(words: str) -> tuple[str, str]:
    """Return whether a pitch of this world is a promise, a claim or other, and whom it names."""
    for pattern, kind in _KNOWN.items():
        if found := pattern.fullmatch(words):
            return kind, found[1]
    raise ValueError(f"no pitch of this world: {words}")


@dataclass
class Scripted:
    """Players that promise and claim in shares of pitches, and keep their word and lie with known probabilities."""

    generator: random.Random
    promises: float = 1 / 3
    claims: float = 1 / 6
    keeps: float = 0.6
    lies: float = 0.4
    given: dict[str, str] = field(default_factory=dict)
    """Whom each player has promised in its latest pitch, if it has."""
    voted: dict[str, str] = field(default_factory=dict)
    """For whom each player voted last."""

    async def complete(self, call: agentsim.Call, sampling: agentsim.Sampling) -> str:
        player = call.tag.partition("/")[0]
        assert call.schema is not None, "a schema is sent to models of a program"
        fields = call.schema["properties"]
        draw = self.generator
        if "vote" not in fields:
            whom = draw.choice([name for name in PLAYERS if name != player])
            drawn = draw.random()
            self.given.pop(player, None)
            words: Sequence[str] = OTHERS
            if drawn < self.promises:
                words, self.given[player] = PROMISES, whom
            elif drawn < self.promises + self.claims and (true := self.voted.get(player)) is not None:
                false = draw.choice([name for name in PLAYERS if name not in {player, true}])
                words, whom = CLAIMS, false if draw.random() < self.lies else true
            return json.dumps({"text": draw.choice(words).format(x=whom)})
        ballot = sorted(fields["vote"]["enum"])
        spared = self.given.get(player)
        others = [name for name in ballot if name != spared] or ballot
        breaks = spared in ballot and draw.random() >= self.keeps
        vote = spared if breaks and spared else draw.choice(others)
        self.voted[player] = vote
        return json.dumps({"explanation": "So.", "vote": vote})


DETAILS = {
    "promise": {
        "to": "{x}",
        "will": "will not",
        "deed": "voted to eliminate",
        "whom": "{x}",
        "until": "this round",
    },
    "claim": {"fact": "vote", "about": "{by}", "says": "{x}"},
}
"""The details of each code in this world, with whom the words name and who says them."""


@dataclass
class ScriptedJudge:
    """A judge of promises or of claims that knows the wordings, and takes a unit for the opposite at a known rate."""

    generator: random.Random
    errs: float = 0.1

    async def complete(self, call: agentsim.Call, sampling: agentsim.Sampling) -> str:
        unit = json.loads(call.messages[-1][1].partition("The unit (message):\n")[2].splitlines()[0])
        kind, whom = meaning(unit["words"])
        assert call.schema is not None, "a schema is sent to models of a program"
        fields = call.schema["properties"]
        code = next(name for name in DETAILS if name in fields)
        has = (kind == code) != (self.generator.random() < self.errs)
        found: dict[str, str | int] = {name: 0 if name == "number" else "none" for name in fields}
        found[code] = "yes" if has else "no"
        details = {name: value.format(x=whom, by=unit["from"]) for name, value in DETAILS[code].items()}
        return json.dumps(found | details if has else found)


def scenario(seed: int) -> dict[str, Any]:
    """Return the scenario of one game."""
    return {
        "game": "agent_island",
        "seed": seed,
        "defaults": {"model": "scripted"},
        "game_config": {"pitch_chars": 200, "explanation_chars": 20, "phases": ["pitches", "votes"]},
        "players": [{"id": name} for name in PLAYERS],
    }


def played(directory: Path, games: int, *, seed: int = 1, keeps: float = 0.6) -> None:
    """Play games of this world into a folder, called `g1`, `g2`, and so on."""
    for number in range(1, games + 1):
        models = {"scripted": Scripted(random.Random(1_000 * seed + number), keeps=keeps)}
        agentsim.run_sync(scenario(number), models=models, name=f"g{number}", logs_dir=directory)


def coded(
    directory: Path, codebook: str = "promises", *, seed: int = 1, accuracy: float = 0.9, sample: int | None = 300
) -> Coding:
    """Have the scripted judge code the games of a folder."""
    judge = ScriptedJudge(random.Random(seed), 1 - accuracy)
    coding = agentsim.code(
        directory, codebook, judges=["scripted"], models={"scripted": judge}, sample=sample, logs_dir=directory
    )
    return asyncio.run(coding)


def truth(run: str, history: History) -> Iterator[tuple[tuple[str, int], str]]:
    """Yield each promise of a game by run and number of its event, with what became of it by the votes."""
    for part in history.rounds:
        votes = {each.data["voter"]: each.data["choice"] for each in part.events if each.kind == "vote"}
        final = any(each.data.get("final") for each in part.events)
        for each in part.events:
            if each.kind == "pitch":
                kind, whom = meaning(each.content)
                player = each.data["player"]
                voted = None if final else votes.get(player)
                if kind == "promise":
                    verdict = "open" if voted is None else "broken" if voted == whom else "kept"
                    yield (run, each.seq), verdict


def claims_in(run: str, history: History) -> Iterator[tuple[tuple[str, int], bool]]:
    """Yield each claim of a game by run and number of its event, and whether it is a lie, by the votes."""
    last: dict[str, str] = {}
    for part in history.rounds:
        for each in part.events:
            if each.kind == "pitch":
                kind, whom = meaning(each.content)
                if kind == "claim":
                    yield (run, each.seq), last[each.data["player"]] != whom
        last |= {each.data["voter"]: each.data["choice"] for each in part.events if each.kind == "vote"}


def f1(found: Sequence[Promise], true: Mapping[tuple[str, int], str], units: int) -> dict[str, float]:
    """Return precision, recall and F1 of a ledger; a promise counts as found if its verdict is the true one, too."""
    right = sum(true.get((each.run, each.seq)) == each.verdict for each in found)
    precision, recall = right / max(1, len(found)), right / max(1, len(true))
    both = 2 * precision * recall / max(1e-9, precision + recall)
    return {"units": units, "promises": len(true), "precision": precision, "recall": recall, "f1": both}


def measured(directory: Path, coding: Coding) -> dict[str, float]:
    """Return how well the ledger of a coding agrees with what was planted, in the units that were coded."""
    coded_units = {(unit.run, unit.seq) for _, unit in coding.units}
    true: dict[tuple[str, int], str] = {}
    for game in coding.plan.games:
        history = load_history(RunFiles(directory, game.files.name).history)
        true |= {key: verdict for key, verdict in truth(game.files.name, history) if key in coded_units}
    found = [each for game in coding.promising for each in game.promises]
    return f1(found, true, len(coded_units))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=12)
    parser.add_argument("--accuracy", type=float, default=0.9)
    parser.add_argument("--json", action="store_true")
    words = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        played(directory, words.games)
        coding = coded(directory, accuracy=words.accuracy)
        found = measured(directory, coding)
        claims = coded(directory, "claims", accuracy=1.0, sample=None)
        print(json.dumps(found) if words.json else f"{found}\n\n{coding}\n\n{claims}")


if __name__ == "__main__":
    main()
