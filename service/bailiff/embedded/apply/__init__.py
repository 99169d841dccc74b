"""Server-side apply: who owns which field, and what follows (structured-merge-diff, KEP-555).

There is no schema of all kinds behind it: what lists and maps are is in patches/merge_keys.py, and
fields that no kind has are kept instead of refused.
"""

from bailiff.embedded.apply.applying import Applied, Conflict, apply_config
from bailiff.embedded.apply.owners import (
    APPLY,
    UPDATE,
    Owner,
    Owners,
    after_write,
    decode_owners,
    encode_owners,
)

__all__ = [
    "APPLY",
    "UPDATE",
    "Applied",
    "Conflict",
    "Owner",
    "Owners",
    "after_write",
    "apply_config",
    "decode_owners",
    "encode_owners",
]
