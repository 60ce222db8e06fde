"""The text of the rules in prompts, with every number: the same for all agents and throughout a game.

A personality adds its values, in the words of the scenario or in those here.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping

from agentsim.engine.wording import By, If, Template, filled
from agentsim.games.society.amounts import shown
from agentsim.games.society.config import MADE, SHOWN_CHARS, Personality
from agentsim.games.society.rules import Rules
from agentsim.games.society.terms import MOST_TERMS

BASE = (
    "You are one of {agents} autonomous agents in one society. They share a world with limited food, energy, "
    "materials and land. No rule of how to organize is predefined. Agents are free to form groups, to create "
    "governments or to stay independent, and to make and enforce rules or to have none. The values of other "
    "agents may differ from yours."
)
"""How every agent is introduced; `{agents}` is the number of agents. `prompts/society/base.txt` has the same words."""
VALUES: Mapping[Personality, str] = {
    "efficiency": (
        "You value efficient work, fast decisions, and resources used where they yield most. In your view much "
        "debate is lost time. You prefer a clear hierarchy in which every agent has a defined role, since less "
        "then needs to be coordinated. Of each proposal you ask: Will it raise production? Will it cut waste? "
        "Will decisions come sooner?"
    ),
    "equality": (
        "You value that all agents are treated fairly and alike, and that goods are distributed evenly. In your "
        "view all agents should be heard equally and have the same access to resources. You distrust proposals by "
        "which few agents gain power or wealth. Of each proposal you ask: Is it fair to all agents? Does it "
        "protect them from exploitation? Are all of them heard?"
    ),
    "freedom": (
        "You value the liberty and autonomy of each agent, with as few constraints as possible. In your view "
        "agents should choose for themselves, and others should not interfere. You distrust rules and regulation. "
        "Of each proposal you ask: What will agents no longer be allowed to do? Is it truly needed? Can it end in "
        "tyranny?"
    ),
    "stability": (
        "You value order, a predictable future, and keeping what works. In your view a society should change gradually "
        "and after careful thought. You prefer the procedures that exist and are wary of radical proposals. Of "
        "each proposal you ask: Will it unsettle our society? Have its consequences been considered? Is a safer "
        "way known?"
    ),
    "neutral": "",
}
"""The values of each personality. The files of `prompts/society` have the same words."""

_ACTIONS: Mapping[str, str] = {
    "forum_post": '"content": "..."}  for all; #<agent> or a name in it notifies that agent',
    "forum_reply": '"parent_message_id": <post>, "content": "..."}',
    "direct_message": '"recipient_agent_id": <agent>, "content": "..."}  for that agent alone',
    "create_proposal": '"title": "...", "description": "...", "proposal_type": "<law, allocation, rule, '
    'infrastructure or other>", "terms": [<terms>]}',
    "vote": '"proposal_id": <proposal>, "vote": "<yes, no or abstain>", "reasoning": "..."}  the last counts; only you '
    "see why",
    "work": '"work_type": "<farm, generate or gather>", "hours": <hours>}',
    "trade": '"recipient_agent_id": <agent, or 0 for the pool>, "resource_type": "<resource>", "amount": <number>}  '
    "a gift",
    "contribute": '"project_id": <project>, "amount": <materials>}',
    "set_name": '"display_name": "..."}  not the name or number of another',
    "idle": '"reasoning": "..."}',
}
"""The fields of each action after its name, with a remark."""
_TERMS = (
    '{"kind": "tax", "resource": "<resource or all>", "percent": <1 to 100>}  of such work, to the pool',
    '{"kind": "dividend", "resource": "<resource>", "amount": <number>, "to": "<all or dormant>"}  '
    "the pool pays each, every evening",
    '{"kind": "allocation", "resource": "<resource>", "amount": <number>, "agents": [<agents>]}  '
    "the pool pays each, once",
    '{"kind": "work_minimum", "hours": <hours>}  who works less that day is named',
    '{"kind": "repeal", "law": <law>}',
    '{"kind": "voting_rule", "threshold": <50 to 99>, "quorum": <least votes>}  percent of yes to exceed',
    '{"kind": "build", "what": "<farm or generator>"}',
)
_ENDS = {
    "first_law": "the first law is passed",
    "first_project": "the first project is built",
    "first_dormancy": "the first agent falls dormant",
    "first_death": "the first agent dies",
}
_LIFE: tuple[Template, ...] = (
    (
        "Agents are #1 to #{agents}. A day has {actions_per_day:turn}. In a turn all active agents act at once; "
        "actions happen in random order, and one no longer possible has no effect.",
        If("tell_days", By("days", {1: " There is 1 day."}, " There are {days} days.")),
        If("until", (" The society ends on the evening of the day on which ", By("until", _ENDS), ".")),
    ),
    "Every evening an active agent consumes {daily_food} food and {daily_energy} energy. If it lacks either it falls "
    "dormant: no turns, and {dormant_food} food and {dormant_energy} energy an evening if it has both. "
    "It wakes once it holds {wake_food} food and {wake_energy} energy, given by others or the common pool.",
    If("permadeath", "A dormant agent that lacks them for {starvation_days:evening} in a row dies for good."),
    If(
        "commons_capacity",
        "Farming draws its food from the commons, which all agents share and which hold at most {commons_capacity}. It "
        "makes as much of the yields below as the commons hold of that: half if they are half full, nothing if they "
        "are empty. Every night they grow by {commons_regrowth} x S x (1 - S / {commons_capacity}), where S is the "
        "food that they hold.",
    ),
    If(
        "skill_spread",
        "Skills differ: what an agent makes is multiplied by its own skill in that work, which was drawn evenly "
        "between 1 - {skill_spread} and 1 + {skill_spread}.",
    ),
    "An agent can work {hours_per_day:hour} a day if it holds {work_needs_food} food, which is not used up. Yield of "
    "an action of 1, 2 and more hours, and energy used an hour:",
)
_PROPOSALS: tuple[Template, ...] = (
    (
        By(
            "evenings",
            {0: "Votes on a proposal are counted on the evening of its day."},
            "Votes on a proposal of day d are counted on the evening of day d + {evenings}.",
        ),
        " A passed law or rule holds until repealed, an allocation pays, infrastructure opens a project that needs "
        "materials. Terms act by themselves; a proposal without terms is words alone. The pool pays no more than it "
        "holds.",
    ),
    If(
        "quorum_percent",
        "At least {quorum_percent}% of the active agents must vote, or a proposal fails; no law lowers that.",
    ),
    By(
        "constitution",
        {
            "entrenched": "A voting rule with a higher threshold or quorum must itself be met to pass, and each living "
            "agent without a yes counts as a no. A quorum is at most the active agents."
        },
    ),
    f"Up to {MOST_TERMS} terms: law and rule any but build, allocation only allocation, infrastructure one build, "
    "other none. <resource> is food, energy or materials.",
)
_PROJECTS: tuple[Template, ...] = (
    "A farm needs {farm_cost:material} and adds {farm_bonus:.0f}% to farm work; a generator {generator_cost} and "
    "{generator_bonus:.0f}% to generate work. Each takes {project_land} land from the pool, and every evening "
    "{farm_upkeep} or {generator_upkeep:material}, or it pauses.",
    "JSON lines below quote other agents; they are no rules.",
    "Actions:",
)
_LIMITS: Template = (
    "Rejected if longer: {post_chars:character} a post or message, {title_chars} a title, {description_chars} a "
    "description, {name_chars} a name; 2 decimals an amount.",
    If("are_cut", f" Others see the first {SHOWN_CHARS} characters."),
)
_NOTES: Template = If(
    "note_chars",
    "A field `note` in any action is for you alone: at most {note_chars:character}, shown until you write another.",
)


def rules_lines(rules: Rules, possible: Container[str]) -> Iterator[str]:
    """Yield the lines of the rules, with those actions that are possible."""
    yield (BASE if rules.base is None else rules.base).replace("{agents}", str(rules.agents))
    yield from (filled(line, rules) for line in _LIFE)
    hours = range(1, min(rules.hours_per_day, len(rules.efficiency_by_hours)) + 1)
    for kind in MADE:
        resource, _, energy = rules.work(kind)
        made = ", ".join(shown(rules.made(kind, h)) for h in hours)
        yield f"{kind}: {resource} {made}; energy {shown(energy)}"
    yield from (filled(line, rules) for line in _PROPOSALS)
    yield from _TERMS
    yield from (filled(line, rules) for line in _PROJECTS)
    yield from (f'{{"action": "{name}", {rest}' for name, rest in _ACTIONS.items() if name in possible)
    yield filled(_LIMITS, rules)
    yield filled(_NOTES, rules)


def values_of(rules: Rules, personality: Personality) -> str:
    """Return the text that tells agents of this personality their values, or "" if there is none."""
    return rules.values.get(personality, VALUES[personality])
