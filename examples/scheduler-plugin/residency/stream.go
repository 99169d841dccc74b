package residency

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	corev1 "k8s.io/api/core/v1"

	bailiffv1 "bailiff.dev/api/v1"
)

var (
	// errRefused is Bailiff's no to one question; the stream goes on.
	errRefused = errors.New("Bailiff refused the question")
	// errLate is of a message that has not been answered in time; it ends the stream.
	errLate = errors.New("not answered in time")
)

// stream is one call of JudgeNodesStream: nodes are registered once, then changes follow, then
// pods. It answers each request by one response, in order, so one question is under way at a time.
type stream struct {
	call   grpc.BidiStreamingClient[bailiffv1.JudgeNodesStreamRequest, bailiffv1.JudgeNodesStreamResponse]
	cancel context.CancelFunc
	// Of each message: all nodes of a large cluster may take longer than one answer may.
	timeout time.Duration
	known   registered
	begun   bool
	number  uint64
}

func open(service bailiffv1.SchedulingServiceClient, timeout time.Duration) (*stream, error) {
	// Of its own: a stream outlives the question that it was opened for.
	ctx, cancel := context.WithCancel(context.Background())
	made := &stream{cancel: cancel, timeout: timeout, known: registered{}}
	err := made.inTime(func() (err error) {
		made.call, err = service.JudgeNodesStream(ctx)
		return err
	})
	if err != nil {
		cancel()
		return nil, err
	}
	return made, nil
}

// inTime ends the stream where this takes longer than the timeout.
func (s *stream) inTime(do func() error) error {
	timer := time.AfterFunc(s.timeout, s.cancel)
	err := do()
	if !timer.Stop() {
		return fmt.Errorf("%w: %s", errLate, s.timeout)
	}
	return err
}

// question is about one pod and all nodes that there are, or just these.
type question struct {
	pod   *corev1.Pod
	nodes []*corev1.Node
	just  bool
}

// pods is what is asked after the stream has been told of the nodes.
func (asked question) pods() (*bailiffv1.PodsToJudge, error) {
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
	return pods, nil
}

// judge asks about the pods, once the nodes are registered.
func (s *stream) judge(asked question, pods *bailiffv1.PodsToJudge) (*bailiffv1.JudgeNodesResponse, error) {
	if err := s.tell(asked); err != nil {
		return nil, err
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
		some := put[:inMessage(put)]
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
	var response *bailiffv1.JudgeNodesStreamResponse
	err := s.inTime(func() (err error) {
		response, err = s.exchange(request)
		return err
	})
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

func (s *stream) exchange(
	request *bailiffv1.JudgeNodesStreamRequest,
) (*bailiffv1.JudgeNodesStreamResponse, error) {
	if err := s.call.Send(request); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	// io.EOF: why the stream has ended, receiving tells.
	return s.call.Recv()
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
