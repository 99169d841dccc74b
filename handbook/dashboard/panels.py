"""What a row and a panel are, in as few words as a reader of the rows needs."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

# Which release is looked at: the variables of the dashboard.
_RELEASE = 'namespace="$namespace",job=~"$job"'
# A standby keeps timers, and looks at nodes, and acts on neither.
LEADS = "and on (instance) bailiff_worker_leader{} == 1"
_SELECTOR = re.compile(r"(\b[a-z]\w*){([^{}]*)}")
# These are counted by the API server, of all releases.
_OF_THE_CLUSTER = "apiserver_"


@dataclass(frozen=True)
class Query:
    """One query of a panel.

    Attributes:
        expr: PromQL; every selector has braces, in which the release is put.
        legend: of each series.
    """

    expr: str
    legend: str

    @property
    def of_the_release(self) -> str:
        """The query for the release that the dashboard shows."""
        return _SELECTOR.sub(_narrowed, self.expr)


@dataclass(frozen=True)
class Panel:
    """One graph.

    Attributes:
        title: what it shows.
        description: what is usual, and what is not.
        queries: what it draws.
        unit: as Grafana names it.
    """

    title: str
    description: str
    queries: tuple[Query, ...]
    unit: str = "short"


@dataclass(frozen=True)
class Row:
    """Panels under one heading."""

    title: str
    panels: tuple[Panel, ...] = field(default=())


def panel(title: str, description: str, *queries: tuple[str, str], unit: str = "short") -> Panel:
    """A panel; each query with its legend."""
    return Panel(title, description, tuple(Query(*one) for one in queries), unit)


def rate(metric: str, *by: str) -> tuple[str, str]:
    """How often it happens, by these labels."""
    legend = " ".join(f"{{{{{label}}}}}" for label in by) or "all"
    told = f"sum by ({', '.join(by)}) " if by else "sum"
    return f"{told}(rate({metric}[$__rate_interval]))", legend


def quantile(of: float, histogram: str, *by: str) -> tuple[str, str]:
    """The quantile of a histogram, whose name has no `_bucket`, by these labels."""
    legend = " ".join((f"p{100 * of:.0f}", *(f"{{{{{label}}}}}" for label in by)))
    rates = f"rate({histogram}_bucket{{}}[$__rate_interval])"
    return f"histogram_quantile({of}, sum by ({', '.join(('le', *by))}) ({rates}))", legend


def _narrowed(found: re.Match[str]) -> str:
    name, terms = found.groups()
    if name.startswith(_OF_THE_CLUSTER):
        return found[0]
    return f"{name}{{{','.join(filter(None, (_RELEASE, terms)))}}}"
