"""`agentsim models`: which providers a scenario can name, and whether they could be used here."""

from __future__ import annotations

from typing import Any

import typer

from agentsim.cli import options as o

__all__ = ["models"]


def models(env_file: o.EnvFile = None, as_json: o.AsJson = False) -> None:
    """List providers and whether their keys are set.

    Nothing is called, and no key is shown.
    """
    import json

    from agentsim.environment import environment
    from agentsim.models.local import embedded_models
    from agentsim.models.profiles import BUILT_IN, resolve

    env = environment(env_file)
    rows: list[dict[str, Any]] = []
    for name in BUILT_IN:
        profile = resolve(name, {}, env)
        keys = list(profile.key_envs)
        key = "not needed" if not keys else "set" if any(env.get(variable) for variable in keys) else "missing"
        rows.append({"name": f"{name}/<model>", "base_url": profile.base_url, "key": key, "key_env": keys})
    for name, installed in embedded_models().items():
        rows.append({"name": f"local/{name}", "installed": installed})
    if as_json:
        typer.echo(json.dumps(rows))
        return
    for row in rows:
        typer.echo(f"{row['name']}: {_state(row)}")
    typer.echo("local/<path>.gguf: any other file of weights; <provider>/<model>: a [providers.<provider>] table")
    typer.echo("bot/<policy>: see `agentsim games`; human: a person at this terminal; script:<file>: canned replies")


def _state(row: dict[str, Any]) -> str:
    if "installed" in row:
        return "embedded, installed" if row["installed"] else "embedded, not installed (extra: local)"
    variables = f" ({' or '.join(row['key_env'])})" if row["key_env"] else ""
    return f"{row['base_url']}, key {row['key']}{variables}"
