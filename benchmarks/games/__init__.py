"""Games that only benchmarks play: `benchmarks.calls` puts this folder beside the package's own games."""
