"""Prints the OpenAPI document: `python -m bailiff.bootstrap.openapi`."""

from __future__ import annotations

import json
import sys

from prometheus_client import CollectorRegistry

from bailiff.clock import SystemClock
from bailiff.decisions import Options
from bailiff.rest_api import RestSettings, create_app


def render() -> str:
    """The document as it is committed: sorted, indented by two, with a newline at the end."""
    app = create_app(RestSettings(), SystemClock(), CollectorRegistry(), Options())
    return json.dumps(app.openapi(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(render())
