"""What is asked, and what its caller needs for that: the one table, for all ports.

Where callers have to prove who they are, a path without a rule here is refused to everybody: so a
new operation is closed until a rule says who may ask it. The rules of the questions are made from
the systems' own table. A question that brings its facts is open to whoever is known, since its
answer tells nothing of a cluster; the rule of a question about a cluster names what its caller must
be allowed to read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from bailiff.access.errors import MisnamedError, OtherMethodError, UnknownPathError
from bailiff.access.rights import Right
from bailiff.kinds import extender, names

if TYPE_CHECKING:
    from bailiff.decisions import Systems

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


def _list_nodes(_: Mapping[str, str]) -> tuple[Right, ...]:
    return (Right("list", "nodes"),)


def _get_metrics(_: Mapping[str, str]) -> tuple[Right, ...]:
    return (Right("get", path="/metrics"),)


def _of_hook(path: str) -> Rule:
    """A hook reads the cluster by Bailiff's own account, so to be known is not enough."""
    return Rule("POST", path, lambda _: (Right("post", path=path),))


def _check_name(name: str) -> None:
    if not names.is_dns_subdomain(name):
        raise MisnamedError(names.SUBDOMAIN_RULE, "name")


# Of the decision API: the questions about a cluster, by name, and all that is no question.
_OF_CLUSTER = {
    "decidePodOfCluster": _read_pod,
    "decideNodeOfCluster": _read_node_and_pods,
}
_PAGES = (
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
)
# Of kube-scheduler's extender: its answers tell of the taints of nodes.
_EXTENDER = tuple(Rule("POST", f"{extender.PREFIX}/{verb}", _list_nodes) for verb in extender.VERBS)

# Of a worker's status port.
STATUS_RULES = (
    Rule("GET", "/healthz", None),
    Rule("GET", "/readyz", None),
    Rule("GET", "/metrics", _get_metrics),
    Rule("GET", "/v1/queue", _list_pods),
    Rule("GET", "/v1/policies", _list_pods),
    Rule("GET", "/v1/shadow", _list_pods),
)

_HEALTH = "/grpc.health.v1.Health/"
_STANDARD_SERVICES = (
    Rule("", f"{_HEALTH}Check", None),
    Rule("", f"{_HEALTH}List", None),
    Rule("", f"{_HEALTH}Watch", None),
    # Nothing secret, as /openapi.json; but each call is a stream that a stranger could hold.
    Rule("", "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", _whoever_is_known),
    Rule("", "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", _whoever_is_known),
)

_NOTHING: Mapping[str, str] = {}


def rest_rules(systems: Systems, hooks: Iterable[str] = ()) -> tuple[Rule, ...]:
    """The rules of the decision API over REST.

    Args:
        systems: that are asked.
        hooks: paths of those that are served, as `validate/nodes`.
    """
    of_facts = (
        Rule("POST", f"/v1/{question.path}", _whoever_is_known)
        for question in systems.questions.values()
    )
    of_cluster = (
        Rule("GET", f"/v1/{systems.live_questions[name].path}", needs)
        for name, needs in _OF_CLUSTER.items()
    )
    of_hooks = (_of_hook(f"/admission/v1/{hook}") for hook in hooks)
    return (*_PAGES, *of_facts, *of_cluster, *_EXTENDER, *of_hooks)


def grpc_rules(methods: Iterable[str]) -> tuple[Rule, ...]:
    """The rules of the decision API over gRPC.

    Args:
        methods: of its services, as `bailiff.v1.EvictionDecisionService/Decide`; each asks a
            question that brings its facts.
    """
    of_facts = (Rule("", f"/{method}", _whoever_is_known) for method in methods)
    return (*_STANDARD_SERVICES, *of_facts)


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
