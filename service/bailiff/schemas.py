"""JSON Schemas of the types that are really decoded and encoded, for OpenAPI 3.1.

Shapes come from msgspec, words from the classes' docstrings: nothing is written twice. A type that
questions and answers share may be two schemas, as in FastAPI: questions may hold null, answers
never do.
"""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec import inspect as types

from bailiff.kinds import INT64_MIN
from bailiff.kinds.meta import KubernetesObject
from bailiff.kinds.quantity import PATTERN as QUANTITY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

PREFIX = "#/components/schemas/"
Schema = dict[str, Any]

_NULL = {"type": "null"}
# Defaults that say no more than "absent".
_EMPTY: tuple[object, ...] = (None, "", [], (), {})
_ATTRIBUTES = re.compile(r"\n *Attributes:\n")
_ATTRIBUTE = re.compile(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", re.MULTILINE)
_SNAKE = re.compile(r"`(_?[a-z]+(?:_[a-z]+)+)`")
# A first word that is a name in code, such as node-taints, stays as it is written.
_PROSE_WORD = re.compile(r"[a-z]+[\s,;:.(]")
# What a tag says is the same wherever one is.
_TAG = "Which type this is."
_JSON_TYPES = {str: "string", int: "integer", bool: "boolean", float: "number"}


class Components(NamedTuple):
    """Schemas and where they are.

    Attributes:
        schemas: by name.
        asked: the name of a class's schema in questions, by the class's name.
        answered: its name in answers.
    """

    schemas: dict[str, Schema]
    asked: Mapping[str, str]
    answered: Mapping[str, str]


def components(
    asked: Iterable[type], answered: Iterable[type], choices: Mapping[type, Iterable[type]] = {}
) -> Components:
    """The schemas of everything reachable from these types.

    Args:
        asked: types of bodies. Null counts as absent there, and a null in a list as an empty
            item, so their schemas allow null where the decoder does.
        answered: types of answers. Those never hold null.
        choices: for a base in answers the tagged types that stand in its place.

    Raises:
        TypeError: two types have one name, such as one of a system and one of Kubernetes.
    """
    answered = (*answered, *(kind for kinds in choices.values() for kind in kinds))
    questions = _generate(tuple(asked), allow_null=True)
    answers = _generate(answered, allow_null=False)
    for base, kinds in choices.items():
        answers[base.__name__] = _choice(answers[base.__name__], kinds)
    differing = _differing(questions, answers)
    asked_names = {name: f"{name}-Input" if name in differing else name for name in questions}
    answered_names = {name: f"{name}-Output" if name in differing else name for name in answers}
    found = _renamed(questions, asked_names) | _renamed(answers, answered_names)
    return Components(dict(sorted(found.items())), asked_names, answered_names)


def _choice(base: Schema, kinds: Iterable[type]) -> Schema:
    """One of several types, told apart by the field that has their tags."""
    structs = [info for info in types.multi_type_info(kinds) if isinstance(info, types.StructType)]
    tags = {str(info.tag): PREFIX + info.cls.__name__ for info in structs}
    (field,) = {info.tag_field for info in structs}
    return {
        "description": base["description"],
        "oneOf": [{"$ref": address} for address in tags.values()],
        "discriminator": {"propertyName": field, "mapping": tags},
    }


def _differing(questions: Mapping[str, Schema], answers: Mapping[str, Schema]) -> set[str]:
    """The types of both whose schemas differ, or hold ones that do."""
    both = questions.keys() & answers.keys()
    differing = {name for name in both if questions[name] != answers[name]}
    while True:
        more = {name for name in both - differing if _references(questions[name]) & differing}
        if not more:
            return differing
        differing |= more


def _references(schema: object) -> set[str]:
    found: list[str] = []

    def note(address: str) -> str:
        found.append(address.removeprefix(PREFIX))
        return address

    redirect(schema, note)
    return set(found)


def _renamed(schemas: Mapping[str, Schema], names: Mapping[str, str]) -> dict[str, Schema]:
    def address(old: str) -> str:
        return PREFIX + names[old.removeprefix(PREFIX)]

    return {names[name]: redirect(schema, address) for name, schema in schemas.items()}


def redirect(value: Any, address: Callable[[str], str]) -> Any:  # noqa: ANN401 - JSON
    """A copy of a JSON value with other addresses in its references.

    Args:
        value: a document or a part of it.
        address: from a reference's address to the new one.
    """
    if isinstance(value, list):
        return [redirect(part, address) for part in value]
    if not isinstance(value, dict):
        return value
    copied = {key: redirect(part, address) for key, part in value.items()}
    if isinstance(value.get("$ref"), str):
        copied["$ref"] = address(value["$ref"])
    if isinstance(value.get("discriminator"), dict):
        mapping = value["discriminator"]["mapping"].items()
        copied["discriminator"]["mapping"] = {tag: address(old) for tag, old in mapping}
    return copied


def _generate(kinds: tuple[type, ...], *, allow_null: bool) -> dict[str, Schema]:
    _, schemas = msgspec.json.schema_components(kinds, ref_template=PREFIX + "{name}")
    classes = _classes_of(kinds)
    for name, schema in schemas.items():
        _describe(schema, classes[name])
    finish = _Finish(schemas, allow_null=allow_null)
    return {name: finish.whole(schema) for name, schema in schemas.items()}


def _classes_of(kinds: Iterable[type]) -> dict[str, type]:
    """The classes of everything reachable from these types, by the names of their schemas."""
    classes: dict[str, type] = {}
    for info in types.multi_type_info(kinds):
        _collect(info, classes)
    return classes


def _collect(info: object, classes: dict[str, type]) -> None:
    match info:
        case types.StructType(cls=cls) if classes.get(cls.__name__) is not cls:
            _name(cls, classes)
            for field in info.fields:
                _collect(field.type, classes)
        case types.EnumType(cls=cls):
            _name(cls, classes)
        case types.UnionType(types=parts) | types.TupleType(item_types=parts):
            for part in parts:
                _collect(part, classes)
        case types.CollectionType(item_type=part) | types.DictType(value_type=part):
            _collect(part, classes)
        case types.Metadata(type=part):
            _collect(part, classes)


def _name(kind: type, classes: dict[str, type]) -> None:
    other = classes.setdefault(kind.__name__, kind)
    if other is not kind:
        names = f"{other.__module__} and {kind.__module__}"
        raise TypeError(f"two types are called {kind.__name__}, in {names}: rename one of them")


def _describe(schema: Schema, kind: type) -> None:
    """Put the docstring's words in: the text on the type, each attribute's on its property."""
    schema["description"] = _prose(_ATTRIBUTES.split(inspect.getdoc(kind) or "")[0])
    if not issubclass(kind, msgspec.Struct):
        return
    if issubclass(kind, KubernetesObject):
        # To msgspec it is what tells types apart, and required.
        schema["required"].remove("kind")
        words = "Which object this is; absent where nobody wrote it."
        schema["properties"]["kind"]["description"] = words
    written = {field.name: field.encode_name for field in msgspec.structs.fields(kind)}
    for base in reversed(kind.__mro__):
        # A base says of its attributes what they mean, and nobody says it again.
        attributes = _ATTRIBUTES.split(inspect.cleandoc(base.__doc__ or ""), maxsplit=1)[1:]
        for name, words in _ATTRIBUTE.findall("".join(attributes)):
            if name in written:
                schema["properties"][written[name]]["description"] = _sentence(words)


class _Finish:
    """From msgspec's schemas to those of a face: null where it is allowed, types of enums."""

    def __init__(self, schemas: Mapping[str, Schema], *, allow_null: bool) -> None:
        self._schemas = schemas
        self._allow_null = allow_null

    def whole(self, schema: Schema) -> Schema:
        """A schema that has a name."""
        if "properties" not in schema:
            return self._shape(schema)
        required = schema["required"]
        properties = {
            name: self._property(part, optional=name not in required)
            for name, part in schema["properties"].items()
        }
        finished = {"type": "object", "description": schema["description"]}
        if required:
            finished["required"] = required
        if schema.get("additionalProperties") is False:
            finished["additionalProperties"] = False
        return {**finished, "properties": properties}

    def _property(self, part: Schema, *, optional: bool) -> Schema:
        shape = self._shape(part)
        # A section of a system has no words where it stands, and its type has.
        named = self._schemas.get(shape.get("$ref", "").removeprefix(PREFIX), {})
        described = part.get("description", _TAG if "enum" in part else named.get("description"))
        words = {"description": described} if described else {}
        if self._allow_null and optional:
            shape = _or_null(shape)
        # What is absent is false anyway, and generators take a field with a default for required.
        if part.get("default") not in _EMPTY and part["default"] is not False:
            shape["default"] = part["default"]
        return {**shape, **words}

    def _shape(self, part: Schema) -> Schema:
        """A part without its words and its default; for `X | None` the X."""
        shape = {key: part[key] for key in part if key not in ("title", "description", "default")}
        if "description" in part and "enum" in part:
            shape["description"] = part["description"]
        if "anyOf" in shape:
            shape = self._choices(shape)
        if "enum" in shape:
            shape["type"] = _JSON_TYPES[type(shape["enum"][0])]
        if "pattern" in shape:
            shape |= self._patterned(shape["pattern"])
        if shape.get("minimum") == INT64_MIN:
            shape["format"] = "int64"
        if shape.get("type") == "array" and isinstance(shape.get("items"), dict):
            shape["items"] = self._inner(shape["items"], self._has_zero)
        if isinstance(shape.get("additionalProperties"), dict):
            shape["additionalProperties"] = self._inner(shape["additionalProperties"], _always)
        return shape

    def _patterned(self, pattern: str) -> Schema:
        # The end of a text, which is \Z in Python, is `$` in JSON Schema.
        shape: Schema = {"pattern": pattern.replace(r"\Z", "$")}
        if pattern == QUANTITY and self._allow_null:
            # Of questions alone, as Kubernetes lets them: answers are written as texts.
            shape["type"] = ["string", "number"]
        return shape

    def _choices(self, shape: Schema) -> Schema:
        choices = [self._shape(choice) for choice in shape["anyOf"] if choice != _NULL]
        return choices[0] if len(choices) == 1 else {**shape, "anyOf": choices}

    def _inner(self, part: Schema, may_be_null: Callable[[Schema], bool]) -> Schema:
        shape = self._shape(part)
        return _or_null(shape) if self._allow_null and may_be_null(part) else shape

    def _has_zero(self, item: Schema) -> bool:
        """Go decodes a null in a list to the zero value; we take it where that is enough."""
        name = item.get("$ref", "").removeprefix(PREFIX)
        if not name:
            return item.get("type") == "string" and item.keys() <= {"type", "maxLength"}
        if "enum" in self._schemas[name]:
            return False
        return not self._schemas[name].get("required")


def _always(_part: Schema) -> bool:
    return True


def _or_null(shape: Schema) -> Schema:
    if not shape:  # anything, so null too
        return shape
    if isinstance(shape.get("type"), list):
        return {**shape, "type": [*shape["type"], "null"]}
    if isinstance(shape.get("type"), str) and "enum" not in shape and "format" not in shape:
        return {**shape, "type": [shape["type"], "null"]}
    if "anyOf" in shape:
        return {**shape, "anyOf": [*shape["anyOf"], _NULL]}
    return {"anyOf": [shape, _NULL]}


def _prose(text: str) -> str:
    """A docstring's paragraphs as Markdown; attributes under the names that JSON has."""
    paragraphs = (" ".join(part.split()) for part in text.strip().split("\n\n"))
    return _SNAKE.sub(lambda match: f"`{_camel(match[1])}`", "\n\n".join(paragraphs))


def _sentence(words: str) -> str:
    text = _prose(words)
    return text[:1].upper() + text[1:] if _PROSE_WORD.match(text) else text


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
