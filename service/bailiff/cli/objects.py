"""The objects that a user hands over in files, by kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from bailiff.cli.documents import check_standard_input, read_objects
from bailiff.cli.errors import InputError, warn_all
from bailiff.cli.output import printable
from bailiff.cli.unknown_fields import misspelt, refused
from bailiff.kinds import (
    DecodeError,
    DeviceTaintRule,
    Node,
    Pod,
    PodDisruptionBudget,
    ResourceClaim,
    ResourceSlice,
    decode_yaml_value,
)
from bailiff.kinds.daemon_set import DaemonSet
from bailiff.kinds.lease import Lease
from bailiff.kinds.volume_claim import PersistentVolumeClaim

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from bailiff.kinds.meta import Value

T = TypeVar("T", bound="Value")

# Where a kubeconfig says nothing else.
_DEFAULT_NAMESPACE = "default"

KINDS: dict[str, type[Value]] = {
    kind.__name__: kind
    for kind in (
        *(Pod, Node, ResourceClaim, ResourceSlice, DeviceTaintRule, PodDisruptionBudget),
        *(Lease, DaemonSet, PersistentVolumeClaim),
    )
}
_KINDS_BY_LOWER = {name.lower(): name for name in (*KINDS, "List")}
_WITHOUT_NAMESPACE = ("Node", "ResourceSlice", "DeviceTaintRule")
# Of resource.k8s.io. Older ones shape devices otherwise.
_DEVICE_VERSIONS = ("v1", "v1beta2")
_RULE_VERSIONS = (*_DEVICE_VERSIONS, "v1alpha3")


class Objects:
    """What the files hold of the kinds that any rule reads.

    Attributes:
        namespace: of those that name none.
    """

    def __init__(
        self, paths: Iterable[Path], namespace: str | None = None, option: str = "-f"
    ) -> None:
        """Read them; warn of what looks misspelt, what no API server takes, and what is left out.

        Args:
            paths: the files; `-` is standard input.
            namespace: of the objects that name none, and have one; None is `default`.
            option: by which the files were given, as errors call it.

        Raises:
            InputError: a file cannot be used; says which and why.
        """
        self.namespace = namespace or _DEFAULT_NAMESPACE
        paths = list(paths)
        check_standard_input(paths)
        self._found: dict[type[Value], list[Any]] = {}
        self._warnings: dict[str, None] = {}
        for path in paths:
            name = f"{option} {path}"
            for value in read_objects(path, name):
                self._add(value, name)
        warn_all(list(self._warnings))

    def of(self, kind: type[T]) -> tuple[T, ...]:
        """Those of one kind, in the order of the files."""
        return tuple(self._found.get(kind, ()))

    @property
    def described(self) -> str:
        """What there is, as `there are 1 Node and 2 Pods`; kinds that are left out do not count."""
        found = {kind.__name__: len(all_of) for kind, all_of in self._found.items()}
        told = [f"{number} {name}{'s' if number > 1 else ''}" for name, number in found.items()]
        return f"there are {' and '.join(sorted(told))}" if told else "there is none"

    def _add(self, value: dict[str, Any], file: str) -> None:
        name = value["kind"]
        kind = KINDS.get(name)
        if kind is None:
            self._warnings[f"{file}: {_left_out(name)}"] = None
            return
        _check_version(value, file)
        self._warnings |= dict.fromkeys(
            f"{file}: {_named(value)}: {said}" for said in misspelt(value, kind)
        )
        if name not in _WITHOUT_NAMESPACE:
            value = _placed(value, self.namespace)
        try:
            made = decode_yaml_value(value, kind)
        except DecodeError as error:
            raise InputError(f"{file}: {_named(value)}: {error}") from error
        self._warnings |= dict.fromkeys(
            f"{file}: {_named(value)}: {said}" for said in refused(made)
        )
        self._found.setdefault(kind, []).append(made)


def _left_out(kind: str) -> str:
    meant = _KINDS_BY_LOWER.get(kind.lower())
    asked = f": is {meant} meant?" if meant else ""
    return f"objects of kind {kind} are not needed and left out{asked}"


def _check_version(value: dict[str, Any], file: str) -> None:
    version = str(value.get("apiVersion", ""))
    if not version.startswith("resource.k8s.io/"):
        return
    read = _RULE_VERSIONS if value["kind"] == "DeviceTaintRule" else _DEVICE_VERSIONS
    if version.partition("/")[2] not in read:
        known = ", ".join(read)
        raise InputError(
            f"{file}: {_named(value)}: $.apiVersion: {version} is not read, only {known}: "
            "kubectl get shows objects in every version that is served"
        )


def _named(value: dict[str, Any]) -> str:
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return printable(f"{value['kind']} {name}" if name else str(value["kind"]))


def _placed(value: dict[str, Any], namespace: str) -> dict[str, Any]:
    metadata = value.get("metadata") or {}
    if not isinstance(metadata, dict) or metadata.get("namespace"):
        return value
    return value | {"metadata": metadata | {"namespace": namespace}}
