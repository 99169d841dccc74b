// kube-scheduler with one plugin more: Residency, which asks Bailiff.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"

	"bailiff.dev/scheduler-plugin/residency"
)

func main() {
	os.Exit(cli.Run(app.NewSchedulerCommand(app.WithPlugin(residency.Name, residency.New))))
}
