// Package residency is a plugin of kube-scheduler that asks Bailiff where a pod may run, and how
// long it could stay there.
//
// PreFilter asks about all nodes at once, over one stream. Filter refuses the nodes whose taints
// the pod does not tolerate, Score prefers those that Bailiff names first, and Bind writes with the
// binding until when the pod can stay, as the annotation bailiff.dev/residency-until.
package residency

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/util"
)

const (
	// Name of the plugin in a KubeSchedulerConfiguration.
	Name = "Residency"
	// Annotation of a pod: until when it could stay on its node, as an instant (RFC 3339) or
	// "forever", when it was bound there; "unknown" in place of what somebody else had written.
	Annotation = "bailiff.dev/residency-until"

	stateKey fwk.StateKey = Name
	// An answer counts from the instant of the binding. One that is older, as after a wait for
	// a Permit plugin or for a volume, is asked for again.
	longestAge = 200 * time.Millisecond
)

// Residency is the plugin. It signs no pods (fwk.SignPlugin): kube-scheduler would take one answer for
// several pods then, and each is to have its own, as time runs.
type Residency struct {
	args   Args
	client *client
	handle fwk.Handle
}

var (
	_ fwk.PreFilterPlugin   = &Residency{}
	_ fwk.FilterPlugin      = &Residency{}
	_ fwk.ScorePlugin       = &Residency{}
	_ fwk.BindPlugin        = &Residency{}
	_ fwk.EnqueueExtensions = &Residency{}
)

// New makes it; kube-scheduler calls this once for each profile that names the plugin.
func New(_ context.Context, object runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	args, err := argsOf(object)
	if err != nil {
		return nil, err
	}
	client, err := dial(args)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Name, err)
	}
	return &Residency{args: args, client: client, handle: handle}, nil
}

// Name is of fwk.Plugin.
func (r *Residency) Name() string { return Name }

// EventsToRegister tells after which changes a pod that was refused here is worth another try.
func (r *Residency) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	node := fwk.ClusterEvent{
		Resource:   fwk.Node,
		ActionType: fwk.Add | fwk.UpdateNodeTaint | fwk.UpdateNodeAnnotation | fwk.UpdateNodeCondition,
	}
	pod := fwk.ClusterEvent{Resource: fwk.TargetPod, ActionType: fwk.UpdatePodToleration}
	return []fwk.ClusterEventWithHint{{Event: node}, {Event: pod}}, nil
}

// PreFilter asks about all nodes.
func (r *Residency) PreFilter(
	ctx context.Context, state fwk.CycleState, pod *corev1.Pod, infos []fwk.NodeInfo,
) (*fwk.PreFilterResult, *fwk.Status) {
	nodes := make([]*corev1.Node, 0, len(infos))
	for _, info := range infos {
		nodes = append(nodes, info.Node())
	}
	found, err := r.client.judge(ctx, question{pod: pod, nodes: nodes})
	if err == nil {
		state.Write(stateKey, found)
		return nil, nil
	}
	if refused := r.failed(ctx, pod, err); refused != nil {
		return nil, refused
	}
	return nil, fwk.NewStatus(fwk.Skip)
}

// PreFilterExtensions is of fwk.PreFilterPlugin: other pods of a node change nothing here.
func (r *Residency) PreFilterExtensions() fwk.PreFilterExtensions { return nil }

// Filter refuses a node as Bailiff does.
func (r *Residency) Filter(
	_ context.Context, state fwk.CycleState, _ *corev1.Pod, info fwk.NodeInfo,
) *fwk.Status {
	if found := judged(state); found != nil {
		return found.refusal(info.Node().Name, r.args.MinimumResidency.Duration)
	}
	return nil
}

// Score prefers nodes as Bailiff does.
func (r *Residency) Score(
	_ context.Context, state fwk.CycleState, _ *corev1.Pod, info fwk.NodeInfo,
) (int64, *fwk.Status) {
	if found := judged(state); found != nil {
		return found.score(info.Node().Name), nil
	}
	return fwk.MinNodeScore, nil
}

// ScoreExtensions is of fwk.ScorePlugin: the scores are of its range already.
func (r *Residency) ScoreExtensions() fwk.ScoreExtensions { return nil }

// Bind binds with the residency in the same request: the API server gives the annotations of a
// binding to its pod. A pod that was not judged is left to the next plugin, DefaultBinder.
func (r *Residency) Bind(
	ctx context.Context, state fwk.CycleState, pod *corev1.Pod, node string,
) *fwk.Status {
	until, refused := r.until(ctx, judged(state), pod, node)
	if refused != nil {
		return refused
	}
	if until == "" {
		if _, isThere := pod.Annotations[Annotation]; !isThere {
			return fwk.NewStatus(fwk.Skip)
		}
		until = unknown
	}
	binding := &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID,
			Annotations: map[string]string{Annotation: until},
		},
		Target: corev1.ObjectReference{Kind: "Node", Name: node},
	}
	if err := r.bind(ctx, binding); err != nil {
		return fwk.AsStatus(err)
	}
	return nil
}

// until is how long the pod can stay, by an answer of now. Empty: nobody knows; a status: it may not
// be bound there any more.
func (r *Residency) until(
	ctx context.Context, found *judgement, pod *corev1.Pod, node string,
) (string, *fwk.Status) {
	if found == nil {
		return "", nil
	}
	if time.Since(found.received) >= longestAge {
		latest, err := r.again(ctx, pod, node)
		if apierrors.IsNotFound(err) {
			// Whatever OnFailure says: that is no silence of Bailiff's.
			return "", fwk.AsStatus(fmt.Errorf("%s: the node is gone", node))
		}
		if err != nil {
			return "", r.failed(ctx, pod, err)
		}
		found = latest
	}
	if refused := found.refusal(node, r.args.MinimumResidency.Duration); refused != nil {
		// An error, which has the pod tried again soon: another node may take it, and where it is just
		// time that has run no event would come.
		return "", fwk.AsStatus(fmt.Errorf("%s: %s", node, refused.Message()))
	}
	return found.residency(node), nil
}

// again asks about this node alone.
func (r *Residency) again(ctx context.Context, pod *corev1.Pod, name string) (*judgement, error) {
	node, err := r.handle.SharedInformerFactory().Core().V1().Nodes().Lister().Get(name)
	if err != nil {
		return nil, err
	}
	return r.client.judge(ctx, question{pod: pod, nodes: []*corev1.Node{node}, just: true})
}

// failed is what becomes of a pod without an answer: an error, or it goes on without (nil).
func (r *Residency) failed(ctx context.Context, pod *corev1.Pod, err error) *fwk.Status {
	err = fmt.Errorf("no answer from Bailiff: %w", err)
	if r.args.OnFailure == Fail {
		return fwk.AsStatus(err)
	}
	klog.FromContext(ctx).Error(err, "Going on without residency", "pod", klog.KObj(pod))
	return nil
}

// bind sends it in the order of kube-scheduler's other requests about the pod, where it keeps one.
func (r *Residency) bind(ctx context.Context, binding *corev1.Binding) error {
	cacher := r.handle.APICacher()
	if cacher == nil {
		return util.BindPod(ctx, r.handle.ClientSet(), binding)
	}
	done, err := cacher.BindPod(binding)
	if err != nil {
		return err
	}
	return cacher.WaitOnFinish(ctx, done)
}

// judged is the answer about the pod of this cycle; nil: there is none.
func judged(state fwk.CycleState) *judgement {
	found, err := state.Read(stateKey)
	if err != nil {
		return nil
	}
	return found.(*judgement)
}
