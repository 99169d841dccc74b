package residency

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/resolver"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// What becomes of a pod that Bailiff gives no answer for, as failurePolicy of a webhook.
const (
	// Ignore schedules it as if this plugin were not there.
	Ignore = "Ignore"
	// Fail leaves it in the queue, to be tried again after kube-scheduler's backoff.
	Fail = "Fail"
)

// Args is the plugin's part of a KubeSchedulerConfiguration.
type Args struct {
	// Address of Bailiff's gRPC port, as host:port or any other target of gRPC.
	Address string `json:"address"`
	// CAFile has the authorities by which Bailiff's certificate is verified. Empty: no TLS.
	CAFile string `json:"caFile,omitempty"`
	// TokenFile has a bearer token, read anew for each stream; needs CAFile. Empty: no token.
	TokenFile string `json:"tokenFile,omitempty"`
	// Timeout of one answer, and of each message of nodes, 1,000 or some 2 MiB of them. Where
	// all together take longer that goes on, and the pods that come next get answers. Default 500ms.
	Timeout metav1.Duration `json:"timeout,omitempty"`
	// OnFailure is Ignore, the default, or Fail.
	OnFailure string `json:"onFailure,omitempty"`
	// MinimumResidency refuses nodes that the pod would be evicted from before so long. Default
	// 0s: none are refused for that.
	MinimumResidency metav1.Duration `json:"minimumResidency,omitempty"`
}

func argsOf(object runtime.Object) (Args, error) {
	args := Args{Timeout: metav1.Duration{Duration: 500 * time.Millisecond}, OnFailure: Ignore}
	if err := decode(object, &args); err != nil {
		return args, fmt.Errorf("args of %s: %w", Name, err)
	}
	return args, args.check()
}

// decode is frameworkruntime.DecodeInto, but for keys that there are not, or twice: a misspelt
// minimumResidency would be taken for none.
func decode(object runtime.Object, into *Args) error {
	if object == nil {
		return nil
	}
	given, ok := object.(*runtime.Unknown)
	if !ok {
		return fmt.Errorf("want args of type runtime.Unknown, got %T", object)
	}
	return yaml.UnmarshalStrict(given.Raw, into)
}

func (args Args) check() error {
	switch {
	case !isAddress(args.Address):
		return fmt.Errorf("args of %s: address: must be host:port, without http://, got %q", Name, args.Address)
	case args.Timeout.Duration <= 0:
		return fmt.Errorf("args of %s: timeout: must be above 0s, got %s", Name, args.Timeout.Duration)
	case args.OnFailure != Ignore && args.OnFailure != Fail:
		return fmt.Errorf("args of %s: onFailure: must be %s or %s, got %q", Name, Ignore, Fail, args.OnFailure)
	case args.MinimumResidency.Duration < 0:
		return fmt.Errorf("args of %s: minimumResidency: must not be negative", Name)
	case args.TokenFile != "" && args.CAFile == "":
		return fmt.Errorf("args of %s: tokenFile: needs caFile, a token is sent by TLS only", Name)
	}
	return nil
}

// isAddress is whether gRPC could reach somebody there. It takes http://host:port and a host without a
// port, too, and then fails at each question.
func isAddress(address string) bool {
	scheme, _, _ := strings.Cut(address, ":")
	if resolver.Get(scheme) != nil {
		return true // dns:///host:port, unix:///path: gRPC says itself what is wrong with it.
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil || host == "" {
		return false
	}
	number, err := strconv.ParseUint(port, 10, 16)
	return err == nil && number > 0
}
