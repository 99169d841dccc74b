"""The table of what is asked and what is needed for it: whole, and closed to what it lacks."""

from dataclasses import replace

import pytest
from fastapi.routing import iter_route_contexts
from prometheus_client import CollectorRegistry

from bailiff.access import (
    STATUS_RULES,
    MisnamedError,
    OtherMethodError,
    Right,
    Rules,
    UnknownPathError,
    grpc_rules,
    rest_rules,
)
from bailiff.decisions import SYSTEMS, Options, Systems
from bailiff.grpc_api import GrpcSettings, create_server
from bailiff.rest_api import RestSettings, create_app
from bailiff.serving import Pulse
from bailiff.webhooks import hooks_of
from bailiff.worker import Observed, create_status_app
from tests.harness.admission import app_of, parts_of
from tests.harness.clocks import ManualClock
from tests.harness.worlds.world import World

POD = "/v1/namespaces/shop/pods/web/decision"
NODE = "/v1/nodes/n1/decisions"
LIST_PODS = Right("list", "pods")
METRICS = Right("get", path="/metrics")
REST_RULES = rest_rules(SYSTEMS)
DECIDE = grpc_rules(["bailiff.v1.EvictionDecisionService/Decide"])


def routes(app):
    """Every method and path that an application answers; HEAD stands for GET's own."""
    return {
        (method, context.path)
        for context in iter_route_contexts(list(app.routes))
        for method in getattr(context.original_route, "methods", None) or ("any",)
        if method != "HEAD"
    }


def of(rules):
    return {(rule.method, rule.path) for rule in rules}


def test_every_hook_has_a_rule_and_no_rule_is_left_over():
    hooks = [hook.path for hook in hooks_of(parts_of())]
    assert routes(app_of()) == of(rest_rules(SYSTEMS, hooks))


def test_a_hook_takes_the_right_to_post_there():
    rule, given = Rules(rest_rules(SYSTEMS, ["mutate/pods"])).find(
        "POST", "/admission/v1/mutate/pods"
    )
    assert rule.needs is not None
    assert rule.needs(given) == (Right("post", path="/admission/v1/mutate/pods"),)


def test_every_route_of_rest_has_a_rule_and_no_rule_is_left_over():
    app = create_app(RestSettings(), ManualClock(), CollectorRegistry(), Options())
    assert routes(app) == of(REST_RULES)


async def test_every_status_page_has_a_rule_and_no_rule_is_left_over():
    world = World()
    seen = Observed(world.worker, world.registry, world.worker.trust({}))
    clock = ManualClock()
    pulse = Pulse(10.0, seen.verdicts, clock.monotonic)
    assert routes(create_status_app(pulse, seen.take, clock)) == of(STATUS_RULES)


class Recording:
    """Takes down which methods a server is given."""

    def __init__(self) -> None:
        self.paths: set[str] = set()

    def add_registered_method_handlers(self, service, handlers):
        self.paths |= {f"/{service}/{method}" for method in handlers}

    def add_generic_rpc_handlers(self, handlers):
        """Generated code gives each service in this way, too."""


@pytest.fixture
def server():
    return create_server(GrpcSettings(), ManualClock(), CollectorRegistry(), Options())


def test_every_grpc_method_of_every_service_has_a_rule_and_no_rule_is_left_over(server):
    recording = Recording()
    server._add_services(recording)
    assert recording.paths == {rule.path for rule in grpc_rules(server.methods)}


def test_every_grpc_method_of_our_service_asks_a_question_that_brings_its_facts(server):
    asked = {method.removesuffix("InParts") for method in server.methods} - {
        "bailiff.v1.EvictionDecisionService/DecideStream",
        "bailiff.v1.SchedulingService/JudgeNodesStream",
    }
    assert asked == {
        f"bailiff.v1.{one.service}/{name[:1].upper()}{name[1:]}"
        for name, one in SYSTEMS.questions.items()
    }


def needs(rules, method, path):
    rule, given = Rules(rules).find(method, path)
    return None if rule.needs is None else set(rule.needs(given))


@pytest.mark.parametrize(
    ("rules", "method", "path", "expected"),
    [
        (REST_RULES, "GET", "/healthz", None),
        (REST_RULES, "GET", "/readyz", None),
        (REST_RULES, "GET", "/version", None),
        (REST_RULES, "GET", "/docs", None),
        (REST_RULES, "GET", "/assets/swagger-ui.css", None),
        (REST_RULES, "POST", "/v1/decisions", set()),
        (REST_RULES, "POST", "/v1/previews/taint-change", set()),
        (REST_RULES, "GET", POD, {Right("get", "pods", "shop", "web")}),
        (REST_RULES, "GET", NODE, {Right("get", "nodes", name="n1"), LIST_PODS}),
        (REST_RULES, "GET", "/metrics", {METRICS}),
        (STATUS_RULES, "GET", "/healthz", None),
        (STATUS_RULES, "GET", "/v1/queue", {LIST_PODS}),
        (STATUS_RULES, "GET", "/v1/policies", {LIST_PODS}),
        (STATUS_RULES, "GET", "/v1/shadow", {LIST_PODS}),
        (STATUS_RULES, "GET", "/metrics", {METRICS}),
        (DECIDE, "", "/bailiff.v1.EvictionDecisionService/Decide", set()),
        (DECIDE, "", "/grpc.health.v1.Health/Check", None),
        (DECIDE, "", "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", set()),
    ],
)
def test_what_is_needed(rules, method, path, expected):
    assert needs(rules, method, path) == expected


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"),
        ("GET", "/v1/queue"),
        ("GET", "/healthz/"),
        ("GET", "//healthz"),
        ("GET", "/healthz\n"),
        ("GET", "/v1/nodes//decisions"),
        ("GET", "/v1/nodes/a/b/decisions"),
        ("GET", "/assets/"),
        ("GET", "/assets/a/b"),
        ("", "/bailiff.v1.EvictionDecisionService/Decide"),
    ],
)
def test_what_is_in_no_table_is_answered_to_nobody(method, path):
    with pytest.raises(UnknownPathError):
        Rules(REST_RULES).find(method, path)
    assert not Rules(REST_RULES).is_open(method, path)


def test_a_new_question_about_a_cluster_is_closed_until_a_rule_names_it():
    systems = Systems(SYSTEMS.all)
    node = systems.live_questions["decideNodeOfCluster"]
    new = replace(node, name="decideZoneOfCluster", path="zones/{name}/decisions")
    systems.live_questions = {**systems.live_questions, new.name: new}
    assert set(rest_rules(systems)) == set(REST_RULES)


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/v1/decisions", ("POST",)),
        ("DELETE", "/healthz", ("GET", "HEAD")),
        ("POST", POD, ("GET", "HEAD")),
    ],
)
def test_another_method_is_told_which_there_are(method, path, allowed):
    with pytest.raises(OtherMethodError) as caught:
        Rules(REST_RULES).find(method, path)
    assert caught.value.allowed == allowed


@pytest.mark.parametrize(
    ("path", "parameter"),
    [
        ("/v1/namespaces/Shop/pods/web/decision", "namespace"),
        ("/v1/namespaces/shop/pods/W/decision", "name"),
        ("/v1/nodes/n_1/decisions", "name"),
        (f"/v1/nodes/{'n' * 254}/decisions", "name"),
    ],
)
def test_the_api_server_is_not_asked_about_what_no_object_is_called(path, parameter):
    with pytest.raises(MisnamedError) as caught:
        needs(REST_RULES, "GET", path)
    assert caught.value.parameter == parameter


@pytest.mark.parametrize(
    ("right", "text"),
    [
        (
            Right("get", "pods", "shop", "web"),
            'get resource "pods" "web" in API group "" in the namespace "shop"',
        ),
        (LIST_PODS, 'list resource "pods" in API group "" at the cluster scope'),
        (METRICS, 'get path "/metrics"'),
    ],
)
def test_a_right_in_kubernetes_words(right, text):
    assert str(right) == text
