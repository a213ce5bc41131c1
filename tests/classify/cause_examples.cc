#include "tests/classify/cause_examples.h"

namespace offcpu {
namespace {

// As they were recorded on Debian 12 (glibc 2.36, GCC 12, Rust 1.95, Go 1.19, OpenJDK 17 and 25, Abseil 20220623,
// Boost 1.74, SQLite 3.40, musl 1.2.3), if nothing else is said.
const CauseExample kCauseExamples[] = {
    {"mutex", "libc: mutex", "libc.so.6!__lll_lock_wait < libc.so.6!pthread_mutex_lock < w!work"},
    {"mutex", "libc: mutex", "libc.so.6!__lll_lock_wait < libc.so.6!pthread_mutex_lock < libc.so.6!mtx_lock < w!work"},
    {"mutex", "libc: mutex",
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!__pthread_mutex_clocklock_common < w!work"},
    {"mutex", "libc: mutex", "libc.so.6!__pthread_mutex_lock_full < w!work"},  // robust
    {"mutex", "libc: mutex", "libc.so.6!___pthread_mutex_lock < w!work"},      // glibc 2.35 with its debug file
    // stripped
    {"mutex", "libc: mutex", "libc.so.6! < libc.so.6!pthread_mutex_lock < w!"},
    {"futex", "", "libc.so.6! < libc.so.6! < w!work"},  // pthread_join, sem_wait, a mutex with a time limit
    {"futex", "", "libc.so.6! < w!work"},               // pthread_once, a robust mutex
    // woken, and waits for its mutex
    {"mutex", "libc: mutex",
     "libc.so.6!__lll_lock_wait < libc.so.6!__pthread_mutex_cond_lock < libc.so.6!pthread_cond_wait < w!work"},
    {"futex", "", "libc.so.6! < libc.so.6! < libc.so.6!pthread_cond_wait < w!work"},
    {"mutex", "libc: mutex",
     "w!__syscall_cp_c < w!__timedwait_cp < w!__timedwait < w!pthread_mutex_timedlock < w!pthread_cond_timedwait"},
    // a static function of the program, called by a destructor that runs in pthread_mutex_lock: there is none
    {"futex", "", "w!syscall < w!wait < libc.so.6!pthread_mutex_lock < w!work"},
    {"mutex", "libc: memory", "libc.so.6!__lll_lock_wait_private < libc.so.6!malloc < w!work"},
    {"condition variable", "libc: condition variable",
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < w!work"},
    {"condition variable", "libc: condition variable",
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_clockwait < w!work"},
    {"condition variable", "libc: condition variable", "libc.so.6! < libc.so.6!pthread_cond_timedwait < w!"},
    {"condition variable", "libc: condition variable",
     "w!__syscall_cp_c < w!__timedwait_cp < w!pthread_cond_timedwait < w!cnd_timedwait < w!work"},  // musl, static
    // glibc 2.41
    {"condition variable", "libc: condition variable",
     "libc.so.6! < libc.so.6! < libc.so.6! < libc.so.6!pthread_cond_wait < w!work"},
    {"condition variable", "libc: condition variable",
     "libc.so.6!__internal_syscall_cancel < libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait"},
    {"read-write lock", "libc: read-write lock",
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_rwlock_rdlock < w!work"},
    {"read-write lock", "libc: read-write lock", "libc.so.6! < libc.so.6!pthread_rwlock_clockwrlock < w!"},
    {"semaphore", "libc: semaphore",
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!__new_sem_wait_slow64.constprop.0 < w!work"},
    {"semaphore", "libc: semaphore", "libc.so! < libc.so! < libc.so! < libc.so!sem_timedwait < w!work"},  // musl
    {"semaphore", "", "libc.so.6!semtimedop < w!work", __NR_semtimedop},
    {"barrier", "libc: barrier", "libc.so.6!pthread_barrier_wait < w!work"},
    {"join", "libc: join", "libc.so.6!__futex_abstimed_wait_common < libc.so.6!__pthread_clockjoin_ex < w!work"},
    {"join", "libc: join", "w!__syscall_cp_c < w!__timedwait_cp < w!pthread_timedjoin_np < w!work"},
    {"once", "libc: once", "libc.so.6!__pthread_once_slow < w!work"},
    {"futex", "", "w!syscall < w!init < libc.so.6!__pthread_once_slow < w!work"},  // the function that runs once
    {"sleep", "", "libc.so.6!clock_nanosleep < libc.so.6!nanosleep < w!work", __NR_nanosleep},

    {"join", "libstdc++: thread", "libc.so.6! < libc.so.6! < libstdc++.so.6!std::thread::join < w!"},  // stripped
    {"futex", "", "libx.so! < libc.so.6! < libstdc++.so.6!std::thread::join < w!"},
    {"once", "libstdc++: static variable", "libc.so.6!syscall < libstdc++.so.6!__cxa_guard_acquire < w!work"},
    {"semaphore", "libstdc++: semaphore",
     "libc.so.6!syscall < w!std::__detail::__platform_wait<int> < "
     "w!std::__atomic_wait_address_bare<std::__atomic_semaphore::_M_acquire()::{lambda()#1}> < w!work"},
    {"semaphore", "libstdc++: semaphore",  // with inlined functions
     "libc.so.6!syscall < w!std::__detail::__platform_wait<int> < w!std::__atomic_wait_address_bare<X> < "
     "w!std::__atomic_semaphore::_M_acquire < w!std::counting_semaphore<5l>::acquire < w!work"},
    {"barrier", "libstdc++: barrier, latch",
     "libc.so.6!syscall < w!std::__detail::__platform_wait<int> < "
     "w!std::__atomic_wait_address<int, std::latch::wait() const::{lambda()#1}> < w!work"},
    {"barrier", "libstdc++: barrier, latch",
     "libc.so.6!syscall < w!std::__detail::__platform_wait<int> < w!std::__atomic_wait_address<std::__barrier_phase_t, "
     "std::__tree_barrier<std::__empty_completion>::wait(std::__barrier_phase_t&&) const::{lambda()#1}> < w!work"},
    {"atomic", "libstdc++: atomic",
     "libc.so.6!syscall < w!std::__detail::__platform_wait<int> < w!std::__atomic_wait_address_v<long, "
     "std::__atomic_base<long>::wait(long, std::memory_order) const::{lambda()#1}> < w!work"},
    {"futex", "", "libc.so.6!syscall < w!std::__detail::__platform_wait<int> < w!work"},  // any of the three
    {"future", "libstdc++: future",
     "libc.so.6!syscall < libstdc++.so.6!std::__atomic_futex_unsigned_base::_M_futex_wait_until < w!work"},
    {"join", "libc++: thread", "libc.so.6! < libc.so.6! < libc++.so.1!std::__1::thread::join < w!"},
    {"once", "libc++: call_once",
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libc++.so.1!std::__1::__call_once < w!f"},
    {"future", "libc++: future",
     "libc.so.6! < libc.so.6!pthread_cond_wait < libc++.so.1!std::__1::condition_variable::wait < "
     "libc++.so.1!std::__1::__assoc_sub_state::__sub_wait < libc++.so.1!std::__1::__assoc_sub_state::wait < w!f"},

    {"mutex", "rust: Mutex", "libc.so.6!syscall < r!<std::sys::sync::mutex::futex::Mutex>::lock_contended < r!main"},
    {"mutex", "rust: Mutex",  // Rust 1.63
     "libc.so.6!syscall < r!std::sys::unix::locks::futex_mutex::Mutex::lock_contended < r!main"},
    {"condition variable", "rust: Condvar",
     "libc.so.6!syscall < r!<std::sys::sync::condvar::futex::Condvar>::wait_optional_timeout < r!main"},
    {"read-write lock", "rust: RwLock",
     "libc.so.6!syscall < r!<std::sys::sync::rwlock::futex::RwLock>::read_contended < r!main"},
    {"once", "rust: Once",
     "libc.so.6!syscall < r!<std::sys::sync::once::futex::Once>::call < r!std::sync::once_lock::OnceLock<T>::init"},
    {"barrier", "rust: Barrier", "libc.so.6!syscall < r!<std::sync::barrier::Barrier>::wait < r!main"},
    {"join", "rust: JoinHandle",
     "libc.so.6! < libc.so.6! < r!<std::sys::thread::unix::Thread>::join < "
     "r!std::thread::lifecycle::JoinInner<T>::join"},
    {"join", "rust: JoinHandle",
     "libc.so.6!syscall < r!<std::thread::thread::Thread>::park < r!std::thread::scoped::scope < r!main"},
    {"channel", "rust: channel",
     "libc.so.6!syscall < r!<std::thread::thread::Thread>::park < "
     "r!std::sync::mpmc::list::Channel<T>::recv::{{closure}} < r!std::sync::mpmc::list::Channel<T>::recv < r!main"},
    {"park", "rust: park", "libc.so.6!syscall < r!std::thread::functions::park_timeout < r!main"},
    {"futex", "", "libc.so.6!syscall < r!main"},
    {"child", "rust: output of a child",
     "libc.so.6!poll < r!std::sys::pal::unix::pipe::read2 < r!std::process::Child::wait_with_output < r!main",
     __NR_poll},
    {"poll", "", "libc.so.6!poll < r!mio::poll::Poll::poll < r!main", __NR_poll},
    // parking_lot 0.12, by its source
    {"mutex", "parking_lot: Mutex",
     "libc.so.6!syscall < r!parking_lot_core::thread_parker::imp::ThreadParker::futex_wait < "
     "r!parking_lot_core::parking_lot::park < r!parking_lot::raw_mutex::RawMutex::lock_slow < r!main"},
    {"condition variable", "parking_lot: Condvar",
     "libc.so.6!syscall < r!parking_lot::condvar::Condvar::wait_until_internal < r!main"},
    {"read-write lock", "parking_lot: RwLock",
     "libc.so.6!syscall < r!parking_lot::raw_rwlock::RawRwLock::lock_shared_slow < r!main"},
    {"once", "parking_lot: Once", "libc.so.6!syscall < r!parking_lot::once::Once::call_once_slow < r!main"},
    {"park", "parking_lot: park", "libc.so.6!syscall < r!parking_lot_core::parking_lot::park < r!main"},

    {"mutex", "go: lock of the runtime", "g!runtime.futex.abi0 < g!runtime.futexsleep < g!runtime.lock2 < g!runtime.f"},
    {"sleep", "go: sysmon",
     "g!runtime.futex.abi0 < g!runtime.futexsleep < g!runtime.notetsleep_internal < g!runtime.notetsleep < "
     "g!runtime.sysmon < g!runtime.mstart1"},
    {"park", "go: note",
     "g!runtime.futex.abi0 < g!runtime.futexsleep < g!runtime.notesleep < g!runtime.stopm < g!runtime.findRunnable"},
    {"sleep", "", "g!runtime.usleep.abi0 < g!runtime.sysmon < g!runtime.mstart1", __NR_nanosleep},

    {"sleep", "java: Thread.sleep",
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_timedwait < libjvm.so!os::PlatformEvent::park < "
     "libjvm.so!JavaThread::sleep < libjvm.so!JVM_Sleep"},
    {"mutex", "java: monitor",
     "libc.so.6! < libc.so.6!pthread_cond_timedwait < libjvm.so!os::PlatformEvent::park < "
     "libjvm.so!ObjectMonitor::EnterI < libjvm.so!ObjectMonitor::enter < libjvm.so!ObjectSynchronizer::enter"},
    {"mutex", "java: monitor",  // at the end of Object.wait
     "libc.so.6! < libc.so.6!pthread_cond_timedwait < libjvm.so!os::PlatformEvent::park < "
     "libjvm.so!ObjectMonitor::ReenterI < libjvm.so!ObjectMonitor::wait"},
    {"condition variable", "java: Object.wait",
     "libc.so.6! < libc.so.6!pthread_cond_wait < libjvm.so!os::PlatformEvent::park < libjvm.so!ObjectMonitor::wait < "
     "libjvm.so!ObjectSynchronizer::wait < libjvm.so!JVM_MonitorWait"},
    {"park", "java: LockSupport.park",
     "libc.so.6! < libc.so.6!pthread_cond_wait < libjvm.so!Parker::park < libjvm.so!Unsafe_Park"},
    {"once", "java: class",
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libjvm.so!os::PlatformEvent::park < "
     "libjvm.so!ObjectMonitor::wait < libjvm.so!InstanceKlass::initialize_impl < "
     "libjvm.so!LinkResolver::resolve_static_call < libjvm.so!LinkResolver::resolve_invoke < "
     "libjvm.so!InterpreterRuntime::resolve_invoke"},
    {"join", "java: Thread.join",
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libjvm.so!os::PlatformEvent::park < "
     "libjvm.so!ObjectMonitor::wait < libjvm.so!ObjectSynchronizer::wait < libjvm.so!JVM_MonitorWait < "
     "[jvm]!java.lang.Object.wait < [jvm]!java.lang.Thread.join < [jvm]!java.lang.Thread.join"},
    {"mutex", "java: lock",
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_timedwait < libjvm.so!Parker::park < "
     "libjvm.so!Unsafe_Park < [jvm]!jdk.internal.misc.Unsafe.park < "
     "[jvm]!java.util.concurrent.locks.LockSupport.parkNanos < "
     "[jvm]!java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire < "
     "[jvm]!java.util.concurrent.locks.AbstractQueuedSynchronizer.tryAcquireNanos < "
     "[jvm]!java.util.concurrent.locks.ReentrantLock$Sync.tryLockNanos"},
    {"mutex", "java: lock",
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libjvm.so!Parker::park < "
     "libjvm.so!Unsafe_Park < [jvm]!jdk.internal.misc.Unsafe.park < "
     "[jvm]!java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire < "
     "[jvm]!java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await"},
    {"mutex", "java: lock",
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libjvm.so!Parker::park < "
     "libjvm.so!Unsafe_Park < [jvm]!jdk.internal.misc.Unsafe.park < "
     "[jvm]!java.util.concurrent.locks.LockSupport.park < "
     "[jvm]!java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire < "
     "[jvm]!java.util.concurrent.locks.AbstractQueuedSynchronizer.reacquire < "
     "[jvm]!java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await"},
    {"park", "",
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libjvm.so!Parker::park < "
     "libjvm.so!Unsafe_Park < [jvm]!jdk.internal.misc.Unsafe.park < "
     "[jvm]!java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire < "
     "[jvm]!java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire < "
     "[jvm]!Pools$$Lambda$16/0x00007f9f7c003cc8.call < [jvm]!Pools.lambda$start$1 < "
     "[jvm]!Pools$$Lambda$7/0x00007f9f7c001c48.run"},
    {"read-write lock", "java: read-write lock",
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libjvm.so!Parker::park < "
     "libjvm.so!Unsafe_Park < [jvm]!jdk.internal.misc.Unsafe.park < "
     "[jvm]!java.util.concurrent.locks.LockSupport.park < [jvm]!java.util.concurrent.locks.StampedLock.acquireRead "
     "< [jvm]!java.util.concurrent.locks.StampedLock.readLock"},
    {"semaphore", "java: semaphore",
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libjvm.so!Parker::park < "
     "libjvm.so!Unsafe_Park < [jvm]!jdk.internal.misc.Unsafe.park < "
     "[jvm]!java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire < "
     "[jvm]!java.util.concurrent.locks.AbstractQueuedSynchronizer.acquireSharedInterruptibly < "
     "[jvm]!java.util.concurrent.Semaphore.acquire"},
    {"barrier", "java: latch, barrier",
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_timedwait < libjvm.so!Parker::park < "
     "libjvm.so!Unsafe_Park < [jvm]!jdk.internal.misc.Unsafe.park < "
     "[jvm]!java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire < "
     "[jvm]!java.util.concurrent.locks.AbstractQueuedSynchronizer.tryAcquireSharedNanos < "
     "[jvm]!java.util.concurrent.CountDownLatch.await"},
    {"barrier", "java: latch, barrier",
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libjvm.so!Parker::park < "
     "libjvm.so!Unsafe_Park < [jvm]!jdk.internal.misc.Unsafe.park < "
     "[jvm]!java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionNode.block < "
     "[jvm]!java.util.concurrent.ForkJoinPool.managedBlock < "
     "[jvm]!java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await < "
     "[jvm]!java.util.concurrent.CyclicBarrier.dowait < [jvm]!java.util.concurrent.CyclicBarrier.await"},
    {"barrier", "java: latch, barrier",
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libjvm.so!Parker::park < "
     "libjvm.so!Unsafe_Park < [jvm]!jdk.internal.misc.Unsafe.park < "
     "[jvm]!java.util.concurrent.locks.LockSupport.park < [jvm]!java.util.concurrent.Phaser$QNode.block < "
     "[jvm]!java.util.concurrent.ForkJoinPool.unmanagedBlock < "
     "[jvm]!java.util.concurrent.ForkJoinPool.managedBlock < "
     "[jvm]!java.util.concurrent.Phaser.internalAwaitAdvance < "
     "[jvm]!java.util.concurrent.Phaser.arriveAndAwaitAdvance"},
    {"future", "java: future",
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libjvm.so!Parker::park < "
     "libjvm.so!Unsafe_Park < [jvm]!jdk.internal.misc.Unsafe.park < "
     "[jvm]!java.util.concurrent.locks.LockSupport.park < [jvm]!java.util.concurrent.FutureTask.awaitDone < "
     "[jvm]!java.util.concurrent.FutureTask.get"},
    {"future", "java: future",
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libjvm.so!Parker::park < "
     "libjvm.so!Unsafe_Park < [jvm]!jdk.internal.misc.Unsafe.park < "
     "[jvm]!java.util.concurrent.locks.LockSupport.park < "
     "[jvm]!java.util.concurrent.CompletableFuture$Signaller.block < "
     "[jvm]!java.util.concurrent.ForkJoinPool.managedBlock < "
     "[jvm]!java.util.concurrent.CompletableFuture.waitingGet < [jvm]!java.util.concurrent.CompletableFuture.get"},
    {"future", "java: future",
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libjvm.so!Parker::park < "
     "libjvm.so!Unsafe_Park < [jvm]!jdk.internal.misc.Unsafe.park < "
     "[jvm]!java.util.concurrent.ForkJoinTask.awaitDone < [jvm]!java.util.concurrent.ForkJoinTask.awaitDone < "
     "[jvm]!java.util.concurrent.ForkJoinTask.get"},
    {"channel", "java: queue",
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libjvm.so!Parker::park < "
     "libjvm.so!Unsafe_Park < [jvm]!jdk.internal.misc.Unsafe.park < "
     "[jvm]!java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionNode.block < "
     "[jvm]!java.util.concurrent.ForkJoinPool.managedBlock < "
     "[jvm]!java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await < "
     "[jvm]!java.util.concurrent.LinkedBlockingQueue.take"},
    {"channel", "java: queue",
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_timedwait < libjvm.so!Parker::park < "
     "libjvm.so!Unsafe_Park < [jvm]!jdk.internal.misc.Unsafe.park < "
     "[jvm]!java.util.concurrent.locks.LockSupport.parkNanos < "
     "[jvm]!java.util.concurrent.SynchronousQueue$TransferStack.transfer < "
     "[jvm]!java.util.concurrent.SynchronousQueue.poll"},
    {"channel", "java: queue",
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_timedwait < libjvm.so!Parker::park < "
     "libjvm.so!Unsafe_Park < [jvm]!jdk.internal.misc.Unsafe.park < [jvm]!java.util.concurrent.Exchanger.xchg < "
     "[jvm]!java.util.concurrent.Exchanger.exchange"},
    {"garbage collection", "java: garbage collection",
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libjvm.so!os::PlatformMonitor::wait < "
     "libjvm.so!Monitor::wait < libjvm.so!VMThread::wait_until_executed < libjvm.so!VMThread::execute < "
     "libjvm.so!G1CollectedHeap::attempt_allocation_slow < libjvm.so!G1CollectedHeap::mem_allocate"},
    {"safepoint", "java: stopping threads",
     "libc.so.6!clock_nanosleep < libc.so.6!nanosleep < libjvm.so!os::naked_short_sleep < "
     "libjvm.so!SafepointSynchronize::synchronize_threads < libjvm.so!SafepointSynchronize::begin",
     __NR_clock_nanosleep},
    {"safepoint", "java: safepoint",  // it has something done that all threads are stopped for
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libjvm.so!os::PlatformMonitor::wait < "
     "libjvm.so!Monitor::wait < libjvm.so!VMThread::wait_until_executed < libjvm.so!VMThread::execute < "
     "libjvm.so!JVM_DumpThreads"},
    {"once", "java: class",  // Java 21 and later, by its source
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libjvm.so!PlatformMonitor::wait < "
     "libjvm.so!Monitor::wait < libjvm.so!InstanceKlass::wait_for_initialization_to_be_completed"},
    {"read-write lock", "java: read-write lock",  // where the method is not inlined, by its source
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libjvm.so!Parker::park < "
     "libjvm.so!Unsafe_Park < [jvm]!jdk.internal.misc.Unsafe.park < "
     "[jvm]!java.util.concurrent.locks.LockSupport.park < "
     "[jvm]!java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire < "
     "[jvm]!java.util.concurrent.locks.AbstractQueuedSynchronizer.acquireShared < "
     "[jvm]!java.util.concurrent.locks.ReentrantReadWriteLock$ReadLock.lock"},
    {"condition variable", "java: Condition.await",
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_timedwait < libjvm.so!Parker::park < "
     "libjvm.so!Unsafe_Park < [jvm]!jdk.internal.misc.Unsafe.park < "
     "[jvm]!java.util.concurrent.locks.LockSupport.parkNanos < "
     "[jvm]!java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await < [jvm]!Pools.lambda$main$13"},
    {"safepoint", "java: safepoint",  // by its source
     "libc.so.6!syscall < libjvm.so!LinuxWaitBarrier::wait < libjvm.so!SafepointSynchronize::block"},
    {"condition variable", "libc: condition variable",  // of the virtual machine itself
     "libc.so.6! < libc.so.6!pthread_cond_wait < libjvm.so!os::PlatformMonitor::wait < libjvm.so!Monitor::wait"},

    {"mutex", "abseil: Mutex",
     "libc.so.6!syscall < libabsl.so!absl::debian3::synchronization_internal::Waiter::Wait < "
     "libabsl.so!AbslInternalPerThreadSemWait_debian3 < libabsl.so!absl::debian3::Mutex::Block < "
     "libabsl.so!absl::debian3::Mutex::LockSlowLoop < libabsl.so!absl::debian3::Mutex::LockSlowWithDeadline < "
     "libabsl.so!absl::debian3::Mutex::LockSlow < libabsl.so!absl::debian3::Mutex::Lock < a!work"},
    {"futex", "",  // for the mutex or for the condition
     "libc.so.6!syscall < libabsl.so!absl::debian3::synchronization_internal::Waiter::Wait < "
     "libabsl.so!AbslInternalPerThreadSemWait_debian3 < libabsl.so!absl::debian3::Mutex::Block < libabsl.so! < "
     "libabsl.so!absl::debian3::Mutex::LockSlow < libabsl.so!absl::debian3::Mutex::LockWhen < a!work"},
    {"condition variable", "abseil: Notification",
     "libc.so.6!syscall < libabsl.so!absl::debian3::synchronization_internal::Waiter::Wait < "
     "libabsl.so!AbslInternalPerThreadSemWait_debian3 < libabsl.so!absl::debian3::Mutex::Block < libabsl.so! < "
     "libabsl.so!absl::debian3::Mutex::LockSlow < libabsl.so!absl::debian3::Mutex::LockWhen < "
     "libabsl.so!absl::debian3::Notification::WaitForNotification < a!work"},
    {"condition variable", "abseil: CondVar",
     "libc.so.6!syscall < a!absl::synchronization_internal::FutexWaiter::Wait < a!AbslInternalPerThreadSemWait < "
     "a!absl::CondVar::WaitCommon < a!work"},
    {"barrier", "abseil: Barrier",
     "libc.so.6!syscall < libabsl.so!absl::debian3::synchronization_internal::Waiter::Wait < "
     "libabsl.so!AbslInternalPerThreadSemWait_debian3 < libabsl.so!absl::debian3::Mutex::Block < "
     "libabsl.so!absl::debian3::Mutex::AwaitCommon < libabsl.so!absl::debian3::Mutex::Await < "
     "libabsl.so!absl::debian3::Barrier::Block < a!work"},
    {"once", "abseil: call_once",
     "libc.so.6!syscall < libabsl_spinlock.so!AbslInternalSpinLockDelay_debian3 < "
     "libabsl_spinlock.so!absl::debian3::base_internal::SpinLockWait < "
     "a!absl::debian3::base_internal::CallOnceImpl<work()::{lambda()#1}> < a!work"},

    {"sleep", "boost: sleep",
     "libc.so.6! < libc.so.6!pthread_cond_timedwait < b!boost::this_thread::sleep_for<long, boost::ratio<1l, 1l> >"},
    {"join", "boost: thread",
     "libc.so.6! < libc.so.6!pthread_cond_wait < libboost_thread.so!boost::thread::join_noexcept < b!work"},
    {"read-write lock", "boost: shared_mutex",
     "libc.so.6! < libc.so.6!pthread_cond_wait < b!boost::condition_variable::wait < b!boost::shared_mutex::lock < "
     "b!f"},
    {"barrier", "boost: barrier",
     "libc.so.6! < libc.so.6!pthread_cond_wait < b!boost::condition_variable::wait < b!boost::barrier::wait < b!work"},
    {"once", "boost: call_once",
     "libc.so.6! < libc.so.6!pthread_cond_wait < libboost_thread.so!boost::thread_detail::enter_once_region < b!work"},
    {"future", "boost: future",
     "libc.so.6! < libc.so.6!pthread_cond_wait < b!boost::condition_variable::wait < "
     "b!boost::detail::shared_state_base::wait_internal < b!work"},
    {"condition variable", "libc: condition variable",
     "libc.so.6! < libc.so.6!pthread_cond_wait < b!boost::condition_variable::wait < b!work"},
    // by its source
    {"read-write lock", "folly: SharedMutex",
     "libc.so.6!syscall < f!folly::detail::(anonymous namespace)::nativeFutexWaitImpl < "
     "f!folly::SharedMutexImpl<false, void>::WaitForever::doWait < f!folly::SharedMutexImpl<false, void>::lockSlow"},
    {"mutex", "folly: MicroLock",
     "libc.so.6!syscall < f!folly::detail::futexWaitImpl < f!folly::MicroLockCore::lockSlowPath < f!work"},
    {"semaphore", "folly: LifoSem",
     "libc.so.6!syscall < f!folly::detail::futexWaitImpl < f!folly::Baton<true, std::atomic>::tryWaitSlow < "
     "f!folly::detail::LifoSemBase<H, std::atomic>::wait < f!work"},
    {"park", "folly: Baton",
     "libc.so.6!syscall < f!folly::detail::futexWaitImpl < f!folly::Baton<true, std::atomic>::tryWaitSlow < f!work"},

    {"GIL", "python: lock of the interpreter",
     "libc.so.6! < libc.so.6!pthread_cond_timedwait < libpython3.11.so!take_gil < libpython3.11.so!_PyEval_EvalFrame"},
    {"GIL", "python: lock of the interpreter",  // Debian's
     "libc.so.6! < libc.so.6!pthread_cond_timedwait < python3.11! < python3.11!PyEval_RestoreThread < python3.11!"},
    {"semaphore", "libc: semaphore",  // a lock of Python
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!__new_sem_wait_slow64.constprop.0 < "
     "python3.11!PyThread_acquire_lock_timed < python3.11!"},

    {"database lock", "sqlite: busy",
     "libc.so.6!clock_nanosleep < libc.so.6!nanosleep < libc.so.6!usleep < libsqlite3.so.0! < libsqlite3.so.0! < "
     "libsqlite3.so.0!sqlite3InvokeBusyHandler < libsqlite3.so.0!",
     __NR_nanosleep},
    {"sleep", "",  // the program's own handler has the time for something else
     "libc.so.6!nanosleep < w!work < w!my_handler < libsqlite3.so.0!sqlite3InvokeBusyHandler", __NR_nanosleep},
    {"row lock", "postgres: row",
     "libc.so.6!epoll_wait < postgres! < postgres!WaitEventSetWait < postgres!WaitLatch < postgres!ProcSleep < "
     "postgres! < postgres!LockAcquireExtended < postgres!XactLockTableWait < postgres!heap_update",
     __NR_epoll_wait},
    {"database lock", "postgres: lock",
     "libc.so.6!epoll_wait < postgres! < postgres!WaitEventSetWait < postgres!WaitLatch < postgres!ProcSleep < "
     "postgres! < postgres!LockAcquireExtended < postgres!LockRelationOid",
     __NR_epoll_wait},
    {"lightweight lock", "postgres: lightweight lock",
     "libc.so.6! < libc.so.6! < postgres!PGSemaphoreLock < postgres!LWLockAcquire < postgres!XLogInsertRecord"},
    {"lightweight lock", "postgres: lightweight lock",
     "libc.so.6!semop < postgres!PGSemaphoreLock < postgres!LWLockAcquire < postgres!f", __NR_semop},
    {"condition variable", "postgres: condition variable",
     "libc.so.6!epoll_wait < postgres! < postgres!WaitEventSetWait < postgres!WaitLatch < "
     "postgres!ConditionVariableTimedSleep < postgres!ConditionVariableSleep < postgres!f",
     __NR_epoll_wait},
    {"poll", "", "libc.so.6!epoll_wait < postgres! < postgres!WaitEventSetWait < postgres!WaitLatch < postgres!f",
     __NR_epoll_wait},
    // by its source
    {"row lock", "mariadb: row", "libc.so.6! < libc.so.6!pthread_cond_timedwait < mariadbd!lock_wait < mariadbd!f",
     __NR_futex, "mariadbd"},
    {"condition variable", "libc: condition variable",
     "libc.so.6! < libc.so.6!pthread_cond_timedwait < w!lock_wait < w!f"},
    {"database lock", "mariadb: metadata",
     "libc.so.6! < libc.so.6!pthread_cond_timedwait < mariadbd! < mariadbd!MDL_wait::timed_wait < mariadbd!f",
     __NR_futex, "mariadbd"},
    {"child", "node: child",
     "libc.so.6!epoll_wait < node!uv__io_poll < node!uv_run < node!node::SyncProcessRunner::TryInitializeAndRunLoop < "
     "node!node::SyncProcessRunner::Run",
     __NR_epoll_wait},
    {"child", "qt: child", "libc.so.6!ppoll < libQt5Core.so! < libQt5Core.so!QProcessPrivate::waitForFinished < w!main",
     __NR_ppoll},
    {"barrier", "libgomp: barrier",
     "libgomp.so.1!gomp_team_barrier_wait_end < libgomp.so.1!gomp_team_barrier_wait < w!f"},
};

}  // namespace

std::span<const CauseExample> CauseExamples() { return kCauseExamples; }

}  // namespace offcpu
