"""Objects that pods name and the files lack: what is not counted is said, the answer stays."""

import json

import pytest

CLAIM = {"kind": "ResourceClaim", "metadata": {"name": "gpu", "namespace": "demo"}}
RULE = """
kind: DeviceTaintRule
metadata: {name: recall}
spec: {deviceSelector: {driver: d}, taint: {key: recall, effect: None}}
"""
NODE = {"kind": "Node", "metadata": {"name": "n1"}}
BY_NAME = {"spec": {"resourceClaims": [{"name": "a", "resourceClaimName": "gpu"}]}}
BY_TEMPLATE = {"spec": {"resourceClaims": [{"name": "a", "resourceClaimTemplateName": "t"}]}}
MADE = {"status": {"resourceClaimStatuses": [{"name": "a", "resourceClaimName": "gpu"}]}}
EXTENDED = {"status": {"extendedResourceClaimStatus": {"resourceClaimName": "gpu"}}}
ENDED = {"status": {"phase": "Succeeded"}}
TWO = {"spec": {"resourceClaims": [{"resourceClaimName": name} for name in ("tpu", "gpu")]}}

SAID = (
    "Warning: pod demo/train names ResourceClaim {}, which the files do not have: "
    "what device-taints would say of it is not counted"
)


def pod(*parts, name="train"):
    spec = {"nodeName": "n1"}
    made = {"kind": "Pod", "metadata": {"name": name, "namespace": "demo"}, "spec": spec}
    for part in parts:
        for section, fields in part.items():
            made[section] = made.get(section, {}) | fields
    return made


@pytest.fixture
def explained(run):
    def _explained(objects, *arguments):
        stdin = json.dumps({"kind": "List", "items": [NODE, *objects]})
        return run("explain", "-f", "-", *arguments, stdin=stdin)

    return _explained


@pytest.mark.parametrize(
    ("objects", "arguments", "said"),
    [
        pytest.param([pod(BY_NAME)], (), [SAID.format("gpu")], id="by name"),
        pytest.param([pod(BY_TEMPLATE, MADE)], (), [SAID.format("gpu")], id="by template"),
        pytest.param([pod(BY_TEMPLATE)], (), [], id="not made yet"),
        pytest.param([pod(EXTENDED)], (), [SAID.format("gpu")], id="extended"),
        pytest.param([pod(TWO)], (), [SAID.format("gpu, tpu")], id="two, one line"),
        pytest.param([pod(TWO), CLAIM], (), [SAID.format("tpu")], id="one of two"),
        pytest.param([pod(BY_NAME), CLAIM], (), [], id="in the files"),
        pytest.param(
            [pod(BY_NAME), CLAIM | {"metadata": {"name": "gpu", "namespace": "other"}}],
            (),
            [SAID.format("gpu")],
            id="in another namespace",
        ),
        pytest.param([pod()], (), [], id="no claim"),
        pytest.param(
            [pod(EXTENDED)], ("--no-extended-resource-claims",), [], id="extended do not count"
        ),
        pytest.param([pod(BY_NAME)], ("--no-device-taint-eviction",), [], id="no device counts"),
        pytest.param([pod(BY_NAME, ENDED)], (), [], id="ended"),
        pytest.param(
            [pod(BY_NAME, ENDED)], ("--evict-ended-pods",), [SAID.format("gpu")], id="ended counts"
        ),
        pytest.param(
            [pod(BY_NAME), pod(TWO, name="other")],
            ("pod/train", "-n", "demo"),
            [SAID.format("gpu")],
            id="only of the pod that is meant",
        ),
        pytest.param(
            [pod(BY_NAME), pod(name="other")], (), [SAID.format("gpu")], id="of one of several"
        ),
    ],
)
def test_a_claim_that_the_files_lack_is_warned_of(explained, objects, arguments, said):
    told = explained(objects, *arguments, "--exit-code", "-o", "json")
    assert (told.stderr.splitlines(), told.exit_code) == (said, 0)
    assert "KEEP" in told.stdout


def test_warnings_end_somewhere(explained):
    told = explained([pod(BY_NAME, name=f"p{number}") for number in range(50)])
    assert told.exit_code == 0
    *lines, last = told.stderr.splitlines()
    assert (len(lines), last) == (20, "Warning: and 30 more")


@pytest.mark.parametrize(
    ("objects", "said"), [([pod(BY_NAME)], [SAID.format("gpu")]), ([pod(BY_NAME), CLAIM], [])]
)
def test_a_preview_of_a_rule_warns_of_the_same(run, tmp_path, objects, said):
    (tmp_path / "rule").write_text(RULE)
    stdin = json.dumps({"kind": "List", "items": objects})
    told = run("preview", "rule", str(tmp_path / "rule"), "-f", "-", "-o", "json", stdin=stdin)
    assert (told.exit_code, json.loads(told.stdout)["decisions"]) == (0, [])
    *lines, no_device, _sums = told.stderr.splitlines()
    assert lines == said
    assert "selects no device that is there" in no_device


def test_a_question_that_cannot_be_asked_is_told_and_nothing_else(run):
    told = run("explain", "-f", "-", stdin=json.dumps(pod(BY_NAME)))
    assert (told.exit_code, told.stdout, told.stderr.count("\n")) == (2, "", 1)
