package residency

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	bailiffv1 "bailiff.dev/api/v1"
)

// changed is what is to be sent of a node after another state of it has been.
func changed(t *testing.T, before, after *corev1.Node) int {
	known := registered{}
	put, _, err := known.changes(question{nodes: []*corev1.Node{before}})
	if err != nil || len(put) != 1 {
		t.Fatalf("put %v: %v", put, err)
	}
	put, _, err = known.changes(question{nodes: []*corev1.Node{after}})
	if err != nil {
		t.Fatal(err)
	}
	return len(put)
}

func edited(at metav1.Time, fields string) []metav1.ManagedFieldsEntry {
	return []metav1.ManagedFieldsEntry{{Time: &at, FieldsV1: metav1.NewFieldsV1(fields)}}
}

func TestHeartbeatsAreNoChange(t *testing.T) {
	before, after := node("a"), node("a")
	for seconds, one := range []*corev1.Node{before, after} {
		heard := metav1.Unix(int64(seconds), 0)
		one.ResourceVersion = heard.String()
		one.Annotations = map[string]string{"example.com/heard": heard.String()}
		one.ManagedFields = edited(heard, `{"f:status":{}}`)
		one.Status.Conditions = []corev1.NodeCondition{{Type: "Ready", Status: "True", LastHeartbeatTime: heard}}
		one.Status.Capacity = corev1.ResourceList{"cpu": *resource.NewQuantity(int64(seconds), resource.DecimalSI)}
	}
	if changed(t, before, after) != 0 {
		t.Error("sent once more")
	}
}

func TestWhatBailiffReadsIsAChange(t *testing.T) {
	changes := map[string]func(*corev1.Node){
		"taints":      func(one *corev1.Node) { one.Spec.Taints = []corev1.Taint{{Key: "k"}} },
		"cordon":      func(one *corev1.Node) { one.Spec.Unschedulable = true },
		"maintenance": func(one *corev1.Node) { one.Annotations = map[string]string{"bailiff.dev/maintenance": "x"} },
		"edit":        func(one *corev1.Node) { one.ManagedFields = edited(metav1.Now(), `{"f:spec":{"f:taints":{}}}`) },
		"pressure":    func(one *corev1.Node) { one.Status.Conditions = []corev1.NodeCondition{{Type: "MemoryPressure"}} },
		"version":     func(one *corev1.Node) { one.Status.NodeInfo.KubeletVersion = "v1.37.1" },
	}
	for name, change := range changes {
		after := node("a")
		change(after)
		if changed(t, node("a"), after) != 1 {
			t.Errorf("%s: not sent", name)
		}
	}
}

func TestTheKubeletsVersionIsSentAndImagesAreNot(t *testing.T) {
	one := node("a")
	one.Status.NodeInfo.KubeletVersion = "v1.37.1"
	one.Status.Images = []corev1.ContainerImage{{Names: []string{"registry.example/main:1"}}}
	put, _, err := registered{}.changes(question{nodes: []*corev1.Node{one}})
	if err != nil {
		t.Fatal(err)
	}
	if version := put[0].GetStatus().GetNodeInfo().GetKubeletVersion(); version != "v1.37.1" {
		t.Errorf("version %q", version)
	}
	if unknown := put[0].GetStatus().ProtoReflect().GetUnknown(); len(unknown) != 0 {
		t.Errorf("%d bytes that Bailiff does not read", len(unknown))
	}
}

func TestAMessageOfNodesHasItsBounds(t *testing.T) {
	small := make([]*bailiffv1.Node, nodesInMessage+1)
	large := &bailiffv1.Node{Metadata: &bailiffv1.ObjectMeta{Uid: strings.Repeat("x", bytesInMessage)}}
	if found := inMessage(small); found != nodesInMessage {
		t.Errorf("%d small ones", found)
	}
	if found := inMessage([]*bailiffv1.Node{large, large}); found != 1 {
		t.Errorf("%d large ones", found)
	}
	if found := inMessage(small[:3]); found != 3 {
		t.Errorf("%d of 3", found)
	}
}
