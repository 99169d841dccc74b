"""Prints the OpenAPI document: `python -m bailiff.rest_api.openapi`."""

from __future__ import annotations

import json
import sys

from bailiff.rest_api.document import make_document


def render() -> str:
    """The document as it is committed: sorted, indented by two, with a newline at the end."""
    return json.dumps(make_document(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(render())
