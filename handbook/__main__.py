"""`make reference`: write anew what the code says in the documents and in the chart."""

from __future__ import annotations

from pathlib import Path

from handbook import layers, metrics, options, variables
from handbook.dashboard import grafana

FOLDER = Path(__file__).parents[1] / "docs" / "reference"
PAGES = {"metrics.md": metrics.page, "options.md": options.page, "variables.md": variables.page}


def main() -> None:
    """Write them."""
    FOLDER.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page())
    layers.PAGE.write_text(layers.drawn(layers.PAGE.read_text()))
    grafana.FILE.write_text(grafana.text())


if __name__ == "__main__":
    main()
