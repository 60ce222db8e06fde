"""A server that can be mended, for the tests that stand before one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.runner.island import Mendable


@pytest.fixture
def server() -> Iterator[Mendable]:
    fake = Mendable()
    with fake.in_thread():
        yield fake
