"""The `bailiff` command."""

from bailiff.cli.app import main

__all__ = ["main"]
