package residency

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// handle is a kube-scheduler that has nodes.
type handle struct {
	fwk.Handle
	factory informers.SharedInformerFactory
	calls   cacher
}

// cacher takes bindings.
type cacher struct {
	fwk.APICacher
	bound []*corev1.Binding
}

func (h *handle) SharedInformerFactory() informers.SharedInformerFactory { return h.factory }

func (h *handle) APICacher() fwk.APICacher { return &h.calls }

func (c *cacher) BindPod(binding *corev1.Binding) (<-chan error, error) {
	c.bound = append(c.bound, binding)
	return nil, nil
}

func (c *cacher) WaitOnFinish(context.Context, <-chan error) error { return nil }

func pluginOf(t *testing.T, bailiff *scripted, args Args) (*Residency, *handle) {
	kube := &handle{factory: informers.NewSharedInformerFactory(nil, 0)}
	if err := kube.factory.Core().V1().Nodes().Informer().GetIndexer().Add(node("a")); err != nil {
		t.Fatal(err)
	}
	return &Residency{args: args, client: clientOf(t, bailiff, 300*time.Millisecond), handle: kube}, kube
}

// late binds a pod to a node that it has been judged for some time ago.
func late(r *Residency, pod *corev1.Pod) *fwk.Status {
	state := framework.NewCycleState()
	before := (&scripted{}).answer(asking("a")).GetJudged().GetAnswers()[0]
	found := judgementOf(before)
	found.received = found.received.Add(-time.Minute)
	state.Write(stateKey, found)
	return r.Bind(context.Background(), state, pod, "a")
}

func TestAWaitThatMadeNoDifferenceBinds(t *testing.T) {
	r, kube := pluginOf(t, &scripted{}, Args{})
	if status := late(r, &corev1.Pod{}); !status.IsSuccess() {
		t.Fatal(status)
	}
	if until := kube.calls.bound[0].Annotations[Annotation]; until != forEver {
		t.Errorf("bound until %q", until)
	}
}

func TestANodeThatIsClosedBeforeTheBindingIsRefused(t *testing.T) {
	r, kube := pluginOf(t, &scripted{shut: true}, Args{})
	if status := late(r, &corev1.Pod{}); status.Code() != fwk.Error || len(kube.calls.bound) > 0 {
		t.Errorf("%v, bound %v", status, kube.calls.bound)
	}
}

func TestNobodyIsBoundToANodeThatIsGone(t *testing.T) {
	for _, onFailure := range []string{Ignore, Fail} {
		r, kube := pluginOf(t, &scripted{}, Args{OnFailure: onFailure})
		if err := kube.factory.Core().V1().Nodes().Informer().GetIndexer().Delete(node("a")); err != nil {
			t.Fatal(err)
		}
		status := late(r, &corev1.Pod{})
		if status.Code() != fwk.Error || status.Message() != "a: the node is gone" || len(kube.calls.bound) > 0 {
			t.Errorf("%s: %v, bound %v", onFailure, status, kube.calls.bound)
		}
	}
}

func TestWithoutASecondAnswerAPodIsBoundOrWaitsAsIsChosen(t *testing.T) {
	for onFailure, code := range map[string]fwk.Code{Ignore: fwk.Skip, Fail: fwk.Error} {
		r, kube := pluginOf(t, &scripted{mute: true}, Args{OnFailure: onFailure})
		if status := late(r, &corev1.Pod{}); status.Code() != code || len(kube.calls.bound) > 0 {
			t.Errorf("%s: %v, bound %v", onFailure, status, kube.calls.bound)
		}
	}
}

func TestWhatSomebodyElseWroteIsNotLeftAsOurs(t *testing.T) {
	r, kube := pluginOf(t, &scripted{mute: true}, Args{OnFailure: Ignore})
	pod := &corev1.Pod{}
	pod.Annotations = map[string]string{Annotation: "2100-01-01T00:00:00Z"}
	for number, status := range []*fwk.Status{
		late(r, pod),
		// A pod of which there was no answer at all.
		r.Bind(context.Background(), framework.NewCycleState(), pod, "a"),
	} {
		if !status.IsSuccess() || kube.calls.bound[number].Annotations[Annotation] != unknown {
			t.Errorf("%d: %v, bound %v", number, status, kube.calls.bound)
		}
	}
}
