"""The local site over a folder of runs, with pages that grow while their games are played."""
