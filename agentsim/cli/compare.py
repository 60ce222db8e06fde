"""`agentsim compare`: what the arms of a fork do otherwise than its control. `agentsim fork` plays them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from agentsim.cli import options as o
from agentsim.cli.terminal_output import print_panel, say_json, some_left_out


def compare(
    *,
    name: o.RunName,
    at: Annotated[
        int | None, o.option("--at", "The decision that was made anew, if arms leave the run at several.", "N", min=1)
    ] = None,
    control: Annotated[str, o.option("--control", "The arm that the others are compared with.", "ARM")] = "control",
    effect: Annotated[
        float | None, o.option("--effect", "Say how many branches an effect of this size needs.", "SIZE")
    ] = None,
    logs_dir: o.LogsDir = Path("logs"),
    as_json: o.AsJson = False,
) -> None:
    """Compare the arms of a fork, branch k with branch k.

    What each arm does to rank, win, every score of the outcome and every deed of each player, with intervals of 95%
    for one effect alone and for all together. NAME is the run that was forked; it is no data point of its branches.
    Needs the extra analysis.
    """
    from agentsim import counterfactual

    found = counterfactual.compare(name, at=at, control=control, effect=effect, logs_dir=logs_dir)
    if as_json:
        say_json(found.to_json())
        return
    from agentsim.analysis.comparison_panels import arm_panels

    some_left_out(found.left_out)
    for panel in arm_panels([found]):
        print_panel(panel)
