"""The words of the market's prompts. What an agent may know is settled in `view`; the system text is the scenario's.

The text that never changes comes first, the same for all agents as far as it goes; then what an agent is; then its
latest steps, of which there come to be no more than the window holds; then the question.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agentsim.engine.prompt import Prompt, joined, quoted
from agentsim.games.market.artifact import Artifact
from agentsim.games.market.memory import Signal
from agentsim.games.market.placeholders import filled, of_one_agent
from agentsim.games.market.state import Agent, Market
from agentsim.games.market.view import Menu, Now, Observation

GOALS = {
    "capital": "have as much capital as you can at the end. Goods count for nothing then; you can sell them before.",
    "wealth": "have as much capital as you can at the end, goods counted at their last price.",
    "surplus": "gain as much as you can: buy units below what they are worth to you, or sell them above their cost.",
}
MOST_SHOWN = 30  # signals of the ticker


def system(
    text: str, market: Market, goals: Mapping[str, str], *, rounds: int, queries: bool
) -> tuple[str, dict[str, str]]:
    """The system text in two parts: what is the same for all agents, and by agent what follows it."""
    lines = text.rstrip("\n").split("\n")
    first = next((place for place, line in enumerate(lines) if of_one_agent(line)), len(lines))
    shared = {
        "n_agents": str(len(market.agents) - 1),
        "max_steps": str(rounds),
        "num_artifacts": str(len(market.artifacts)),
        "artifact_descriptions": "\n".join(_artifact(each, queries=queries) for each in market.artifacts.values()),
        "tool_descriptions": "\n".join(line for tool in market.tools.values() if queries for line in tool.words())
        or "There are none.",
    }
    head, rest = "\n".join(lines[:first]), "\n".join(lines[first:])
    tails = {agent.id: filled(rest, {**shared, **_personal(market, agent, goals)}) for agent in market.agents.values()}
    return filled(head, shared), tails


def _artifact(artifact: Artifact, *, queries: bool) -> str:
    lines = [f"{artifact.name}: {artifact.description}"]
    for title, capabilities in (("actions", artifact.actions), ("queries", artifact.queries if queries else {})):
        if capabilities:
            lines.append(f"  {title} of {artifact.name}:")
            lines += [f"  {line}" for each in capabilities.values() for line in each.words()]
    return "\n".join(lines)


def _personal(market: Market, agent: Agent, goals: Mapping[str, str]) -> dict[str, str]:
    held = market.world.ledger.accounts[agent.id].held
    return {
        "agent_name": agent.id,
        "goal": goals[agent.id],
        "action_restrictions": "\n".join(f"- {each.words}" for each in agent.restrictions) or "- There are none.",
        "inventory": quoted(**held),
    }


def composed(menu: Menu, tail: str, state: Iterable[str], question: Iterable[str]) -> Prompt:
    """The whole prompt of one question to one agent."""
    rules = (menu.head, *([tail] if tail else []))
    return Prompt(rules=tuple(part for part in rules if part), history=(), state=tuple(state), question=tuple(question))


def state_lines(now: Now) -> tuple[str, ...]:
    """The agent's situation at its turn."""
    period = "" if now.period is None else f", in period {now.period} of {now.periods}"
    lines = [
        joined("WORKING MEMORY: ", quoted(working_memory=now.memory)),
        *(["YOUR LAST STEPS, oldest first:", *now.steps] if now.steps else []),
        *(["SINCE YOUR LAST TURN:", *now.news] if now.news else []),
        *_ticker(now.signals, now.stale),
        f"ROUND {now.round}{period}.",
        inventory(now),
    ]
    if now.values:
        lines.append(joined("What a unit is worth to you: ", quoted(**dict(now.values))))
    if now.unit is not None:
        unit = now.unit
        what = "You buy. This unit is worth" if unit.side == "buy" else "You sell. This unit costs you"
        lines.append(f"{what} {unit.worth}: it is number {unit.number} of {unit.total} in this period.")
    return tuple(lines)


def inventory(now: Now) -> str:
    """What the agent holds, and what is reserved of it."""
    held = {holding.asset: holding.held for holding in now.holdings}
    reserved = {each.asset: each.held - each.free for each in now.holdings if each.held != each.free}
    also = (", of which are reserved ", quoted(**reserved)) if reserved else ()
    return joined("INVENTORY: ", quoted(**held), *also)


def _ticker(signals: tuple[Signal, ...], stale: int) -> list[str]:
    if not signals:
        return []
    stale = max(0, stale - len(signals[:-MOST_SHOWN]))
    what = {"buy": "bid", "sell": "ask"}
    shown = [
        f"{signal.good} {'traded at' if signal.traded else what[signal.side]} {signal.price}"
        for signal in signals[-MOST_SHOWN:]
    ]
    if stale:
        shown.insert(stale, "a new period began, and no earlier quote stands")
    return [f"TICKER since your last turn, newest last: {'; '.join(shown)}."]


def observed(observations: tuple[Observation, ...]) -> tuple[str, ...]:
    """What this turn has brought."""
    return tuple(
        joined(f"OBSERVATION ({each.query}", *(() if each.asked == "{}" else (" ", each.asked)), "): ", each.line)
        for each in observations
    )
