"""The Agent Auction Game."""
