// The one program of the image that pods of a real node run, and their sandbox.
//
// Called with a number it takes that many MiB of memory, 50 a second. Then it waits for its end.
// Called with `end CODE` it ends at once.
package main

import (
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

const (
	mebibyte = 1 << 20
	page     = 4096
	pause    = 20 * time.Millisecond
)

// What is not referred to would be given back.
var taken [][]byte

func main() {
	if len(os.Args) == 3 && os.Args[1] == "end" {
		os.Exit(number(os.Args[2]))
	}
	if len(os.Args) == 2 {
		for range number(os.Args[1]) {
			taken = append(taken, touched())
			time.Sleep(pause)
		}
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGINT, syscall.SIGTERM)
	<-ended
}

func number(text string) int {
	found, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return found
}

// Memory counts from when it has been written to.
func touched() []byte {
	block := make([]byte, mebibyte)
	for at := 0; at < mebibyte; at += page {
		block[at] = 1
	}
	return block
}
