"""The accounts that Kubernetes' own programs ask the API server with.

Controllers of kube-controller-manager have an account each where it runs with
--use-service-account-credentials, and share one where it does not. Names as in pkg/controller and
plugin/pkg/auth/authorizer/rbac/bootstrappolicy/controller_policy.go.
"""

from __future__ import annotations

CONTROLLER_MANAGER = "system:kube-controller-manager"
# Of the node lifecycle controller and of the taint eviction controller.
NODE_CONTROLLER = "system:serviceaccount:kube-system:node-controller"
_KUBELETS = "system:node:"


def controller(name: str) -> str:
    """The account of one controller, as `job-controller`."""
    return f"system:serviceaccount:kube-system:{name}"


def is_kubelet(user: str) -> bool:
    """Whether a kubelet asks."""
    return user.startswith(_KUBELETS)


def is_kubelet_of(user: str, node: str) -> bool:
    """Whether the kubelet of this node asks."""
    return user == f"{_KUBELETS}{node}"


def marks_nodes(user: str) -> bool:
    """Whether it sets the taints of failing nodes: the node lifecycle controller, or a kubelet."""
    return user in (NODE_CONTROLLER, CONTROLLER_MANAGER) or is_kubelet(user)
