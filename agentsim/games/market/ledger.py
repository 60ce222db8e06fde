"""The ledger: who holds what, and how much of it is reserved. Capital is an asset like any good."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

CAPITAL = "capital"


def added(amounts: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Sum amounts by asset."""
    total: dict[str, int] = {}
    for asset, amount in amounts:
        total[asset] = total.get(asset, 0) + amount
    return total


@dataclass(slots=True)
class Account:
    """Whole units by asset; `reserved` is the part of `held` that is set aside for open promises, such as orders."""

    held: dict[str, int] = field(default_factory=dict)
    reserved: dict[str, int] = field(default_factory=dict)

    def amount(self, asset: str) -> int:
        """Return how much of an asset is held, reserved or not."""
        return self.held.get(asset, 0)

    def free(self, asset: str) -> int:
        """Return how much of an asset can be reserved or given away."""
        return self.held.get(asset, 0) - self.reserved.get(asset, 0)


@dataclass
class Ledger:
    """All accounts. Assets enter and leave by `issue` and `withdraw` alone; everything else conserves them."""

    accounts: dict[str, Account] = field(default_factory=dict)
    _issued: dict[str, int] = field(default_factory=dict)  # since the last check that found nothing wrong
    _sound: dict[str, dict[str, int]] = field(default_factory=dict)  # what each account held at that check
    _touched: dict[str, None] = field(default_factory=dict)

    def open(self, owner: str) -> Account:
        return self.accounts.setdefault(owner, Account())

    def free(self, owner: str, asset: str) -> int:
        """Return how much of an asset the owner can reserve or give away."""
        return self.accounts[owner].free(asset)

    def issue(self, owner: str, asset: str, amount: int) -> None:
        """Give the owner newly created units."""
        assert amount >= 0, "what is issued is no debt"
        self._add(owner, asset, amount)
        self._issued[asset] = self._issued.get(asset, 0) + amount

    def withdraw(self, owner: str, asset: str, amount: int) -> None:
        """Remove free units of the owner's from the world."""
        assert 0 <= amount <= self.free(owner, asset), "only what is free can be withdrawn"
        self._add(owner, asset, -amount)
        self._issued[asset] = self._issued.get(asset, 0) - amount

    def move(self, giver: str, taker: str, asset: str, amount: int) -> None:
        """Move free units from one owner to another."""
        assert 0 <= amount <= self.free(giver, asset), "only what is free changes hands"
        self._add(giver, asset, -amount)
        self._add(taker, asset, amount)

    def reserve(self, owner: str, asset: str, amount: int) -> None:
        """Reserve free units."""
        assert 0 <= amount <= self.free(owner, asset), "only what is free can be promised"
        reserved = self.accounts[owner].reserved
        reserved[asset] = reserved.get(asset, 0) + amount
        self._touched[owner] = None

    def release(self, owner: str, asset: str, amount: int) -> None:
        """Release reserved units."""
        reserved = self.accounts[owner].reserved
        assert 0 <= amount <= reserved.get(asset, 0), "only what was promised is released"
        reserved[asset] -= amount
        self._touched[owner] = None

    def touched(self) -> Iterable[str]:
        """Return the owners whose accounts have changed since the last check without a fault."""
        return tuple(self._touched)

    def check(self, promised: Mapping[str, Mapping[str, int]]) -> list[str]:
        """Return what does not add up in the accounts that have changed; `promised` is what must be reserved, by owner.

        Only changed accounts are looked at, so that a step in a world of thousands costs what it touched.
        """
        broken: list[str] = []
        change: dict[str, int] = {}
        for owner in self._touched:
            account, before = self.accounts[owner], self._sound.get(owner, {})
            for asset in {**account.held, **before}:
                change[asset] = change.get(asset, 0) + account.amount(asset) - before.get(asset, 0)
            wanted = promised.get(owner, {})
            for asset in {**account.held, **account.reserved, **wanted}:
                reserved = account.reserved.get(asset, 0)
                if not 0 <= reserved <= account.amount(asset):
                    broken.append(f"{owner}: {asset} reserved and free make up what is held")
                if reserved != wanted.get(asset, 0):
                    broken.append(f"{owner}: {asset} is reserved for open promises and nothing else")
        assets = {**change, **self._issued}
        wrong = [asset for asset in assets if change.get(asset, 0) != self._issued.get(asset, 0)]
        broken += [f"{asset} is neither made nor lost" for asset in wrong]
        if not broken:
            self._sound.update({owner: dict(self.accounts[owner].held) for owner in self._touched})
            self._touched.clear()
            self._issued.clear()
        return broken

    def _add(self, owner: str, asset: str, amount: int) -> None:
        held = self.accounts[owner].held
        held[asset] = held.get(asset, 0) + amount
        self._touched[owner] = None
