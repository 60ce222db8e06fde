"""`python -m agentsim` is `agentsim`."""

from agentsim.cli.app import main

main()
