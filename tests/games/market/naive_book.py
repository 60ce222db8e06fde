"""A reference book: one list, looked through from end to end for every order; slow, and easy to see to be right."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class NaiveBook:
    """Holdings and open orders as plain lists; what is promised is added up anew at every question."""

    capital: dict[str, int]
    goods: dict[str, int]
    best_only: bool = False
    clear_after_trade: bool = False
    single_unit: bool = False
    orders: list[dict[str, Any]] = field(default_factory=list)  # in the order of their arrival
    number: int = 0

    def free(self, owner: str, side: str, without: list[int]) -> int:
        held = self.capital[owner] if side == "buy" else self.goods[owner]
        mine = [o for o in self.orders if o["owner"] == owner and o["side"] == side and o["id"] not in without]
        return held - int(sum(o["price"] * o["quantity"] if side == "buy" else o["quantity"] for o in mine))

    def place(
        self, owner: str, side: str, price: int, quantity: int, replaces: int | None = None
    ) -> list[tuple[int, int, str, str]] | None:
        """The trades as (price, quantity, buyer, seller), or None where the order is refused."""
        mine = [o["id"] for o in self.orders if o["owner"] == owner]
        if replaces is not None and replaces not in mine:
            return None
        going = [replaces] if replaces is not None else mine if self.single_unit else []
        if price < 1 or quantity < 1 or (self.single_unit and quantity != 1):
            return None
        if (price * quantity if side == "buy" else quantity) > self.free(owner, side, going):
            return None
        meets = [o for o in self.orders if o["owner"] != owner and self._meet(side, price, o)]
        same = [o["price"] for o in self.orders if o["side"] == side]
        better = not same or (price > max(same) if side == "buy" else price < min(same))
        if self.best_only and not meets and not better:
            return None
        for o in self.orders:
            if o["id"] == replaces and (o["side"], o["price"]) == (side, price) and quantity < o["quantity"]:
                o["quantity"] = quantity
                return []
        self.orders = [o for o in self.orders if o["id"] not in going]
        self.number += 1
        return self._match(owner, side, price, quantity)

    def _match(self, owner: str, side: str, price: int, quantity: int) -> list[tuple[int, int, str, str]]:
        trades = []
        while quantity:
            opposite = [o for o in self.orders if self._meet(side, price, o)]
            if not opposite:
                break
            first = min(opposite, key=lambda o: (o["price"] if side == "buy" else -o["price"], o["id"]))
            if first["owner"] == owner:
                self.orders.remove(first)
                continue
            count = min(quantity, first["quantity"])
            buyer, seller = (owner, first["owner"]) if side == "buy" else (first["owner"], owner)
            self.capital[buyer] -= first["price"] * count
            self.capital[seller] += first["price"] * count
            self.goods[buyer] += count
            self.goods[seller] -= count
            trades.append((first["price"], count, buyer, seller))
            quantity -= count
            first["quantity"] -= count
            self.orders = [o for o in self.orders if o["quantity"]]
            if self.clear_after_trade:
                self.orders = []
                return trades
        if quantity:
            if self.best_only:
                self.orders = [o for o in self.orders if o["side"] != side]
            order = {"id": self.number, "owner": owner, "side": side, "price": price, "quantity": quantity}
            self.orders.append(order)
        return trades

    def cancel(self, owner: str, order: int) -> bool:
        there = [o for o in self.orders if o["owner"] == owner and o["id"] == order]
        self.orders = [o for o in self.orders if o not in there]
        return bool(there)

    @staticmethod
    def _meet(side: str, price: int, other: dict[str, Any]) -> bool:
        if other["side"] == side:
            return False
        return bool(price >= other["price"] if side == "buy" else price <= other["price"])
