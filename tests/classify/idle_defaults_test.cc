// The patterns that are shipped: each with a stack of a wait for work, and beside it those that look much like it.
#include <asm/unistd_64.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "classify/idle_match.h"
#include "gtest/gtest.h"
#include "tests/classify/frames.h"
#include "tests/classify/idle_examples.h"

namespace offcpu {
namespace {

using Kernel = std::vector<NamedFrame>;  // leaf first

const Kernel kFutex = KernelFrames({"__schedule", "schedule", "futex_wait_queue", "__futex_wait", "futex_wait",
                                    "do_futex", "__x64_sys_futex", "do_syscall_64"});

const IdleExample kExamples[] = {
    {"nginx: event loop", "nginx", "nginx", __NR_epoll_wait,
     "libc.so.6!epoll_wait < nginx! < nginx!ngx_process_events_and_timers < nginx! < nginx!ngx_spawn_process"},
    // with names
    {"nginx: event loop", "nginx", "nginx", __NR_epoll_wait,
     "libc.so.6!epoll_wait < nginx!ngx_epoll_process_events < nginx!ngx_process_events_and_timers"},
    // glibc 2.41
    {"nginx: event loop", "nginx", "nginx", __NR_epoll_wait,
     "libc.so.6!__syscall_cancel_arch < libc.so.6!__internal_syscall_cancel < libc.so.6!__syscall_cancel < "
     "libc.so.6!epoll_wait < nginx! < nginx!ngx_process_events_and_timers"},
    {"", "nginx", "nginx", __NR_epoll_wait, "libc.so.6!epoll_wait < nginx!"},
    // reads a file
    {"", "nginx", "nginx", __NR_pread64,
     "libc.so.6!pread < nginx!ngx_read_file < nginx! < nginx!ngx_process_events_and_timers"},
    // a module that asks something of another program
    {"", "nginx", "nginx", __NR_epoll_wait, "libc.so.6!epoll_wait < libfoo.so! < nginx!ngx_process_events_and_timers"},
    {"", "nginx", "nginx", __NR_futex, "libc.so.6!sem_wait < nginx!ngx_shmtx_lock < nginx! < nginx!"},
    {"nginx: master, waiting for signals", "nginx", "nginx", __NR_rt_sigsuspend,
     "libc.so.6!sigsuspend < nginx!ngx_master_process_cycle < nginx!main"},
    {"nginx: thread pool", "nginx", "nginx", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < nginx!ngx_thread_cond_wait < nginx! < "
     "libc.so.6!start_thread"},
    // a libc without its debug file
    {"nginx: thread pool", "nginx", "nginx", __NR_futex,
     "libc.so.6! < libc.so.6!pthread_cond_wait < nginx!ngx_thread_cond_wait < nginx! < libc.so.6!"},
    // woken, and waits for the mutex of the pool
    {"", "nginx", "nginx", __NR_futex,
     "libc.so.6!__lll_lock_wait < libc.so.6!__pthread_mutex_cond_lock < libc.so.6!pthread_cond_wait < "
     "nginx!ngx_thread_cond_wait < nginx! < libc.so.6!start_thread"},
    // likewise
    {"", "nginx", "nginx", __NR_futex,
     "libc.so.6! < libc.so.6! < libc.so.6!pthread_cond_wait < nginx!ngx_thread_cond_wait < nginx! < libc.so.6!"},
    // glibc 2.41 of Debian 13
    {"nginx: thread pool", "nginx", "nginx", __NR_futex,
     "libc.so.6! < libc.so.6! < libc.so.6! < libc.so.6!pthread_cond_wait < nginx!ngx_thread_cond_wait < nginx! < "
     "libc.so.6! < libc.so.6!"},
    // with its debug file
    {"nginx: thread pool", "nginx", "nginx", __NR_futex,
     "libc.so.6!__syscall_cancel_arch < libc.so.6!__internal_syscall_cancel < libc.so.6!__futex_abstimed_wait_common < "
     "libc.so.6!pthread_cond_wait < nginx!ngx_thread_cond_wait < nginx! < libc.so.6!start_thread < libc.so.6!clone3"},
    {"", "nginx", "nginx", __NR_futex,
     "libc.so.6!__lll_lock_wait < libc.so.6!pthread_mutex_lock < nginx!ngx_thread_mutex_lock < nginx!"},
    {"redis: event loop", "redis-server", "redis-server", __NR_epoll_wait,
     "libc.so.6!epoll_wait < redis-check-rdb! < redis-check-rdb!aeMain < redis-check-rdb!main"},
    // waits for answers
    {"", "redis-benchmark", "redis-benchmark", __NR_epoll_wait,
     "libc.so.6!epoll_wait < redis-benchmark! < redis-benchmark!aeMain < redis-benchmark!main"},
    // fsync of the append-only file
    {"", "redis-server", "redis-server", __NR_fdatasync,
     "libc.so.6!fdatasync < redis-check-rdb!flushAppendOnlyFile < redis-check-rdb! < redis-check-rdb!aeMain"},
    // waits for its child
    {"", "redis-server", "redis-server", __NR_wait4,
     "libc.so.6!wait4 < redis-check-rdb!checkChildrenDone < redis-check-rdb!serverCron < redis-check-rdb! < "
     "redis-check-rdb!aeMain"},
    {"redis: background thread", "redis-server", "bio_aof_fsync", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < redis-check-rdb!bioProcessBackgroundJobs "
     "< libc.so.6!start_thread"},
    // redis 8 of Debian 13
    {"redis: background thread", "redis-server", "bio_aof", __NR_futex,
     "libc.so.6! < libc.so.6! < libc.so.6! < libc.so.6!pthread_cond_wait < redis-check-rdb!bioProcessBackgroundJobs < "
     "libc.so.6! < libc.so.6!"},
    // of its I/O threads
    {"redis: event loop", "redis-server", "io_thd_1", __NR_epoll_wait,
     "libc.so.6! < libc.so.6! < libc.so.6! < libc.so.6!epoll_wait < redis-check-rdb! < redis-check-rdb!IOThreadMain < "
     "libc.so.6! < libc.so.6!"},
    {"", "redis-server", "bio_aof_fsync", __NR_fdatasync,
     "libc.so.6!fdatasync < redis-check-rdb!bioProcessBackgroundJobs < libc.so.6!start_thread"},
    {"redis: I/O thread", "redis-server", "io_thd_1", __NR_futex,
     "libc.so.6!__lll_lock_wait < libc.so.6!pthread_mutex_lock < redis-check-rdb!IOThreadMain"},
    {"", "redis-server", "io_thd_1", __NR_futex,
     "libc.so.6!__lll_lock_wait < libc.so.6!pthread_mutex_lock < redis-check-rdb!writeToClient < "
     "redis-check-rdb!IOThreadMain"},
    // Debian 13, as all of these
    {"mariadb: connection, waiting for a command", "mariadbd", "one_connection", __NR_poll,
     "libc.so.6! < libc.so.6! < libc.so.6! < libc.so.6!poll < mariadbd!vio_io_wait < mariadbd!vio_socket_io_wait < "
     "mariadbd!vio_ssl_read < mariadbd! < mariadbd!my_net_read_packet_reallen < mariadbd!my_net_read_packet < "
     "mariadbd!do_command < mariadbd!do_handle_one_connection"},
    // reads in the middle of a command
    {"", "mariadbd", "one_connection", __NR_poll,
     "libc.so.6! < libc.so.6! < libc.so.6! < libc.so.6!poll < mariadbd!vio_io_wait < mariadbd!vio_socket_io_wait < "
     "mariadbd!vio_ssl_read < mariadbd! < mariadbd!my_net_read_packet_reallen < mariadbd!my_net_read_packet < "
     "mariadbd!mysql_load < mariadbd!dispatch_command < mariadbd!do_command"},
    // select sleep(8)
    {"", "mariadbd", "one_connection", __NR_futex,
     "libc.so.6! < libc.so.6! < libc.so.6! < libc.so.6!pthread_cond_timedwait < mariadbd!Interruptible_wait::wait < "
     "mariadbd! < mariadbd!Item_func_sleep::val_int"},
    // a lock on a table
    {"", "mariadbd", "one_connection", __NR_futex,
     "libc.so.6! < libc.so.6! < libc.so.6! < libc.so.6!pthread_cond_timedwait < mariadbd!MDL_wait::timed_wait < "
     "mariadbd!MDL_context::acquire_lock"},
    {"mariadb: thread of a connection", "mariadbd", "one_connection", __NR_futex,
     "libc.so.6! < libc.so.6! < libc.so.6! < libc.so.6!pthread_cond_timedwait < mariadbd!do_handle_one_connection < "
     "mariadbd!handle_one_connection"},
    {"mariadb: waiting for connections", "mariadbd", "mariadbd", __NR_poll,
     "libc.so.6! < libc.so.6! < libc.so.6! < libc.so.6!poll < mariadbd!handle_connections_sockets < "
     "mariadbd!mysqld_main"},
    {"mariadb: thread pool of InnoDB", "mariadbd", "ib_tpool_worker", __NR_futex,
     "libc.so.6! < libc.so.6! < libc.so.6! < libc.so.6!pthread_cond_clockwait < "
     "mariadbd!tpool::thread_pool_generic::wait_for_tasks < mariadbd!tpool::thread_pool_generic::get_task < "
     "mariadbd!tpool::thread_pool_generic::worker_main < libstdc++.so.6.0.33!"},
    {"mariadb: manager", "mariadbd", "manager", __NR_futex,
     "libc.so.6! < libc.so.6! < libc.so.6! < libc.so.6!pthread_cond_wait < mariadbd!handle_manager < mariadbd!"},
    {"mariadb: waiting for signals", "mariadbd", "signal_handler", __NR_rt_sigtimedwait,
     "libc.so.6! < libc.so.6! < libc.so.6! < libc.so.6!sigtimedwait < mariadbd!signal_hand < mariadbd!"},
    {"memcached: event loop", "memcached", "mc-worker", __NR_epoll_wait,
     "libc.so.6!epoll_wait < libevent-2.1.so.7! < libevent-2.1.so.7!event_base_loop < memcached!"},
    // waits for its server
    {"", "tmux: client", "tmux: client", __NR_epoll_wait,
     "libc.so.6!epoll_wait < libevent-2.1.so.7! < libevent-2.1.so.7!event_base_loop < tmux!"},
    {"memcached: housekeeping", "memcached", "mc-slabmaint", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < memcached!"},
    // what it waits for is not known
    {"", "memcached", "mc-worker", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < memcached!"},
    // for its workers to stop, maybe
    {"", "memcached", "mc-assocmaint", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < memcached!"},
    {"", "memcached", "mc-slabmaint", __NR_futex,
     "libc.so.6!__lll_lock_wait < libc.so.6!__pthread_mutex_cond_lock < libc.so.6!pthread_cond_wait < memcached!"},
    {"go: no goroutine to run", "g", "g", __NR_futex,
     "g!runtime.futex.abi0 < g!runtime.futexsleep < g!runtime.notesleep < g!runtime.mPark < g!runtime.stopm < "
     "g!runtime.findRunnable < g!runtime.schedule"},
    {"go: no goroutine to run", "g", "g", __NR_futex,
     "g!runtime.futex.abi0 < g!runtime.futexsleep < g!runtime.notesleep < g!runtime.stoplockedm < g!runtime.schedule"},
    // a lock of the scheduler
    {"", "g", "g", __NR_futex,
     "g!runtime.futex.abi0 < g!runtime.futexsleep < g!runtime.lock2 < g!runtime.stopm < g!runtime.findRunnable"},
    {"go: no goroutine to run since a garbage collection", "g", "g", __NR_futex,
     "g!runtime.futex.abi0 < g!runtime.futexsleep < g!runtime.notesleep < g!runtime.stopm < g!runtime.gcstopm < "
     "g!runtime.findRunnable < g!runtime.schedule < g!runtime.goschedImpl < g!runtime.gosched_m < g!runtime.mcall"},
    // stops all others
    {"", "g", "g", __NR_futex,
     "g!runtime.futex.abi0 < g!runtime.futexsleep < g!runtime.notetsleep_internal < g!runtime.notetsleep < "
     "g!runtime.stopTheWorldWithSema < g!runtime.gcStart.func2 < g!runtime.systemstack"},
    {"go: no goroutine to run, polling", "g", "g", __NR_epoll_pwait,
     "g!runtime.epollwait.abi0 < g!runtime.netpoll < g!runtime.findRunnable"},
    // from 1.24 on
    {"go: no goroutine to run, polling", "g", "g", __NR_epoll_pwait,
     "g!internal/runtime/syscall.Syscall6 < g!internal/runtime/syscall.EpollWait < g!runtime.netpoll < "
     "g!runtime.findRunnable"},
    // a call of the program's own
    {"", "g", "g", __NR_epoll_pwait,
     "g!runtime/internal/syscall.Syscall6 < g!syscall.RawSyscall6 < g!syscall.EpollWait < g!main.main"},
    {"go: system monitor", "g", "g", __NR_futex,
     "g!runtime.futex.abi0 < g!runtime.futexsleep < g!runtime.notetsleep_internal < g!runtime.notetsleep < "
     "g!runtime.sysmon"},
    {"go: system monitor", "g", "g", __NR_nanosleep, "g!runtime.usleep.abi0 < g!runtime.sysmon"},
    {"", "g", "g", __NR_nanosleep,
     "g!runtime.usleep.abi0 < g!runtime.runqgrab < g!runtime.stealWork < g!runtime.findRunnable"},
    {"", "g", "g", __NR_futex, "g!runtime.futex.abi0 < g!runtime.futexsleep < g!runtime.lock2 < g!runtime.sysmon"},
    {"go: waiting for signals", "g", "g", __NR_futex,
     "g!runtime.futex.abi0 < g!runtime.futexsleep < g!runtime.notetsleep_internal < g!runtime.notetsleepg < "
     "g!os/signal.signal_recv"},
    {"go: template thread", "g", "g", __NR_futex,
     "g!runtime.futex.abi0 < g!runtime.futexsleep < g!runtime.notesleep < g!runtime.templateThread"},
    {"node: event loop", "node", "node", __NR_epoll_pwait,
     "libc.so.6!epoll_pwait < libuv.so.1!uv__io_poll < libuv.so.1!uv_run < libnode.so.108!node::SpinEventLoopInternal"},
    // execSync
    {"", "node", "node", __NR_epoll_pwait,
     "libc.so.6!epoll_pwait < libuv.so.1!uv__io_poll < libuv.so.1!uv_run < "
     "libnode.so.108!node::SyncProcessRunner::TryInitializeAndRunLoop < libnode.so.108!node::SpinEventLoopInternal"},
    {"node: thread pool", "node", "node", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libuv.so.1!uv_cond_wait < "
     "libnode.so.108!node::(anonymous namespace)::PlatformWorkerThread"},
    {"node: thread pool", "node", "node", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libuv.so.1!uv_cond_wait < "
     "libuv.so.1!worker"},
    {"", "node", "node", __NR_futex,
     "libc.so.6!__lll_lock_wait < libc.so.6!__pthread_mutex_cond_lock < libc.so.6!pthread_cond_wait < "
     "libuv.so.1!uv_cond_wait < libuv.so.1!worker"},
    // the garbage collector, for its helpers
    {"", "node", "node", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < "
     "libnode.so.108!v8::platform::DefaultJobState::Join"},
    {"node: delayed tasks", "node", "node", __NR_epoll_pwait,
     "libc.so.6!epoll_pwait < libuv.so.1!uv__io_poll < libuv.so.1!uv_run < "
     "libnode.so.108!node::WorkerThreadsTaskRunner::DelayedTaskScheduler::Start()::{lambda(void*)#1}::_FUN"},
    {"node: inspector", "node", "node", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!__new_sem_wait_slow64.constprop.0 < libuv.so.1!uv_sem_wait < "
     "libnode.so.108!node::inspector::(anonymous namespace)::StartIoThreadMain"},
    {"java: garbage collector", "java", "GC Thread#0", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!__new_sem_wait_slow64.constprop.0 < "
     "libjvm.so!PosixSemaphore::wait < libjvm.so!GangWorker::loop"},
    {"java: garbage collector", "java", "G1 Service", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_timedwait < libjvm.so!os::PlatformMonitor::wait "
     "< libjvm.so!Monitor::wait_without_safepoint_check < libjvm.so!G1ServiceThread::sleep_before_next_cycle"},
    // Java 21, glibc 2.41, as the following
    {"java: garbage collector", "java", "GC Thread#0", __NR_futex,
     "libc.so.6! < libc.so.6! < libc.so.6! < libc.so.6! < libjvm.so!PosixSemaphore::wait < libjvm.so!WorkerThread::run "
     "< libjvm.so!Thread::call_run"},
    {"java: garbage collector", "java", "G1 Refine#0", __NR_futex,
     "libc.so.6! < libc.so.6! < libc.so.6! < libc.so.6!pthread_cond_wait < libjvm.so!PlatformMonitor::wait < "
     "libjvm.so!Monitor::wait_without_safepoint_check < "
     "libjvm.so!G1PrimaryConcurrentRefineThread::wait_for_completed_buffers < "
     "libjvm.so!G1ConcurrentRefineThread::run_service"},
    {"java: garbage collector", "java", "G1 Main Marker", __NR_futex,
     "libc.so.6! < libc.so.6! < libc.so.6! < libc.so.6!pthread_cond_wait < libjvm.so!PlatformMonitor::wait < "
     "libjvm.so!Monitor::wait_without_safepoint_check < libjvm.so!G1ConcurrentMarkThread::run_service"},
    {"java: compiler", "java", "C2 CompilerThre", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_timedwait < libjvm.so!os::PlatformMonitor::wait "
     "< libjvm.so!Monitor::wait < libjvm.so!CompileQueue::get"},
    // for a compiler
    {"", "java", "java", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_timedwait < libjvm.so!os::PlatformMonitor::wait "
     "< libjvm.so!Monitor::wait < libjvm.so!CompileBroker::wait_for_completion"},
    {"java: VM thread", "java", "VM Thread", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_timedwait < libjvm.so!os::PlatformMonitor::wait "
     "< libjvm.so!Monitor::wait_without_safepoint_check < libjvm.so!VMThread::wait_for_operation"},
    // for the VM thread
    {"", "java", "java", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libjvm.so!os::PlatformMonitor::wait < "
     "libjvm.so!Monitor::wait < libjvm.so!VMThread::wait_until_executed"},
    {"java: housekeeping", "java", "VM Periodic Tas", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_timedwait < libjvm.so!os::PlatformMonitor::wait "
     "< libjvm.so!Monitor::wait_without_safepoint_check < libjvm.so!WatcherThread::sleep"},
    {"java: housekeeping", "java", "Signal Dispatch", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!__new_sem_wait_slow64.constprop.0 < "
     "libjvm.so!PosixSemaphore::wait < libjvm.so!os::signal_wait"},
    // a lock of the program
    {"", "java", "locker", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_timedwait < libjvm.so!os::PlatformEvent::park < "
     "libjvm.so!ObjectMonitor::EnterI < libjvm.so!ObjectMonitor::enter"},
    {"systemd: event loop", "systemd-resolve", "systemd-resolve", __NR_epoll_wait,
     "libc.so.6!epoll_wait < libsystemd-shared-252.so! < libsystemd-shared-252.so!sd_event_wait < "
     "libsystemd-shared-252.so!sd_event_run"},
    // an answer
    {"", "busctl", "busctl", __NR_ppoll, "libc.so.6!ppoll < libsystemd-shared-252.so!sd_bus_wait < busctl!main"},
    {"jemalloc: background thread", "redis-server", "jemalloc_bg_thd", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_timedwait < libjemalloc.so.2! < "
     "libjemalloc.so.2! < libc.so.6!start_thread"},
    {"", "redis-server", "jemalloc_bg_thd", __NR_futex,
     "libc.so.6!__lll_lock_wait < libc.so.6!pthread_mutex_lock < libjemalloc.so.2! < libjemalloc.so.2!"},
    {"postgres: backend, waiting for a command", "postgres", "postgres", __NR_epoll_wait,
     "libc.so.6!epoll_wait < postgres!WaitEventSetWait < postgres!secure_read < postgres! < postgres!pq_getbyte < "
     "postgres!PostgresMain < postgres! < postgres!PostmasterMain"},
    // the rest of a command
    {"", "postgres", "postgres", __NR_epoll_wait,
     "libc.so.6!epoll_wait < postgres!WaitEventSetWait < postgres!secure_read < postgres! < postgres!pq_getbytes < "
     "postgres!pq_getmessage < postgres!PostgresMain"},
    // COPY from its client
    {"", "postgres", "postgres", __NR_epoll_wait,
     "libc.so.6!epoll_wait < postgres!WaitEventSetWait < postgres!secure_read < postgres! < postgres!pq_getbyte < "
     "postgres! < postgres! < postgres! < postgres!NextCopyFromRawFields < postgres!NextCopyFrom < postgres!CopyFrom < "
     "postgres!DoCopy < postgres!PostgresMain"},
    // sends results
    {"", "postgres", "postgres", __NR_epoll_wait,
     "libc.so.6!epoll_wait < postgres!WaitEventSetWait < postgres!secure_write < postgres! < postgres! < "
     "postgres!PostgresMain"},
    // a lock
    {"", "postgres", "postgres", __NR_epoll_wait,
     "libc.so.6!epoll_wait < postgres!WaitEventSetWait < postgres!WaitLatch < postgres!ProcSleep < postgres! < "
     "postgres!LockAcquireExtended < postgres!PostgresMain"},
    {"postgres: postmaster, waiting for connections", "postgres", "postgres", __NR_pselect6,
     "libc.so.6!select < postgres! < postgres!PostmasterMain < postgres!main"},
    // from 16 on
    {"postgres: postmaster, waiting for connections", "postgres", "postgres", __NR_epoll_wait,
     "libc.so.6!epoll_wait < postgres!WaitEventSetWait < postgres! < postgres!PostmasterMain"},
    // a worker of it, made by its handler of a signal
    {"", "postgres", "postgres", __NR_pselect6,
     "libc.so.6!select < postgres!pg_usleep < postgres!vacuum_delay_point < postgres! < libc.so.6!__restore_rt < "
     "libc.so.6!select < postgres! < postgres!PostmasterMain"},
    {"postgres: autovacuum launcher", "postgres", "postgres", __NR_epoll_wait,
     "libc.so.6!epoll_wait < postgres!WaitEventSetWait < postgres!WaitLatch < postgres! < "
     "postgres!StartAutoVacLauncher < postgres! < libc.so.6!__restore_rt < libc.so.6!select"},
    {"postgres: checkpointer", "postgres", "postgres", __NR_epoll_wait,
     "libc.so.6!epoll_wait < postgres!WaitEventSetWait < postgres!WaitLatch < postgres!CheckpointerMain"},
    // between two writes of a checkpoint
    {"", "postgres", "postgres", __NR_epoll_wait,
     "libc.so.6!epoll_wait < postgres!WaitEventSetWait < postgres!WaitLatch < postgres!CheckpointWriteDelay < "
     "postgres! < postgres!CheckPointBuffers < postgres!CreateCheckPoint < postgres!CheckpointerMain"},
    {"postgres: background writer", "postgres", "postgres", __NR_epoll_wait,
     "libc.so.6!epoll_wait < postgres!WaitEventSetWait < postgres!WaitLatch < postgres!BackgroundWriterMain"},
    {"postgres: WAL writer", "postgres", "postgres", __NR_epoll_wait,
     "libc.so.6!epoll_wait < postgres!WaitEventSetWait < postgres!WaitLatch < postgres!WalWriterMain"},
    {"", "postgres", "postgres", __NR_fdatasync,
     "libc.so.6!fdatasync < postgres! < postgres!XLogBackgroundFlush < postgres!WalWriterMain"},
    {"postgres: archiver", "postgres", "postgres", __NR_epoll_wait,
     "libc.so.6!epoll_wait < postgres!WaitEventSetWait < postgres!WaitLatch < postgres! < postgres!PgArchiverMain"},
    // the command that archives
    {"", "postgres", "postgres", __NR_wait4,
     "libc.so.6!wait4 < libc.so.6!system < postgres! < postgres! < postgres!PgArchiverMain"},
    {"postgres: logical replication launcher", "postgres", "postgres", __NR_epoll_wait,
     "libc.so.6!epoll_wait < postgres!WaitEventSetWait < postgres!WaitLatch < postgres!ApplyLauncherMain"},
    {"postgres: log collector", "postgres", "postgres", __NR_epoll_wait,
     "libc.so.6!epoll_wait < postgres!WaitEventSetWait < postgres! < postgres!SysLogger_Start"},
};

const Kernel& KernelOf(int32_t syscall) {
  static const Kernel poll = KernelFrames({"schedule", "do_epoll_wait", "do_syscall_64"});
  static const Kernel sleep = KernelFrames({"schedule", "do_nanosleep", "hrtimer_nanosleep", "do_syscall_64"});
  static const Kernel select = KernelFrames({"schedule", "do_select", "core_sys_select", "do_syscall_64"});
  static const Kernel suspend =
      KernelFrames({"schedule", "sigsuspend.isra.0", "__x64_sys_rt_sigsuspend", "do_syscall_64"});
  static const Kernel ppoll = KernelFrames({"schedule", "do_sys_poll", "__x64_sys_ppoll", "do_syscall_64"});
  static const Kernel accept = KernelFrames({"schedule", "__skb_wait_for_more_packets", "do_accept", "do_syscall_64"});
  static const Kernel socket = KernelFrames({"schedule", "unix_stream_read_generic", "sock_read_iter", "ksys_read"});
  static const Kernel other = KernelFrames({"schedule", "do_syscall_64"});
  switch (syscall) {
    case __NR_futex:
      return kFutex;
    case __NR_epoll_wait:
    case __NR_epoll_pwait:
      return poll;
    case __NR_poll:
      return ppoll;
    case __NR_nanosleep:
      return sleep;
    case __NR_pselect6:
      return select;
    case __NR_rt_sigsuspend:
      return suspend;
    case __NR_ppoll:
      return ppoll;
    case __NR_accept:
      return accept;
    case __NR_read:
      return socket;
    default:
      return other;
  }
}

std::vector<std::string_view> Split(std::string_view frames) {
  std::vector<std::string_view> texts;
  for (size_t begin = 0, end = 0; end != std::string_view::npos; begin = end + 3) {
    end = frames.find(" < ", begin);
    texts.push_back(frames.substr(begin, end == std::string_view::npos ? end : end - begin));
  }
  return texts;
}

std::string_view IdleOf(const IdleExample& example) {
  static const IdlePatterns patterns = DefaultIdlePatterns();
  static const Kernel kPipe = KernelFrames({"schedule", "anon_pipe_read", "vfs_read", "ksys_read", "do_syscall_64"});
  const IdleWait wait = {.process = example.process,
                         .thread = example.thread,
                         .syscall = example.syscall,
                         .kernel = example.of_pipe ? kPipe : KernelOf(example.syscall)};
  const std::vector<NamedFrame> frames = Frames(Split(example.frames));
  for (const IdlePattern& pattern : patterns) {
    const auto matches = [&](const IdleStack& stack) { return MatchesStack(stack, frames); };
    if (pattern.wait.empty() && MatchesWait(pattern, wait) &&
        std::any_of(pattern.stacks.begin(), pattern.stacks.end(), matches)) {
      return pattern.name;
    }
  }
  return "";
}

std::vector<IdleExample> AllExamples() {
  std::vector<IdleExample> examples(std::begin(kExamples), std::end(kExamples));
  examples.insert(examples.end(), ScriptExamples().begin(), ScriptExamples().end());
  examples.insert(examples.end(), PoolExamples().begin(), PoolExamples().end());
  return examples;
}

TEST(ShippedIdlePatterns, MatchWaitsForWorkAndNotThoseThatLookLikeThem) {
  for (const IdleExample& example : AllExamples()) {
    EXPECT_EQ(IdleOf(example), example.idle) << example.frames << " of " << example.thread;
  }
}

TEST(ShippedIdlePatterns, EachHasAnExample) {
  const std::vector<IdleExample> examples = AllExamples();
  for (const IdlePattern& pattern : DefaultIdlePatterns()) {
    if (!pattern.wait.empty()) continue;
    const auto is_of = [&](const IdleExample& example) { return example.idle == pattern.name; };
    EXPECT_TRUE(std::any_of(examples.begin(), examples.end(), is_of)) << pattern.name;
  }
}

}  // namespace
}  // namespace offcpu
