// Goroutines that park, block and yield, on more threads than there is work for: threads are idle again and again, each
// after another goroutine.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"
)

//go:noinline
func Parks(c chan int) int { return <-c + 1 }

//go:noinline
func Blocks() int64 {
	wait := syscall.Timespec{Sec: 0, Nsec: 3000000}
	syscall.Nanosleep(&wait, nil)
	return wait.Nsec
}

//go:noinline
func Yields() { runtime.Gosched() }

func main() {
	input := bufio.NewReader(os.Stdin)
	runtime.GOMAXPROCS(8)
	fmt.Printf("ready pid=%d\n", os.Getpid())
	input.ReadString('\n')
	var group sync.WaitGroup
	end := time.Now().Add(3 * time.Second)
	for i := 0; i < 40; i++ {
		c := make(chan int)
		group.Add(2)
		go func() {
			defer group.Done()
			for time.Now().Before(end) {
				c <- 1
				time.Sleep(2 * time.Millisecond)
			}
			close(c)
		}()
		go func(i int) {
			defer group.Done()
			for Parks(c) > 1 {
				if i%4 == 0 {
					Blocks()
				} else if i%4 == 1 {
					Yields()
				}
			}
		}(i)
	}
	group.Wait()
	fmt.Println("done")
	input.ReadString('\n')
}
