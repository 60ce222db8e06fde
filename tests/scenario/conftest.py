"""The games of these tests, registered like installed ones."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agentsim import games
from agentsim.engine.game import Game
from tests.scenario.parlour import Parlour, Salon


@pytest.fixture(autouse=True, scope="package")
def _found() -> Iterator[None]:
    installed, ours = games.find, {game.name: game for game in (Parlour, Salon)}

    def find(name: str) -> Game:
        return ours[name]() if name in ours else installed(name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(games, "find", find)
        yield
