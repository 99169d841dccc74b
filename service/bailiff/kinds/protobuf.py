"""What the kinds say of their messages in protobuf, where those leave something out."""

from __future__ import annotations

from msgspec import Meta

# Of a field that no message has, though the object's JSON does.
NOT_IN_PROTOBUF = Meta(extra={"protobuf": "absent"})
