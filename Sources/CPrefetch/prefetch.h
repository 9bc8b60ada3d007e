// An instruction of the processor that Swift has no word for.
#pragma once

// Begins to load the cache line at `address`, which is going to be written; waits for nothing.
// Any address will do: one that is not mapped does nothing.
static inline void peal_prefetch_for_write(const void *address) {
    __builtin_prefetch(address, 1, 3);
}
