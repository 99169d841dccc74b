"""Objects, versions, history and watches: what etcd and the watch cache are to kube-apiserver."""

from bailiff_demo.storage.bucket import Bucket, Change, ChangeType, Key, Record, Watch
from bailiff_demo.storage.store import Store

__all__ = ["Bucket", "Change", "ChangeType", "Key", "Record", "Store", "Watch"]
