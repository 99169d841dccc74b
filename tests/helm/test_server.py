"""Every rendered object is one that a real API server takes; kubeconform and admission agree."""

from __future__ import annotations

import json

import pytest

from bailiff.cluster import Request
from tests.harness.api import PODS
from tests.harness.helm.chart import COMPONENTS, PROFILES, pod_of, render, run, the
from tests.harness.helm.openapi import FILE_TEMPLATE, write_schemas
from tests.harness.objects import pod_object

pytestmark = [pytest.mark.helm, pytest.mark.kube_apiserver, pytest.mark.usefixtures("monitors")]


@pytest.fixture
async def schemas(cluster, tmp_path):
    """A folder of schemas for all that the chart may render."""
    versions = {obj["apiVersion"] for profile in PROFILES for obj in render(profile)}
    await write_schemas(cluster, versions, tmp_path)
    return tmp_path


def kubeconform(objects, schemas):
    """Its exit code and what it says; nothing is skipped for want of a schema."""
    lines = "\n---\n".join(map(json.dumps, objects))
    location = str(schemas / FILE_TEMPLATE)
    done = run("kubeconform", "-strict", "-summary", "-schema-location", location, given=lines)
    return done.returncode, done.stdout


async def test_kubeconform_takes_every_object(schemas):
    for profile in PROFILES:
        objects = render(profile)
        code, said = kubeconform(objects, schemas)
        assert code == 0, said
        assert f"{len(objects)} resources found" in said
        assert f"Valid: {len(objects)}, Invalid: 0, Errors: 0, Skipped: 0" in said


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        (("spec", "replica"), 3, "additional properties 'replica' not allowed"),
        (("spec", "replicas"), "3", "/spec/replicas"),
        (("spec", "template", "spec", "hostnetwork"), True, "'hostnetwork' not allowed"),
        (("spec", "template", "spec", "containers"), {}, "/spec/template/spec/containers"),
    ],
)
async def test_kubeconform_does_see_mistakes(schemas, path, value, named):
    objects = render()
    target = the(objects, "Deployment", "api")
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value
    code, said = kubeconform(objects, schemas)
    assert code != 0
    assert named in said


@pytest.mark.parametrize("profile", PROFILES)
def test_the_server_would_take_every_object(kube_apiserver, bench, tmp_path, profile):
    objects = render(profile, namespace=bench.namespace)
    done = run(
        *("kubectl", "--kubeconfig", str(kube_apiserver.kubeconfig)),
        # Another server may have listened on this port before.
        *("--cache-dir", str(tmp_path)),
        *("apply", "--dry-run=server", "--validate=strict", "-f", "-"),
        given="\n---\n".join(map(json.dumps, objects)),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("created (server dry run)") == len(objects)
    assert "Warning" not in done.stderr


PODS_OF = [(profile, one) for profile in PROFILES for one in COMPONENTS] + [("webhooks", "tls")]


@pytest.mark.parametrize(("profile", "component"), PODS_OF)
async def test_pods_pass_the_strictest_admission(cluster, strict_namespace, profile, component):
    """Pod Security "restricted", priority classes, and the validation that only pods get."""
    template = pod_of(render(profile), component)
    metadata = template["metadata"] | {"name": "pod"}
    body = pod_object("pod", **template["spec"]) | {"metadata": metadata}
    path = PODS.path(strict_namespace)
    query = {"dryRun": "All", "fieldValidation": "Strict"}
    answer = await cluster.send(Request("POST", path, query, json.dumps(body).encode()))
    assert json.loads(answer)["metadata"]["name"] == "pod"
