// As wait.py.
package main

import (
	"bufio"
	"fmt"
	"os"
	"syscall"
)

//go:noinline
func Inner() int64 {
	wait := syscall.Timespec{Sec: 0, Nsec: 2000000}
	syscall.Nanosleep(&wait, nil)
	return wait.Nsec
}

//go:noinline
func Middle() int64 { return Inner() + 1 }

//go:noinline
func Outer() int64 { return Middle() + 1 }

func main() {
	input := bufio.NewReader(os.Stdin)
	fmt.Printf("ready pid=%d\n", os.Getpid())
	input.ReadString('\n')
	for i := 0; i < 200; i++ {
		Outer()
	}
	fmt.Println("done")
	input.ReadString('\n')
}
