"""JSON Schemas of the types that are really decoded and encoded, for OpenAPI 3.1.

Shapes come from msgspec, words from the classes' docstrings: nothing is written twice.
"""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import inspect as types

from bailiff.kinds import INT64_MIN
from bailiff.kinds.meta import KubernetesObject

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PREFIX = "#/components/schemas/"
Schema = dict[str, Any]

_NULL = {"type": "null"}
# Defaults that say no more than "absent".
_EMPTY: tuple[object, ...] = (None, "", [], (), {})
_ATTRIBUTES = re.compile(r"\n *Attributes:\n")
_ATTRIBUTE = re.compile(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", re.MULTILINE)
_SNAKE = re.compile(r"`(_?[a-z]+(?:_[a-z]+)+)`")


def components(asked: Iterable[type], answered: Iterable[type]) -> dict[str, Schema]:
    """The schemas of everything reachable from these types, by class name.

    Args:
        asked: types of bodies. Null counts as absent there, and a null in a list as an empty
            item, so their schemas allow null where the decoder does.
        answered: types of answers. Those never hold null.
    """
    in_questions = _generate(tuple(asked))
    in_answers = _generate(tuple(answered))
    found: dict[str, Schema] = {}
    for name in sorted(in_answers | in_questions):
        allow_null = name in in_questions
        schema = in_questions[name] if allow_null else in_answers[name]
        found[name] = _finish(schema, in_questions, allow_null=allow_null)
    return found


def reference(kind: type) -> Schema:
    """Where the schema of a type is."""
    return {"$ref": PREFIX + kind.__name__}


def _generate(kinds: tuple[type, ...]) -> dict[str, Schema]:
    _, schemas = msgspec.json.schema_components(kinds, ref_template=PREFIX + "{name}")
    classes: dict[str, type] = {}
    for info in types.multi_type_info(kinds):
        _collect(info, classes)
    for name, schema in schemas.items():
        _describe(schema, classes[name])
    return schemas


def _collect(info: object, classes: dict[str, type]) -> None:
    """Find the classes behind the names that msgspec gives to its schemas."""
    match info:
        case types.StructType(cls=cls) if cls.__name__ not in classes:
            classes[cls.__name__] = cls
            for field in info.fields:
                _collect(field.type, classes)
        case types.EnumType(cls=cls):
            classes[cls.__name__] = cls
        case types.UnionType(types=parts):
            for part in parts:
                _collect(part, classes)
        case types.VarTupleType(item_type=item):
            _collect(item, classes)
        case types.Metadata(type=inner):
            _collect(inner, classes)


def _describe(schema: Schema, kind: type) -> None:
    """Put the docstring's words in: the text on the type, each attribute's on its property."""
    schema["description"] = _prose(_ATTRIBUTES.split(inspect.getdoc(kind) or "")[0])
    if not issubclass(kind, msgspec.Struct):
        return
    if issubclass(kind, KubernetesObject):
        # To msgspec it is what tells types apart, and required.
        schema["required"].remove("kind")
        words = "Which object this is; absent where nobody wrote it."
        schema["properties"]["kind"] |= {"type": "string", "description": words}
    written = {field.name: field.encode_name for field in msgspec.structs.fields(kind)}
    for base in reversed(kind.__mro__):
        # A base says of its attributes what they mean, and nobody says it again.
        attributes = _ATTRIBUTES.split(inspect.cleandoc(base.__doc__ or ""), maxsplit=1)[1:]
        for name, words in _ATTRIBUTE.findall("".join(attributes)):
            if name in written:
                schema["properties"][written[name]]["description"] = _sentence(words)


def _finish(schema: Schema, in_questions: Mapping[str, Schema], *, allow_null: bool) -> Schema:
    if "properties" not in schema:
        return schema
    required = schema.pop("required")
    if required:
        schema["required"] = required
    properties = {
        name: _property(part, in_questions, allow_null=allow_null, optional=name not in required)
        for name, part in schema.pop("properties").items()
    }
    return {**schema, "properties": properties}


def _property(
    part: Schema, in_questions: Mapping[str, Schema], *, allow_null: bool, optional: bool
) -> Schema:
    words = {"description": part["description"]} if "description" in part else {}
    shape = _shape(part)
    if allow_null and shape.get("type") == "array":
        shape["items"] = _item(shape["items"], in_questions)
    if allow_null and "additionalProperties" in shape:
        shape["additionalProperties"] = _or_null(shape["additionalProperties"])
    if allow_null and optional:
        shape = _or_null(shape)
    if part.get("default") not in _EMPTY:
        shape["default"] = part["default"]
    return {**shape, **words}


def _shape(part: Schema) -> Schema:
    """A property without its words and its default; for `X | None` the X."""
    shape = {key: part[key] for key in part if key not in ("description", "default")}
    if "anyOf" in shape:
        (shape,) = (dict(choice) for choice in shape["anyOf"] if choice != _NULL)
    if shape.get("minimum") == INT64_MIN:
        shape["format"] = "int64"
    return shape


def _item(item: Schema, in_questions: Mapping[str, Schema]) -> Schema:
    """Go decodes a null in a list to the zero value, if the type has one."""
    name = item["$ref"].removeprefix(PREFIX)
    return item if in_questions[name].get("required") else _or_null(item)


def _or_null(shape: Schema) -> Schema:
    if "type" in shape and shape.get("format") != "date-time":
        return {**shape, "type": [shape["type"], "null"]}
    return {"anyOf": [shape, _NULL]}


def _prose(text: str) -> str:
    """A docstring's paragraphs as Markdown; attributes under the names that JSON has."""
    paragraphs = (" ".join(part.split()) for part in text.strip().split("\n\n"))
    return _SNAKE.sub(lambda match: f"`{_camel(match[1])}`", "\n\n".join(paragraphs))


def _sentence(words: str) -> str:
    text = _prose(words)
    return text[:1].upper() + text[1:]


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
