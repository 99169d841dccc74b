package residency

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Nodes in one message: of so many a message stays far below the 4 MiB that gRPC takes.
const nodesInMessage = 1000

// Annotations of a node that Bailiff reads.
var annotations = []string{"bailiff.dev/taints-first-observed", "bailiff.dev/maintenance"}

// registered has the nodes that a stream knows, by name: as kube-scheduler has them, and as sent.
type registered map[string]sent

type sent struct {
	node *corev1.Node
	slim *corev1.Node
}

// changes tells what the stream is to be told, and takes it for told.
func (known registered) changes(asked question) (put []*corev1.Node, remove []string) {
	for _, node := range asked.nodes {
		before, isKnown := known[node.Name]
		// kube-scheduler replaces a node that changes, so most need no second look.
		if isKnown && before.node == node {
			continue
		}
		now := sent{node, slimmed(node)}
		if !isKnown || !equality.Semantic.DeepEqual(before.slim, now.slim) {
			put = append(put, now.slim)
		}
		known[node.Name] = now
	}
	if !asked.just && len(known) > len(asked.nodes) {
		remove = known.forget(asked.nodes)
	}
	return put, remove
}

// forget drops all but these nodes, and names those that are dropped.
func (known registered) forget(nodes []*corev1.Node) (gone []string) {
	there := make(map[string]struct{}, len(nodes))
	for _, node := range nodes {
		there[node.Name] = struct{}{}
	}
	for name := range known {
		if _, isThere := there[name]; !isThere {
			gone = append(gone, name)
			delete(known, name)
		}
	}
	return gone
}

// slimmed keeps what Bailiff reads: heartbeats alone are no change that it need be told of.
func slimmed(node *corev1.Node) *corev1.Node {
	slim := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: node.Name, UID: node.UID, CreationTimestamp: node.CreationTimestamp,
		},
		Spec: corev1.NodeSpec{Taints: node.Spec.Taints, Unschedulable: node.Spec.Unschedulable},
	}
	for _, name := range annotations {
		if text, isThere := node.Annotations[name]; isThere {
			metav1.SetMetaDataAnnotation(&slim.ObjectMeta, name, text)
		}
	}
	for _, condition := range node.Status.Conditions {
		condition.LastHeartbeatTime = metav1.Time{}
		slim.Status.Conditions = append(slim.Status.Conditions, condition)
	}
	return slim
}
