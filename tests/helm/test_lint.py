"""The chart as a package: what helm says of it, and what it says of itself."""

from __future__ import annotations

import json
import re

import pytest
import yaml

import bailiff
from tests.harness.helm.chart import CHART, PROFILES, ROOT, VALUES, flags, leaves, run

pytestmark = pytest.mark.helm

ROW = re.compile(r"^\| `([\w.]+)` \| (.+?) \| .+ \|$", re.MULTILINE)


@pytest.mark.parametrize("profile", PROFILES)
def test_helm_lint_finds_nothing(profile):
    done = run("helm", "lint", "--strict", str(CHART), *flags(profile))
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_chart_is_of_our_version():
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert chart["appVersion"] == chart["version"] == bailiff.__version__


def values():
    return yaml.safe_load((CHART / "values.yaml").read_text())


def rows():
    """Each value that is no section, by its path; policies are one."""
    found = dict(leaves(values()))
    policies = [path for path in found if path.startswith("worker.policies.")]
    for path in policies:
        del found[path]
    return found | {"worker.policies": [values()["worker"]["policies"]]}


def test_the_readme_names_every_value_and_its_default():
    written = dict(ROW.findall((CHART / "README.md").read_text()))
    # What is long stands in values.yaml alone.
    shown = {path: describe(value) for path, value in rows().items()}
    assert written == shown


def describe(value):
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "see values.yaml"
    return f"`{json.dumps(value)}`"


def properties(schema, path=""):
    """The path of each property that is no section itself, as `leaves`."""
    root = json.loads((CHART / "values.schema.json").read_text())
    for name, found in schema.get("properties", {}).items():
        resolved = root["$defs"][found["$ref"].split("/")[-1]] if "$ref" in found else found
        if resolved.get("properties") and name not in {
            "affinity",
            "requests",
            "limits",
            "policies",
            # What they may hold is test_pressure.py's.
            "thresholds",
            "extensions",
            "namespaceSelector",
            "objectSelector",
        }:
            yield from properties(resolved, f"{path}{name}.")
        else:
            yield f"{path}{name}"


def test_the_schema_knows_the_values_that_there_are_and_no_others():
    schema = json.loads((CHART / "values.schema.json").read_text())
    # helm itself hands `global` to every chart that is part of another.
    known = set(properties(schema)) - {"global"}
    assert known == {re.sub(r"(requests|limits)\.\w+$", r"\1", path) for path in rows()}


def test_the_profile_everything_switches_all_on_and_changes_all_else():
    changed = dict(leaves(yaml.safe_load((VALUES / "everything.yaml").read_text())))
    for path, default in leaves(values()):
        here = {p: v for p, v in changed.items() if p == path or p.startswith(f"{path}.")}
        assert here, path
        if isinstance(default, bool):
            # Of three that make the certificate no two go together.
            assert here == {path: path != "tls.rotation.enabled"}
        else:
            assert here != {path: default}


def test_the_image_runs_as_somebody_who_is_a_number():
    # kubelet cannot tell whether a name is root's, and refuses it (runAsNonRoot).
    [user] = re.findall(r"^USER (\d+):\d+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert int(user) > 0
