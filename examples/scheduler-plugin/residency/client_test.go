package residency

import (
	"context"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/timestamppb"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"

	bailiffv1 "bailiff.dev/api/v1"
)

// scripted is a Bailiff that remembers what it is told, and may do worse than answer.
type scripted struct {
	bailiffv1.UnimplementedSchedulingServiceServer
	// Of all below: tests and the server's goroutines have them in turns.
	turn    sync.Mutex
	streams int
	known   map[string]bool
	// Requests of a stream that are answered; then it ends. 0: all.
	lasts int
	mute  bool
	// Questions about pods that have come.
	asked int
	// Takes no pod.
	shut bool
	// How long each request takes.
	takes time.Duration
}

func (s *scripted) JudgeNodesStream(call grpc.BidiStreamingServer[bailiffv1.JudgeNodesStreamRequest, bailiffv1.JudgeNodesStreamResponse]) error {
	s.do(func() { s.streams++ })
	for number := 1; ; number++ {
		request, err := call.Recv()
		if err != nil {
			return err
		}
		var mute bool
		var takes time.Duration
		var lasts int
		s.do(func() { mute, takes, lasts = s.mute, s.takes, s.lasts })
		if mute {
			<-call.Context().Done()
			return call.Context().Err()
		}
		time.Sleep(takes)
		if err := call.Send(s.answer(request)); err != nil {
			return err
		}
		if number == lasts {
			return nil
		}
	}
}

// do is for whoever reads or changes it.
func (s *scripted) do(step func()) {
	s.turn.Lock()
	defer s.turn.Unlock()
	step()
}

// opened is how many streams there have been.
func (s *scripted) opened() int {
	s.turn.Lock()
	defer s.turn.Unlock()
	return s.streams
}

func (s *scripted) answer(request *bailiffv1.JudgeNodesStreamRequest) *bailiffv1.JudgeNodesStreamResponse {
	s.turn.Lock()
	defer s.turn.Unlock()
	response := &bailiffv1.JudgeNodesStreamResponse{RequestId: request.RequestId}
	switch {
	case request.GetNodes() != nil:
		s.known = map[string]bool{}
	case request.GetChanges() != nil:
		for _, name := range request.GetChanges().Remove {
			delete(s.known, name)
		}
		for _, node := range request.GetChanges().Put {
			s.known[node.Metadata.Name] = true
		}
	}
	if request.GetPods() == nil {
		response.Result = &bailiffv1.JudgeNodesStreamResponse_Registered{Registered: &bailiffv1.NodesRegistered{}}
		return response
	}
	s.asked++
	names := request.GetPods().Nodes
	if names == nil {
		for name := range s.known {
			names = append(names, name)
		}
	}
	verdict := &bailiffv1.NodesVerdict{Nodes: names, Feasible: !s.shut, Residency: &bailiffv1.Residency{ForEver: true}}
	answer := &bailiffv1.JudgeNodesResponse{Verdicts: []*bailiffv1.NodesVerdict{verdict}, JudgedAt: timestamppb.Now()}
	judged := &bailiffv1.PodsJudged{Answers: []*bailiffv1.JudgeNodesResponse{answer}}
	response.Result = &bailiffv1.JudgeNodesStreamResponse_Judged{Judged: judged}
	return response
}

// asking is a question about nodes that need not be registered.
func asking(names ...string) *bailiffv1.JudgeNodesStreamRequest {
	pods := &bailiffv1.PodsToJudge{Nodes: names}
	return &bailiffv1.JudgeNodesStreamRequest{Ask: &bailiffv1.JudgeNodesStreamRequest_Pods{Pods: pods}}
}

func clientOf(t *testing.T, bailiff *scripted, timeout time.Duration) *client {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	bailiffv1.RegisterSchedulingServiceServer(server, bailiff)
	go server.Serve(listener)
	t.Cleanup(server.Stop)
	connection, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	service := bailiffv1.NewSchedulingServiceClient(connection)
	return &client{service: service, timeout: timeout, turn: make(chan struct{}, 1)}
}

func node(name string, taints ...corev1.Taint) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.NodeSpec{Taints: taints}}
}

func ask(t *testing.T, c *client, asked question) *judgement {
	asked.pod = &corev1.Pod{}
	found, err := c.judge(context.Background(), asked)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func names(found *judgement) []string {
	var told []string
	for name := range found.places {
		told = append(told, name)
	}
	slices.Sort(told)
	return told
}

func TestNodesThatComeAndGoAreTold(t *testing.T) {
	bailiff := &scripted{}
	c := clientOf(t, bailiff, time.Minute)
	a, b := node("a"), node("b")
	if told := names(ask(t, c, question{nodes: []*corev1.Node{a, b}})); !slices.Equal(told, []string{"a", "b"}) {
		t.Errorf("told %v", told)
	}
	if told := names(ask(t, c, question{nodes: []*corev1.Node{b}})); !slices.Equal(told, []string{"b"}) {
		t.Errorf("told %v", told)
	}
	if told := names(ask(t, c, question{nodes: []*corev1.Node{node("c")}, just: true})); !slices.Equal(told, []string{"c"}) {
		t.Errorf("told %v", told)
	}
	bailiff.do(func() {
		if !bailiff.known["b"] || bailiff.streams != 1 {
			t.Errorf("knows %v after %d streams", bailiff.known, bailiff.streams)
		}
	})
}

func TestAStreamThatHasEndedIsOpenedAgain(t *testing.T) {
	// Its first request, the nodes and the pod are answered.
	bailiff := &scripted{lasts: 3}
	c := clientOf(t, bailiff, time.Minute)
	for range 3 {
		if told := names(ask(t, c, question{nodes: []*corev1.Node{node("a")}})); len(told) != 1 {
			t.Errorf("told %v", told)
		}
	}
	if streams := bailiff.opened(); streams != 3 {
		t.Errorf("%d streams", streams)
	}
}

func TestWhoDoesNotAnswerIsLeftAloneForAWhile(t *testing.T) {
	bailiff := &scripted{mute: true}
	c := clientOf(t, bailiff, 300*time.Millisecond)
	asked := question{pod: &corev1.Pod{}}
	if _, err := c.judge(context.Background(), asked); err == nil {
		t.Fatal("answered")
	}
	begun := time.Now()
	_, err := c.judge(context.Background(), asked)
	if err == nil || !strings.Contains(err.Error(), "not asked for") || time.Since(begun) > 200*time.Millisecond {
		t.Errorf("%v after %s", err, time.Since(begun))
	}
	bailiff.do(func() { bailiff.mute = false })
	c.again = time.Now()
	if _, err := c.judge(context.Background(), asked); err != nil {
		t.Error(err)
	}
}

func TestNodesAreRegisteredThoughThatTakesLongerThanOneAnswer(t *testing.T) {
	bailiff := &scripted{takes: 60 * time.Millisecond}
	c := clientOf(t, bailiff, 200*time.Millisecond)
	var nodes []*corev1.Node
	for number := range 6*nodesInMessage + 1 {
		nodes = append(nodes, node(strconv.Itoa(number)))
	}
	asked := question{pod: &corev1.Pod{}, nodes: nodes}
	if _, err := c.judge(context.Background(), asked); err == nil {
		t.Fatal("answered while nodes were still being sent")
	}
	for range 10 {
		if _, err := c.judge(context.Background(), asked); err == nil {
			if streams := bailiff.opened(); streams != 1 {
				t.Errorf("%d streams", streams)
			}
			return
		}
	}
	t.Error("never answered")
}

func TestWhoGoesBeforeTheAnswerEndsNobodysStream(t *testing.T) {
	bailiff := &scripted{}
	c := clientOf(t, bailiff, time.Minute)
	asked := question{pod: &corev1.Pod{}, nodes: []*corev1.Node{node("a")}}
	ask(t, c, asked)
	bailiff.do(func() { bailiff.takes = 50 * time.Millisecond })
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	brief, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	for range 10 {
		for _, ctx := range []context.Context{gone, brief} {
			if _, err := c.judge(ctx, asked); err == nil {
				t.Error("answered")
			}
		}
		ask(t, c, asked)
	}
	if streams := bailiff.opened(); streams != 1 {
		t.Errorf("%d streams", streams)
	}
}

func TestNobodyIsAskedForWhoHasGone(t *testing.T) {
	bailiff := &scripted{}
	c := clientOf(t, bailiff, time.Minute)
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	for range 20 {
		c.judge(gone, question{pod: &corev1.Pod{}})
	}
	ask(t, c, question{})
	bailiff.do(func() {
		if bailiff.asked != 1 {
			t.Errorf("asked %d times", bailiff.asked)
		}
	})
}

func TestManyAtOnceHaveNobodyLeaveBailiffAlone(t *testing.T) {
	bailiff := &scripted{takes: 3 * time.Millisecond}
	c := clientOf(t, bailiff, 100*time.Millisecond)
	asked := question{pod: &corev1.Pod{}, nodes: []*corev1.Node{node("a")}}
	ask(t, c, asked)
	var wait sync.WaitGroup
	for range 200 {
		wait.Go(func() { c.judge(context.Background(), asked) })
	}
	wait.Wait()
	ask(t, c, asked)
	if streams := bailiff.opened(); streams != 1 {
		t.Errorf("%d streams", streams)
	}
}

func TestAnAnswerIsReadByItsOrder(t *testing.T) {
	now := timestamppb.Now()
	soon := timestamppb.New(now.AsTime().Add(time.Minute))
	verdict := func(name string, feasible bool, until *timestamppb.Timestamp) *bailiffv1.NodesVerdict {
		stay := &bailiffv1.Residency{ForEver: until == nil, Until: until}
		return &bailiffv1.NodesVerdict{Nodes: []string{name}, Feasible: feasible, Residency: stay}
	}
	shut := verdict("shut", false, nil)
	shut.Objections = []*bailiffv1.Objection{{Message: "no"}}
	found := judgementOf(&bailiffv1.JudgeNodesResponse{
		JudgedAt: now,
		Verdicts: []*bailiffv1.NodesVerdict{verdict("best", true, nil), verdict("brief", true, soon), shut},
	})
	for name, score := range map[string]int64{"best": 100, "brief": 0, "stranger": 0} {
		if found.score(name) != score {
			t.Errorf("%s has %d", name, found.score(name))
		}
	}
	if status := found.refusal("shut", 0); status.Code() != fwk.UnschedulableAndUnresolvable || status.Message() != "no" {
		t.Errorf("shut: %v", status)
	}
	if found.refusal("brief", time.Minute) != nil || found.refusal("brief", time.Minute+1).IsSuccess() {
		t.Error("brief: by another minimum")
	}
	if found.residency("best") != forEver || found.residency("brief") != soon.AsTime().Format(time.RFC3339Nano) {
		t.Errorf("stays %s and %s", found.residency("best"), found.residency("brief"))
	}
}

func TestWhatSaysNothingOfResidencyRefusesNothing(t *testing.T) {
	for name, stay := range map[string]*bailiffv1.Residency{"absent": nil, "empty": {}} {
		verdict := &bailiffv1.NodesVerdict{Nodes: []string{"a"}, Feasible: true, Residency: stay}
		found := judgementOf(&bailiffv1.JudgeNodesResponse{
			JudgedAt: timestamppb.Now(), Verdicts: []*bailiffv1.NodesVerdict{verdict},
		})
		if status := found.refusal("a", time.Minute); !status.IsSuccess() || found.residency("a") != "" {
			t.Errorf("%s: %v, stays %q", name, status, found.residency("a"))
		}
	}
}
