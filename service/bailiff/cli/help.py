"""Commands whose help names options whole, however narrow the terminal."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand


class Command(TyperCommand):
    """A command with help of its own: Typer's cuts names where its five columns find no room."""

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002 - as Typer's
        """Print it."""
        from bailiff.cli.help_panels import show  # noqa: PLC0415 - Rich, for nothing but this

        show(self, ctx)
