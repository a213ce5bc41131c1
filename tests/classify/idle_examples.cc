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
};

}  // namespace

std::span<const IdleExample> ScriptExamples() { return kExamples; }

}  // namespace offcpu
