"""A typed model of another distribution, and a game played with it from Python."""

from __future__ import annotations

import json
from pathlib import Path

import agentsim
from agentsim.errors import AgentsimError, RequestRefused


class Greedy:
    """A model that takes as many coins as it may."""

    async def complete(self, call: agentsim.Call, sampling: agentsim.Sampling) -> agentsim.Completion:
        if call.schema is None:
            raise RequestRefused(f"{call.tag}: no schema", code="refusal")
        most: int = call.schema["properties"]["coins"]["maximum"]
        text = json.dumps({"coins": most, "hand": "right", "remark": "All mine."})
        return agentsim.Completion(text, usage=agentsim.Usage(prompt_tokens=len(call.messages)))


def play(folder: Path) -> str | None:
    scenario = agentsim.Scenario.model_validate(
        {"game": "nim", "players": [{"id": "A", "model": "python:greedy"}, {"id": "B", "model": "bot/random"}]}
    )
    heard: list[str] = []
    try:
        run: agentsim.RecordedRun = agentsim.run_sync(
            scenario,
            seed=3,
            models={"greedy": Greedy()},
            logs_dir=folder,
            on_event=lambda event: heard.append(event.content),
        )
    except AgentsimError as error:
        raise SystemExit(error.exit_code) from error
    assert len(heard) == len(run.events)
    return run.outcome.winner if run.outcome is not None else None
