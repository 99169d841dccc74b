"""How long the texts of Kubernetes' objects may be, so that no answer can be longer than its parts.

The bounds are those of the API server's validation, in characters, for texts that an answer may
repeat; it allows none of them more. What no answer repeats (phases, conditions of pods, owners,
labels) is bounded by the length of the question alone, because the API server sets it no bound, or
a larger one.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from bailiff.kinds.names import MAX_LABEL, MAX_QUALIFIED_NAME, MAX_SUBDOMAIN

# Names of objects (IsDNS1123Subdomain), and of pools of devices (PoolNameMaxLength in
# pkg/apis/resource/types.go).
ObjectName = Annotated[str, Meta(max_length=MAX_SUBDOMAIN)]
# Namespaces, devices, and the entries of spec.resourceClaims (IsDNS1123Label).
LabelName = Annotated[str, Meta(max_length=MAX_LABEL)]
# Drivers of devices (DriverNameMaxLength in pkg/apis/resource/types.go).
DriverName = Annotated[str, Meta(max_length=63)]
# UIDs. The API server makes them, of 36 characters (FillObjectMetaSystemFields in
# k8s.io/apiserver/pkg/registry/rest/meta.go); other servers of its API may make longer ones.
Uid = Annotated[str, Meta(max_length=MAX_SUBDOMAIN)]
# Keys of taints and tolerations (IsQualifiedName).
TaintKey = Annotated[str, Meta(max_length=MAX_QUALIFIED_NAME)]
# Values of taints (IsValidLabelValue) and of tolerations; for Lt and Gt those are int64s
# (ValidateTolerations in pkg/apis/core/validation/validation.go).
TaintValue = Annotated[str, Meta(max_length=MAX_LABEL)]
# Effects and operators: one of a few words, to which Kubernetes may add.
Word = Annotated[str, Meta(max_length=63)]
