"""How an answer is printed: as text for people, or as JSON for programs."""

from __future__ import annotations

import json
from enum import StrEnum

import typer


class Output(StrEnum):
    """How to print an answer."""

    TEXT = "text"
    JSON = "json"


OUTPUT = typer.Option("--output", "-o", help="text for people, json for programs.")


def pretty(value: object) -> str:
    """JSON that people can read too."""
    return json.dumps(value, indent=2, ensure_ascii=False)
