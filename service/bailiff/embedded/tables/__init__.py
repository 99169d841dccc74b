"""What `kubectl get` prints: the server makes the columns (pkg/printers/internalversion)."""

from bailiff.embedded.tables.render import TableFrames, partial_metadata, table_body

__all__ = ["TableFrames", "partial_metadata", "table_body"]
