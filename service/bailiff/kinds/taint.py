"""Taints and tolerations (k8s.io/api/core/v1/types.go)."""

from __future__ import annotations

from bailiff.kinds.meta import Int64, Time, Value
from bailiff.kinds.texts import TaintKey, TaintValue, Word

NO_EXECUTE = "NoExecute"
# By these keys the node lifecycle controller tells that a node fails: Ready is False, or Unknown.
NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"
FAILING_NODE = frozenset({NOT_READY, UNREACHABLE})


class Taint(Value, frozen=True):
    """A node's mark that repels pods.

    Attributes:
        key: its name.
        value: told apart by tolerations with the operator Equal.
        effect: `NoSchedule`, `PreferNoSchedule` or `NoExecute`. Only NoExecute evicts.
        time_added: when it came to the node; tolerated seconds are counted from here.
    """

    key: TaintKey = ""
    value: TaintValue = ""
    effect: Word = ""
    time_added: Time | None = None


class NewTaint(Taint, frozen=True, forbid_unknown_fields=True):
    """A taint that a question would add to a node; a field that taints have not is refused.

    Attributes:
        key: its name, required, as Kubernetes takes it.
        value: told apart by tolerations with the operator Equal.
        effect: `NoSchedule`, `PreferNoSchedule` or `NoExecute`; required. Only NoExecute evicts.
        time_added: when it came to the node; absent: now.
    """


class Toleration(Value, frozen=True):
    """A pod's leave to ignore matching taints.

    Any operator decodes, since the API server may know more of them than we do; one that we do
    not know never matches.

    Attributes:
        key: of the taint; empty matches any.
        operator: `Equal` (also when empty) compares values, `Exists` does not look at them. `Lt`
            and `Gt` compare integers where the gate TaintTolerationComparisonOperators is on.
        value: of the taint, for Equal; the bound, for Lt and Gt.
        effect: of the taint; empty matches any.
        toleration_seconds: how long the taint is tolerated; absent for ever, zero and less not at
            all.
    """

    key: TaintKey = ""
    operator: Word = ""
    value: TaintValue = ""
    effect: Word = ""
    toleration_seconds: Int64 | None = None
