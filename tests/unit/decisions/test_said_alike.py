"""What one system says of many pods by one and the same object is joined once, for each its own."""

from bailiff.decisions import Finding, Options, Round, Scene, System, Systems, Verdict
from bailiff.decisions.cost import Cost
from bailiff.decisions.decision import keep
from bailiff.decisions.system import NoFacts
from bailiff.kinds import Pod
from tests.harness.asking import ask
from tests.harness.device_kinds import at
from tests.harness.kinds import pod_of
from tests.harness.made_up_system import NAME, LightsOutEviction

GOES = LightsOutEviction(
    system=NAME, verdict=Verdict.EVICT_NOW, reason="LightsOut", message="it is dark", evict_at=at(0)
)
STAYS = keep(NAME, "Essential", "it needs no light")
SAID = {"web": GOES, "db": STAYS, "cat": None}


class _ByName(Round):
    def of(self, pod: Pod) -> Finding | None:
        return SAID[pod.metadata.name.partition("-")[0]]


class ByName(System[NoFacts]):
    """Needs no node, so that the pods may be of several."""

    name = NAME
    facts = NoFacts

    def cost(self, scene: Scene, facts: NoFacts, options: Options) -> Cost:
        return Cost()

    def prepare(self, scene: Scene, facts: NoFacts, options: Options) -> Round:
        return _ByName()


def test_each_is_answered_as_if_asked_alone() -> None:
    systems = Systems((ByName(),))
    pods = tuple(pod_of(f"{name}-{i}", node) for i, node in enumerate("aaba") for name in SAID)
    answered = ask("decideBatch", of=systems, pods=pods)
    assert answered.decisions == tuple(ask("decide", of=systems, pod=pod).decision for pod in pods)
    for pod, one in zip(pods, answered.decisions, strict=True):
        assert (one.node, one.pod.name) == (pod.spec.node_name, pod.metadata.name)
        assert one.event is None or pod.key in one.event.message
    assert sum(one.event is not None for one in answered.decisions) == 4
