"""Multi-agent games played by language models."""

__version__ = "0.1.0"
__all__ = ["__version__"]
