"""The kernel, and the API that games are written against (`engine.public`).

In a game, `await` means: wait for a decision. Nothing else can be awaited; this package has no IO, no clock, no event
loop and no global random state, and a test checks that. Every command imports a module of it and few need pydantic, so
the public names are imported on first use (PEP 562).
"""

from __future__ import annotations

from agentsim import TYPE_CHECKING

if TYPE_CHECKING:
    from agentsim.engine.public import *  # noqa: F403 - the names are listed there
else:  # hidden from type checkers, which would take it for every name

    def __getattr__(name: str) -> object:
        if name == "public":  # the import of the submodule looks it up here
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from agentsim.engine import public

        if name == "__all__":
            return public.__all__
        if name not in public.__all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(public, name)

    def __dir__() -> list[str]:
        from agentsim.engine import public

        return sorted({*globals(), *public.__all__})
