"""The bridge between FastAPI's signatures and our values, which know nothing of pydantic.

FastAPI looks at an operation's types through pydantic. Ours are msgspec's, decoded and encoded
several times faster, and their bounds, tags and nulls have no counterpart in pydantic's schemas.
So an annotation tells pydantic to leave a value alone, and to refer to its schema by an address,
which document.py replaces by that of the schema made by schemas.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
from pydantic_core import core_schema

from bailiff.decisions import Size

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic_core import CoreSchema

# Pydantic takes a reference that it cannot follow for an error, unless it leads to another host.
ASKED = "https://bailiff.dev/asked/"
ANSWERED = "https://bailiff.dev/answered/"


@dataclass(frozen=True)
class Wire:
    """Marks a msgspec type in an operation's signature.

    Attributes:
        kind: the type.
        size: how long a body of it may be.
    """

    kind: type
    size: Size = Size.ONE

    def __get_pydantic_core_schema__(
        self, _source: object, _handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Pydantic's hook: any value will do, and msgspec knows how it is written."""
        written = core_schema.plain_serializer_function_ser_schema(msgspec.to_builtins)
        return core_schema.any_schema(serialization=written)

    def __get_pydantic_json_schema__(
        self, _schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Pydantic's hook: where the schema is."""
        asked = handler.mode == "validation"
        return {"$ref": (ASKED if asked else ANSWERED) + self.kind.__name__}
