"""Objects, versions, history and watches: what etcd and the watch cache are to kube-apiserver."""

from bailiff.embedded.storage.bucket import Bucket, Change, Key, Record
from bailiff.embedded.storage.store import Store
from bailiff.embedded.storage.watch import Watch

__all__ = ["Bucket", "Change", "Key", "Record", "Store", "Watch"]
