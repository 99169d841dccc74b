"""Writes the dashboard to where the chart has it: `python -m helm.dashboard`."""

from __future__ import annotations

from helm.dashboard.grafana import FILE, text

FILE.write_text(text())
