package residency

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	bailiffv1 "bailiff.dev/api/v1"
)

// nobody is a handle of a scheduler that knows no nodes.
type nobody struct{ fwk.Handle }

func (nobody) SharedInformerFactory() informers.SharedInformerFactory {
	return informers.NewSharedInformerFactory(nil, 0)
}

func bound(args Args, feasible bool, received time.Time) *fwk.Status {
	verdict := &bailiffv1.NodesVerdict{Nodes: []string{"a"}, Feasible: feasible, Residency: &bailiffv1.Residency{}}
	found := judgementOf(&bailiffv1.JudgeNodesResponse{Verdicts: []*bailiffv1.NodesVerdict{verdict}})
	found.received = received
	state := framework.NewCycleState()
	state.Write(stateKey, found)
	plugin := &Residency{args: args, handle: nobody{}}
	return plugin.Bind(context.Background(), state, &corev1.Pod{}, "a")
}

func TestANodeThatHasBecomeUnfitIsNotBoundTo(t *testing.T) {
	if status := bound(Args{}, false, time.Now()); status.Code() != fwk.UnschedulableAndUnresolvable {
		t.Errorf("bound: %v", status)
	}
}

func TestWhatComesOfASecondQuestionWithoutAnAnswerIsForTheArgumentsToSay(t *testing.T) {
	before := time.Now().Add(-time.Minute)
	if status := bound(Args{OnFailure: Fail}, true, before); status.Code() != fwk.Error {
		t.Errorf("Fail: %v", status)
	}
	if status := bound(Args{}, true, before); !status.IsSkip() {
		t.Errorf("otherwise: %v", status)
	}
}
