package residency

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	corev1 "k8s.io/api/core/v1"

	bailiffv1 "bailiff.dev/api/v1"
)

// errRefused is Bailiff's no to one question; the stream goes on.
var errRefused = errors.New("Bailiff refused the question")

// stream is one call of JudgeNodesStream: nodes are registered once, then changes follow, then
// pods. It answers each request by one response, in order, so one question is under way at a time.
type stream struct {
	call   grpc.BidiStreamingClient[bailiffv1.JudgeNodesStreamRequest, bailiffv1.JudgeNodesStreamResponse]
	cancel context.CancelFunc
	known  registered
	begun  bool
	number uint64
}

func open(service bailiffv1.SchedulingServiceClient) (*stream, error) {
	// Of its own: a stream outlives the question that it was opened for.
	ctx, cancel := context.WithCancel(context.Background())
	call, err := service.JudgeNodesStream(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	return &stream{call: call, cancel: cancel, known: registered{}}, nil
}

// question is about one pod and all nodes that there are, or just these.
type question struct {
	pod   *corev1.Pod
	nodes []*corev1.Node
	just  bool
}

// judge asks; a deadline of ctx that passes ends the stream.
func (s *stream) judge(ctx context.Context, asked question) (*bailiffv1.JudgeNodesResponse, error) {
	stop := context.AfterFunc(ctx, s.cancel)
	defer stop()
	if err := s.tell(asked); err != nil {
		return nil, err
	}
	message := &bailiffv1.Pod{}
	if err := hand(asked.pod, message); err != nil {
		return nil, err
	}
	pods := &bailiffv1.PodsToJudge{Pods: []*bailiffv1.Pod{message}}
	if asked.just {
		for _, node := range asked.nodes {
			pods.Nodes = append(pods.Nodes, node.Name)
		}
	}
	response, err := s.ask(&bailiffv1.JudgeNodesStreamRequest{
		Ask: &bailiffv1.JudgeNodesStreamRequest_Pods{Pods: pods},
	})
	if err != nil {
		return nil, err
	}
	answers := response.GetJudged().GetAnswers()
	if len(answers) != 1 {
		return nil, fmt.Errorf("%d answers to a question about one pod", len(answers))
	}
	return answers[0], nil
}

// tell sends what has changed of the nodes; all of them, the first time.
func (s *stream) tell(asked question) error {
	put, remove, err := s.known.changes(asked)
	if err != nil {
		return err
	}
	if !s.begun {
		// The first message replaces all nodes, of which a new stream has none.
		s.begun = true
		empty := &bailiffv1.JudgeNodesStreamRequest_Nodes{Nodes: &bailiffv1.NodeSet{}}
		if err := s.register(&bailiffv1.JudgeNodesStreamRequest{Ask: empty}); err != nil {
			return err
		}
	}
	for len(put) > 0 || len(remove) > 0 {
		some := put[:min(len(put), nodesInMessage)]
		if err := s.change(some, remove); err != nil {
			return err
		}
		put, remove = put[len(some):], nil
	}
	return nil
}

func (s *stream) change(put []*bailiffv1.Node, remove []string) error {
	changes := &bailiffv1.NodeChanges{Put: put, Remove: remove}
	return s.register(&bailiffv1.JudgeNodesStreamRequest{
		Ask: &bailiffv1.JudgeNodesStreamRequest_Changes{Changes: changes},
	})
}

// register asks for nodes to be taken; a refusal of them is no refusal of a pod.
func (s *stream) register(request *bailiffv1.JudgeNodesStreamRequest) error {
	_, err := s.ask(request)
	if errors.Is(err, errRefused) {
		return fmt.Errorf("nodes: %s", err)
	}
	return err
}

func (s *stream) ask(
	request *bailiffv1.JudgeNodesStreamRequest,
) (*bailiffv1.JudgeNodesStreamResponse, error) {
	s.number++
	request.RequestId = strconv.FormatUint(s.number, 10)
	if err := s.call.Send(request); err != nil {
		// io.EOF: why the stream has ended, receiving tells.
		_, err = s.call.Recv()
		return nil, err
	}
	response, err := s.call.Recv()
	if err != nil {
		return nil, err
	}
	if response.GetRequestId() != request.GetRequestId() {
		return nil, fmt.Errorf("asked %q, answered %q", request.GetRequestId(), response.GetRequestId())
	}
	if failure := response.GetError(); failure != nil {
		return nil, fmt.Errorf("%w: %w", errRefused, status.ErrorProto(failure))
	}
	return response, nil
}

type marshaler interface{ Marshal() ([]byte, error) }

// hand gives the bytes of Kubernetes' own type to the message that has its field numbers; what the
// message has no field for is dropped.
func hand(object marshaler, message proto.Message) error {
	data, err := object.Marshal()
	if err != nil {
		return err
	}
	return proto.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(data, message)
}
