// A server on the socket "socket", with a pool of goroutines. Each byte of a client is a task, and says what it waits
// for, a second. Goroutines that wait are no threads: those are kept by system calls. It has had its share of garbage
// collections when it begins.
package main

import (
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

//go:noinline
func WaitSleep() error { return syscall.Nanosleep(&syscall.Timespec{Sec: 1}, nil) }

//go:noinline
func WaitRead() error {
	var ends [2]int
	if err := syscall.Pipe(ends[:]); err != nil {
		return err
	}
	time.AfterFunc(time.Second, func() { syscall.Close(ends[1]) })
	_, err := syscall.Read(ends[0], make([]byte, 1))
	syscall.Close(ends[0])
	return err
}

//go:noinline
func WaitCommand() error { return exec.Command("sleep", "1").Run() }

// The thread is the goroutine's, and has nothing else to do.
func waitLocked() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	time.Sleep(time.Second)
	return nil
}

// What has helped with it is left where the collector has stopped it.
func collectGarbage() {
	runtime.GOMAXPROCS(4)
	for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); {
		runtime.GC()
	}
}

// Threads that nobody but their goroutine may use, which waits for ever.
func lockThreads(count int) {
	for i := 0; i < count; i++ {
		go func() {
			runtime.LockOSThread()
			select {}
		}()
	}
}

func main() {
	collectGarbage()
	lockThreads(12)
	tasks := make(chan func() error)
	results := make(chan error)
	for i := 0; i < 4; i++ {
		go func() {
			for task := range tasks {
				results <- task()
			}
		}()
	}
	waits := map[byte]func() error{'s': WaitSleep, 'r': WaitRead, 'c': WaitCommand, 'l': waitLocked}
	listener, err := net.Listen("unix", "socket")
	if err != nil {
		panic(err)
	}
	for {
		client, err := listener.Accept()
		if err != nil {
			panic(err)
		}
		request := make([]byte, 1)
		for {
			if _, err := client.Read(request); err != nil {
				break
			}
			tasks <- waits[request[0]]
			if err := <-results; err != nil {
				os.Exit(1)
			}
			client.Write(request)
		}
	}
}
