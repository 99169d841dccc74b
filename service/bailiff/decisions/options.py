"""Settings of the decision, and what one question may want otherwise."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import asdict, replace

from bailiff.kinds.meta import Value


class Options(Value, frozen=True):
    """Settings of the decision. The defaults are those of Kubernetes but for the named repairs.

    Attributes:
        comparison_operators: the gate TaintTolerationComparisonOperators (operators Lt and Gt).
        evict_ended_pods: evict finished and terminating pods too, as kube-controller-manager does.
        explain: give the trace; absent in a question: for one pod yes, for many no.
        device_taint_eviction: the gate DRADeviceTaintEviction: the taints of devices count.
        extended_resource_claims: taints count too on devices that a pod has by way of extended
            resources (`status.extendedResourceClaimStatus`), unlike for kube-controller-manager.
        pod_group_claims: the gate DRAWorkloadResourceClaims: a claim that is reserved for the pod's
            PodGroup, or was made for it, is the pod's too.
        node_loss: of objects of a cluster: look up what becomes of a node that does not come back.
            What a question itself brings is answered anyway.
    """

    comparison_operators: bool = False
    evict_ended_pods: bool = False
    explain: bool = True
    device_taint_eviction: bool = True
    extended_resource_claims: bool = True
    pod_group_claims: bool = False
    node_loss: bool = False


DEFAULT_OPTIONS = Options()


class Overrides(Value, frozen=True, forbid_unknown_fields=True):
    """What a caller wants otherwise than the server is set; absent: as the server is set."""

    def over(self, defaults: Options) -> Options:
        """The server's options with these laid over them."""
        return defaults if self is NO_OVERRIDES else _over(self, defaults)


@lru_cache(maxsize=1024)  # callers want the same few of the switches again and again
def _over(overrides: Overrides, defaults: Options) -> Options:
    wanted = {name: value for name, value in asdict(overrides).items() if value is not None}
    return replace(defaults, **wanted) if wanted else defaults


if TYPE_CHECKING:

    class OptionOverrides(Overrides, frozen=True):
        """To a type checker: takes any field of Options."""

        def __init__(self, **wanted: bool | None) -> None: ...

else:
    # Made from Options, so that a new setting can be asked for at once, in Options' own words.
    OptionOverrides = msgspec.defstruct(
        "OptionOverrides",
        [(field.name, field.type | None, None) for field in msgspec.structs.fields(Options)],
        bases=(Overrides,),
        frozen=True,
        kw_only=True,
        namespace={
            "__doc__": f"{Overrides.__doc__}\n\n    Attributes:\n"
            + (Options.__doc__ or "").partition("Attributes:\n")[2]
        },
    )

NO_OVERRIDES = OptionOverrides()
