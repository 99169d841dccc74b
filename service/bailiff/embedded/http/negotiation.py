"""Which form of an answer the client wants: JSON objects, tables, or only metadata."""

from __future__ import annotations

from typing import Literal, TypeAlias

from bailiff.embedded import errors

Form: TypeAlias = Literal["object", "table", "metadata"]

OFFERED = ("application/json",)
_FORMS: dict[str, Form] = {
    "Table": "table",
    "PartialObjectMetadata": "metadata",
    "PartialObjectMetadataList": "metadata",
}


def parse_accept(accept: str) -> list[tuple[str, dict[str, str]]]:
    """The media ranges with their parameters, in the client's order."""
    ranges = []
    for clause in accept.split(","):
        media, *parameters = (token.strip() for token in clause.split(";"))
        pairs = (parameter.partition("=") for parameter in parameters)
        ranges.append((media.lower(), {name: value for name, _, value in pairs}))
    return ranges


def choose_form(accept: str) -> Form:
    """The first form that the client accepts and we have.

    Raises:
        ApiError: 406, there is none.
    """
    if not accept:
        return "object"
    for media, parameters in parse_accept(accept):
        if media not in ("application/json", "application/*", "*/*"):
            continue
        wanted = parameters.get("as")
        if wanted is None:
            return "object"
        if wanted in _FORMS and parameters.get("v") == "v1":
            return _FORMS[wanted]
    raise errors.not_acceptable(OFFERED)


def wants_aggregated_discovery(accept: str) -> bool:
    """Whether the client takes discovery of all groups in one answer."""
    return any(
        media == "application/json"
        and parameters.get("as") == "APIGroupDiscoveryList"
        and parameters.get("v") == "v2"
        for media, parameters in parse_accept(accept)
    )
