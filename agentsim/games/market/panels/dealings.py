"""Dealings: who wrote to whom, who sold to whom and who gave to whom, as one network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from agentsim.engine.event import LogEntry
from agentsim.engine.panel import Network, Node, Panel, Tie
from agentsim.engine.wording import sentence
from agentsim.games.market.artifacts.dialogue import Messaged
from agentsim.games.market.course import Endowed, MarketBegan
from agentsim.games.market.trading import Traded
from agentsim.games.market.world import Transferred

_GROUPS = {"buy": "buyers", "sell": "sellers", None: ""}


def interactions(log: Sequence[LogEntry]) -> list[Panel]:
    """Ties between agents, buyers beside buyers where sides are known; empty where there were no dealings."""
    agents: tuple[str, ...] = ()
    groups: dict[str, str] = {}
    counts: Counter[tuple[str, str, str]] = Counter()
    to_all = False
    for told in log:
        match told.event:
            case MarketBegan() as began:
                agents = began.agents
            case Endowed() as endowed:
                groups[endowed.agent] = _GROUPS[endowed.side]
            case Messaged() as message:
                to_all = to_all or message.to is None
                for reader in message.to or (agent for agent in agents if agent != message.sender):
                    counts[message.sender, reader, "messages"] += 1
            case Traded() as trade:
                counts[trade.seller, trade.buyer, "units sold"] += trade.quantity
            case Transferred() as transfer:
                counts[transfer.giver, transfer.taker, "gifts"] += 1
            case _:
                pass
    known = set(agents)
    ties = tuple(
        Tie(source, target, float(much), kind)
        for (source, target, kind), much in counts.items()
        if source != target and {source, target} <= known
    )
    if not ties:
        return []
    kinds = {tie.kind for tie in ties}
    said = {
        "messages": "how many messages went from one agent to another" + (", those to all among them" * to_all),
        "units sold": "how many units one sold to another",
        "gifts": "how often one gave another something",
    }
    note = "; ".join(text for kind, text in said.items() if kind in kinds)
    # on one circle: where a side is unknown a group would tell only that
    sided = all(groups.get(agent) for agent in agents)
    nodes = tuple(Node(agent, groups[agent] if sided else "") for agent in agents)
    return [Network("Who deals with whom", nodes, ties, sentence(note))]
