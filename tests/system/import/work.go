// The work of work.c for Go's own profiler, whose format is pprof's.
package main

import (
	"context"
	"os"
	"runtime/pprof"
)

var sums [64]int

//go:noinline
func leaf(n int) {
	for i := 0; i < n; i++ {
		sums[i%64] += i
	}
}

//go:noinline
func midA() {
	for i := 0; i < 4000; i++ {
		leaf(40000)
	}
}

//go:noinline
func midB() {
	for i := 0; i < 2000; i++ {
		leaf(40000)
	}
}

func main() {
	file, err := os.Create(os.Args[1])
	if err != nil {
		os.Exit(1)
	}
	pprof.StartCPUProfile(file)
	midA()
	pprof.Do(context.Background(), pprof.Labels("who", "me"), func(context.Context) { midB() })
	pprof.StopCPUProfile()
	file.Close()
}
