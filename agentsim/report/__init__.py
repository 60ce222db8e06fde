"""Pages: a history, or many games, as one self-contained HTML document; tables and figures for a paper.

Called, `agentsim.report` is the function `agentsim.api.report`: importing a module of this package sets the attribute
of that name to the package.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _Report(ModuleType):
    def __call__(self, *sources: Any, **options: Any) -> Any:
        return import_module("agentsim.api").report(*sources, **options)


sys.modules[__name__].__class__ = _Report
