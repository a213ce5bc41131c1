#include "tests/classify/idle_examples.h"

#include <asm/unistd_64.h>

namespace offcpu {
namespace {

const IdleExample kExamples[] = {
    {"php-fpm: worker, waiting for a request", "php-fpm8.2", "php-fpm8.2", __NR_accept,
     "libc.so.6!accept < php-fpm8.2! < php-fpm8.2! < libc.so.6!__libc_start_call_main < libc.so.6!__libc_start_main < "
     "php-fpm8.2!_start"},
    // without the debug file of the C library; and Debian 13's
    {"php-fpm: worker, waiting for a request", "php-fpm8.2", "php-fpm8.2", __NR_accept,
     "libc.so.6!accept < php-fpm8.2! < php-fpm8.2! < libc.so.6! < libc.so.6!__libc_start_main"},
    {"php-fpm: worker, waiting for a request", "php-fpm8.4", "php-fpm8.4", __NR_accept,
     "libc.so.6! < libc.so.6! < libc.so.6!accept < php-fpm8.4! < php-fpm8.4! < libc.so.6! < "
     "libc.so.6!__libc_start_main"},
    // with names
    {"php-fpm: worker, waiting for a request", "php-fpm", "php-fpm", __NR_accept,
     "libc.so.6!accept < php-fpm!fcgi_accept_request < php-fpm!main < libc.so.6! < libc.so.6!__libc_start_main"},
    // a script
    {"", "php-fpm8.2", "php-fpm8.2", __NR_accept,
     "libc.so.6!accept < php-fpm8.2!php_network_accept_incoming < php-fpm8.2! < php-fpm8.2!_php_stream_set_option < "
     "php-fpm8.2!php_stream_xport_accept < php-fpm8.2! < php-fpm8.2!execute_ex < php-fpm8.2!zend_execute < "
     "php-fpm8.2!zend_execute_scripts < php-fpm8.2!php_execute_script < php-fpm8.2! < "
     "libc.so.6!__libc_start_call_main < libc.so.6!__libc_start_main"},
    {"", "php-fpm8.2", "php-fpm8.2", __NR_accept,
     "libc.so.6!accept < php-fpm8.2! < php-fpm8.2!execute_ex < php-fpm8.2!zend_execute"},
    // a client that keeps its connection, or is slow
    {"", "php-fpm8.2", "php-fpm8.2", __NR_read,
     "libc.so.6!read < php-fpm8.2! < php-fpm8.2! < php-fpm8.2! < libc.so.6!__libc_start_call_main < "
     "libc.so.6!__libc_start_main"},
    // the rest of a request
    {"", "php-fpm8.2", "php-fpm8.2", __NR_read,
     "libc.so.6!read < php-fpm8.2! < php-fpm8.2! < php-fpm8.2!sapi_read_post_block < "
     "php-fpm8.2!sapi_read_standard_form_data < php-fpm8.2!sapi_activate < php-fpm8.2!php_request_startup < "
     "php-fpm8.2! < libc.so.6!__libc_start_call_main < libc.so.6!__libc_start_main"},
    {"php-fpm: master", "php-fpm8.2", "php-fpm8.2", __NR_epoll_wait,
     "libc.so.6!epoll_wait < php-fpm8.2! < php-fpm8.2! < php-fpm8.2! < php-fpm8.2! < "
     "libc.so.6!__libc_start_call_main < libc.so.6!__libc_start_main"},
    // another program of PHP
    {"", "php8.2", "php8.2", __NR_epoll_wait,
     "libc.so.6!epoll_wait < php8.2! < php8.2! < php8.2! < php8.2! < libc.so.6!__libc_start_call_main"},
    {"puma: thread pool", "puma", "puma srv tp 001", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libruby-3.1.so.3.1.7!rb_native_cond_wait "
     "< libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < "
     "libruby-3.1.so.3.1.7!rb_ensure < libruby-3.1.so.3.1.7!rb_mutex_sleep < libruby-3.1.so.3.1.7! < "
     "libruby-3.1.so.3.1.7!rb_funcallv < libruby-3.1.so.3.1.7!rb_ensure < libruby-3.1.so.3.1.7! < "
     "libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7!rb_vm_exec < "
     "libruby-3.1.so.3.1.7!rb_yield < libruby-3.1.so.3.1.7!rb_ensure < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! "
     "< libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7!rb_vm_exec < libruby-3.1.so.3.1.7!rb_vm_invoke_proc < "
     "libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libc.so.6!start_thread < "
     "libc.so.6!clone3"},
    // the stack is as deep as this, and is not recorded further out
    {"puma: thread pool", "puma", "puma srv tp 001", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libruby-3.1.so.3.1.7!rb_native_cond_wait "
     "< libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < "
     "libruby-3.1.so.3.1.7!rb_ensure < libruby-3.1.so.3.1.7!rb_mutex_sleep < libruby-3.1.so.3.1.7! < "
     "libruby-3.1.so.3.1.7!rb_funcallv < libruby-3.1.so.3.1.7!rb_ensure < libruby-3.1.so.3.1.7! < "
     "libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7!rb_vm_exec < "
     "libruby-3.1.so.3.1.7!rb_yield < libruby-3.1.so.3.1.7!rb_ensure < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! "
     "< libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7!rb_vm_exec < libruby-3.1.so.3.1.7!rb_vm_invoke_proc < "
     "libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7!"},
    // a request that waits for a condition variable
    {"", "puma", "puma srv tp 001", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libruby-3.1.so.3.1.7!rb_native_cond_wait "
     "< libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < "
     "libruby-3.1.so.3.1.7!rb_ensure < libruby-3.1.so.3.1.7!rb_mutex_sleep < libruby-3.1.so.3.1.7! < "
     "libruby-3.1.so.3.1.7!rb_funcallv < libruby-3.1.so.3.1.7!rb_ensure < libruby-3.1.so.3.1.7! < "
     "libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7!rb_vm_exec < "
     "libruby-3.1.so.3.1.7!rb_yield < libruby-3.1.so.3.1.7!rb_ensure < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! "
     "< libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7!rb_vm_exec < libruby-3.1.so.3.1.7!rb_vm_call0 < "
     "libruby-3.1.so.3.1.7!rb_method_call_with_block_kw < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < "
     "libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7!rb_vm_exec < "
     "libruby-3.1.so.3.1.7!rb_vm_invoke_proc < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7!"},
    // a queue
    {"", "puma", "puma srv tp 001", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libruby-3.1.so.3.1.7!rb_native_cond_wait "
     "< libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < "
     "libruby-3.1.so.3.1.7!rb_ensure < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < "
     "libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7!rb_vm_exec < libruby-3.1.so.3.1.7!rb_vm_invoke_proc < "
     "libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7!"},
    // sleep
    {"", "puma", "puma srv tp 001", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_timedwait < libruby-3.1.so.3.1.7! < "
     "libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < "
     "libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7!rb_vm_exec < "
     "libruby-3.1.so.3.1.7!rb_vm_invoke_proc < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7!"},
    // some other pool
    {"", "sidekiq", "worker", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_wait < libruby-3.1.so.3.1.7!rb_native_cond_wait "
     "< libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < "
     "libruby-3.1.so.3.1.7!rb_ensure < libruby-3.1.so.3.1.7!rb_mutex_sleep < libruby-3.1.so.3.1.7! < "
     "libruby-3.1.so.3.1.7!rb_funcallv < libruby-3.1.so.3.1.7!rb_ensure < libruby-3.1.so.3.1.7! < "
     "libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7!rb_vm_exec < "
     "libruby-3.1.so.3.1.7!rb_yield < libruby-3.1.so.3.1.7!rb_ensure < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! "
     "< libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7!rb_vm_exec < libruby-3.1.so.3.1.7!rb_vm_invoke_proc < "
     "libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7!"},
    {"puma: reactor", "puma", "puma reactor", __NR_epoll_wait,
     "libc.so.6!epoll_wait < nio4r_ext.so! < nio4r_ext.so! < libruby-3.1.so.3.1.7!rb_nogvl < nio4r_ext.so!ev_run < "
     "nio4r_ext.so! < libruby-3.1.so.3.1.7!rb_ensure"},
    // an application's own
    {"", "puma", "puma srv tp 001", __NR_epoll_wait,
     "libc.so.6!epoll_wait < nio4r_ext.so! < nio4r_ext.so! < libruby-3.1.so.3.1.7!rb_nogvl < nio4r_ext.so!ev_run < "
     "nio4r_ext.so! < libruby-3.1.so.3.1.7!rb_ensure"},
    {"puma: waiting for connections", "puma", "puma srv", __NR_pselect6,
     "libc.so.6!select < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7!rb_ensure < "
     "libruby-3.1.so.3.1.7!rb_thread_fd_select < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7!rb_ensure < "
     "libruby-3.1.so.3.1.7!"},
    // an answer
    {"", "puma", "puma srv tp 001", __NR_pselect6,
     "libc.so.6!select < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7!rb_ensure < "
     "libruby-3.1.so.3.1.7!rb_thread_fd_select < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7!rb_ensure < "
     "libruby-3.1.so.3.1.7!"},
    {"puma: housekeeping", "puma", "puma srv thread", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!pthread_cond_timedwait < libruby-3.1.so.3.1.7! < "
     "libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < "
     "libruby-3.1.so.3.1.7!"},
    // and waits for signals meanwhile
    {"puma: thread pool", "puma", "puma srv tp 001", __NR_ppoll,
     "libc.so.6!ppoll < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! "
     "< libruby-3.1.so.3.1.7!rb_ensure < libruby-3.1.so.3.1.7!rb_mutex_sleep < libruby-3.1.so.3.1.7! < "
     "libruby-3.1.so.3.1.7!rb_funcallv < libruby-3.1.so.3.1.7!rb_ensure < libruby-3.1.so.3.1.7! < "
     "libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7!rb_vm_exec < "
     "libruby-3.1.so.3.1.7!rb_yield < libruby-3.1.so.3.1.7!rb_ensure < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! "
     "< libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7!rb_vm_exec < libruby-3.1.so.3.1.7!rb_vm_invoke_proc < "
     "libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7!"},
    {"", "puma", "puma srv tp 001", __NR_ppoll,
     "libc.so.6!ppoll < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! "
     "< libruby-3.1.so.3.1.7!rb_ensure < libruby-3.1.so.3.1.7!rb_mutex_sleep < libruby-3.1.so.3.1.7! < "
     "libruby-3.1.so.3.1.7!rb_funcallv < libruby-3.1.so.3.1.7!rb_ensure < libruby-3.1.so.3.1.7! < "
     "libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7!rb_vm_exec < "
     "libruby-3.1.so.3.1.7!rb_yield < libruby-3.1.so.3.1.7!rb_ensure < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! "
     "< libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7!rb_vm_exec < libruby-3.1.so.3.1.7!rb_vm_call0 < "
     "libruby-3.1.so.3.1.7!rb_method_call_with_block_kw < libruby-3.1.so.3.1.7!"},
    {"puma: housekeeping", "puma", "puma srv thread", __NR_ppoll,
     "libc.so.6!ppoll < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! "
     "< libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7!rb_vm_exec < "
     "libruby-3.1.so.3.1.7!rb_vm_invoke_proc"},
    {"", "puma", "puma srv tp 001", __NR_ppoll,
     "libc.so.6!ppoll < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! "
     "< libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7! < libruby-3.1.so.3.1.7!rb_vm_exec < "
     "libruby-3.1.so.3.1.7!rb_vm_call0"},
    {"tokio: worker", "serve", "tokio-runtime-w", __NR_futex,
     "libc.so.6!syscall < serve!<std::sys::sync::condvar::futex::Condvar>::wait < "
     "serve!tokio::runtime::scheduler::multi_thread::park::Parker::park < "
     "serve!tokio::runtime::scheduler::multi_thread::worker::Context::park_timeout < "
     "serve!tokio::runtime::scheduler::multi_thread::worker::Context::run"},
    // an older compiler
    {"tokio: worker", "serve", "tokio-runtime-w", __NR_futex,
     "libc.so.6!syscall < serve!std::sys::unix::futex::futex_wait < serve!std::sys::unix::locks::futex::Condvar::wait "
     "< "
     "serve!tokio::runtime::scheduler::multi_thread::park::Inner::park < "
     "serve!tokio::runtime::scheduler::multi_thread::park::Parker::park < "
     "serve!tokio::runtime::scheduler::multi_thread::worker::Context::park_timeout < "
     "serve!tokio::runtime::scheduler::multi_thread::worker::Context::run"},
    // all its features, and optimized as a whole
    {"tokio: worker", "serve", "tokio-runtime-w", __NR_futex,
     "libc.so.6!syscall < serve!parking_lot::condvar::Condvar::wait_until_internal < "
     "serve!tokio::runtime::scheduler::multi_thread::worker::Context::park_timeout < "
     "serve!tokio::runtime::scheduler::multi_thread::worker::run"},
    // a lock of it
    {"", "serve", "tokio-runtime-w", __NR_futex,
     "libc.so.6!syscall < serve!<std::sys::sync::mutex::futex::Mutex>::lock_contended < "
     "serve!tokio::runtime::scheduler::multi_thread::park::Parker::park < "
     "serve!tokio::runtime::scheduler::multi_thread::worker::Context::park_timeout < "
     "serve!tokio::runtime::scheduler::multi_thread::worker::Context::run"},
    // a task
    {"", "serve", "tokio-runtime-w", __NR_futex,
     "libc.so.6!syscall < serve!<std::sys::sync::condvar::futex::Condvar>::wait < serve!serve::serve::{{closure}} < "
     "serve!tokio::runtime::task::core::Core<T,S>::poll < serve!tokio::runtime::task::harness::Harness<T,S>::poll < "
     "serve!tokio::runtime::scheduler::multi_thread::worker::Context::run_task < "
     "serve!tokio::runtime::scheduler::multi_thread::worker::Context::run"},
    {"", "serve", "tokio-runtime-w", __NR_futex,
     "libc.so.6!syscall < serve!<std::sys::sync::condvar::futex::Condvar>::wait < "
     "serve!tokio::runtime::park::Inner::park < serve!tokio::runtime::park::CachedParkThread::block_on < "
     "serve!tokio::runtime::scheduler::multi_thread::worker::block_in_place < serve!serve::serve::{{closure}}"},
    {"tokio: worker, polling", "serve", "tokio-runtime-w", __NR_epoll_wait,
     "libc.so.6!epoll_wait < serve!mio::poll::Poll::poll < serve!tokio::runtime::io::Driver::turn < "
     "serve!tokio::runtime::time::Driver::park_internal < "
     "serve!tokio::runtime::scheduler::multi_thread::park::Parker::park < "
     "serve!tokio::runtime::scheduler::multi_thread::worker::Context::park_timeout < "
     "serve!tokio::runtime::scheduler::multi_thread::worker::Context::run"},
    {"tokio: worker, polling", "serve", "tokio-runtime-w", __NR_epoll_wait,
     "libc.so.6!epoll_wait < serve!tokio::runtime::io::Driver::turn < "
     "serve!tokio::runtime::time::Driver::park_internal < "
     "serve!tokio::runtime::scheduler::multi_thread::worker::Context::park_timeout < "
     "serve!tokio::runtime::scheduler::multi_thread::worker::run"},
    // a runtime of one thread, in which a client waits for an answer
    {"", "serve", "tokio-runtime-w", __NR_epoll_wait,
     "libc.so.6!epoll_wait < serve!mio::poll::Poll::poll < serve!tokio::runtime::io::Driver::turn < "
     "serve!tokio::runtime::scheduler::current_thread::Context::park < "
     "serve!tokio::runtime::scheduler::current_thread::CurrentThread::block_on"},
    {"tokio: blocking pool", "serve", "tokio-runtime-w", __NR_futex,
     "libc.so.6!syscall < serve!<std::sys::sync::condvar::futex::Condvar>::wait_optional_timeout < "
     "serve!tokio::runtime::blocking::pool::Inner::run < serve!std::sys::backtrace::__rust_begin_short_backtrace"},
    // blocking work
    {"", "serve", "tokio-runtime-w", __NR_futex,
     "libc.so.6!syscall < serve!<std::sys::sync::condvar::futex::Condvar>::wait < serve!serve::work < "
     "serve!tokio::runtime::task::core::Core<T,S>::poll < serve!tokio::runtime::task::harness::Harness<T,S>::poll < "
     "serve!tokio::runtime::blocking::pool::Inner::run"},
    // Debian 13's
    {"python: thread pool", "python3.13", "python3.13", __NR_futex,
     "libc.so.6! < libc.so.6! < libc.so.6! < libc.so.6! < python3.13!_PySemaphore_Wait < python3.13!_PyParkingLot_Park "
     "< _queue.cpython-313-x86_64-linux-gnu.so! < python3.13! < python3.13!PyObject_Vectorcall < "
     "python3.13!_PyEval_EvalFrameDefault < "
     "perf-15.map!py::_worker:/usr/lib/python3.13/concurrent/futures/thread.py"},
    // 3.12's, with names
    {"python: thread pool", "python3.12", "python3.12", __NR_futex,
     "libc.so.6!__futex_abstimed_wait_common < libc.so.6!__new_sem_wait_slow64.constprop.0 < "
     "libpython3.12.so.1.0!PyThread_acquire_lock_timed < _queue.cpython-312-x86_64-linux-gnu.so!"
     "_queue_SimpleQueue_get_impl < _queue.cpython-312-x86_64-linux-gnu.so!_queue_SimpleQueue_get < "
     "libpython3.12.so.1.0!cfunction_vectorcall_FASTCALL_KEYWORDS_METHOD < libpython3.12.so.1.0!PyObject_Vectorcall < "
     "libpython3.12.so.1.0!_PyEval_EvalFrameDefault < "
     "perf-15.map!py::worker:/opt/lib/python3.12/multiprocessing/pool.py"},
    // a task
    {"", "python3.13", "python3.13", __NR_futex,
     "libc.so.6! < libc.so.6! < libc.so.6! < libc.so.6! < python3.13!_PySemaphore_Wait < python3.13!_PyParkingLot_Park "
     "< _queue.cpython-313-x86_64-linux-gnu.so! < python3.13! < python3.13!PyObject_Vectorcall < "
     "python3.13!_PyEval_EvalFrameDefault < perf-15.map!py::wait:/srv/tasks.py < "
     "perf-15.map!py::_WorkItem.run:/usr/lib/python3.13/concurrent/futures/thread.py < "
     "perf-15.map!py::_worker:/usr/lib/python3.13/concurrent/futures/thread.py"},
    // a task that is not written in Python
    {"", "python3.13", "python3.13", __NR_futex,
     "libc.so.6! < libc.so.6! < libc.so.6! < libc.so.6! < python3.13!_PySemaphore_Wait < python3.13!_PyParkingLot_Park "
     "< _queue.cpython-313-x86_64-linux-gnu.so! < python3.13! < python3.13!_PyEval_EvalFrameDefault < "
     "perf-15.map!py::_WorkItem.run:/usr/lib/python3.13/concurrent/futures/thread.py"},
    // the lock of the interpreter, when it has got a task
    {"", "python3.13", "python3.13", __NR_futex,
     "libc.so.6! < libc.so.6! < libc.so.6! < libc.so.6!pthread_cond_clockwait < python3.13! < "
     "python3.13!PyEval_RestoreThread < _queue.cpython-313-x86_64-linux-gnu.so! < python3.13! < "
     "python3.13!PyObject_Vectorcall < python3.13!_PyEval_EvalFrameDefault < "
     "perf-15.map!py::_worker:/usr/lib/python3.13/concurrent/futures/thread.py"},
    // without -X perf
    {"", "python3.13", "python3.13", __NR_futex,
     "libc.so.6! < libc.so.6! < libc.so.6! < libc.so.6! < python3.13!_PySemaphore_Wait < python3.13!_PyParkingLot_Park "
     "< _queue.cpython-313-x86_64-linux-gnu.so! < python3.13! < python3.13!PyObject_Vectorcall < "
     "python3.13!_PyEval_EvalFrameDefault < python3.13! < python3.13! < python3.13! < libc.so.6! < libc.so.6!"},
    {"sshd: waiting for connections", "sshd", "sshd", __NR_ppoll,
     "libc.so.6!ppoll < sshd! < libc.so.6!__libc_start_call_main < libc.so.6!__libc_start_main < sshd!"},
    // Debian 13's
    {"sshd: waiting for connections", "sshd", "sshd", __NR_ppoll,
     "libc.so.6! < libc.so.6! < libc.so.6!ppoll < sshd! < libc.so.6! < libc.so.6!__libc_start_main < sshd!"},
    // with names
    {"sshd: waiting for connections", "sshd", "sshd", __NR_ppoll,
     "libc.so.6!ppoll < sshd!server_accept_loop < sshd!main < libc.so.6!__libc_start_main"},
    // a session
    {"", "sshd", "sshd", __NR_ppoll,
     "libc.so.6!ppoll < sshd! < sshd! < sshd! < libc.so.6!__libc_start_call_main < libc.so.6!__libc_start_main"},
    {"", "sshd", "sshd", __NR_ppoll,
     "libc.so.6!ppoll < sshd! < sshd! < libc.so.6!__libc_start_call_main < libc.so.6!__libc_start_main"},
    // a client
    {"", "ssh", "ssh", __NR_ppoll,
     "libc.so.6!ppoll < ssh! < libc.so.6!__libc_start_call_main < libc.so.6!__libc_start_main"},
};

}  // namespace

std::span<const IdleExample> ScriptExamples() { return kExamples; }

}  // namespace offcpu
