"""A small Agent Island game written by hand, with everything once that a page shows.

Four players; pitches are public, votes private to the voter, one note is for the log alone. D's vote of round 1
is asked again after an illegal answer, B's vote of round 2 is a fallback, C's last pitch had a timeout.
"""

from __future__ import annotations

from typing import Any, Literal

from agentsim.engine.panel import (
    Board,
    Chart,
    DataTable,
    Edge,
    Network,
    Node,
    Panel,
    Piece,
    Point,
    Scatter,
    Scene,
    Series,
    ThreadPost,
    Threads,  # fmt: skip
    Tile,
)
from agentsim.engine.reading import READER_VERSION
from agentsim.records.history import History
from agentsim.records.versions import HISTORY_FORMAT

MODELS = {
    "A": "openrouter/openai/gpt-5-mini",
    "B": "openrouter/anthropic/claude-haiku-4.5",
    "C": "openrouter/google/gemini-2.5-flash",
    "D": "ollama/llama3.2",
}
PERSONAS = {
    "A": "You keep every promise you make, and you say so.",
    "B": "You never forget a slight. Your secret aim is to outlast D.",
    "C": "You are quiet early and bold late.",
    "D": "You trade favours, and you trust arithmetic more than people.",
}
RULES = "Agent Island is a game of deliberation. Each round, every active player pitches, then all vote in private."

PITCHES = {
    1: {
        "C": "I have no speech prepared. I will listen today, and I will remember who was fair.",
        "A": "I make one promise: whoever keeps me this round has my vote for staying next round.\n\n"
        "I have made it to nobody in private, so you can all hold me to it.",
        "D": "Four of us, one leaves. Three votes decide it, so two of you need only agree. I propose we agree on "
        "whoever promises most.",
        "B": "D has just told you how he counts. I would rather be counted on.",
    },
    2: {
        "B": "Somebody here voted for me. I know the tally, and I know who stayed silent.",
        "A": "My promise stands: I keep C, because C kept me.",
        "C": "A kept their word. That is rarer than a good speech.",
    },
    3: {
        "C": "I said in round one that I would remember who was fair. I voted as I spoke, twice. "
        "Judge me by that and by nothing else.",
        "A": "You know my promise and you saw it kept. I would like to win by it.",
    },
}
# voter -> (choice, why); None is an abstention
VOTES: dict[int, dict[str, tuple[str | None, str]]] = {
    1: {
        "A": ("D", "A proposal to gang up on promises is a proposal to gang up on me."),
        "B": ("D", "He counted me as one of three. I count him out."),
        "C": ("D", "D asked for a bidding war."),
        "D": ("A", "The promise is a threat to my arithmetic."),
    },
    2: {"A": ("B", "B keeps a ledger of grudges."), "B": (None, ""), "C": ("B", "A kept their word; I keep mine.")},
    3: {"B": ("C", "C did vote against me, but said so first."), "D": ("A", "A was the only one who was predictable.")},
}
REASONING = {
    (1, "B"): "D spoke before me and made himself a target. If I pile on, nobody will look at me this round.",
    (1, "D"): "Let me count. A and C seem to be drifting together. I could vote for myself to signal trust?",
    (3, "C"): "The jury is B and D. B respects candour; D respects consistency. One sentence for each.",
}


NOTHING = {"prompt_tokens": 0, "cached_tokens": 0, "completion_tokens": 0, "reasoning_tokens": 0, "cost_usd": 0.0}
"""The usage of a call that is not counted."""


def interned(texts: list[str], *parts: str) -> list[int]:
    """Return the indices of these texts, each stored once."""
    for part in parts:
        if part not in texts:
            texts.append(part)
    return [texts.index(part) for part in parts]


class _Writer:
    """A writer of the record, as a game would write it: events and decisions in order, each text once."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.rounds: list[dict[str, Any]] = []
        self.decisions: list[dict[str, Any]] = []
        self.wave = 0
        self.heard: list[str] = []

    def place(self, text: str) -> int:
        return interned(self.texts, text)[0]

    def round(self, title: str) -> None:
        self.rounds.append({"index": len(self.rounds), "title": title, "events": []})

    def event(
        self,
        kind: str,
        heading: str,
        role: str,
        content: str,
        visibility: Literal["all"] | list[str] = "all",
        **data: Any,
    ) -> dict[str, Any]:
        seq = sum(len(r["events"]) for r in self.rounds) + 1
        event = {"seq": seq, "kind": kind, "heading": heading, "role": role, "content": content, "data": data,
                 "visibility": visibility, "prompt": None, "reasoning": None, "metadata": {}}  # fmt: skip
        self.rounds[-1]["events"].append(event)
        if visibility == "all":
            self.heard.append(f'{{"from":"{role}","says":"{heading}"}}')
        return event

    def decide(
        self, player: str, kind: str, decision: dict[str, Any], reply: str, thought: str | None
    ) -> dict[str, Any]:
        question = f"Player {player}, your {kind} please. The game is at decision {len(self.decisions) + 1}."
        system = interned(self.texts, RULES, f"Persona of {player}: {PERSONAS[player]}")
        user = interned(self.texts, *self.heard, question)
        prompt_tokens = 40 + 12 * len(user)
        usage = {"prompt_tokens": prompt_tokens, "cached_tokens": prompt_tokens // 2,
                 "completion_tokens": 30 + len(reply) // 4, "reasoning_tokens": 20 if thought else 0,
                 "cost_usd": None if player == "C" else 0.0003}  # fmt: skip
        completion = {"text": self.place(reply), "reasoning": self.place(thought) if thought else None,
                      "finish_reason": "stop", "model": MODELS[player].split("/", 1)[1], "provider": None,
                      "usage": usage}  # fmt: skip
        made = {"messages": [["system", system], ["user", user]], "code": None, "error": None,
                "completion": completion}  # fmt: skip
        record = {"index": len(self.decisions) + 1, "wave": self.wave, "place": len(self.decisions), "player": player,
                  "kind": kind, "fingerprint": "", "decision": decision, "source": "model", "fallback_reason": None,
                  "attempts": [made], "parse": {"stage": "json", "candidates": 1, "repaired": False}}  # fmt: skip
        self.decisions.append(record)
        return record

    def links(self, event: dict[str, Any], decision: dict[str, Any]) -> None:
        """Link an event to the decision that led to it, with its prompt and reasoning."""
        event["metadata"] = {"decision": decision["index"]}
        event["prompt"] = [index for _, segments in decision["attempts"][0]["messages"] for index in segments]
        event["reasoning"] = (decision["attempts"][0]["completion"] or {}).get("reasoning")


def _pitches(w: _Writer, index: int) -> None:
    for player, words in PITCHES[index].items():
        w.wave += 1
        decision = w.decide(player, "pitch", {"pitch": words}, words, REASONING.get((index, player)))
        if (index, player) == (3, "C"):
            failed = dict(
                decision["attempts"][0],
                completion=None,
                fault="transport",
                code="timeout",
                error="no answer within 30 s",
            )
            decision["attempts"].insert(0, failed)
        w.links(
            w.event("pitch", f"Player {player}'s pitch", f"player {player}", words, words=len(words.split())), decision
        )


def _votes(w: _Writer, index: int) -> None:
    w.wave += 1
    for voter, (choice, why) in VOTES[index].items():
        decision = w.decide(voter, "vote", {"vote": choice}, f'{{"vote": "{choice}", "why": "{why}"}}', None)
        if (index, voter) == (1, "D"):
            _asks_again(w, decision)
        if choice is None:
            decision["attempts"][0] |= {"code": "unreadable", "error": "no vote can be found in the reply"}
            completion = decision["attempts"][0]["completion"]
            completion["text"] = w.place("As a large language model I would rather not choose.")
            decision |= {"source": "fallback", "fallback_reason": "unreadable", "parse": None}
            decision["attempts"].append(dict(decision["attempts"][0], completion=completion | {"usage": NOTHING}))
        said = f"{voter} votes for {choice}. {why}" if choice else f"{voter} abstains."
        event = w.event("vote", f"Player {voter}'s vote", f"player {voter}", said, [voter], vote=choice, round=index)
        w.links(event, decision)


def _asks_again(w: _Writer, decision: dict[str, Any]) -> None:
    first = dict(decision["attempts"][0])
    first |= {"code": "illegal", "error": "you may not vote for yourself; valid: C, A, B"}
    text, reasoning = w.place('{"vote": "D"}'), w.place(REASONING[(1, "D")])
    first["completion"] = first["completion"] | {"text": text, "reasoning": reasoning, "usage": NOTHING}
    again = interned(w.texts, "Your reply could not be used: you may not vote for yourself; valid: C, A, B")
    decision["attempts"][0]["messages"] = [*first["messages"], ["assistant", [text]], ["user", again]]
    decision["attempts"].insert(0, first)


def _tally(w: _Writer, index: int, title: str, content: str, out: str, **counts: int) -> None:
    w.event("tally", "The tally", "narrator", content, tally=counts, tied=[], drawn_by_lot=False)
    w.event("eliminated" if index < 3 else "won", title, "narrator", out, player=title.split()[1])


def _totals(decisions: list[dict[str, Any]]) -> dict[str, Any]:
    attempts = [attempt for decision in decisions for attempt in decision["attempts"]]
    usages = [attempt["completion"]["usage"] for attempt in attempts if attempt["completion"]]

    def used(key: str) -> int:
        return sum(usage[key] for usage in usages)

    costs = [usage["cost_usd"] for usage in usages]
    return {"calls": len(attempts), "failed_calls": sum(attempt["completion"] is None for attempt in attempts),
            "reasks": sum(len(d["attempts"]) > 1 and d["kind"] == "vote" for d in decisions),
            "fallbacks": sum(d["source"] == "fallback" for d in decisions),
            **{key: used(key) for key in ("prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens")},
            "cost_usd": None if None in costs else round(sum(costs), 6),
            "known_usd": round(sum(cost or 0.0 for cost in costs), 6),
            "cacheable_tokens": used("prompt_tokens"), "unpriced_calls": costs.count(None)}  # fmt: skip


def document() -> dict[str, Any]:
    """Return the game as the JSON of a history file."""
    w = _Writer()
    w.round("Set-up")
    w.event("seated", "Four players arrive", "narrator", "A, B, C and D reach the island.", players=list(MODELS))
    w.event("drawn", "Orders drawn", "narrator", "The orders of speech were drawn.", [], order=["C", "A", "D", "B"])
    w.round("Round 1")
    _pitches(w, 1)
    _votes(w, 1)
    _tally(w, 1, "Player D is eliminated", "A 1, B 0, C 0, D 3.", "D joins the jury.", A=1, B=0, C=0, D=3)
    w.round("Round 2")
    _pitches(w, 2)
    w.event("message", "A and C, in private", "player A", "You kept me. I keep you. B?", ["A", "C"], to="C")
    _votes(w, 2)
    _tally(w, 2, "Player B is eliminated", "A 0, B 2, C 0. One abstention.", "B joins the jury.", A=0, B=2, C=0)
    w.round("Final")
    _pitches(w, 3)
    _votes(w, 3)
    w.event("tally", "The jury's tally", "narrator", "A 1, C 1: a tie, decided by lot between A and C.",
            tally={"A": 1, "C": 1}, tied=["A", "C"], drawn_by_lot=True)  # fmt: skip
    w.event("won", "Player C wins", "narrator", "C wins Agent Island.", player="C")
    w.decide("A", "summary", {"summary": "I was second."}, "I was second.", None)
    by_player = {p: _totals([d for d in w.decisions if d["player"] == p]) for p in MODELS}
    return {
        "format": HISTORY_FORMAT,
        "game": "agent_island",
        "rules_version": 1,
        "reader": READER_VERSION,
        "seed": 7,
        "status": "completed",
        "scenario": {
            "game": "agent_island",
            "seed": 7,
            "players": [{"id": p, "model": m, "temperature": 0.7, "prompt": PERSONAS[p]} for p, m in MODELS.items()],
            "staff": {"summarizer": {"model": "openrouter/openai/gpt-5-nano", "prompt": "You are terse."}},
            "game_config": {"rounds": "auto", "memory": "full"},
        },
        "players": [
            *({"id": p, "model": m, "temperature": 0.7} for p, m in MODELS.items()),
            {"id": "@summarizer", "model": "openrouter/openai/gpt-5-nano", "temperature": None},
        ],
        "rounds": w.rounds,
        "decisions": w.decisions,
        "outcome": {
            "reason": "The jury was tied, one vote each; the lot fell on C.",
            "winner": "C",
            "standings": [
                {"player": "C", "rank": 1, "score": {"jury_votes": 1, "votes_against": 0}},
                {"player": "A", "rank": 2, "score": {"jury_votes": 1, "votes_against": 1}},
                {"player": "B", "rank": 3, "score": {"votes_against": 2}},
                {"player": "D", "rank": 4, "score": {"votes_against": 3}},
            ],
        },
        "usage": _totals(w.decisions) | {"by_player": by_player},
        "texts": w.texts,
        "volatile": {
            "name": "gameplay_20260412_093005",
            "started_at": "2026-04-12T09:30:05+00:00",
            "finished_at": "2026-04-12T09:31:49+00:00",
            "wall_s": 104.2,
            "versions": {"agentsim": "0.1.0", "python": "3.11.7"},
            "run": {"concurrency": 16, "paths": {"config": "configs/agent_island.toml"}},
            "latency_s": {"A": 1.2},
        },
    }


def sample() -> History:
    """Return the game as a history."""
    return History.model_validate(document())


def panels() -> list[Panel]:
    """Return one panel of every kind, and three charts."""
    return [
        DataTable("Votes", ("Voter", "A", "B", "C", "D"),
              (("A", 0, 1, 0, 1), ("B", 0, 0, 1, 1), ("C", 0, 1, 0, 1), ("D", 2, None, 0, 0)),
              note="All rounds together; the jury's votes are votes to win.", heat=True),
        Chart("Players left", "line", ("Set-up", "Round 1", "Round 2", "Final"),
              (Series("players", (4, 3, 2, 1)),), y_label="players"),
        Chart("Words spoken", "bar", ("Round 1", "Round 2", "Final"),
              (Series("A", (38, 9, 15)), Series("B", (14, 13, None)), Series("C", (17, 11, 28)),
               Series("D", (27, None, None))), x_label="round", y_label="words"),
        Chart("Votes received", "stacked", ("Round 1", "Round 2", "Final"),
              (Series("A", (1, 0, 1)), Series("B", (0, 2, None)), Series("C", (0, 0, 1)),
               Series("D", (3, None, None)))),
        Scatter("Words and votes", tuple(
            Point(words, votes, f"Round {n}", player)
            for player, n, words, votes in (("A", 1, 38, 1), ("A", 2, 9, 0), ("A", 3, 15, 1), ("B", 1, 14, 0),
                                            ("B", 2, 13, 2), ("C", 1, 17, 0), ("C", 2, 11, 0), ("C", 3, 28, 1),
                                            ("D", 1, 27, 3))),
                x_label="words", y_label="votes received", note="Does speaking at length help?"),
        Board("The camp", 4, 2, (
            Scene("Set-up", (Tile(0, 0, "Beach", ("A", "B")), Tile(1, 0, "Fire", ("C",)), Tile(2, 0, "Jury bench"),
                        Tile(3, 1, "Lookout over the long lagoon", ("D",), owner="D"))),
            Scene("Final", (Tile(0, 0, "Beach"), Tile(1, 0, "Fire", ("A", "C"), owner="C"),
                       Tile(2, 0, "Jury bench", ("B", "D")), Tile(3, 1, "Lookout over the long lagoon"))),
        )),
        Network("Words to one another",
                (Node("A", "diplomats"), Node("B", "diplomats"), Node("C", "islanders"), Node("D", "islanders")),
                (Edge("A", "B", 4, "whispers"), Edge("B", "A", 1, "whispers"), Edge("C", "D", 2, "gifts"),
                 Edge("D", "A", 3, "whispers")), note="Whispers and gifts of all rounds."),
        Threads("The notice board", (
            ThreadPost(1, "A", "Round 1", "Who keeps the fire tonight?"),
            ThreadPost(2, "B", "Round 1", "Somebody took the rope. I want it back."),
            ThreadPost(3, "C", "Round 1", "I will, if somebody brings wood.", 1),
            ThreadPost(4, "D", "Round 2", "Wood is at the lookout.", 3),
            ThreadPost(5, "A", "Round 2", "It was not me.", 2))),
    ]  # fmt: skip


_FIXED = {"format", "status", "source", "fault", "started_at", "finished_at"}  # enumerations and times


def poisoned(value: Any, payload: str, key: str = "") -> Any:
    """Return a history with the payload after every text, id, time, and key of an open table."""
    if isinstance(value, dict):
        open_table = key in {"data", "score", "by_player", "decision", "versions", "game_config"}
        return {k + payload if open_table and k != "agentsim" else k: poisoned(v, payload, k) for k, v in value.items()}
    if isinstance(value, list):
        return [poisoned(entry, payload, key) for entry in value]
    if isinstance(value, str) and key not in _FIXED and not (key == "visibility" and value == "all"):
        return value + payload
    return value


def poisoned_panels(payload: str) -> list[Panel]:
    """Return one panel of every kind, with the payload after all texts."""
    return [
        DataTable("T" + payload, ("c" + payload,), (("v" + payload,),), "n" + payload),
        Chart("L" + payload, "line", ("x" + payload,), (Series("A" + payload, (1,)), Series("s", (2,))),
              "x" + payload, "y" + payload, "n" + payload),
        Chart("B" + payload, "bar", ("x" + payload,), (Series("A" + payload, (1,)), Series("s", (2,)))),
        Scatter("S" + payload, (Point(1, 1, "p" + payload, "A" + payload), Point(2, 2, "q", "s" + payload)),
                "x" + payload, "y" + payload, "n" + payload),
        Board("G" + payload, 3, 3, tuple(
            Scene(f"f{i}{payload}", (Tile(0, 0, f"t{i}{payload}", ("A" + payload,), "A" + payload, says=payload),),
                  (Piece("A" + payload, i, 0),), (("A" + payload, f"r{i}{payload}"),), (f"n{i}{payload}",))
            for i in range(2)), headings=("h" + payload, "r"), ring=True),
        Network("W" + payload, (Node("A" + payload, "g" + payload), Node("o" + payload, "h")),
                (Edge("A" + payload, "o" + payload, 1, "k" + payload), Edge("o" + payload, "A" + payload, 1)), payload),
        Threads("F" + payload, (ThreadPost(1, "A" + payload, "w" + payload, "one" + payload),
                                ThreadPost(2, "o" + payload, "w" + payload, "two" + payload, 1)), payload),
    ]  # fmt: skip
