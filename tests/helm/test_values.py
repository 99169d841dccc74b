"""Values that cannot be meant are refused by name before anything is installed."""

from __future__ import annotations

import pytest

from tests.harness.helm.chart import try_values

pytestmark = pytest.mark.helm

BAD = [
    ("unknown at the top", {"workers": {}}, "'workers' not allowed"),
    ("unknown in a section", {"worker": {"replicas": 3}}, "'replicas' not allowed"),
    ("no shard", {"worker": {"shards": 0}}, "/worker/shards"),
    ("more shards than a Role should name", {"worker": {"shards": 65}}, "/worker/shards"),
    ("half a shard", {"worker": {"shards": 1.5}}, "/worker/shards"),
    ("a number as text", {"worker": {"shards": "2"}}, "/worker/shards"),
    ("standbys", {"worker": {"standbys": -1}}, "/worker/standbys"),
    ("too many standbys", {"worker": {"standbys": 17}}, "/worker/standbys"),
    ("replicas", {"api": {"replicas": 101}}, "/api/replicas"),
    ("yes is no boolean", {"api": {"readCluster": "yes"}}, "/api/readCluster"),
    ("no section", {"api": {"deviceTaintEviction": False}}, "/api/deviceTaintEviction"),
    (
        "no gate",
        {"api": {"deviceTaintEviction": {"enabled": "on"}}},
        "/api/deviceTaintEviction/enabled",
    ),
    (
        "no section of the worker",
        {"worker": {"deviceTaintEviction": True}},
        "/worker/deviceTaintEviction",
    ),
    (
        "no gate of the worker",
        {"worker": {"deviceTaintEviction": {"enabled": 1}}},
        "/worker/deviceTaintEviction/enabled",
    ),
    (
        "an extension",
        {"worker": {"pressure": {"extensions": {"stopat": {}}}}},
        "'stopat' not allowed",
    ),
    (
        "a cool-down",
        {"worker": {"pressure": {"extensions": {"coolDown": "soon"}}}},
        "/worker/pressure/extensions/coolDown",
    ),
    (
        "memory that no summary tells",
        {"worker": {"pressure": {"extensions": {"memoryInUse": "MemAvailable"}}}},
        "/worker/pressure/extensions/memoryInUse",
    ),
    (
        "a signal in place of a list",
        {"worker": {"pressure": {"extensions": {"dryRunHard": "memory.available"}}}},
        "/worker/pressure/extensions/dryRunHard",
    ),
    (
        "a threshold",
        {"worker": {"pressure": {"thresholds": {"evictionHard": 5}}}},
        "/worker/pressure/thresholds/evictionHard",
    ),
    (
        "nothing to show to kubelets whose certificates are not checked",
        {"worker": {"pressure": {"enabled": True, "kubelets": {"insecureTLS": True}}}},
        "insecureTLS needs worker.pressure.kubelets.clientCertificateSecretName",
    ),
    (
        "no port of kubelets",
        {"worker": {"pressure": {"kubelets": {"ports": []}}}},
        "/worker/pressure/kubelets/ports",
    ),
    (
        "the checksum of thresholds",
        {"worker": {"podAnnotations": {"bailiff.dev/pressure-checksum": "x"}}},
        "/worker/podAnnotations/",
    ),
    ("a port", {"api": {"service": {"restPort": 0}}}, "/api/service/restPort"),
    ("a port beyond all", {"api": {"service": {"grpcPort": 65536}}}, "/api/service/grpcPort"),
    ("a kind of Service", {"api": {"service": {"type": "ExternalName"}}}, "/api/service/type"),
    ("a log level", {"logs": {"level": "trace"}}, "/logs/level"),
    ("a log format", {"logs": {"format": "xml"}}, "/logs/format"),
    ("a listen address", {"listenAddress": "127.0.0.1"}, "/listenAddress"),
    ("a digest", {"image": {"digest": "sha256:12"}}, "/image/digest"),
    ("a tag", {"image": {"tag": "a b"}}, "/image/tag"),
    ("no image", {"image": {"repository": ""}}, "/image/repository"),
    ("a pull policy", {"image": {"pullPolicy": "Sometimes"}}, "/image/pullPolicy"),
    ("a long name", {"fullnameOverride": "n" * 41}, "/fullnameOverride"),
    ("a name that starts with a digit", {"fullnameOverride": "1st"}, "/fullnameOverride"),
    ("our own label", {"labels": {"app.kubernetes.io/name": "x"}}, "/labels/app.kubernetes.io~1"),
    ("a label's value", {"labels": {"team": "a b"}}, "/labels/team"),
    ("our own pod label", {"api": {"podLabels": {"helm.sh/chart": "x"}}}, "/api/podLabels/"),
    (
        "our own annotation",
        {"worker": {"podAnnotations": {"bailiff.dev/settings-checksum": "x"}}},
        "/worker/podAnnotations/",
    ),
    (
        "a budget that blocks drains for ever",
        {"worker": {"podDisruptionBudget": {"maxUnavailable": 0}}},
        "/worker/podDisruptionBudget/maxUnavailable",
    ),
    (
        "a budget of no per cent",
        {"api": {"podDisruptionBudget": {"maxUnavailable": "0%"}}},
        "/api/podDisruptionBudget/maxUnavailable",
    ),
    ("a quantity", {"api": {"resources": {"limits": {"memory": "lots"}}}}, "/limits/memory"),
    ("a resource", {"api": {"resources": {"limits": {"gpu": 1}}}}, "'gpu' not allowed"),
    ("a toleration's field", {"api": {"tolerations": [{"seconds": 3}]}}, "'seconds' not allowed"),
    ("an effect", {"api": {"tolerations": [{"effect": "Evict"}]}}, "/api/tolerations/0/effect"),
    ("a spread without a key", {"api": {"topologySpreadConstraints": [{}]}}, "topologyKey"),
    ("an argument", {"worker": {"extraArgs": ["serve"]}}, "/worker/extraArgs/0"),
    ("a variable", {"worker": {"extraEnv": [{"name": "A-B"}]}}, "/worker/extraEnv/0/name"),
    (
        "a utilization",
        {"api": {"autoscaling": {"targetCPUUtilizationPercentage": 0}}},
        "/api/autoscaling/targetCPUUtilizationPercentage",
    ),
    (
        "fewer at most than at least",
        {"api": {"autoscaling": {"enabled": True, "minReplicas": 5, "maxReplicas": 4}}},
        "api.autoscaling.minReplicas must not be more than api.autoscaling.maxReplicas",
    ),
    ("no port to the API server", {"networkPolicy": {"apiServerPorts": []}}, "apiServerPorts"),
    ("nobody in particular", {"networkPolicy": {"callers": [{}]}}, "/networkPolicy/callers/0"),
    (
        "a hook without TLS",
        {"tls": {"enabled": False}, "webhooks": {"validateNodes": {"enabled": True}}},
        "webhooks.validateNodes needs tls.enabled",
    ),
    (
        "a hook that nobody answers",
        {"api": {"enabled": False}, "webhooks": {"validatePods": {"enabled": True}}},
        "webhooks.validatePods needs api.enabled",
    ),
    (
        "a hook whose certificate nobody vouches for",
        {"tls": {"secretName": "mine"}, "webhooks": {"mutatePods": {"enabled": True}}},
        "webhooks.mutatePods needs webhooks.caBundle",
    ),
    (
        "a gate without policies",
        {"worker": {"policies": None}, "webhooks": {"validateEvictions": {"enabled": True}}},
        "need worker.policies",
    ),
    (
        "nobody's deletes",
        {"webhooks": {"validateDeletes": {"enabled": True}}},
        "webhooks.validateDeletes needs webhooks.validateDeletes.users",
    ),
    # The others that must not be held: test_webhook_values.py.
    (
        "deletes of a kubelet",
        {"webhooks": {"validateDeletes": {"users": ["system:node:n1"]}}},
        "must not be held: system:node:n1:",
    ),
    (
        "deletes of no name",
        {"webhooks": {"validateDeletes": {"users": ["it's me"]}}},
        "/webhooks/validateDeletes/users/0",
    ),
    (
        "a failure policy",
        {"webhooks": {"mutatePods": {"failurePolicy": "Retry"}}},
        "/webhooks/mutatePods/failurePolicy",
    ),
    (
        "a time that no webhook may take",
        {"webhooks": {"mutatePods": {"timeoutSeconds": 31}}},
        "/webhooks/mutatePods/timeoutSeconds",
    ),
    (
        "a namespace of a node",
        {"webhooks": {"validateNodes": {"namespaceSelector": {}}}},
        "'namespaceSelector' not allowed",
    ),
    (
        "a mutation",
        {"webhooks": {"mutatePods": {"mutations": ["sidecars"]}}},
        "/webhooks/mutatePods/mutations/0",
    ),
    (
        "a condition without a name",
        {"webhooks": {"mutatePods": {"matchConditions": [{"expression": "true"}]}}},
        "/webhooks/mutatePods/matchConditions/0",
    ),
    ("no PEM", {"webhooks": {"caBundle": "LS0t"}}, "/webhooks/caBundle"),
    ("a schedule", {"tls": {"rotation": {"schedule": "nightly"}}}, "/tls/rotation/schedule"),
    (
        "a certificate that is never good",
        {"tls": {"rotation": {"enabled": True, "days": 30}}},
        "tls.rotation.renewBeforeDays must be less than tls.rotation.days",
    ),
    (
        "an alert that there is not",
        {"monitoring": {"rules": {"enabled": True, "disabled": ["BailiffNo"]}}},
        "monitoring.rules.disabled: there is no alert BailiffNo",
    ),
    (
        "a runbook that is no page",
        {"monitoring": {"rules": {"runbookUrl": "docs/runbooks/"}}},
        "/monitoring/rules/runbookUrl",
    ),
    ("an interval", {"serviceMonitor": {"interval": "often"}}, "/serviceMonitor/interval"),
]


@pytest.mark.parametrize(("values", "named"), [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_refused(values, named):
    done = try_values(values)
    assert done.returncode != 0
    assert named in done.stderr


@pytest.mark.parametrize(
    "values",
    [
        {"global": {"anything": 1}},
        {"api": {"resources": {}}},
        {"worker": {"resources": {"requests": {"cpu": 0.5, "memory": "1.5Gi"}}}},
        {"api": {"podDisruptionBudget": {"maxUnavailable": "100%"}}},
    ],
    ids=["global", "no resources", "quantities", "per cent"],
)
def test_taken(values):
    done = try_values(values)
    assert done.returncode == 0, done.stderr
