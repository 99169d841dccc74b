"""YAML, or JSON, as Kubernetes reads it, from anybody: to plain values, and never further."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

import yaml

from bailiff.kinds.decode_errors import DecodeError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

T = TypeVar("T")

# With which every object of Kubernetes begins.
_HEADS = ("apiVersion", "kind")


def parse_yaml(data: bytes) -> object:
    """The one document in the text; None where there is none. It takes 5 to 15 us a byte.

    Raises:
        DecodeError: no YAML, several documents, an alias, a tag, a key given twice, or nested too
            deep.
    """
    return _parse(lambda: yaml.load(data, Loader=_Loader))  # noqa: S506 - a SafeLoader, see there


def parse_yaml_documents(data: bytes) -> list[object]:
    """The documents in the text, those that hold nothing left out. Time as `parse_yaml`.

    Raises:
        DecodeError: as `parse_yaml`, but for several documents.
    """
    documents = _parse(lambda: list(yaml.load_all(data, Loader=_DocumentsLoader)))
    return [document for document in documents if document is not None]


def _parse(parse: Callable[[], T]) -> T:
    try:
        return parse()
    except (yaml.YAMLError, ValueError) as error:
        # ValueError: a number of thousands of digits, or text that is no UTF-8.
        # The parser knows no name of what it reads; whoever tells this does.
        said = str(error).replace('in "<byte string>", ', "in ")
        raise DecodeError(f"not valid YAML: {said}", malformed=True) from error
    except RecursionError as error:
        raise DecodeError("not valid YAML: nested too deep", malformed=True) from error


class _Loader(yaml.SafeLoader):
    """YAML as Kubernetes reads it: timestamps stay text, as in JSON, and so do hours as 22:00.

    Not the faster loader on libyaml, which ends the process on deep nesting; no aliases, by which
    a small file may stand for a value too large to look at; no tags, which make other things than
    JSON has.
    """

    # What to say beside it of a head that comes again: another object has begun.
    _of_another = ""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]  # so are the stubs
        is_alias = isinstance(event, yaml.AliasEvent)
        if is_alias or getattr(event, "tag", None) is not None:
            problem = f"{'aliases' if is_alias else 'tags'} are not allowed"
            raise yaml.composer.ComposerError(None, None, problem, event.start_mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """Refuse a key given twice, of which all but the last would be lost."""
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.value in seen:
                of_another = self._of_another if key.value in _HEADS else ""
                problem = f"a key must be one word, and given once, got {key.value}{of_another}"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


class _DocumentsLoader(_Loader):
    _of_another = ": documents are separated by ---"


_INT = "tag:yaml.org,2002:int"
_FLOAT = "tag:yaml.org,2002:float"
_REPLACED = {_INT, _FLOAT, "tag:yaml.org,2002:timestamp"}

_Loader.yaml_implicit_resolvers = {
    first: [(tag, regexp) for tag, regexp in resolvers if tag not in _REPLACED]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
# Without YAML 1.1's base 60, to which 22:00 is 1320, and with 1e3, which is a number in JSON.
_Loader.add_implicit_resolver(
    _INT, re.compile(r"^[-+]?(0|[1-9][0-9]*|0x[0-9a-fA-F]+|0o?[0-7]+)$"), list("-+0123456789")
)
_Loader.add_implicit_resolver(
    _FLOAT,
    re.compile(r"^[-+]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][-+]?[0-9]+)?$"),
    list("-+0123456789."),
)
