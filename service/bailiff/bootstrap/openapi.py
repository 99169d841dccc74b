"""Prints the OpenAPI document: `python -m bailiff.bootstrap.openapi`."""

from __future__ import annotations

import json
import sys

from prometheus_client import CollectorRegistry

from bailiff.bootstrap.admission import Live, admission_of
from bailiff.bootstrap.choices import AdmissionChoice
from bailiff.clock import SystemClock
from bailiff.decisions import SYSTEMS, Options
from bailiff.rest_api import RestSettings, create_app
from bailiff.serving import ByteBudget


def render() -> str:
    """The document as it is committed: sorted, indented by two, with a newline at the end.

    Of all that may be served, hooks included.
    """
    settings, clock, registry = RestSettings(), SystemClock(), CollectorRegistry()
    threads, options = settings.threads(ByteBudget()), Options()
    admission = admission_of(AdmissionChoice(), clock, registry, options, Live(), SYSTEMS, threads)
    app = create_app(settings, clock, registry, options, admission=admission)
    return json.dumps(app.openapi(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(render())
