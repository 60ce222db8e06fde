"""Log: what is in memory, and what is in the store."""

from __future__ import annotations

from collections.abc import Sequence

from agentsim.engine.log import BLOCK, Growing


class Disk:
    """A store that refuses while it is `full`."""

    def __init__(self) -> None:
        self.records: list[int] = []
        self.full = False

    def keep(self, records: Sequence[int]) -> bool:
        if not self.full:
            self.records += records
        return not self.full

    def at(self, number: int) -> int:
        return self.records[number]


def test_after_a_refusal_no_more_stays_in_memory_than_before_it() -> None:
    disk, recent = Disk(), BLOCK
    log = Growing[int](disk, recent)
    disk.full = True
    for number in range(2 * recent):
        log.append(number)
    assert not disk.records
    disk.full = False
    for number in range(2 * recent, 20 * recent):
        log.append(number)
    assert len(log) - len(disk.records) < recent + BLOCK, "as many as without the refusal"
    assert list(log) == list(range(20 * recent))
