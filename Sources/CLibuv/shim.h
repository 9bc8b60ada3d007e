// libuv for Swift: the library's header, and inline stand-ins for what Swift cannot import.
#pragma once
#include <uv.h>
