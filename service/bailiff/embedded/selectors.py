"""Label and field selectors (apimachinery/pkg/labels, pkg/fields)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bailiff.embedded import errors
from bailiff.embedded.objects import labels_of, part

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bailiff.embedded.objects import JsonObject
    from bailiff.embedded.resources import Resource

MAX_TERMS = 1000

_NAME = r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?"
_KEY = rf"(?:[a-z0-9.-]+/)?{_NAME}"
_IN = re.compile(rf"^({_KEY})\s+(in|notin)\s*\(([^()]*)\)$")
_EQUALS = re.compile(rf"^({_KEY})\s*(==|=|!=)\s*({_NAME})?$")
_COMPARES = re.compile(rf"^({_KEY})\s*([<>])\s*(-?[0-9]+)$")
_EXISTS = re.compile(rf"^(!?)\s*({_KEY})$")


@dataclass(frozen=True, slots=True)
class Requirement:
    """One term: key, operator, values."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether these labels meet it. As upstream, `!=` and `notin` accept a missing key."""
        value = labels.get(self.key)
        match self.operator:
            case "in":
                return value is not None and value in self.values
            case "notin":
                return value is None or value not in self.values
            case "exists":
                return value is not None
            case "!":
                return value is None
            case _:
                return self._compares(value)

    def _compares(self, value: str | None) -> bool:
        try:
            number, bound = int(value or ""), int(self.values[0])
        except ValueError:
            return False
        return number < bound if self.operator == "<" else number > bound


@dataclass(frozen=True, slots=True)
class FieldTerm:
    """One term of a field selector."""

    path: tuple[str, ...]
    value: str
    equal: bool

    def matches(self, obj: JsonObject) -> bool:
        """Whether the object meets it; an absent field is the empty string."""
        return (_field_text(obj, self.path) == self.value) == self.equal


@dataclass(frozen=True, slots=True)
class Selection:
    """What a list or watch is limited to."""

    namespace: str | None = None
    labels: tuple[Requirement, ...] = ()
    fields: tuple[FieldTerm, ...] = ()

    def matches(self, obj: JsonObject) -> bool:
        """Whether the object belongs to it."""
        if self.namespace is not None and obj["metadata"].get("namespace", "") != self.namespace:
            return False
        if self.labels:
            labels = labels_of(obj)
            if not all(requirement.matches(labels) for requirement in self.labels):
                return False
        return all(term.matches(obj) for term in self.fields)

    @property
    def everything(self) -> bool:
        """Nothing but, perhaps, the namespace limits it."""
        return not self.labels and not self.fields


EVERYTHING = Selection()


def parse_labels(text: str) -> tuple[Requirement, ...]:
    """`app=web,tier in (a, b),!old`.

    Raises:
        ApiError: 400, not understood.
    """
    terms = _split(text)
    if len(terms) > MAX_TERMS:
        raise errors.bad_request(f"unable to parse requirement: more than {MAX_TERMS} terms")
    return tuple(_parse_requirement(term) for term in terms)


def _split(text: str) -> list[str]:
    """At commas outside parentheses."""
    terms = re.split(r",(?![^()]*\))", text)
    stripped = [term.strip() for term in terms]
    return stripped if any(stripped) else []


def _parse_requirement(term: str) -> Requirement:
    if found := _IN.match(term):
        values = tuple(value.strip() for value in found[3].split(","))
        return Requirement(found[1], found[2], values)
    if found := _EQUALS.match(term):
        operator = "notin" if found[2] == "!=" else "in"
        return Requirement(found[1], operator, (found[3] or "",))
    if found := _COMPARES.match(term):
        return Requirement(found[1], found[2], (found[3],))
    if found := _EXISTS.match(term):
        return Requirement(found[2], "!" if found[1] else "exists")
    raise errors.bad_request(f"unable to parse requirement: {errors.quote(term)}")


def parse_fields(text: str, resource: Resource) -> tuple[FieldTerm, ...]:
    r"""`spec.nodeName=node-a,status.phase!=Failed`; `\,` and `\=` stand for themselves.

    Raises:
        ApiError: 400, not understood, or a field that this resource cannot be selected by.
    """
    terms = [term for term in re.split(r"(?<!\\),", text) if term]
    if len(terms) > MAX_TERMS:
        raise errors.bad_request(f"invalid field selector: more than {MAX_TERMS} terms")
    return tuple(_parse_field(term, resource) for term in terms)


def _parse_field(term: str, resource: Resource) -> FieldTerm:
    found = re.match(r"^([^=!\\]+)(!=|==|=)(.*)$", term, re.DOTALL)
    if found is None:
        raise errors.bad_request(f"invalid selector: {errors.quote(term)}; can't understand it")
    name = found[1]
    known = ("metadata.name", *(("metadata.namespace",) if resource.namespaced else ()))
    if name not in (*known, *resource.fields):
        raise errors.bad_request(
            f'Unable to find "{resource.api_version}, Resource={resource.plural}" that match label '
            f'selector "", field selector "{term}": field label not supported: {name}'
        )
    value = re.sub(r"\\([,=\\])", r"\1", found[3])
    return FieldTerm(tuple(name.split(".")), value, found[2] != "!=")


# Selectable names that are not the path of their field.
_PATHS = {
    ("source",): ("source", "component"),
    ("regarding", "kind"): ("involvedObject", "kind"),
    ("regarding", "namespace"): ("involvedObject", "namespace"),
    ("regarding", "name"): ("involvedObject", "name"),
    ("regarding", "uid"): ("involvedObject", "uid"),
    ("reportingController",): ("reportingComponent",),
}
_FLAGS = {("spec", "unschedulable"), ("spec", "hostNetwork")}


def _field_text(obj: JsonObject, path: tuple[str, ...]) -> str:
    *above, last = _PATHS.get(path, path)
    value = part(obj, *above).get(last)
    if isinstance(value, bool) or path in _FLAGS:
        return "true" if value else "false"
    return "" if value is None else str(value)


def matches_selector(selector: Mapping[str, Any] | None, labels: Mapping[str, str]) -> bool:
    """Whether a metav1.LabelSelector chooses these labels; None chooses nothing."""
    if selector is None:
        return False
    wanted = selector.get("matchLabels") or {}
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    return all(_expression(e).matches(labels) for e in selector.get("matchExpressions") or ())


_OPERATORS = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!"}


def _expression(term: Mapping[str, Any]) -> Requirement:
    operator = _OPERATORS.get(term.get("operator", ""), "")
    return Requirement(term.get("key", ""), operator, tuple(term.get("values") or ("",)))
