// What a container runtime tells of a node by CRI, as JSON; and containers that no kubelet has made.
//
//	cri list                            images, containers with their statuses, sandboxes
//	cri sandbox POD                     the ID of the sandbox of a pod
//	cri extra POD NAME COUNT IMAGE      so many containers in the sandbox of a pod, none started
//	cri stray UID COUNT IMAGE           a pod that the API never had: containers of it that have ended
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

const (
	socket   = "unix:///run/containerd/containerd.sock"
	patience = 2 * time.Minute
)

func main() {
	connection, err := grpc.NewClient(socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	check(err)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	node := node{ctx, cri.NewRuntimeServiceClient(connection), cri.NewImageServiceClient(connection)}
	switch arguments := os.Args[1:]; arguments[0] {
	case "list":
		node.list()
	case "sandbox":
		fmt.Println(node.sandboxOf(arguments[1]).Id)
	case "extra":
		node.extra(arguments[1], arguments[2], number(arguments[3]), arguments[4])
	case "stray":
		node.stray(arguments[1], number(arguments[2]), arguments[3])
	}
}

type node struct {
	ctx     context.Context
	runtime cri.RuntimeServiceClient
	images  cri.ImageServiceClient
}

func (n node) list() {
	images, err := n.images.ListImages(n.ctx, &cri.ListImagesRequest{})
	check(err)
	containers, err := n.runtime.ListContainers(n.ctx, &cri.ListContainersRequest{})
	check(err)
	sandboxes := n.sandboxes()
	fmt.Printf(`{"images": %s, "containers": %s, "sandboxes": %s, "statuses": [`,
		text(images), text(containers), text(sandboxes))
	for at, one := range containers.Containers {
		status, err := n.runtime.ContainerStatus(n.ctx, &cri.ContainerStatusRequest{ContainerId: one.Id})
		check(err)
		if at > 0 {
			fmt.Print(",")
		}
		fmt.Print(text(status))
	}
	fmt.Println("]}")
}

func (n node) extra(pod, name string, count int, image string) {
	sandbox := n.sandboxOf(pod)
	config := configOf(sandbox.Metadata)
	for attempt := range count {
		n.create(sandbox.Id, config, name, uint32(attempt), image)
	}
}

func (n node) sandboxOf(pod string) *cri.PodSandbox {
	for _, one := range n.sandboxes().Items {
		if one.Metadata.Name == pod && one.State == cri.PodSandboxState_SANDBOX_READY {
			return one
		}
	}
	panic("no sandbox of " + pod + " is ready")
}

func (n node) stray(uid string, count int, image string) {
	config := configOf(&cri.PodSandboxMetadata{Name: "stray", Namespace: "default", Uid: uid})
	made, err := n.runtime.RunPodSandbox(n.ctx, &cri.RunPodSandboxRequest{Config: config})
	check(err)
	for at := range count {
		container := n.create(made.PodSandboxId, config, "main-"+strconv.Itoa(at), 0, image)
		// The kubelet may have stopped it by now: it does not know this pod. So it has ended either way.
		_, _ = n.runtime.StartContainer(n.ctx, &cri.StartContainerRequest{ContainerId: container})
	}
	_, err = n.runtime.StopPodSandbox(n.ctx, &cri.StopPodSandboxRequest{PodSandboxId: made.PodSandboxId})
	check(err)
}

func (n node) create(sandbox string, config *cri.PodSandboxConfig, name string, attempt uint32, image string) string {
	labels := map[string]string{"io.kubernetes.container.name": name}
	for key, value := range config.Labels {
		labels[key] = value
	}
	made, err := n.runtime.CreateContainer(n.ctx, &cri.CreateContainerRequest{
		PodSandboxId: sandbox,
		Config: &cri.ContainerConfig{
			Metadata: &cri.ContainerMetadata{Name: name, Attempt: attempt},
			Image:    &cri.ImageSpec{Image: image},
			Args:     []string{"end", "0"},
			Labels:   labels,
			LogPath:  fmt.Sprintf("%s-%d.log", name, attempt),
			Linux:    &cri.LinuxContainerConfig{SecurityContext: &cri.LinuxContainerSecurityContext{NamespaceOptions: onHost()}},
		},
		SandboxConfig: config,
	})
	check(err)
	return made.ContainerId
}

func (n node) sandboxes() *cri.ListPodSandboxResponse {
	found, err := n.runtime.ListPodSandbox(n.ctx, &cri.ListPodSandboxRequest{})
	check(err)
	return found
}

// As the kubelet makes them, as far as it goes by them later.
func configOf(metadata *cri.PodSandboxMetadata) *cri.PodSandboxConfig {
	return &cri.PodSandboxConfig{
		Metadata:     metadata,
		LogDirectory: "/var/log/pods/" + metadata.Namespace + "_" + metadata.Name + "_" + metadata.Uid,
		Labels: map[string]string{
			"io.kubernetes.pod.name":      metadata.Name,
			"io.kubernetes.pod.namespace": metadata.Namespace,
			"io.kubernetes.pod.uid":       metadata.Uid,
		},
		Linux: &cri.LinuxPodSandboxConfig{
			SecurityContext: &cri.LinuxSandboxSecurityContext{NamespaceOptions: onHost()},
		},
	}
}

func onHost() *cri.NamespaceOption {
	return &cri.NamespaceOption{Network: cri.NamespaceMode_NODE}
}

func text(message proto.Message) string {
	out, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(message)
	check(err)
	return string(out)
}

func number(text string) int {
	found, err := strconv.Atoi(text)
	check(err)
	return found
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
