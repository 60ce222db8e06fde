"""Measurements that a test would be too slow or too noisy for. Each module is a program; see docs/benchmarks."""

import os

# An installed program has its bytecode on the disk; where an environment forbids to write it, half a second of each
# measured process would go into compiling sources.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
