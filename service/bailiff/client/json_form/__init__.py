"""Messages and the JSON that REST and Kubernetes have for them.

Protobuf's own JSON differs in a few things, all named in `shapes.py`; everything else goes by the
descriptors, so that a message or field that is new needs nothing here.
"""

from bailiff.client.json_form.reading import read
from bailiff.client.json_form.writing import write

__all__ = ["read", "write"]
