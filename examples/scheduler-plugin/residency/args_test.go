package residency

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
)

func given(raw string) runtime.Object {
	return &runtime.Unknown{Raw: []byte(raw), ContentType: runtime.ContentTypeJSON}
}

func TestWhatIsNotSaidIsAsTheGuideTells(t *testing.T) {
	args, err := argsOf(given(`{"address": "bailiff:9090", "minimumResidency": "30s"}`))
	if err != nil {
		t.Fatal(err)
	}
	if args.Timeout.Duration != 500*time.Millisecond || args.OnFailure != Ignore {
		t.Errorf("got %+v", args)
	}
	if args.MinimumResidency.Duration != 30*time.Second {
		t.Errorf("a residency of %s", args.MinimumResidency.Duration)
	}
}

func TestArgumentsThatCannotBeMeantAreRefused(t *testing.T) {
	for raw, want := range map[string]string{
		`{"address": "a:1", "minimalResidency": "30s"}`: `unknown field "minimalResidency"`,
		`{"address": "a:1", "address": "b:1"}`:          `key "address" already set`,
		`{"address": "a:1", "timeout": "0s"}`:           "timeout: must be above 0s",
		`{"address": "a:1", "onFailure": "ignore"}`:     "onFailure: must be Ignore or Fail",
		`{"address": "a:1", "minimumResidency": "-1s"}`: "minimumResidency: must not be negative",
		`{"address": "a:1", "tokenFile": "t"}`:          "tokenFile: needs caFile",
		`{}`:                                            "address: must be host:port",
		`{"address": "http://127.0.0.1:9090"}`:          `without http://, got "http://127.0.0.1:9090"`,
	} {
		if _, err := argsOf(given(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestAddressesAreOfAHostAndAPortOrOfGRPC(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:9090":           true,
		"[::1]:9090":               true,
		"bailiff-api.bailiff:9090": true,
		"dns:///bailiff-api:9090":  true,
		"unix:///run/bailiff":      true,
		"https://bailiff:9090":     false,
		"bailiff":                  false,
		"bailiff:":                 false,
		"bailiff:http":             false,
		"bailiff:65536":            false,
		"bailiff:0":                false,
		":9090":                    false,
	} {
		if isAddress(address) != want {
			t.Errorf("%q: %t", address, !want)
		}
	}
}
