"""The local site over a folder of runs: what a file cannot do, a page that grows while its game is played."""
