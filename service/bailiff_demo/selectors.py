"""Label and field selectors of queries (apimachinery/pkg/labels, pkg/fields).

What a label selector chooses is the product's rule; here is only how a query writes one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bailiff.decisions.policies import LabelSelector, Operator, Requirement, selects
from bailiff.kinds import DecodeError, decode_yaml_value
from bailiff.kinds.names import is_label_key, is_label_value
from bailiff_demo import errors
from bailiff_demo.objects import labels_of, part

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bailiff_demo.objects import JsonObject
    from bailiff_demo.resources import Resource

MAX_TERMS = 1000
MAX_TEXT = 16 * 1024

_SET = re.compile(r"(\S+)\s+(in|notin)\s*\(([^()]*)\)")
_EQUALS = re.compile(r"([^\s=!]+)\s*(==|=|!=)\s*(\S*)")
_EXISTS = re.compile(r"(!?)\s*(\S+)")


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
    labels: LabelSelector | None = None
    fields: tuple[FieldTerm, ...] = ()

    def matches(self, obj: JsonObject) -> bool:
        """Whether the object belongs to it."""
        if self.namespace is not None and obj["metadata"].get("namespace", "") != self.namespace:
            return False
        if self.labels is not None and not selects(self.labels, labels_of(obj)):
            return False
        return all(term.matches(obj) for term in self.fields)


def parse_labels(text: str) -> LabelSelector | None:
    """`app=web,tier in (a, b),!old`; None for no text.

    Raises:
        ApiError: 400, not understood.
    """
    if len(text) > MAX_TEXT:
        raise errors.bad_request(f"unable to parse requirement: more than {MAX_TEXT} characters")
    # At commas outside parentheses.
    terms = [term.strip() for term in re.split(r",(?![^()]*\))", text)]
    if not any(terms):
        return None
    if len(terms) > MAX_TERMS:
        raise errors.bad_request(f"unable to parse requirement: more than {MAX_TERMS} terms")
    return LabelSelector(match_expressions=tuple(_parse_requirement(term) for term in terms))


def _parse_requirement(term: str) -> Requirement:
    key, operator = "", Operator.EXISTS
    values: tuple[str, ...] = ()
    if found := _SET.fullmatch(term):
        operator = Operator.IN if found[2] == "in" else Operator.NOT_IN
        key, values = found[1], tuple(value.strip() for value in found[3].split(","))
    elif found := _EQUALS.fullmatch(term):
        operator = Operator.NOT_IN if found[2] == "!=" else Operator.IN
        key, values = found[1], (found[3],)
    elif found := _EXISTS.fullmatch(term):
        operator = Operator.DOES_NOT_EXIST if found[1] else Operator.EXISTS
        key = found[2]
    if not is_label_key(key) or not all(map(is_label_value, values)):
        raise errors.bad_request(f"unable to parse requirement: {errors.quote(term)}")
    return Requirement(key, operator, values)


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
    found = re.fullmatch(r"([^=!\\]+)(!=|==|=)(.*)", term, re.DOTALL)
    if found is None:
        raise errors.bad_request(f"invalid selector: {errors.quote(term)}; can't understand it")
    name = found[1]
    known = ("metadata.name", *(("metadata.namespace",) if resource.namespaced else ()))
    if name not in (*known, *resource.fields):
        raise errors.bad_request(f"field label not supported: {name}")
    value = re.sub(r"\\([,=\\])", r"\1", found[3])
    path = ("source", "component") if name == "source" else tuple(name.split("."))
    return FieldTerm(path, value, found[2] != "!=")


# Absent, these are false and not the empty string.
_FLAGS = {("spec", "unschedulable"), ("spec", "hostNetwork")}


def _field_text(obj: JsonObject, path: tuple[str, ...]) -> str:
    *above, last = path
    value = part(obj, *above).get(last)
    if isinstance(value, bool) or path in _FLAGS:
        return "true" if value else "false"
    return "" if value is None else str(value)


def label_selector(selector: Mapping[str, Any] | None) -> LabelSelector | None:
    """The metav1.LabelSelector of an object; None for none, or for one that means nothing."""
    if selector is None:
        return None
    try:
        return decode_yaml_value(selector, LabelSelector)
    except DecodeError:
        return None


def chooses(selector: Mapping[str, Any] | None, labels: Mapping[str, str]) -> bool:
    """Whether the metav1.LabelSelector of an object chooses these labels; none chooses nothing."""
    decoded = label_selector(selector)
    return decoded is not None and selects(decoded, labels)
