"""Requests of Monopoly: what a player is asked, and what may be answered. How it is put in words is `questions`."""

from __future__ import annotations

from typing import Any

from agentsim.engine.request import Request
from agentsim.games.monopoly.requests.base import MonopolyRequest
from agentsim.games.monopoly.requests.buying import AuctionBid, BuyOrAuction
from agentsim.games.monopoly.requests.holding import JailAction, ManageEstate, RaiseCash
from agentsim.games.monopoly.requests.trading import AnswerTrade, ProposeTrade, React

__all__ = [
    "REQUESTS",
    "AnswerTrade",
    "AuctionBid",
    "BuyOrAuction",
    "JailAction",
    "ManageEstate",
    "MonopolyRequest",
    "ProposeTrade",
    "RaiseCash",
    "React",
]

REQUESTS: tuple[type[Request[Any]], ...] = (
    JailAction,
    ManageEstate,
    ProposeTrade,
    AnswerTrade,
    React,
    BuyOrAuction,
    AuctionBid,
    RaiseCash,
)
