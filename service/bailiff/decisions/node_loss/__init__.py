"""A node that does not come back: what becomes of its pods, and when.

Upstream's DeletePods and MarkPodsNotReady (pkg/controller/util/node/controller_utils.go), the
zones of its node lifecycle controller, and the proof that a machine is off.
"""
