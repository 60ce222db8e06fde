"""`agentsim plan`: how many games the effects of a design need, by a pilot of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from agentsim.cli import options as o
from agentsim.cli.terminal_output import print_panel, say_json
from agentsim.engine.wording import counted
from agentsim.errors import needed_by

if TYPE_CHECKING:
    from agentsim.analysis.design_effects import Plan
    from agentsim.engine.panel import DataTable


def plan(
    *,
    design: Annotated[Path, o.path_option("--design", "The design's TOML file.")],
    effect: Annotated[float, o.option("--effect", "The size of effect to be found.", "SIZE")],
    pilot: Annotated[Path, o.path_option("--pilot", "A folder of games of this design.", "DIR")],
    measure: o.Measure = "win",
    player: o.OfPlayer = None,
    factor: o.OfFactor = None,
    logs_dir: o.LogsDir = Path("logs"),
    as_json: o.AsJson = False,
) -> None:
    """Say how many games a design needs.

    Also what they cost, and the power of what is planned. An effect of the given size is then found with a power of
    80%, at 5% on both sides. The pilot says how blocks differ and what a game costs; it should have 20 blocks. Needs
    the extra analysis.
    """
    with needed_by("agentsim plan"):
        from agentsim.analysis.design_effects import plan as planned
    from agentsim.scenario.design_file import read_design

    folder = next((path for path in (pilot, logs_dir / pilot) if path.is_dir()), pilot)
    found = planned(read_design(design).factorial, folder, size=effect, measure=measure, factor=factor, player=player)
    if as_json:
        say_json(found.to_json())
        return
    print_panel(_table(found))


def _table(found: Plan) -> DataTable:
    from agentsim.analysis.design_effects import PILOT
    from agentsim.cli.finish import money
    from agentsim.engine.panel import DataTable

    rows = []
    for each in found.needed:
        cost = money(each.cost_usd) if each.calls else None
        power = None if each.power is None else f"{each.power:.0%}"
        of = each.pilot
        sd = None if of.sd is None else f"{of.sd:.3f}"
        rows.append((of.effect, of.measure, of.player, sd, each.blocks, each.games, each.calls, cost, power))
    said = "no replicates are planned" if found.planned is None else f"{counted(found.planned, 'block')} planned"
    columns = ("effect", "measure", "player", "sd", "blocks", "games", "calls", "cost", f"power ({said})")
    note = (
        f"{found.design}; {counted(found.cells, 'game')} a block, each with another seed than the pilot's. sd is that "
        f"of the effect between {counted(found.pilot, 'block')} of the pilot, whose uncertainty is allowed for; an "
        "effect without one was the same in all of them."
    )
    if found.pilot < PILOT:
        note += (
            f" A pilot of {PILOT} blocks is better: the power is right on average, and far off for some small pilots."
        )
    return DataTable(f"For an effect of {found.size:g} to be found with a power of 80%", columns, tuple(rows), note)
