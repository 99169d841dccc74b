// Yardstick of benchmarks/scheduling.py: upstream's own plugins TaintToleration and
// NodeUnschedulable over all nodes for each pod, timed. Reads {"nodes": [...], "pods": [...]}, and
// prints nanoseconds a pod, best of several rounds, and then for each pod how many nodes are
// feasible and the sum of their normalized scores.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeunschedulable"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/tainttoleration"
)

const rounds = 5

type scene struct {
	Nodes []*v1.Node `json:"nodes"`
	Pods  []*v1.Pod  `json:"pods"`
}

type answer struct {
	feasible int
	scores   int64
}

type scheduler struct {
	filters []fwk.FilterPlugin
	scorer  interface {
		fwk.PreScorePlugin
		fwk.ScorePlugin
	}
	nodes []fwk.NodeInfo
}

func made(nodes []*v1.Node) *scheduler {
	ctx := context.Background()
	taints, err := tainttoleration.New(ctx, nil, nil, feature.Features{})
	if err != nil {
		panic(err)
	}
	cordons, err := nodeunschedulable.New(ctx, nil, nil, feature.Features{})
	if err != nil {
		panic(err)
	}
	all := &scheduler{
		filters: []fwk.FilterPlugin{cordons.(fwk.FilterPlugin), taints.(fwk.FilterPlugin)},
		scorer:  taints.(*tainttoleration.TaintToleration),
	}
	for _, node := range nodes {
		info := framework.NewNodeInfo()
		info.SetNode(node)
		all.nodes = append(all.nodes, info)
	}
	return all
}

func (all *scheduler) passes(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) bool {
	for _, filter := range all.filters {
		if !filter.Filter(ctx, state, pod, node).IsSuccess() {
			return false
		}
	}
	return true
}

// judge does what a scheduling cycle does with the two plugins, without what is around them.
func (all *scheduler) judge(pod *v1.Pod) answer {
	ctx, state := context.Background(), framework.NewCycleState()
	var feasible []fwk.NodeInfo
	for _, node := range all.nodes {
		if all.passes(ctx, state, pod, node) {
			feasible = append(feasible, node)
		}
	}
	all.scorer.PreScore(ctx, state, pod, feasible)
	scores := make(fwk.NodeScoreList, len(feasible))
	for i, node := range feasible {
		score, status := all.scorer.Score(ctx, state, pod, node)
		if !status.IsSuccess() {
			panic(status)
		}
		scores[i] = fwk.NodeScore{Name: node.Node().Name, Score: score}
	}
	all.scorer.ScoreExtensions().NormalizeScore(ctx, state, pod, scores)
	told := answer{feasible: len(feasible)}
	for _, score := range scores {
		told.scores += score.Score
	}
	return told
}

func main() {
	data, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	var told scene
	if err := json.Unmarshal(data, &told); err != nil {
		panic(err)
	}
	all := made(told.Nodes)
	answers := make([]answer, len(told.Pods))
	best := time.Duration(1 << 62)
	for range rounds {
		start := time.Now()
		for i, pod := range told.Pods {
			answers[i] = all.judge(pod)
		}
		best = min(best, time.Since(start))
	}
	fmt.Println(best.Nanoseconds() / int64(len(told.Pods)))
	for _, one := range answers {
		fmt.Println(one.feasible, one.scores)
	}
}
