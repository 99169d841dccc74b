"""What a kubelet's summary tells of a node, read from the kernel and the file systems instead."""
