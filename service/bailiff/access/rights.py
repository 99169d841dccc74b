"""What a caller may be allowed, in the words of Kubernetes' authorization."""

from __future__ import annotations

from typing import Any, NamedTuple


class Right(NamedTuple):
    """One right, as RBAC gives it: on objects of the core group, or on a path.

    Attributes:
        verb: as `get`.
        resource: in the plural, as `pods`; "" for a path.
        namespace: "" for all, and for what lives in none.
        name: of the object; "" for all.
        path: that is no resource's, as `/metrics`.
    """

    verb: str
    resource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""

    def __str__(self) -> str:
        """As kube-apiserver words it where it refuses (ForbiddenMessage of its handlers)."""
        if not self.resource:
            return f'{self.verb} path "{self.path}"'
        name = f'"{self.name}" ' if self.name else ""
        where = f'in the namespace "{self.namespace}"' if self.namespace else "at the cluster scope"
        return f'{self.verb} resource "{self.resource}" {name}in API group "" {where}'

    def attributes(self) -> dict[str, Any]:
        """The part of a SubjectAccessReview's spec that says what is asked for."""
        if not self.resource:
            return {"nonResourceAttributes": {"verb": self.verb, "path": self.path}}
        asked = {
            "verb": self.verb,
            "group": "",
            "version": "v1",
            "resource": self.resource,
            "namespace": self.namespace,
            "name": self.name,
        }
        return {"resourceAttributes": {key: value for key, value in asked.items() if value}}
