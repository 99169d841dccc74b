"""The chart as helm renders it."""

from __future__ import annotations

import functools
import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.harness.kube.programs import WHY_NOT, assets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Object = dict[str, Any]

ROOT = Path(__file__).parents[3]
CHART = ROOT / "helm" / "bailiff"
VALUES = ROOT / "tests" / "helm" / "values"
PARITY = CHART / "values-parity.yaml"
# What people may set, from nothing to everything; each is a values file there.
PROFILES = ("defaults", "parity", "minimal", "highly-available", "webhooks", "everything")
COMPONENTS = ("api", "worker")
# Of the objects of which the worker has several of a kind.
SUFFIXES = (
    *("-policies", "-pause", "-leases", "-requests", "-auth-delegator", "-webhooks", "-counts"),
    *("-nodes", "-pods", "-deletes", "-events", "-rules"),
)
_VERSION = "1.37.1"
_SECONDS = 60


def tool(name: str) -> str:
    """The path of one of the programs that the tests build; skips where there are none."""
    folder = assets()
    if folder is None:
        pytest.skip(WHY_NOT)
    return str(folder / name)


def run(name: str, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """Run one of them to its end; how it ended is for the caller to look at."""
    return subprocess.run(
        [tool(name), *arguments],
        input=given,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )


def flags(profile: str) -> list[str]:
    """How helm is told a profile."""
    if profile == "defaults":
        return []
    file = PARITY if profile == "parity" else VALUES / f"{profile}.yaml"
    return ["--values", str(file)]


def try_values(values: Mapping[str, Any], *more: str) -> subprocess.CompletedProcess[str]:
    """Render with values on top of the defaults and of what else is given."""
    return _template(more, json.dumps(values))


@functools.cache
def _template(more: tuple[str, ...], values: str) -> subprocess.CompletedProcess[str]:
    """Once for all tests of a process: a third of them ask for what another has rendered."""
    arguments = ("--kube-version", _VERSION, *more, "--values", "-")
    return run("helm", "template", "bailiff", str(CHART), *arguments, given=values)


def notes(values: Mapping[str, Any]) -> str:
    """What `helm install` says with these values; it asks no cluster."""
    dry = ("bailiff", str(CHART), "--dry-run=client", "--values", "-")
    done = run("helm", "install", *dry, given=json.dumps(values))
    assert done.returncode == 0, done.stderr
    return done.stdout.partition("\nNOTES:\n")[2] + "\n"


def render(
    profile: str = "defaults", values: Mapping[str, Any] | None = None, namespace: str = "bailiff"
) -> list[Object]:
    """The objects of a release named bailiff, in the order helm creates them."""
    done = try_values(values or {}, *flags(profile), "--namespace", namespace)
    assert done.returncode == 0, done.stderr
    # In C: in Python it takes as long again as helm does.
    return [found for found in yaml.load_all(done.stdout, yaml.CSafeLoader) if found]


def the(objects: list[Object], kind: str, component: str, suffix: str = "") -> Object:
    """The one object of a kind that a component has; of its policies those with such a suffix."""
    [found] = [
        found
        for found in objects
        if found["kind"] == kind
        and found["metadata"]["labels"]["app.kubernetes.io/component"] == component
        and _suffix(found["metadata"]["name"]) == suffix
    ]
    return found


def _suffix(name: str) -> str:
    return next((suffix for suffix in SUFFIXES if name.endswith(suffix)), "")


def pod_of(objects: list[Object], component: str) -> Object:
    """The pod template of a component; `tls` is what makes the certificate."""
    kind = {"tls": "Job", "agent": "DaemonSet"}.get(component, "Deployment")
    template: Object = the(objects, kind, component)["spec"]["template"]
    return template


def container_of(objects: list[Object], component: str) -> Object:
    """Its one container."""
    [container] = pod_of(objects, component)["spec"]["containers"]
    found: Object = container
    return found


def leaves(values: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Each value that is no section, by its path; an empty map is a value."""
    for key, value in values.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", value
