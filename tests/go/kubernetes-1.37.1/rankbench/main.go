// Yardstick of benchmarks/pressure.py: upstream's own ranking of the pods of a node, timed. Reads
// {"pods": [...], "summary": {...}}, and prints nanoseconds a ranking, best of several rounds, and
// then the names of the pods in their order.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
	_ "unsafe" // for linkname

	v1 "k8s.io/api/core/v1"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
	_ "k8s.io/kubernetes/pkg/kubelet/eviction"
)

const rounds, each = 20, 20

type node struct {
	Pods    []*v1.Pod        `json:"pods"`
	Summary statsapi.Summary `json:"summary"`
}

// What ranks pods is exported to nobody, so that it is linked by its name.
//
//go:linkname rankMemoryPressure k8s.io/kubernetes/pkg/kubelet/eviction.rankMemoryPressure
func rankMemoryPressure(pods []*v1.Pod, stats func(*v1.Pod) (statsapi.PodStats, bool))

// statsOf does what cachedStatsFunc does, which is made anew for each round.
func statsOf(measured []statsapi.PodStats) func(*v1.Pod) (statsapi.PodStats, bool) {
	byUID := map[string]statsapi.PodStats{}
	for i := range measured {
		byUID[measured[i].PodRef.UID] = measured[i]
	}
	return func(pod *v1.Pod) (statsapi.PodStats, bool) {
		found, ok := byUID[string(pod.UID)]
		return found, ok
	}
}

func main() {
	data, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	var told node
	if err := json.Unmarshal(data, &told); err != nil {
		panic(err)
	}
	ranked := make([]*v1.Pod, len(told.Pods))
	best := time.Duration(1 << 62)
	for range rounds {
		start := time.Now()
		for range each {
			copy(ranked, told.Pods)
			rankMemoryPressure(ranked, statsOf(told.Summary.Pods))
		}
		best = min(best, time.Since(start))
	}
	fmt.Println(best.Nanoseconds() / each)
	for _, pod := range ranked {
		fmt.Println(pod.Name)
	}
}
