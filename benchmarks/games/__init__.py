"""Games that only benchmarks play: `benchmarks.calls` adds this folder to the package's own games."""
