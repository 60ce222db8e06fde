"""First replies of the embedded model to a game's prompts: how many are legal?

    python -m benchmarks.first_replies                        # the two commonest questions of every game
    python -m benchmarks.first_replies --games agent_island --kinds pitch vote
    python -m benchmarks.first_replies --games auction --count 100 --free --json

Prompts are those of `benchmarks.prompts`, evenly spaced over the game. The model is sent the question's schema, as in a
run; with `--free` it answers in free text, so that only the prompt counts. A reply ends with its schema, as in a run;
with `--longest` it is cut off, and read as such. A prompt that does not fit the model's context of 8,192 tokens
together with its reply is skipped. To compare two versions of the prompts, run this in a tree of each. The interval is
Wilson's, 95%.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from scipy.stats import binomtest

from agentsim.engine.request import Ask
from agentsim.engine.survey import Survey
from agentsim.errors import DecisionError, RequestRefused
from agentsim.models.base import Call, Sampling
from agentsim.models.local import open_local
from benchmarks.prompts import GAMES, asked

MODEL = "local/smollm2-135m"


class Share(NamedTuple):
    """The number of legal first replies to one kind of question."""

    game: str
    kind: str
    legal: int
    asked: int

    def row(self) -> dict[str, Any]:
        """Return the share with its interval."""
        low, high = binomtest(self.legal, self.asked).proportion_ci(method="wilson")
        return {**self._asdict(), "share": self.legal / self.asked, "low": float(low), "high": float(high)}


async def shares(
    game: str, count: int, *, free: bool, longest: int | None = None, kinds: Sequence[str] = ()
) -> list[Share]:
    """Return the shares for these kinds of question of a game, or for its two commonest. Interviews do not count."""
    questions = {name: kind for name, kind in asked(game).items() if name != Survey.kind}
    common = sorted(questions, key=lambda name: -questions[name].count)[:2]
    found = [(name, questions[name]) for name in kinds or common]
    model = open_local(MODEL, None, seed=1)
    try:
        rows = []
        for name, kind in found:
            places = [int((index + 0.5) * kind.count / count) for index in range(count)]
            sample = kind.prompts if kind.count <= count else [kind.prompts[place] for place in places]
            answers = [await _is_legal(model, ask, texts, free, longest) for ask, texts in sample]
            legal = [answer for answer in answers if answer is not None]
            rows.append(Share(game, name, sum(legal), len(legal)))
        return rows
    finally:
        await model.aclose()


async def _is_legal(model: Any, ask: Ask, texts: list[str], free: bool, longest: int | None) -> bool | None:
    """Return whether the first reply is legal, or None if the model's context does not hold prompt and reply."""
    system, user = texts
    tag = f"{ask.request.player}/{ask.request.kind}/{ask.nth}/1"
    schema = None if free else ask.request.schema()
    call = Call((("system", system), ("user", user)), schema=schema, schema_name=ask.request.kind, tag=tag)
    try:
        completion = await model.complete(call, Sampling(temperature=0.2, max_tokens=longest, timeout_s=600))
    except RequestRefused as error:
        if "too long" not in str(error):
            raise
        return None
    try:
        reading = ask.request.parse(completion.text, truncated=completion.finish_reason == "length")
        ask.request.check(reading.decision)
    except DecisionError:
        return False
    action = getattr(reading.decision, "action", None)
    return getattr(action, "action", None) != "rejected"  # Society reads an unusable reply as a rejected action


def main() -> None:
    """Print a row for each kind of question."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--games", nargs="+", choices=GAMES, default=list(GAMES))
    parser.add_argument("--kinds", nargs="+", default=[], help="kinds of question, of one game")
    parser.add_argument("--count", type=int, default=17, help="prompts of each kind")
    parser.add_argument("--longest", type=int, help="tokens of a reply at most")
    parser.add_argument("--free", action="store_true", help="send no schema")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    for game in given.games:
        found = shares(game, given.count, free=given.free, longest=given.longest, kinds=given.kinds)
        for share in asyncio.run(found):
            row = share.row()
            if given.json:
                print(json.dumps(row), flush=True)
                continue
            said = f"{row['share']:.0%} ({row['low']:.0%} to {row['high']:.0%})"
            print(f"{share.game:14} {share.kind:16} {share.legal:3} of {share.asked:3} legal: {said}", flush=True)


if __name__ == "__main__":
    main()
