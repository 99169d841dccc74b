"""What marks in the memory in use are of: by these names who sets them and who has them know."""

from __future__ import annotations

# The node as a whole; all its pods together; and the pods in place of the node, see marks_for_pods.
NODE = "node"
PODS = "pods"
PODS_FOR_NODE = "podsForNode"
