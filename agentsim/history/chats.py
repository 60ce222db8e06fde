"""chats: every decision of a model as the messages that led to it, for training and for analysis elsewhere.

Tables are `tables`; a decision that no model made (a bot's, a person's, a fallback without any reply) is in neither.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentsim.engine.codec import json_line
from agentsim.history.record import History, TryRecord

__all__ = ["chat_lines"]


def chat_lines(run: str, history: History) -> Iterator[bytes]:
    """One line of JSON for each: `messages`, the last of which is the reply, and what became of it.

    Of a decision that was asked again the last reply counts, with what was said before it. `used` is false where the
    decision is a fallback all the same; `inherited` is true where it is a parent's, which has it as well; `rank` is the
    player's in the end, None for staff and unfinished games.
    """
    standings = [] if history.outcome is None else history.outcome.standings
    ranks = {standing.player: standing.rank for standing in standings}
    models = {player.id: player.model for player in history.players}
    for decision in history.decisions:
        answered = [attempt for attempt in decision.tries if attempt.reply is not None]
        if decision.source == "human" or not answered:
            continue
        yield json_line(
            {
                "messages": _messages(history, answered[-1]),
                "run": run,
                "game": history.game,
                "seed": history.seed,
                "decision": decision.index,
                "kind": decision.kind,
                "player": decision.player,
                "model": decision.answered_by or models.get(decision.player, ""),
                "parsed": decision.decision,
                "used": decision.source != "fallback",
                "inherited": history.inherits(decision),
                "rank": ranks.get(decision.player),
                "winner": None if history.outcome is None else history.outcome.winner == decision.player,
            }
        )


def _messages(history: History, attempt: TryRecord) -> list[dict[str, str]]:
    said = [*attempt.messages, ("assistant", attempt.reply or [])]
    return [{"role": role, "content": "\n".join(history.texts[place] for place in places)} for role, places in said]
