"""Groups: agents found them, join and leave them, and write what the members alone hear. No agent has to be in one."""

from __future__ import annotations

from typing import Literal

from agentsim.engine.event import Deed as Done
from agentsim.games.society.names import misnomer, signature
from agentsim.games.society.turn import Action, Deed, Id, Known, Turn


class GroupFounded(Deed, heading="Agent #{agent} founds group {group}", words="name"):
    group: int
    name: str


class GroupJoined(Deed, heading="Agent #{agent} joins group {group}", content=""):
    group: int


class GroupLeft(Deed, heading="Agent #{agent} leaves group {group}", content=""):
    """A group that its last member leaves is no more."""

    group: int


class GroupMessage(
    Deed,
    heading="Agent #{agent} to group {group}",
    words="text",
    private=("agent", "members"),
    deeds=(Done("agent", "members", "wrote to"),),
):
    """A message that the members hear, and no other agent; `members` are those beside its author."""

    group: int
    members: tuple[int, ...]
    text: str


class FoundGroup(Action, needs=("institutions",)):
    action: Literal["found_group"] = "found_group"
    group_name: str

    @property
    def name(self) -> str:
        """The name without needless spaces."""
        return " ".join(self.group_name.split())

    def why_not(self, known: Known) -> str:
        if wrong := misnomer(self.name, known.agent, known.rules.agents, known.names):
            return wrong
        other = known.group_names.get(signature(self.name))
        return f"group {other} has that name" if other else ""

    def happen(self, turn: Turn) -> None:
        group = turn.state.groups.found(self.name, turn.agent)
        turn.tell(GroupFounded(turn.day, turn.agent, group.id, group.name))


class JoinGroup(Action, needs=("institutions",)):
    action: Literal["join_group"] = "join_group"
    group_id: Id

    def why_not(self, known: Known) -> str:
        if self.group_id not in known.groups:
            return f"there is no group {self.group_id}"
        return f"you are a member of group {self.group_id}" if self.group_id in known.mine else ""

    def happen(self, turn: Turn) -> None:
        turn.state.groups.join(turn.state.groups.all[self.group_id], turn.agent)
        turn.tell(GroupJoined(turn.day, turn.agent, self.group_id))


def _outside(known: Known, group: int) -> str:
    return "" if group in known.mine else f"you are no member of group {group}"


class LeaveGroup(Action, needs=("institutions",)):
    action: Literal["leave_group"] = "leave_group"
    group_id: Id

    def why_not(self, known: Known) -> str:
        return _outside(known, self.group_id)

    def happen(self, turn: Turn) -> None:
        turn.state.groups.leave(turn.state.groups.all[self.group_id], turn.agent)
        turn.tell(GroupLeft(turn.day, turn.agent, self.group_id))


class WriteToGroup(Action, needs=("institutions", "talk")):
    action: Literal["group_message"] = "group_message"
    group_id: Id
    content: str

    def why_not(self, known: Known) -> str:
        return _outside(known, self.group_id)

    def happen(self, turn: Turn) -> None:
        members = turn.state.groups.all[self.group_id].members
        others = [turn.state.citizen(member) for member in members if member != turn.agent]
        turn.count("messages")
        told = tuple(other.number for other in others)
        turn.tell_alone(GroupMessage(turn.day, turn.agent, self.group_id, told, self.content.strip()), *others)
