"""What is asked, and what its caller needs for that: the one table, for all ports.

What does not stand in it is answered to nobody where callers are asked who they are: so an
operation that is new is closed until somebody has said here who may ask it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeAlias

from bailiff.access.errors import MisnamedError, OtherMethodError, UnknownPathError
from bailiff.access.rights import Right
from bailiff.kinds import names

# From the parameters of a path to the rights that are needed, all of them.
Needs: TypeAlias = Callable[[Mapping[str, str]], tuple[Right, ...]]


class Rule(NamedTuple):
    """Who is answered at a path.

    Attributes:
        method: of HTTP; "" for a method of gRPC, which its path names.
        path: with parameters in braces.
        needs: which rights; None: the caller need not even say who it is.
    """

    method: str
    path: str
    needs: Needs | None


def _whoever_is_known(_: Mapping[str, str]) -> tuple[Right, ...]:
    return ()


def _read_pod(given: Mapping[str, str]) -> tuple[Right, ...]:
    namespace, name = given["namespace"], given["name"]
    if not names.is_dns_label(namespace):
        raise MisnamedError(names.LABEL_RULE, "namespace")
    _check_name(name)
    return (Right("get", "pods", namespace, name),)


def _read_node_and_pods(given: Mapping[str, str]) -> tuple[Right, ...]:
    _check_name(given["name"])
    return (Right("get", "nodes", name=given["name"]), *_list_pods(given))


def _list_pods(_: Mapping[str, str]) -> tuple[Right, ...]:
    return (Right("list", "pods"),)


def _get_metrics(_: Mapping[str, str]) -> tuple[Right, ...]:
    return (Right("get", path="/metrics"),)


def _check_name(name: str) -> None:
    if not names.is_dns_subdomain(name):
        raise MisnamedError(names.SUBDOMAIN_RULE, "name")


# Of the decision API. A question brings its facts, so that its answer tells nothing of a cluster.
REST_RULES = (
    Rule("GET", "/healthz", None),
    Rule("GET", "/readyz", None),
    Rule("GET", "/version", None),
    # A browser loads the pages before anybody has logged in.
    Rule("GET", "/openapi.json", None),
    Rule("GET", "/docs", None),
    Rule("GET", "/redoc", None),
    Rule("GET", "/assets/{name}", None),
    Rule("GET", "/favicon.ico", None),
    Rule("GET", "/metrics", _get_metrics),
    Rule("POST", "/v1/decisions", _whoever_is_known),
    Rule("POST", "/v1/decisions/batch", _whoever_is_known),
    Rule("POST", "/v1/previews/taint-change", _whoever_is_known),
    Rule("POST", "/v1/previews/device-taint-rule", _whoever_is_known),
    Rule("GET", "/v1/namespaces/{namespace}/pods/{name}/decision", _read_pod),
    Rule("GET", "/v1/nodes/{name}/decisions", _read_node_and_pods),
)

# Of a worker's status port.
STATUS_RULES = (
    Rule("GET", "/healthz", None),
    Rule("GET", "/readyz", None),
    Rule("GET", "/metrics", _get_metrics),
    Rule("GET", "/v1/queue", _list_pods),
    Rule("GET", "/v1/policies", _list_pods),
    Rule("GET", "/v1/shadow", _list_pods),
)

_SERVICE = "/bailiff.v1.EvictionDecisionService/"
_HEALTH = "/grpc.health.v1.Health/"

GRPC_RULES = (
    Rule("", f"{_SERVICE}Decide", _whoever_is_known),
    Rule("", f"{_SERVICE}DecideBatch", _whoever_is_known),
    Rule("", f"{_SERVICE}DecideBatchInParts", _whoever_is_known),
    Rule("", f"{_SERVICE}DecideStream", _whoever_is_known),
    Rule("", f"{_SERVICE}PreviewTaintChange", _whoever_is_known),
    Rule("", f"{_SERVICE}PreviewTaintChangeInParts", _whoever_is_known),
    Rule("", f"{_SERVICE}PreviewDeviceTaintRule", _whoever_is_known),
    Rule("", f"{_SERVICE}PreviewDeviceTaintRuleInParts", _whoever_is_known),
    Rule("", f"{_HEALTH}Check", None),
    Rule("", f"{_HEALTH}List", None),
    Rule("", f"{_HEALTH}Watch", None),
    # Nothing secret, as /openapi.json; but each call is a stream that a stranger could hold.
    Rule("", "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", _whoever_is_known),
    Rule("", "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", _whoever_is_known),
)

_NOTHING: Mapping[str, str] = {}


class Rules:
    """The rules of one port, found by what is asked."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        """Look at all; two for the same method and path are one too many."""
        self._fixed: dict[tuple[str, str], Rule] = {}
        self._with_parameters: list[tuple[list[str], Rule]] = []
        for rule in rules:
            if "{" in rule.path:
                self._with_parameters.append((rule.path.split("/"), rule))
            else:
                self._fixed[rule.method, rule.path] = rule

    def find(self, method: str, path: str) -> tuple[Rule, Mapping[str, str]]:
        """The rule of a request, and the parameters in its path.

        Raises:
            UnknownPathError: there is none; OtherMethodError where another method has one.
        """
        rule = self._fixed.get((method, path))
        if rule is not None:
            return rule, _NOTHING
        parts, others = path.split("/"), []
        for pattern, candidate in self._with_parameters:
            given = _match(pattern, parts)
            if given is not None and candidate.method == method:
                return candidate, given
            if given is not None:
                others.append(candidate.method)
        raise self._nothing_at(path, others)

    def is_for_all_known(self, method: str, path: str) -> bool:
        """Whether a caller needs no right for this, and only has to be known."""
        rule = self._fixed.get((method, path))
        return rule is not None and rule.needs is _whoever_is_known

    def is_open(self, method: str, path: str) -> bool:
        """Whether anybody may ask this, without saying who he is."""
        try:
            return self.find(method, path)[0].needs is None
        except UnknownPathError:
            return False

    def _nothing_at(self, path: str, others: list[str]) -> UnknownPathError:
        methods = [*others, *(method for method, known in self._fixed if known == path)]
        if not methods:
            return UnknownPathError("there is nothing at this path")
        allowed = tuple(sorted({*methods, "HEAD"} if "GET" in methods else methods))
        return OtherMethodError(f"this path answers {', '.join(allowed)}", allowed)


def _match(pattern: list[str], parts: list[str]) -> Mapping[str, str] | None:
    """What stands in place of the parameters, of which none is empty; None: another path."""
    if len(pattern) != len(parts):
        return None
    given = {}
    for expected, part in zip(pattern, parts, strict=True):
        if expected.startswith("{") and part:
            given[expected[1:-1]] = part
        elif expected != part:
            return None
    return given
