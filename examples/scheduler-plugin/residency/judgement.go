package residency

import (
	"fmt"
	"time"

	fwk "k8s.io/kube-scheduler/framework"

	bailiffv1 "bailiff.dev/api/v1"
)

// forEver is what the annotation says of a pod that nothing known will evict.
const forEver = "forever"

// unknown is what it says where its creator wrote something there, and Bailiff gave no answer.
const unknown = "unknown"

// judgement is one answer, by node; it is kept for one scheduling cycle. It counts from `at`, by
// Bailiff's clock, and was received then by ours.
type judgement struct {
	places   map[string]place
	last     int
	at       time.Time
	received time.Time
}

// place is where a node stands in the answer: Bailiff names the nodes in order of preference.
type place struct {
	verdict *bailiffv1.NodesVerdict
	number  int
}

func judgementOf(answer *bailiffv1.JudgeNodesResponse) *judgement {
	found := &judgement{
		places:   map[string]place{},
		at:       answer.GetJudgedAt().AsTime(),
		received: time.Now(),
	}
	for number, verdict := range answer.GetVerdicts() {
		if verdict.GetFeasible() {
			found.last = number
		}
		for _, node := range verdict.GetNodes() {
			found.places[node] = place{verdict, number}
		}
	}
	return found
}

// Clone is of fwk.StateData. Nothing changes an answer.
func (j *judgement) Clone() fwk.StateData { return j }

// score is 100 for the nodes that Bailiff names first and 0 for those that it names last.
func (j *judgement) score(node string) int64 {
	found, isJudged := j.places[node]
	if !isJudged {
		return fwk.MinNodeScore
	}
	if j.last == 0 {
		return fwk.MaxNodeScore
	}
	return fwk.MaxNodeScore * int64(j.last-found.number) / int64(j.last)
}

// refusal says why the pod may not go to the node; nil: it may.
func (j *judgement) refusal(node string, minimum time.Duration) *fwk.Status {
	found, isJudged := j.places[node]
	if !isJudged {
		return nil
	}
	if !found.verdict.GetFeasible() {
		var reasons []string
		for _, objection := range found.verdict.GetObjections() {
			reasons = append(reasons, objection.GetMessage())
		}
		// No preemption takes a taint away.
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, reasons...)
	}
	// One that names no instant is forever or, of a Bailiff of another release, not known.
	until := found.verdict.GetResidency().GetUntil()
	if until != nil && until.AsTime().Sub(j.at) < minimum {
		reason := fmt.Sprintf("node(s) that the pod would be evicted from within %s", minimum)
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, reason)
	}
	return nil
}

// residency is until when the pod could stay: an instant, or forever. Empty: not known.
func (j *judgement) residency(node string) string {
	stay := j.places[node].verdict.GetResidency()
	switch {
	case stay.GetForEver():
		return forEver
	case stay.GetUntil() != nil:
		return stay.GetUntil().AsTime().Format(time.RFC3339Nano)
	}
	return ""
}
