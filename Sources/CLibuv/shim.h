// libuv for Swift: the library's header, and inline stand-ins for what Swift cannot import.
#pragma once
#include <uv.h>

// A GNU extension that Swift's C library module leaves out; libuv gets its own only in later versions.
extern int pthread_setname_np(pthread_t thread, const char *name);
static inline void peal_uv_name_this_thread(const char *name) {
    (void)pthread_setname_np(pthread_self(), name);
}
