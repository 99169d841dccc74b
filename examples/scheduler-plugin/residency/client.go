package residency

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	bailiffv1 "bailiff.dev/api/v1"
)

// How long nobody is asked after a failure, so that an outage costs one timeout in this time
// instead of one for each pod.
const pause = time.Second

var (
	// Bailiff is back within seconds, and so are its answers; gRPC by itself waits up to two minutes.
	reconnect = grpc.ConnectParams{
		Backoff: backoff.Config{
			BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 3 * time.Second,
		},
		MinConnectTimeout: 3 * time.Second,
	}
	// A peer that is gone without a word is noticed, and another one connected to.
	alive = keepalive.ClientParameters{Time: 20 * time.Second, Timeout: 5 * time.Second}
)

// client asks over one stream, which it opens anew when that has ended.
type client struct {
	service bailiffv1.SchedulingServiceClient
	timeout time.Duration
	// Who has it asks, and alone touches what follows; the others wait, within their timeouts.
	turn   chan struct{}
	stream *stream
	failed error
	again  time.Time
}

func dial(args Args) (*client, error) {
	options, err := secured(args)
	if err != nil {
		return nil, err
	}
	options = append(options, grpc.WithConnectParams(reconnect), grpc.WithKeepaliveParams(alive))
	connection, err := grpc.NewClient(args.Address, options...)
	if err != nil {
		return nil, err
	}
	service := bailiffv1.NewSchedulingServiceClient(connection)
	return &client{service: service, timeout: args.Timeout.Duration, turn: make(chan struct{}, 1)}, nil
}

func secured(args Args) ([]grpc.DialOption, error) {
	if args.CAFile == "" {
		return []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}, nil
	}
	tls, err := credentials.NewClientTLSFromFile(args.CAFile, "")
	if err != nil {
		return nil, err
	}
	options := []grpc.DialOption{grpc.WithTransportCredentials(tls)}
	if args.TokenFile != "" {
		options = append(options, grpc.WithPerRPCCredentials(tokenFile(args.TokenFile)))
	}
	return options, nil
}

// tokenFile is a file whose token goes with every call; Kubernetes writes it anew from time to time.
type tokenFile string

// GetRequestMetadata is of credentials.PerRPCCredentials.
func (file tokenFile) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	token, err := os.ReadFile(string(file))
	if err != nil {
		return nil, err
	}
	return map[string]string{"authorization": "Bearer " + strings.TrimSpace(string(token))}, nil
}

// RequireTransportSecurity is of credentials.PerRPCCredentials.
func (tokenFile) RequireTransportSecurity() bool { return true }

// judge answers within the timeout, or says why not. What has been begun goes on without its caller,
// where that one has no more time: nodes that were sent are kept, and nobody else's stream is ended.
func (c *client) judge(ctx context.Context, asked question) (*judgement, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	pods, err := asked.pods()
	if err != nil {
		return nil, err
	}
	if err := c.takeTurn(ctx); err != nil {
		return nil, err
	}
	told := make(chan result, 1)
	go func() {
		defer func() { <-c.turn }()
		told <- c.inTurn(asked, pods)
	}()
	select {
	case found := <-told:
		return found.judgement, found.err
	case <-ctx.Done():
		return nil, fmt.Errorf("no answer yet: %w", ctx.Err())
	}
}

type result struct {
	judgement *judgement
	err       error
}

// takeTurn waits until nobody else asks.
func (c *client) takeTurn(ctx context.Context) error {
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("no turn to ask: %w", ctx.Err())
	}
	// select takes either where both are there.
	if ctx.Err() != nil {
		<-c.turn
		return fmt.Errorf("no turn to ask: %w", ctx.Err())
	}
	return nil
}

func (c *client) inTurn(asked question, pods *bailiffv1.PodsToJudge) result {
	if wait := time.Until(c.again); wait > 0 {
		err := fmt.Errorf("not asked for %s more: %w", wait.Round(time.Millisecond), c.failed)
		return result{err: err}
	}
	answer, err := c.tried(asked, pods)
	if err != nil {
		return result{err: err}
	}
	return result{judgement: judgementOf(answer)}
}

func (c *client) tried(asked question, pods *bailiffv1.PodsToJudge) (*bailiffv1.JudgeNodesResponse, error) {
	for {
		isOld := c.stream != nil
		answer, err := c.ask(asked, pods)
		if err == nil || errors.Is(err, errRefused) {
			return answer, err
		}
		c.close()
		// A stream that has been idle may have been ended by Bailiff, or by its restart; then
		// another one has the answer. That is tried once.
		if !isOld || errors.Is(err, errLate) {
			c.failed, c.again = err, time.Now().Add(pause)
			return nil, err
		}
	}
}

func (c *client) ask(asked question, pods *bailiffv1.PodsToJudge) (*bailiffv1.JudgeNodesResponse, error) {
	if c.stream == nil {
		opened, err := open(c.service, c.timeout)
		if err != nil {
			return nil, err
		}
		c.stream = opened
	}
	return c.stream.judge(asked, pods)
}

func (c *client) close() {
	if c.stream != nil {
		c.stream.cancel()
		c.stream = nil
	}
}
