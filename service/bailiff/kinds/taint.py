"""Taints and tolerations (k8s.io/api/core/v1/types.go)."""

from __future__ import annotations

from bailiff.kinds.meta import Int64, Time, Value

NO_EXECUTE = "NoExecute"


class Taint(Value, frozen=True):
    """A node's mark that repels pods. Only the effect NoExecute evicts."""

    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: Time | None = None


class Toleration(Value, frozen=True):
    """A pod's leave to ignore matching taints.

    An empty key or effect matches any; an empty operator means Equal. `toleration_seconds`
    None tolerates for ever, zero and less not at all. Any operator decodes, since the API
    server may know more of them than we do; one that we do not know never matches.
    """

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: Int64 | None = None
