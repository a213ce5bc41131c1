#include <asm/unistd_64.h>

#include "tests/classify/idle_examples.h"

namespace offcpu {
namespace {

// As recorded with OpenJDK 17 and 25, Netty 4.1, gRPC 1.41, Tomcat 10.1, Jetty 9.4, Python 3.13 and Boost 1.74, if
// nothing else is said. jstack prints the same methods.
const IdleExample kExamples[] = {
    {"java: thread pool", "java", "tpe-cached", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_timedwait < libjvm.so!Parker::park < "
     "libjvm.so!Unsafe_Park < [jvm]!jdk.internal.misc.Unsafe.park < "
     "[jvm]!java.util.concurrent.locks.LockSupport.parkNanos < "
     "[jvm]!java.util.concurrent.SynchronousQueue$TransferStack.transfer < "
     "[jvm]!java.util.concurrent.SynchronousQueue.poll < [jvm]!java.util.concurrent.ThreadPoolExecutor.getTask"},
    {"java: thread pool", "java", "tpe-cached", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_timedwait < libjvm.so!Parker::park < "
     "libjvm.so!Unsafe_Park < [jvm]!jdk.internal.misc.Unsafe.park < "
     "[jvm]!java.util.concurrent.locks.LockSupport.parkNanos < "
     "[jvm]!java.util.concurrent.LinkedTransferQueue$DualNode.await < "
     "[jvm]!java.util.concurrent.SynchronousQueue$Transferer.xferLifo < "
     "[jvm]!java.util.concurrent.SynchronousQueue.xfer < [jvm]!java.util.concurrent.SynchronousQueue.poll < "
     "[jvm]!java.util.concurrent.ThreadPoolExecutor.getTask"},
    {"java: thread pool", "java", "tpe-array", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libjvm.so!Parker::park < "
     "libjvm.so!Unsafe_Park < [jvm]!jdk.internal.misc.Unsafe.park < "
     "[jvm]!java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionNode.block < "
     "[jvm]!java.util.concurrent.ForkJoinPool.managedBlock < "
     "[jvm]!java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await < "
     "[jvm]!java.util.concurrent.ArrayBlockingQueue.take < [jvm]!java.util.concurrent.ThreadPoolExecutor.getTask"},
    {"java: thread pool", "java", "tpe-ltq", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libjvm.so!Parker::park < "
     "libjvm.so!Unsafe_Park < [jvm]!jdk.internal.misc.Unsafe.park < "
     "[jvm]!java.util.concurrent.LinkedTransferQueue$DualNode.await < "
     "[jvm]!java.util.concurrent.LinkedTransferQueue.xfer < [jvm]!java.util.concurrent.LinkedTransferQueue.take < "
     "[jvm]!java.util.concurrent.ThreadPoolExecutor.getTask"},
    {"java: thread pool", "java", "stpe-empty", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libjvm.so!Parker::park < "
     "libjvm.so!Unsafe_Park < [jvm]!jdk.internal.misc.Unsafe.park < "
     "[jvm]!java.util.concurrent.locks.LockSupport.park < "
     "[jvm]!java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionNode.block < "
     "[jvm]!java.util.concurrent.ForkJoinPool.unmanagedBlock < "
     "[jvm]!java.util.concurrent.ForkJoinPool.managedBlock < "
     "[jvm]!java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await < "
     "[jvm]!java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue.take < "
     "[jvm]!java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue.take < "
     "[jvm]!java.util.concurrent.ThreadPoolExecutor.getTask"},
    {"java: thread pool", "java", "http-nio-7803-e", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libjvm.so!Parker::park < "
     "libjvm.so!Unsafe_Park < [jvm]!jdk.internal.misc.Unsafe.park < "
     "[jvm]!java.util.concurrent.locks.LockSupport.park < "
     "[jvm]!java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionNode.block < "
     "[jvm]!java.util.concurrent.ForkJoinPool.unmanagedBlock < "
     "[jvm]!java.util.concurrent.ForkJoinPool.managedBlock < "
     "[jvm]!java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await < "
     "[jvm]!java.util.concurrent.LinkedBlockingQueue.take < [jvm]!org.apache.tomcat.util.threads.TaskQueue.take < "
     "[jvm]!org.apache.tomcat.util.threads.TaskQueue.take < "
     "[jvm]!org.apache.tomcat.util.threads.ThreadPoolExecutor.getTask"},
    {"", "java", "future", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libjvm.so!Parker::park < "
     "libjvm.so!Unsafe_Park < [jvm]!jdk.internal.misc.Unsafe.park < "
     "[jvm]!java.util.concurrent.locks.LockSupport.park < [jvm]!java.util.concurrent.FutureTask.awaitDone < "
     "[jvm]!java.util.concurrent.FutureTask.get"},
    {"", "java", "queue", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libjvm.so!Parker::park < "
     "libjvm.so!Unsafe_Park < [jvm]!jdk.internal.misc.Unsafe.park < "
     "[jvm]!java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionNode.block < "
     "[jvm]!java.util.concurrent.ForkJoinPool.managedBlock < "
     "[jvm]!java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await < "
     "[jvm]!java.util.concurrent.LinkedBlockingQueue.take"},
    {"java: fork-join pool", "java", "fjp", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libjvm.so!Parker::park < "
     "libjvm.so!Unsafe_Park < [jvm]!jdk.internal.misc.Unsafe.park < "
     "[jvm]!java.util.concurrent.locks.LockSupport.park < [jvm]!java.util.concurrent.ForkJoinPool.awaitWork < "
     "[jvm]!java.util.concurrent.ForkJoinPool.runWorker"},
    {"java: fork-join pool", "java", "fjp", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libjvm.so!Parker::park < "
     "libjvm.so!Unsafe_Park < [jvm]!jdk.internal.misc.Unsafe.park < "
     "[jvm]!java.util.concurrent.ForkJoinPool.awaitWork < [jvm]!java.util.concurrent.ForkJoinPool.deactivate < "
     "[jvm]!java.util.concurrent.ForkJoinPool.runWorker"},
    {"", "java", "fjt2", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libjvm.so!Parker::park < "
     "libjvm.so!Unsafe_Park < [jvm]!jdk.internal.misc.Unsafe.park < "
     "[jvm]!java.util.concurrent.ForkJoinTask.awaitDone < "
     "[jvm]!java.util.concurrent.ForkJoinTask.joinForPoolInvoke < [jvm]!java.util.concurrent.ForkJoinPool.invoke < "
     "[jvm]!Extra.lambda$main$8 < [jvm]!Extra$$Lambda$7/0x00007f15e4002448.call < [jvm]!Extra.lambda$start$0 < "
     "[jvm]!Extra$$Lambda$2/0x00007f15e4000c28.run < [jvm]!java.lang.Thread.run < [jvm]!call_stub < "
     "libjvm.so!JavaCalls::call_helper < libjvm.so!JavaCalls::call_virtual < libjvm.so!thread_entry < "
     "libjvm.so!JavaThread::thread_main_inner < libjvm.so!Thread::call_run < libjvm.so!thread_native_entry < "
     "libc.so.6!start_thread < libc.so.6!clone3"},
    {"java: timer", "java", "timer", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_timedwait < "
     "libjvm.so!os::PlatformEvent::park < libjvm.so!ObjectMonitor::wait < libjvm.so!ObjectSynchronizer::wait < "
     "libjvm.so!JVM_MonitorWait < [jvm]!java.lang.Object.wait < [jvm]!java.util.TimerThread.mainLoop"},
    {"java: timer", "java", "timer", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_timedwait < "
     "libjvm.so!PlatformEvent::park_nanos < libjvm.so!ObjectMonitor::wait < libjvm.so!ObjectSynchronizer::wait < "
     "libjvm.so!JVM_MonitorWait < [jvm]!java.lang.Object.wait0 < [jvm]!java.lang.Object.wait < "
     "[jvm]!java.util.TimerThread.mainLoop"},
    {"java: housekeeping", "java", "Finalizer", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libjvm.so!os::PlatformEvent::park < "
     "libjvm.so!ObjectMonitor::wait < libjvm.so!ObjectSynchronizer::wait < libjvm.so!JVM_MonitorWait < "
     "[jvm]!java.lang.Object.wait < [jvm]!java.lang.ref.ReferenceQueue.remove < "
     "[jvm]!java.lang.ref.ReferenceQueue.remove < [jvm]!java.lang.ref.Finalizer$FinalizerThread.run"},
    {"java: housekeeping", "java", "Common-Cleaner", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_timedwait < "
     "libjvm.so!PlatformEvent::park_nanos < libjvm.so!ObjectMonitor::wait < libjvm.so!ObjectSynchronizer::wait < "
     "libjvm.so!JVM_MonitorWait < [jvm]!java.lang.Object.wait0 < [jvm]!java.lang.Object.wait < "
     "[jvm]!java.lang.ref.ReferenceQueue.remove0 < [jvm]!java.lang.ref.ReferenceQueue.remove < "
     "[jvm]!jdk.internal.ref.CleanerImpl.run"},
    {"", "java", "owait", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_timedwait < "
     "libjvm.so!os::PlatformEvent::park < libjvm.so!ObjectMonitor::wait < libjvm.so!ObjectSynchronizer::wait < "
     "libjvm.so!JVM_MonitorWait < [jvm]!java.lang.Object.wait < [jvm]!Pools.lambda$main$7 < "
     "[jvm]!Pools$$Lambda$12/0x00007f9f7c003448.call < [jvm]!Pools.lambda$start$1"},
    {"java: launcher", "java", "java", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!__pthread_clockjoin_ex < "
     "libjli.so!CallJavaMainInNewThread < libjli.so!ContinueInNewThread"},
    {"java: launcher", "java", "java", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libjvm.so!os::PlatformMonitor::wait < "
     "libjvm.so!Monitor::wait < libjvm.so!Threads::destroy_vm < libjvm.so!jni_DestroyJavaVM < libjli.so!JavaMain"},
    {"", "java", "join", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libjvm.so!os::PlatformEvent::park < "
     "libjvm.so!ObjectMonitor::wait < libjvm.so!ObjectSynchronizer::wait < libjvm.so!JVM_MonitorWait < "
     "[jvm]!java.lang.Object.wait < [jvm]!java.lang.Thread.join < [jvm]!java.lang.Thread.join"},
    {"java: attach listener", "java", "Attach Listener", __NR_accept,
     "libc.so.6!accept < libjvm.so!LinuxAttachListener::dequeue < libjvm.so!AttachListener::dequeue < "
     "libjvm.so!attach_listener_thread_entry"},
    {"java: attach listener", "java", "Attach Listener", __NR_accept,
     "libc.so.6!accept < libjvm.so!PosixAttachListener::dequeue < libjvm.so!AttachListener::dequeue < "
     "libjvm.so!AttachListenerThread::thread_entry"},
    {"", "java", "accept", __NR_accept,
     "libc.so.6!accept < libnio.so!Java_sun_nio_ch_Net_accept < [jvm]!sun.nio.ch.Net.accept < "
     "[jvm]!sun.nio.ch.NioSocketImpl.accept < [jvm]!java.net.ServerSocket.implAccept < "
     "[jvm]!java.net.ServerSocket.platformImplAccept < [jvm]!java.net.ServerSocket.implAccept < "
     "[jvm]!java.net.ServerSocket.implAccept < [jvm]!java.net.ServerSocket.accept"},
    {"netty: event loop", "java", "nioEventLoopGro", __NR_epoll_wait,
     "libc.so.6!epoll_wait < libnio.so!Java_sun_nio_ch_EPoll_wait < [jvm]!sun.nio.ch.EPoll.wait < "
     "[jvm]!sun.nio.ch.EPollSelectorImpl.doSelect < [jvm]!sun.nio.ch.SelectorImpl.lockAndDoSelect < "
     "[jvm]!sun.nio.ch.SelectorImpl.select < [jvm]!io.netty.channel.nio.SelectedSelectionKeySetSelector.select < "
     "[jvm]!io.netty.channel.nio.NioEventLoop.select < [jvm]!io.netty.channel.nio.NioEventLoop.run"},
    {"netty: event loop", "java", "grpc-nio-boss-E", __NR_epoll_wait,
     "libc.so.6!epoll_wait < libnio.so!Java_sun_nio_ch_EPoll_wait < [jvm]!sun.nio.ch.EPoll.wait < "
     "[jvm]!sun.nio.ch.EPollSelectorImpl.doSelect < [jvm]!sun.nio.ch.SelectorImpl.lockAndDoSelect < "
     "[jvm]!sun.nio.ch.SelectorImpl.select < [jvm]!io.netty.channel.nio.SelectedSelectionKeySetSelector.select < "
     "[jvm]!io.netty.channel.nio.NioEventLoop.select < [jvm]!io.netty.channel.nio.NioEventLoop.run"},
    {"", "java", "selector", __NR_epoll_wait,
     "libc.so.6!epoll_wait < libnio.so!Java_sun_nio_ch_EPoll_wait < [jvm]!sun.nio.ch.EPoll.wait < "
     "[jvm]!sun.nio.ch.EPollSelectorImpl.doSelect < [jvm]!sun.nio.ch.SelectorImpl.lockAndDoSelect < "
     "[jvm]!sun.nio.ch.SelectorImpl.select < [jvm]!Pools.lambda$main$4 < "
     "[jvm]!Pools$$Lambda$6/0x00007f9f7c001a20.call < [jvm]!Pools.lambda$start$1"},
    {"tomcat: poller", "java", "http-nio-7803-P", __NR_epoll_wait,
     "libc.so.6!epoll_wait < libnio.so!Java_sun_nio_ch_EPoll_wait < [jvm]!sun.nio.ch.EPoll.wait < "
     "[jvm]!sun.nio.ch.EPollSelectorImpl.doSelect < [jvm]!sun.nio.ch.SelectorImpl.lockAndDoSelect < "
     "[jvm]!sun.nio.ch.SelectorImpl.select < [jvm]!org.apache.tomcat.util.net.NioEndpoint$Poller.run"},
    {"tomcat: waiting for connections", "java", "http-nio-7803-A", __NR_accept,
     "libc.so.6!accept < libnio.so!Java_sun_nio_ch_Net_accept < [jvm]!sun.nio.ch.Net.accept < "
     "[jvm]!sun.nio.ch.ServerSocketChannelImpl.implAccept < [jvm]!sun.nio.ch.ServerSocketChannelImpl.accept < "
     "[jvm]!org.apache.tomcat.util.net.NioEndpoint.serverSocketAccept < "
     "[jvm]!org.apache.tomcat.util.net.NioEndpoint.serverSocketAccept < "
     "[jvm]!org.apache.tomcat.util.net.Acceptor.run"},
    {"jetty: thread pool", "java", "qtp1138193439-1", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_timedwait < libjvm.so!Parker::park < "
     "libjvm.so!Unsafe_Park < [jvm]!jdk.internal.misc.Unsafe.park < "
     "[jvm]!java.util.concurrent.locks.LockSupport.parkNanos < "
     "[jvm]!java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.awaitNanos < "
     "[jvm]!org.eclipse.jetty.util.BlockingArrayQueue.poll < "
     "[jvm]!org.eclipse.jetty.util.thread.QueuedThreadPool$Runner.idleJobPoll < "
     "[jvm]!org.eclipse.jetty.util.thread.QueuedThreadPool$Runner.run"},
    {"jetty: thread pool", "java", "qtp1138193439-1", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_timedwait < libjvm.so!Parker::park < "
     "libjvm.so!Unsafe_Park < [jvm]!jdk.internal.misc.Unsafe.park < "
     "[jvm]!java.util.concurrent.locks.LockSupport.parkNanos < "
     "[jvm]!java.util.concurrent.SynchronousQueue$TransferStack.transfer < "
     "[jvm]!java.util.concurrent.SynchronousQueue.poll < "
     "[jvm]!org.eclipse.jetty.util.thread.ReservedThreadExecutor$ReservedThread.reservedWait < "
     "[jvm]!org.eclipse.jetty.util.thread.ReservedThreadExecutor$ReservedThread.run"},
    {"jetty: selector", "java", "qtp1138193439-1", __NR_epoll_wait,
     "libc.so.6!epoll_wait < libnio.so!Java_sun_nio_ch_EPoll_wait < [jvm]!sun.nio.ch.EPoll.wait < "
     "[jvm]!sun.nio.ch.EPollSelectorImpl.doSelect < [jvm]!sun.nio.ch.SelectorImpl.lockAndDoSelect < "
     "[jvm]!sun.nio.ch.SelectorImpl.select < [jvm]!org.eclipse.jetty.io.ManagedSelector.select < "
     "[jvm]!org.eclipse.jetty.io.ManagedSelector$SelectorProducer.select < "
     "[jvm]!org.eclipse.jetty.io.ManagedSelector$SelectorProducer.produce < "
     "[jvm]!org.eclipse.jetty.util.thread.strategy.EatWhatYouKill.produceTask < "
     "[jvm]!org.eclipse.jetty.util.thread.strategy.EatWhatYouKill.doProduce"},
    {"jetty: waiting for connections", "java", "qtp1138193439-1", __NR_accept,
     "libc.so.6!accept < libnio.so!Java_sun_nio_ch_Net_accept < [jvm]!sun.nio.ch.Net.accept < "
     "[jvm]!sun.nio.ch.ServerSocketChannelImpl.implAccept < [jvm]!sun.nio.ch.ServerSocketChannelImpl.accept < "
     "[jvm]!org.eclipse.jetty.server.ServerConnector.accept < "
     "[jvm]!org.eclipse.jetty.server.AbstractConnector$Acceptor.run"},
    // contention for the lock of the queue, by its source
    {"", "java", "pool-1-thread-1", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libjvm.so!Parker::park < "
     "libjvm.so!Unsafe_Park < [jvm]!jdk.internal.misc.Unsafe.park < "
     "[jvm]!java.util.concurrent.locks.LockSupport.park < "
     "[jvm]!java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire < "
     "[jvm]!java.util.concurrent.locks.AbstractQueuedSynchronizer.acquireInterruptibly < "
     "[jvm]!java.util.concurrent.locks.ReentrantLock.lockInterruptibly < "
     "[jvm]!java.util.concurrent.LinkedBlockingQueue.take < [jvm]!java.util.concurrent.ThreadPoolExecutor.getTask"},
    // a task that waits for the lock of a condition again
    {"", "java", "pool-1-thread-1", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libjvm.so!Parker::park < "
     "libjvm.so!Unsafe_Park < [jvm]!jdk.internal.misc.Unsafe.park < "
     "[jvm]!java.util.concurrent.locks.LockSupport.park < "
     "[jvm]!java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire < "
     "[jvm]!java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await < "
     "[jvm]!java.util.concurrent.LinkedBlockingQueue.take < [jvm]!java.util.concurrent.ThreadPoolExecutor.getTask"},
    // by its source, as the next ones of Java, folly and Rust
    {"netty: event loop", "java", "epollEventLoopG", __NR_epoll_wait,
     "libc.so.6!epoll_wait < libnetty_transport_native_epoll_x86_64.so!netty_epoll_native_epollWait < "
     "[jvm]!io.grpc.netty.shaded.io.netty.channel.epoll.Native.epollWait < "
     "[jvm]!io.grpc.netty.shaded.io.netty.channel.epoll.Native.epollWait < "
     "[jvm]!io.grpc.netty.shaded.io.netty.channel.epoll.EpollEventLoop.epollWait < "
     "[jvm]!io.grpc.netty.shaded.io.netty.channel.epoll.EpollEventLoop.run"},
    // at its limit of connections
    {"", "java", "http-nio-8080-A", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libjvm.so!Parker::park < "
     "libjvm.so!Unsafe_Park < [jvm]!jdk.internal.misc.Unsafe.park < "
     "[jvm]!java.util.concurrent.locks.LockSupport.park < "
     "[jvm]!java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire < "
     "[jvm]!java.util.concurrent.locks.AbstractQueuedSynchronizer.acquireSharedInterruptibly < "
     "[jvm]!org.apache.tomcat.util.threads.LimitLatch.countUpOrAwait < [jvm]!org.apache.tomcat.util.net.Acceptor.run"},
    {"kafka: broker, waiting for requests", "java", "data-plane-kafk", __NR_epoll_wait,
     "libc.so.6!epoll_wait < libnio.so!Java_sun_nio_ch_EPoll_wait < [jvm]!sun.nio.ch.EPoll.wait < "
     "[jvm]!sun.nio.ch.EPollSelectorImpl.doSelect < [jvm]!sun.nio.ch.SelectorImpl.lockAndDoSelect < "
     "[jvm]!sun.nio.ch.SelectorImpl.select < [jvm]!org.apache.kafka.common.network.Selector.select < "
     "[jvm]!org.apache.kafka.common.network.Selector.poll < [jvm]!kafka.network.Processor.poll < "
     "[jvm]!kafka.network.Processor.run"},
    // a client, for an answer
    {"", "java", "kafka-producer-", __NR_epoll_wait,
     "libc.so.6!epoll_wait < libnio.so!Java_sun_nio_ch_EPoll_wait < [jvm]!sun.nio.ch.EPoll.wait < "
     "[jvm]!sun.nio.ch.EPollSelectorImpl.doSelect < [jvm]!sun.nio.ch.SelectorImpl.lockAndDoSelect < "
     "[jvm]!sun.nio.ch.SelectorImpl.select < [jvm]!org.apache.kafka.common.network.Selector.select < "
     "[jvm]!org.apache.kafka.common.network.Selector.poll < [jvm]!org.apache.kafka.clients.NetworkClient.poll"},
    {"kafka: request handler", "java", "data-plane-kafk", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_timedwait < libjvm.so!Parker::park < "
     "libjvm.so!Unsafe_Park < [jvm]!jdk.internal.misc.Unsafe.park < "
     "[jvm]!java.util.concurrent.locks.LockSupport.parkNanos < "
     "[jvm]!java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.awaitNanos < "
     "[jvm]!java.util.concurrent.ArrayBlockingQueue.poll < [jvm]!kafka.network.RequestChannel.receiveRequest < "
     "[jvm]!kafka.server.KafkaRequestHandler.run"},
    {"folly: thread pool", "server", "CPUThreadPool0", __NR_futex,
     "libc.so.6!syscall < server!folly::detail::(anonymous namespace)::nativeFutexWaitImpl < "
     "server!folly::detail::futexWaitImpl < server!folly::detail::MemoryIdler::futexWaitUntil<std::atomic<unsigned "
     "int> "
     "> < server!folly::detail::LifoSemBase<folly::detail::SoftRealTimeHandoff, std::atomic>::try_wait_until < "
     "server!folly::UnboundedBlockingQueue<folly::CPUThreadPoolExecutor::CPUTask>::try_take_for < "
     "server!folly::CPUThreadPoolExecutor::threadRun"},
    // a task that waits for a baton
    {"", "server", "CPUThreadPool0", __NR_futex,
     "libc.so.6!syscall < server!folly::detail::(anonymous namespace)::nativeFutexWaitImpl < "
     "server!folly::detail::futexWaitImpl < server!folly::Baton<true, std::atomic>::tryWaitSlow < server!Handle < "
     "server!folly::CPUThreadPoolExecutor::threadRun"},
    {"rayon: thread pool", "server", "server", __NR_futex,
     "libc.so.6!syscall < server!std::sys::pal::unix::futex::futex_wait < "
     "server!std::sys::sync::condvar::futex::Condvar::wait < server!rayon_core::sleep::Sleep::sleep < "
     "server!rayon_core::registry::WorkerThread::wait_until_cold < "
     "server!rayon_core::registry::WorkerThread::wait_until_out_of_work < server!rayon_core::registry::main_loop"},
    // the other half of a task
    {"", "server", "server", __NR_futex,
     "libc.so.6!syscall < server!std::sys::pal::unix::futex::futex_wait < "
     "server!std::sys::sync::condvar::futex::Condvar::wait < server!rayon_core::sleep::Sleep::sleep < "
     "server!rayon_core::registry::WorkerThread::wait_until_cold < server!rayon_core::join::join_context::{{closure}}"},
    {"libc: asynchronous I/O", "server", "server", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_timedwait < libc.so.6!handle_fildes_io < "
     "libc.so.6!start_thread"},
    // aio_suspend
    {"", "server", "server", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!do_aio_misc_wait < libc.so.6!aio_suspend < server!Read"},
    {"python: thread pool", "python3.13", "python3", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!__new_sem_wait_slow64.constprop.0 < "
     "libpython3.13.so.1.0!_PySemaphore_Wait < libpython3.13.so.1.0!_PyParkingLot_Park < "
     "_queue.cpython-313-x86_64-linux-gnu.so!_queue_SimpleQueue_get < "
     "libpython3.13.so.1.0!cfunction_vectorcall_FASTCALL_KEYWORDS_METHOD < libpython3.13.so.1.0!calliter_iternext "
     "< libpython3.13.so.1.0!_PyEval_EvalFrameDefault < "
     "perf-29113.map!py::Pool._handle_tasks:/usr/lib/python3.13/multiprocessing/pool.py"},
    {"python: pool of processes", "python3.13", "python3", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!__new_sem_wait_slow64.constprop.0 < "
     "_multiprocessing.cpython-313-x86_64-linux-gnu.so!_multiprocessing_SemLock_acquire_impl < "
     "libpython3.13.so.1.0!_PyEval_EvalFrameDefault < "
     "perf-29119.map!py::SemLock.__enter__:/usr/lib/python3.13/multiprocessing/synchronize.py < "
     "libpython3.13.so.1.0!py_trampoline_evaluator < libpython3.13.so.1.0!method_vectorcall < "
     "libpython3.13.so.1.0!PyObject_CallNoArgs < libpython3.13.so.1.0!_PyEval_EvalFrameDefault < "
     "perf-29119.map!py::SimpleQueue.get:/usr/lib/python3.13/multiprocessing/queues.py < "
     "libpython3.13.so.1.0!py_trampoline_evaluator < libpython3.13.so.1.0!PyObject_Vectorcall < "
     "libpython3.13.so.1.0!_PyEval_EvalFrameDefault < "
     "perf-29119.map!py::worker:/usr/lib/python3.13/multiprocessing/pool.py"},
    {"python: pool of processes", "python3.13", "python3", __NR_read,
     "libc.so.6!read < libpython3.13.so.1.0!_Py_read < libpython3.13.so.1.0!os_read < "
     "libpython3.13.so.1.0!_PyEval_EvalFrameDefault < "
     "perf-29117.map!py::Connection._recv:/usr/lib/python3.13/multiprocessing/connection.py < "
     "libpython3.13.so.1.0!py_trampoline_evaluator < libpython3.13.so.1.0!PyObject_Vectorcall < "
     "libpython3.13.so.1.0!_PyEval_EvalFrameDefault < "
     "perf-29117.map!py::Connection._recv_bytes:/usr/lib/python3.13/multiprocessing/connection.py < "
     "libpython3.13.so.1.0!py_trampoline_evaluator < libpython3.13.so.1.0!PyObject_Vectorcall < "
     "libpython3.13.so.1.0!_PyEval_EvalFrameDefault < "
     "perf-29117.map!py::_ConnectionBase.recv_bytes:/usr/lib/python3.13/multiprocessing/connection.py < "
     "libpython3.13.so.1.0!py_trampoline_evaluator < libpython3.13.so.1.0!PyObject_Vectorcall < "
     "libpython3.13.so.1.0!_PyEval_EvalFrameDefault < "
     "perf-29117.map!py::SimpleQueue.get:/usr/lib/python3.13/multiprocessing/queues.py < "
     "libpython3.13.so.1.0!py_trampoline_evaluator < libpython3.13.so.1.0!PyObject_Vectorcall < "
     "libpython3.13.so.1.0!_PyEval_EvalFrameDefault < "
     "perf-29117.map!py::worker:/usr/lib/python3.13/multiprocessing/pool.py",
     true},
    {"python: pool of processes", "python3.13", "python3", __NR_read,
     "libc.so.6!read < libpython3.13.so.1.0!_Py_read < libpython3.13.so.1.0!os_read < "
     "libpython3.13.so.1.0!_PyEval_EvalFrameDefault < "
     "perf-29133.map!py::Connection._recv:/usr/lib/python3.13/multiprocessing/connection.py < "
     "libpython3.13.so.1.0!py_trampoline_evaluator < libpython3.13.so.1.0!PyObject_Vectorcall < "
     "libpython3.13.so.1.0!_PyEval_EvalFrameDefault < "
     "perf-29133.map!py::Connection._recv_bytes:/usr/lib/python3.13/multiprocessing/connection.py < "
     "libpython3.13.so.1.0!py_trampoline_evaluator < libpython3.13.so.1.0!PyObject_Vectorcall < "
     "libpython3.13.so.1.0!_PyEval_EvalFrameDefault < "
     "perf-29133.map!py::_ConnectionBase.recv_bytes:/usr/lib/python3.13/multiprocessing/connection.py < "
     "libpython3.13.so.1.0!py_trampoline_evaluator < libpython3.13.so.1.0!PyObject_Vectorcall < "
     "libpython3.13.so.1.0!_PyEval_EvalFrameDefault < "
     "perf-29133.map!py::Queue.get:/usr/lib/python3.13/multiprocessing/queues.py < "
     "libpython3.13.so.1.0!py_trampoline_evaluator < libpython3.13.so.1.0!PyObject_Vectorcall < "
     "libpython3.13.so.1.0!_PyEval_EvalFrameDefault < "
     "perf-29133.map!py::_process_worker:/usr/lib/python3.13/concurrent/futures/process.py",
     true},
    {"python: pool of processes", "python3.13", "python3", __NR_read,
     "libc.so.6!read < libpython3.13.so.1.0!_Py_read < libpython3.13.so.1.0!os_read < "
     "libpython3.13.so.1.0!_PyEval_EvalFrameDefault < "
     "perf-29113.map!py::Connection._recv:/usr/lib/python3.13/multiprocessing/connection.py < "
     "libpython3.13.so.1.0!py_trampoline_evaluator < libpython3.13.so.1.0!PyObject_Vectorcall < "
     "libpython3.13.so.1.0!_PyEval_EvalFrameDefault < "
     "perf-29113.map!py::Connection._recv_bytes:/usr/lib/python3.13/multiprocessing/connection.py < "
     "libpython3.13.so.1.0!py_trampoline_evaluator < libpython3.13.so.1.0!PyObject_Vectorcall < "
     "libpython3.13.so.1.0!_PyEval_EvalFrameDefault < "
     "perf-29113.map!py::_ConnectionBase.recv:/usr/lib/python3.13/multiprocessing/connection.py < "
     "libpython3.13.so.1.0!py_trampoline_evaluator < libpython3.13.so.1.0!PyObject_Vectorcall < "
     "libpython3.13.so.1.0!_PyEval_EvalFrameDefault < "
     "perf-29113.map!py::Pool._handle_results:/usr/lib/python3.13/multiprocessing/pool.py",
     true},
    {"python: feeder of a queue", "python3.13", "python3", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!__new_sem_wait_slow64.constprop.0 < "
     "libpython3.13.so.1.0!PyThread_acquire_lock_timed < "
     "libpython3.13.so.1.0!PyThread_acquire_lock_timed_with_retries < "
     "libpython3.13.so.1.0!lock_PyThread_acquire_lock < libpython3.13.so.1.0!method_vectorcall_VARARGS_KEYWORDS < "
     "libpython3.13.so.1.0!PyObject_Vectorcall < libpython3.13.so.1.0!_PyEval_EvalFrameDefault < "
     "perf-29113.map!py::Condition.wait:/usr/lib/python3.13/threading.py < "
     "libpython3.13.so.1.0!py_trampoline_evaluator < libpython3.13.so.1.0!PyObject_Vectorcall < "
     "libpython3.13.so.1.0!_PyEval_EvalFrameDefault < "
     "perf-29113.map!py::Queue._feed:/usr/lib/python3.13/multiprocessing/queues.py"},
    {"python: manager of a pool", "python3.13", "python3", __NR_poll,
     "libc.so.6!poll < select.cpython-313-x86_64-linux-gnu.so!select_poll_poll < "
     "libpython3.13.so.1.0!_PyEval_EvalFrameDefault < "
     "perf-29113.map!py::_PollLikeSelector.select:/usr/lib/python3.13/selectors.py < "
     "libpython3.13.so.1.0!py_trampoline_evaluator < libpython3.13.so.1.0!PyObject_Vectorcall < "
     "libpython3.13.so.1.0!_PyEval_EvalFrameDefault < "
     "perf-29113.map!py::wait:/usr/lib/python3.13/multiprocessing/connection.py < "
     "libpython3.13.so.1.0!py_trampoline_evaluator < libpython3.13.so.1.0!PyObject_Vectorcall < "
     "libpython3.13.so.1.0!_PyEval_EvalFrameDefault < "
     "perf-29113.map!py::Pool._wait_for_updates:/usr/lib/python3.13/multiprocessing/pool.py"},
    {"python: manager of a pool", "python3.13", "python3", __NR_poll,
     "libc.so.6!poll < select.cpython-313-x86_64-linux-gnu.so!select_poll_poll < "
     "libpython3.13.so.1.0!_PyEval_EvalFrameDefault < "
     "perf-29113.map!py::_PollLikeSelector.select:/usr/lib/python3.13/selectors.py < "
     "libpython3.13.so.1.0!py_trampoline_evaluator < libpython3.13.so.1.0!PyObject_Vectorcall < "
     "libpython3.13.so.1.0!_PyEval_EvalFrameDefault < "
     "perf-29113.map!py::wait:/usr/lib/python3.13/multiprocessing/connection.py < "
     "libpython3.13.so.1.0!py_trampoline_evaluator < libpython3.13.so.1.0!PyObject_Vectorcall < "
     "libpython3.13.so.1.0!_PyEval_EvalFrameDefault < "
     "perf-29113.map!py::_ExecutorManagerThread.wait_result_broken_or_wakeup:/usr/lib/python3.13/concurrent/futures/"
     "process.py"},
    {"", "python3.13", "python3", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!__new_sem_wait_slow64.constprop.0 < "
     "libpython3.13.so.1.0!PyThread_acquire_lock_timed < "
     "libpython3.13.so.1.0!PyThread_acquire_lock_timed_with_retries < "
     "libpython3.13.so.1.0!lock_PyThread_acquire_lock < libpython3.13.so.1.0!method_vectorcall_VARARGS_KEYWORDS < "
     "libpython3.13.so.1.0!PyObject_Vectorcall < libpython3.13.so.1.0!_PyEval_EvalFrameDefault < "
     "perf-29113.map!py::Condition.wait:/usr/lib/python3.13/threading.py < "
     "libpython3.13.so.1.0!py_trampoline_evaluator < libpython3.13.so.1.0!PyObject_Vectorcall < "
     "libpython3.13.so.1.0!_PyEval_EvalFrameDefault < "
     "perf-29113.map!py::Event.wait:/usr/lib/python3.13/threading.py < "
     "libpython3.13.so.1.0!py_trampoline_evaluator < libpython3.13.so.1.0!PyObject_Vectorcall < "
     "libpython3.13.so.1.0!_PyEval_EvalFrameDefault < "
     "perf-29113.map!py::ApplyResult.wait:/usr/lib/python3.13/multiprocessing/pool.py"},
    {"asio: pool", "server", "asio-pool", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < "
     "asio!boost::asio::detail::scheduler::do_run_one < asio!boost::asio::detail::scheduler::run < "
     "asio!boost::asio::detail::posix_thread::func<boost::asio::thread_pool::thread_function>::run"},
    {"asio: event loop", "server", "asio-io1", __NR_epoll_wait,
     "libc.so.6!epoll_wait < asio!boost::asio::detail::epoll_reactor::run < "
     "asio!boost::asio::detail::scheduler::do_run_one < asio!boost::asio::detail::scheduler::run"},
};

}  // namespace

std::span<const IdleExample> PoolExamples() { return kExamples; }

}  // namespace offcpu
