"""Who edited an object, and when (k8s.io/apimachinery/pkg/apis/meta/v1/types.go).

Only what tells when the taints of a node were edited is decoded; the rest is skipped.
"""

from __future__ import annotations

from bailiff.kinds.meta import Time, Value


class OwnedField(Value, frozen=True):
    """A field that somebody owns; what stands below it is not read."""


class OwnedSpec(Value, frozen=True, rename={"taints": "f:taints"}):
    """The fields of a node's spec that somebody owns, as far as a rule reads them.

    Attributes:
        taints: present where the taints are owned. They are one list with one owner
            (`listType=atomic`).
    """

    taints: OwnedField | None = None


class FieldsV1(Value, frozen=True, rename={"spec": "f:spec"}):
    """The fields that an entry of managedFields owns, as far as a rule reads them.

    Attributes:
        spec: those of the spec.
    """

    spec: OwnedSpec | None = None


class ManagedFieldsEntry(Value, frozen=True):
    """Who owns which fields of an object since when, as far as a rule reads it.

    Attributes:
        time: when this owner last changed a field that it owns, cut to whole seconds.
        fields_v1: the fields that it owns.
    """

    time: Time | None = None
    fields_v1: FieldsV1 = FieldsV1()

    @property
    def owns_taints(self) -> bool:
        """Whether the taints of a node are among the fields."""
        return self.fields_v1.spec is not None and self.fields_v1.spec.taints is not None
