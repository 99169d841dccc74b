"""Which documents there are: those of the site, wherever they lie."""

from pathlib import Path

from handbook.site import OUTSIDE

ROOT = Path(__file__).parents[3]
DOCUMENTS = sorted([*(ROOT / "docs").rglob("*.md"), *(ROOT / name for name in OUTSIDE)])
