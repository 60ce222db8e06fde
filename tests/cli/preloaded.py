"""The modules, parser and templates that a forked process of the command begins with."""

from __future__ import annotations

import gc
from importlib import import_module
from pkgutil import walk_packages

from agentsim import api
from agentsim.cli import app
from agentsim.report.markup import environment

__all__ = ["api"]

_OPTIONAL = {"agentsim.runs.batch.on_dask"}  # it imports an extra that takes longer than all others

for package in ("cli", "games", "models", "players", "report", "runs", "scenario", "server"):
    for module in walk_packages(import_module(f"agentsim.{package}").__path__, f"agentsim.{package}."):
        if module.name not in _OPTIONAL:
            import_module(module.name)
for name in app._BY_NAME:
    app._parser(name)
for template in environment().list_templates(extensions=["j2"]):
    environment().get_template(template)
gc.freeze()
