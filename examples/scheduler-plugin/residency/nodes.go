package residency

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	corev1 "k8s.io/api/core/v1"

	bailiffv1 "bailiff.dev/api/v1"
)

// Nodes in one message, at most, and their bytes, about: Bailiff takes 16 MiB.
const (
	nodesInMessage = 1000
	bytesInMessage = 2 << 20
)

// Annotations that Bailiff reads begin with this; those of others change for reasons of their own.
const ours = "bailiff.dev/"

// registered has the nodes that a stream knows, by name: as kube-scheduler has them, and as sent.
type registered map[string]sent

type sent struct {
	node *corev1.Node
	slim *bailiffv1.Node
}

// changes tells what the stream is to be told, and takes it for told.
func (known registered) changes(asked question) (put []*bailiffv1.Node, remove []string, err error) {
	for _, node := range asked.nodes {
		before, isKnown := known[node.Name]
		// kube-scheduler replaces a node that changes, so most need no second look.
		if isKnown && before.node == node {
			continue
		}
		slim, err := slimmed(node)
		if err != nil {
			return nil, nil, err
		}
		if !isKnown || !proto.Equal(before.slim, slim) {
			put = append(put, slim)
		}
		known[node.Name] = sent{node, slim}
	}
	if !asked.just && len(known) > len(asked.nodes) {
		remove = known.forget(asked.nodes)
	}
	return put, remove, nil
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

// inMessage is how many of these nodes go into one message: one, however large it is.
func inMessage(put []*bailiffv1.Node) int {
	size := 0
	for number, node := range put {
		if number == nodesInMessage || size >= bytesInMessage {
			return number
		}
		size += proto.Size(node)
	}
	return len(put)
}

// slimmed has the fields that Bailiff's message has, so that a rule that comes to read another one
// is told it, too. What changes by itself is left out: it is no change that Bailiff need be told of.
func slimmed(node *corev1.Node) (*bailiffv1.Node, error) {
	slim := &bailiffv1.Node{}
	if err := hand(node, slim); err != nil {
		return nil, err
	}
	if meta := slim.GetMetadata(); meta != nil {
		meta.ResourceVersion = ""
		// Of the rest the times change with each heartbeat.
		meta.ManagedFields = slices.DeleteFunc(meta.ManagedFields, isNotOfTaints)
		maps.DeleteFunc(meta.Annotations, func(name, _ string) bool { return !strings.HasPrefix(name, ours) })
	}
	for _, condition := range slim.GetStatus().GetConditions() {
		condition.LastHeartbeatTime = nil
	}
	return slim, nil
}

func isNotOfTaints(entry *bailiffv1.ManagedFieldsEntry) bool {
	return !bytes.Contains(entry.GetFieldsV1().GetRaw(), []byte(`"f:taints"`))
}
