"""Policies as values: checked by the code's own schema, mounted, obeyed without a restart."""

from __future__ import annotations

import msgspec
import pytest
import yaml
from typer.testing import CliRunner

from bailiff.cli.app import app
from bailiff.decisions.policies import NO_POLICIES, read
from tests.harness.helm.accounts import Permission, permissions
from tests.harness.helm.chart import (
    CHART,
    PROFILES,
    VALUES,
    container_of,
    pod_of,
    render,
    run,
    the,
    try_values,
)
from tests.harness.helm.policies_schema import definitions, written

pytestmark = pytest.mark.helm

BUDGETS: dict = {"evictionApi": {}}
OVERRIDE = {"evictionApi": {"deadlineSeconds": 0}}
PAUSE = {"pause": {"namespace": "ops"}}
SELECTOR = {"exclude": {"namespaceSelector": {"matchLabels": {"tier": "system"}}}}
DELETES = {Permission("pods", "delete"), Permission("pods/status", "patch")}


def valued(policies):
    return {"worker": {"policies": policies}}


def file_of(objects):
    return the(objects, "ConfigMap", "worker", "-policies")["data"]["policies.yaml"]


def test_the_schema_is_the_code_s():
    assert written() == definitions(), "python -m tests.harness.helm.policies_schema writes it anew"


@pytest.mark.parametrize("profile", PROFILES)
def test_the_file_is_one_that_workers_take(profile):
    policies = read(file_of(render(profile)).encode())
    assert (policies == NO_POLICIES) == (profile == "parity")


def test_what_the_chart_renders_can_be_checked():
    objects = yaml.safe_dump_all(render("everything"))
    done = CliRunner().invoke(app, ["policies", "check", "-"], input=objects)
    assert done.exit_code == 0, done.output
    assert read(done.output.encode()) == read(file_of(render("everything")).encode())


def test_every_value_arrives():
    given = yaml.safe_load((VALUES / "everything.yaml").read_text())["worker"]["policies"]
    arrived = msgspec.json.encode(read(file_of(render("everything")).encode()))
    assert msgspec.json.decode(arrived) == given


def test_the_file_is_where_the_worker_looks():
    objects = render()
    container = container_of(objects, "worker")
    settings = {entry["name"]: entry["value"] for entry in container["env"]}
    [volume] = [v for v in pod_of(objects, "worker")["spec"]["volumes"] if "configMap" in v]
    [mount] = [m for m in container["volumeMounts"] if m["name"] == volume["name"]]
    config_map = the(objects, "ConfigMap", "worker", "-policies")
    # What somebody adds to the ConfigMap is not mounted.
    items = [{"key": "policies.yaml", "path": "policies.yaml"}]
    assert volume["configMap"] == {"name": config_map["metadata"]["name"], "items": items}
    # A file that is mounted by subPath is never updated.
    assert "subPath" not in mount
    [name] = config_map["data"]
    assert settings["BAILIFF_POLICIES"] == f"{mount['mountPath']}/{name}"


@pytest.mark.parametrize("policies", [BUDGETS, PAUSE, SELECTOR, {"protection": True}])
def test_a_changed_policy_restarts_nothing(policies):
    before, after = render(), render(values=valued(policies))
    for component in ("worker", "api"):
        assert the(after, "Deployment", component) == the(before, "Deployment", component)
    assert file_of(after) != file_of(before)


@pytest.mark.parametrize(
    ("policies", "more", "less"),
    [
        pytest.param({}, set(), set(), id="none"),
        pytest.param(
            {"protection": True, "exclude": {"namespaces": ["a"]}}, set(), set(), id="others"
        ),
        pytest.param(BUDGETS, {Permission("pods/eviction", "create")}, DELETES, id="budgets"),
        pytest.param(
            OVERRIDE, {Permission("pods/eviction", "create")}, set(), id="budgets with a deadline"
        ),
        pytest.param({"evictionApi": None}, set(), set(), id="budgets taken back"),
        pytest.param(None, set(), set(), id="all taken back"),
        pytest.param(
            PAUSE,
            {Permission("configmaps", "list"), Permission("configmaps", "watch")},
            set(),
            id="pause",
        ),
        pytest.param(
            SELECTOR,
            {Permission("namespaces", "list"), Permission("namespaces", "watch")},
            set(),
            id="namespaces",
        ),
    ],
)
def test_rights_are_those_that_the_policies_use(policies, more, less):
    usual = permissions("worker")
    found = permissions("worker", valued(policies))
    assert (found - usual, usual - found) == (more, less)


def test_the_pause_is_one_config_map_of_its_namespace():
    objects = render(values=valued(PAUSE))
    role = the(objects, "Role", "worker", "-pause")
    assert role["metadata"]["namespace"] == "ops"
    [rule] = role["rules"]
    assert rule["resourceNames"] == ["bailiff-pause"]
    binding = the(objects, "RoleBinding", "worker", "-pause")
    assert binding["metadata"]["namespace"] == "ops"
    [subject] = binding["subjects"]
    assert subject["namespace"] == "bailiff"


def test_releases_may_share_a_namespace_of_pauses():
    names = {
        the(render(values=valued(PAUSE), namespace=place), "Role", "worker", "-pause")["metadata"][
            "name"
        ]
        for place in ("a", "b")
    }
    assert len(names) == 2


BAD = [
    ({"protektion": True}, "'protektion' not allowed"),
    ({"protection": "yes"}, "/worker/policies/protection"),
    ({"limits": {"total": {"perSecond": 0}}}, "/worker/policies/limits/total/perSecond"),
    ({"drainOrder": "Age"}, "/worker/policies/drainOrder"),
    ({"pause": {}}, "missing property 'namespace'"),
    ({"pause": {"namespace": "a b"}}, "/worker/policies/pause/namespace"),
    ({"windows": [{"start": "8", "end": "09:00"}]}, "/worker/policies/windows/0/start"),
    ({"breakers": {"zone": {"stopAt": 1.5}}}, "/worker/policies/breakers/zone/stopAt"),
    ({"apiVersion": "bailiff.dev/v1"}, "'apiVersion' not allowed"),
]


@pytest.mark.parametrize(("policies", "named"), BAD, ids=[str(b[0])[:40] for b in BAD])
def test_what_cannot_be_meant_is_refused_by_name(policies, named):
    done = try_values(valued(policies))
    assert done.returncode != 0
    assert named in done.stderr


def test_the_notes_tell_how_to_pause():
    arguments = ("--dry-run=client", "--namespace", "x")
    values = ("--set", "worker.policies.pause.namespace=ops")
    done = run("helm", "install", "bailiff", str(CHART), *arguments, *values)
    assert "bailiff pause --kubeconfig FILE --namespace ops --name bailiff-pause" in done.stdout
