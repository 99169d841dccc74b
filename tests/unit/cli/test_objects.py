"""Files of objects: what kubectl prints goes in, and what looks misspelt is said."""

import json

import pytest

from bailiff.cli.errors import InputError
from bailiff.cli.objects import Objects
from bailiff.cli.unknown_fields import misspelt
from bailiff.kinds import (
    DeviceTaintRule,
    Node,
    Pod,
    PodDisruptionBudget,
    ResourceClaim,
    ResourceSlice,
)

POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}}
ONE_OF_NODES = "must be one of NoSchedule, PreferNoSchedule, NoExecute"
ONE_OF_DEVICES = "must be one of None, NoSchedule, NoExecute"
NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}


@pytest.fixture
def read(tmp_path):
    def _read(*texts, namespace="default"):
        paths = []
        for number, text in enumerate(texts):
            paths.append(tmp_path / f"{number}.yaml")
            paths[-1].write_text(text if isinstance(text, str) else json.dumps(text))
        return Objects(paths, namespace)

    return _read


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(POD, id="one, JSON"),
        pytest.param("kind: Pod\nmetadata: {name: web}\n", id="one, YAML"),
        pytest.param({"kind": "List", "items": [NODE, POD]}, id="kubectl get pods,nodes -o json"),
        pytest.param(
            {"kind": "PodList", "items": [{"metadata": {"name": "web"}}]},
            id="the API's own, whose items name no kind",
        ),
        pytest.param("---\n---\nkind: Pod\nmetadata: {name: web}\n---\n", id="empty documents"),
        pytest.param(
            "kind: List\nitems: [{kind: PodList, items: [{metadata: {name: web}}]}]", id="nested"
        ),
    ],
)
def test_what_kubectl_prints_goes_in(read, text):
    assert [pod.key for pod in read(text).of(Pod)] == ["default/web"]


def test_one_file_may_bring_all_kinds(read):
    kinds = (Pod, Node, ResourceClaim, ResourceSlice, DeviceTaintRule, PodDisruptionBudget)
    found = read("\n---\n".join(f"kind: {kind.__name__}" for kind in kinds))
    assert [len(found.of(kind)) for kind in kinds] == [1] * len(kinds)


def test_only_what_lives_in_a_namespace_is_put_into_one(read):
    found = read("kind: Pod\n---\nkind: Node\n---\nkind: ResourceClaim", namespace="shop")
    assert found.of(Pod)[0].metadata.namespace == "shop"
    assert found.of(ResourceClaim)[0].metadata.namespace == "shop"
    assert found.of(Node)[0].metadata.namespace == ""


def test_other_kinds_are_left_out_and_told_once(read, capsys):
    found = read("kind: Service\n---\nkind: Service\n---\nkind: Pod")
    assert len(found.of(Pod)) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert told.endswith("objects of kind Service are not needed and left out\n")


@pytest.mark.parametrize(
    ("kind", "meant"),
    [("pod", "Pod"), ("NODE", "Node"), ("resourceSlice", "ResourceSlice"), ("list", "List")],
)
def test_a_kind_in_other_letters_is_asked_about(read, capsys, kind, meant):
    assert read(f"kind: {kind}").of(Pod) == ()
    said = f"objects of kind {kind} are not needed and left out: is {meant} meant?\n"
    assert capsys.readouterr().err.endswith(said)


@pytest.mark.parametrize("head", ["apiVersion: v1\nkind: Pod\n", "kind: Pod\n"])
def test_objects_in_one_document_are_told_apart_by_dashes(read, head):
    with pytest.raises(InputError, match=r"given once, got \w+: documents are separated by ---"):
        read(f"{head}metadata: {{name: a}}\n{head}metadata: {{name: b}}\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "kind: Node\nspec: {taints: [{key: a, effect: NoExecut}]}",
            f"Node: $.spec.taints[0].effect: {ONE_OF_NODES}, is 'NoExecut'",
        ),
        (
            "kind: Pod\nspec: {tolerations: [{}, {key: a, operator: Exist}]}",
            "Pod: $.spec.tolerations[1].operator: must be one of Equal, Exists, Lt, Gt, is 'Exist'",
        ),
        (
            "kind: Pod\nspec: {tolerations: [{key: a, effect: Evict}]}",
            f"Pod: $.spec.tolerations[0].effect: {ONE_OF_NODES}, is 'Evict'",
        ),
        (
            "kind: Pod\nspec: {tolerations: [{key: a, tolerationSeconds: 5}]}",
            "Pod: $.spec.tolerations[0].effect: must be NoExecute where tolerationSeconds is set",
        ),
        (
            "kind: ResourceSlice\nspec: {devices: [{name: d, taints: [{key: a}]}]}",
            f"ResourceSlice: $.spec.devices[0].taints[0].effect: {ONE_OF_DEVICES}, is ''",
        ),
        ("kind: Pod\nspec: {tolerations: [{operator: Exists}, {key: a, operator: Lt}]}", ""),
    ],
)
def test_a_value_that_no_api_server_takes_is_warned_of(read, capsys, text, said):
    read(text)
    told = capsys.readouterr().err
    assert told.endswith(f"{said}\n" if said else "")
    assert bool(told) == bool(said)


def test_a_misspelt_field_is_warned_of(read, capsys):
    read("kind: Pod\nmetadata: {name: web}\nspec: {toleration: [{operator: Exists}]}")
    told = capsys.readouterr().err
    assert told.startswith("Warning: -f ")
    assert told.endswith(
        "Pod web: $.spec.toleration is not a field of Kubernetes: is tolerations meant?\n"
    )


@pytest.mark.parametrize(
    ("kind", "value", "said"),
    [
        (Pod, {"specs": {}}, "$.specs is not a field of Kubernetes: is spec meant?"),
        (Pod, {"spec": {"Tolerations": []}}, "is tolerations meant?"),
        (Pod, {"spec": {"nodename": "n"}}, "is nodeName meant?"),
        (Pod, {"spec": {"tolerations": [{}, {"operater": "Exists"}]}}, "$.spec.tolerations[1]."),
        (Pod, {"spec": {"tolerations": [{"tolerationSecond": 1}]}}, "is tolerationSeconds meant?"),
        (Node, {"spec": {"taint": []}}, "is taints meant?"),
        (Node, {"spec": {"taints": [{"timeadded": "x"}]}}, "is timeAdded meant?"),
        (ResourceClaim, {"status": {"reservedfor": []}}, "is reservedFor meant?"),
        (DeviceTaintRule, {"spec": {"deviceSelectors": {}}}, "is deviceSelector meant?"),
    ],
)
def test_misspelt_fields_at_every_level(kind, value, said):
    (told,) = misspelt(value, kind)
    assert said in told


def test_a_pod_as_kubernetes_has_it_is_not_warned_of():
    spec = {
        "containers": [{"name": "c"}], "nodeSelector": {}, "priorityClassName": "p",
        "schedulerName": "s", "schedulingGates": [], "resources": {}, "restartPolicy": "Always",
        "nextYearsField": 1,
    }  # fmt: skip
    metadata = {
        "labels": {"toleration": "x"},
        "annotations": {"kubernetes.io/config.hash": "x"},
        "generateName": "web-",
        "managedFields": [{"fieldsV1": {"f:spec": {"f:toleration": {}}}}],
    }
    assert misspelt({"kind": "Pod", "metadata": metadata, "spec": spec}, Pod) == []


def test_warnings_end_somewhere(read, capsys):
    read("\n---\n".join(f"kind: Kind{number}" for number in range(50)))
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 21
    assert told[-1] == "Warning: and 30 more"


def test_a_name_of_several_lines_is_told_in_one(read, capsys):
    read('kind: Pod\nmetadata: {name: "a\\nbailiff: b"}\nspec: {toleration: []}')
    assert r"Pod a\nbailiff: b: $.spec.toleration" in capsys.readouterr().err
