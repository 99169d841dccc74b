// Asks a running server about one pod, with the bytes that Go's own types marshal to.
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
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func main() {
	connection, err := grpc.NewClient(os.Args[1], grpc.WithTransportCredentials(insecure.NewCredentials()))
	check(err)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	client := bailiffv1.NewEvictionDecisionServiceClient(connection)
	answer, err := client.Decide(ctx, question())
	check(err)
	fmt.Println(protojson.Format(answer))
	_, err = client.Decide(ctx, &bailiffv1.DecideRequest{})
	fmt.Println(reason(err))
}

func question() *bailiffv1.DecideRequest {
	asked := &bailiffv1.DecideRequest{Pod: &bailiffv1.Pod{}, Node: &bailiffv1.Node{}}
	hand(pod(), asked.Pod)
	hand(node(), asked.Node)
	return asked
}

type marshaler interface{ Marshal() ([]byte, error) }

// hand gives the bytes of Kubernetes' own type to the message that has its field numbers.
func hand(object marshaler, message proto.Message) {
	data, err := object.Marshal()
	check(err)
	check(proto.Unmarshal(data, message))
}

func pod() *corev1.Pod {
	seconds := int64(300)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "u-1"},
		Spec: corev1.PodSpec{
			NodeName:    "node-1",
			Tolerations: []corev1.Toleration{{Key: "a", Operator: corev1.TolerationOpExists, TolerationSeconds: &seconds}},
			// What the protos do not name is skipped.
			Containers: []corev1.Container{{
				Name: "main",
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
			Taints: []corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoExecute, TimeAdded: &added}},
		},
	}
}

// reason is the stable code of an error, and who gave it.
func reason(err error) string {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info.Domain + " " + info.Reason
		}
	}
	return "none"
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
