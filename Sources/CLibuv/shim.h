// libuv for Swift: the library's header, and inline stand-ins for what Swift cannot import.
#pragma once
#include <uv.h>

// A GNU extension that Swift's C library module leaves out; libuv gets its own only in later versions.
extern int pthread_setname_np(pthread_t thread, const char *name);
static inline void peal_uv_name_this_thread(const char *name) {
    (void)pthread_setname_np(pthread_self(), name);
}

// Linux's timers of nanoseconds behind a descriptor, which Swift's C library module leaves out too.
#include <sys/prctl.h>
#include <sys/timerfd.h>
static inline int peal_uv_timer_descriptor(void) {
    // The kernel adds up to 50 microseconds to every wait of a thread, unless it is told not to.
    (void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    return timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
}
static inline int peal_uv_timer_descriptor_set(int descriptor, unsigned long long at_ns) {
    struct itimerspec time = {
        .it_value = {.tv_sec = (time_t)(at_ns / 1000000000), .tv_nsec = (long)(at_ns % 1000000000)}};
    return timerfd_settime(descriptor, TFD_TIMER_ABSTIME, &time, 0);
}
