// Asks Bailiff over gRPC whether a pod would be evicted, and when.
//
// The pod and its node are Kubernetes' own Go types, as informers hand them out. Bailiff's messages have
// their field numbers, so the bytes of pod.Marshal() are a valid bailiff.v1.Pod: nothing is converted field by
// field, and what Bailiff does not read is skipped.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	bailiffv1 "bailiff.dev/api/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A minute after the taint came. Left out, it is the server's clock.
var now = timestamppb.New(time.Date(2026, 1, 1, 0, 1, 0, 0, time.UTC))

// All questions only ask, so each may be repeated where nobody is there or there is no room.
const retries = `{"methodConfig": [{"name": [{"service": "bailiff.v1.EvictionDecisionService"}],
	"retryPolicy": {"maxAttempts": 5, "initialBackoff": "0.1s", "maxBackoff": "5s", "backoffMultiplier": 2,
		"retryableStatusCodes": ["UNAVAILABLE"]}}]}`

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run . HOST:PORT    of Bailiff's gRPC API, as 127.0.0.1:9090")
		os.Exit(2)
	}
	connection, err := grpc.NewClient(os.Args[1],
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultServiceConfig(retries),
		// The server takes a ping each 10 s, on idle connections, too.
		grpc.WithKeepaliveParams(keepalive.ClientParameters{
			Time: 60 * time.Second, Timeout: 20 * time.Second, PermitWithoutStream: true,
		}),
	)
	check(err)
	defer connection.Close()
	client := bailiffv1.NewEvictionDecisionServiceClient(connection)

	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	answer, err := client.Decide(ctx, question(pod(), node()))
	check(err)
	decision := answer.GetDecision()
	fmt.Printf("%s/%s on %s: %s at %s\n", decision.GetPod().GetNamespace(), decision.GetPod().GetName(),
		decision.GetNode(), decision.GetVerdict(), decision.GetEvictAt().AsTime().Format(time.RFC3339))
	fmt.Println(decision.GetMessage())

	_, err = client.Decide(ctx, &bailiffv1.DecideRequest{})
	fmt.Println("without a pod:", reason(err))
}

// question hands over whole objects.
func question(pod *corev1.Pod, node *corev1.Node) *bailiffv1.DecideRequest {
	asked := &bailiffv1.DecideRequest{Pod: &bailiffv1.Pod{}, Node: &bailiffv1.Node{}, Now: now}
	hand(pod, asked.Pod)
	hand(node, asked.Node)
	return asked
}

type marshaler interface{ Marshal() ([]byte, error) }

// hand gives the bytes of Kubernetes' own type to the message that has its field numbers.
func hand(object marshaler, message proto.Message) {
	data, err := object.Marshal()
	check(err)
	check(proto.Unmarshal(data, message))
}

// reason is the stable code of an error, who gave it, and the field at fault.
func reason(err error) string {
	said := "none"
	for _, detail := range status.Convert(err).Details() {
		switch told := detail.(type) {
		case *errdetails.ErrorInfo:
			said = told.Domain + " " + told.Reason
		case *errdetails.BadRequest:
			for _, violation := range told.FieldViolations {
				said += " " + violation.Field
			}
		}
	}
	return said
}

func pod() *corev1.Pod {
	seconds := int64(300)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "u-1"},
		Spec: corev1.PodSpec{
			NodeName: "node-1",
			Tolerations: []corev1.Toleration{
				{Key: "maintenance", Operator: corev1.TolerationOpExists, TolerationSeconds: &seconds},
			},
			// No rule reads the image; it is skipped.
			Containers: []corev1.Container{{
				Name:  "main",
				Image: "registry.example/web:1",
				Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m")},
				},
			}},
		},
	}
}

func node() *corev1.Node {
	added := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "node-1"},
		Spec: corev1.NodeSpec{
			Taints: []corev1.Taint{
				{Key: "maintenance", Effect: corev1.TaintEffectNoExecute, TimeAdded: &added},
			},
		},
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
