"""The dashboard's and the alerts' queries, put to a real Prometheus that has scraped a real run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.harness.kube.programs import assets
from tests.harness.monitoring.files import alerts, queries, selectors
from tests.harness.monitoring.known import OF_THE_TARGET, series_of
from tests.harness.monitoring.prometheus import Prometheus, program
from tests.harness.monitoring.scene import AGENT, API, WORKER, monitored
from tests.harness.monitoring.webhooks import webhooks_that_fail
from tests.harness.node_needs import no_cgroups

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.process

# Which release it is; of all else a selector may choose what only trouble brings.
_KEPT = {"job", "namespace", "name"}
# Its own counts of webhooks, and its reviews of callers: the demo cluster has neither.
_OF_A_REAL_API_SERVER = ("apiserver_", "bailiff_access_reviews_total")
# The kernel tells an agent that memory gets low. That takes a cgroup that is filled; without a
# notice the quantile is of nothing.
_OF_A_FULL_NODE = {"From a notice to its round"}
# The reference leaves out what every process of Python shows.
_OURS = "(bailiff|kubelet|taint|device_taint)_.+"
_PROCESSES = {WORKER: "bailiff worker", API: "bailiff serve", AGENT: "bailiff agent"}


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    program("prometheus")
    folder = tmp_path_factory.mktemp("monitored")
    with webhooks_that_fail() as server, monitored(folder, server) as found:
        yield found


def test_no_panel_is_empty(prometheus: Prometheus) -> None:
    asked = {(title, of_the_run(expr)) for title, expr in queries() if may_be_asked(expr)}
    if no_cgroups():
        asked = {one for one in asked if one[0] not in _OF_A_FULL_NODE}
    empty = sorted(one for one in asked if not prometheus.ask(one[1]))
    assert not empty, "\n".join(map(str, empty))
    assert len(asked) > 75


def of_the_run(expr: str) -> str:
    """As Grafana sends it; a run of half a minute is rated by ten seconds."""
    told = {"$namespace": "bailiff", "$job": ".+", "$__rate_interval": "10s"}
    for variable, value in told.items():
        expr = expr.replace(variable, value)
    assert "$" not in expr
    return expr


def test_every_alert_asks_for_something_that_there_is(prometheus: Prometheus) -> None:
    """By metric, release and names of labels: values such as `failed` come with trouble alone."""
    asked = {
        without_values(alert.expr, selector.metric, selector.matchers)
        for alert in alerts()
        for selector in selectors(alert.expr)
        if may_be_asked(selector.metric)
    }
    empty = sorted(one for one in asked if not prometheus.ask(one))
    assert not empty, "\n".join(empty)
    assert len(asked) > 45


def without_values(expr: str, metric: str, matchers: tuple[tuple[str, str, str], ...]) -> str:
    terms = [
        f'{label}{how}"{value}"' if label in _KEPT else f'{label}!=""'
        for label, how, value in matchers
    ]
    return f"{metric}{{{','.join(terms)}}}"


def test_every_alert_is_evaluated(prometheus: Prometheus) -> None:
    firing = {alert.name for alert in alerts() if prometheus.ask(alert.expr)}
    # The certificate of this run is good for a day.
    assert {"BailiffCertificateExpiresSoon", "BailiffPodsEvictedForPressure"} <= firing
    quiet = {"BailiffWatchStale", "BailiffPoliciesNotCurrent", "BailiffNodeLossContradicted"}
    assert not quiet & firing


def test_an_agent_tells_how_old_its_picture_gets_without_its_api_server(
    prometheus: Prometheus,
) -> None:
    assert prometheus.ask("min(bailiff_agent_mirror_age_seconds) == 0")
    assert prometheus.ask("max(bailiff_agent_mirror_age_seconds) > 2")


@pytest.mark.parametrize(("job", "process"), _PROCESSES.items())
def test_what_a_process_shows_is_in_the_reference_under_it(
    prometheus: Prometheus, job: str, process: str
) -> None:
    """The reference registers collectors by hand, and might do so under another process."""
    shown = [one.labels for one in prometheus.ask(f'{{__name__=~"{_OURS}",job="{job}"}}')]
    told = series_of(process)
    strangers = {tuple(sorted(one.items())) for one in shown if not _is_told(one, told)}
    assert not strangers, "\n".join(map(str, sorted(strangers)))
    assert len({labels["__name__"] for labels in shown}) > 10


def _is_told(labels: dict[str, str], told: dict[str, set[str]]) -> bool:
    name = labels["__name__"]
    # Python's client tells of a counter and of a histogram when they began, besides.
    base = name.removesuffix("_created")
    known = (name,) if name == base else (f"{base}_total", f"{base}_count")
    own = labels.keys() - OF_THE_TARGET - {"__name__"}
    return any(one in told and own <= told[one] for one in known)


def may_be_asked(expr: str) -> bool:
    """What takes a real API server is asked where its program is there."""
    return assets() is not None or not any(metric in expr for metric in _OF_A_REAL_API_SERVER)
