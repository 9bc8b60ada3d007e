/* Counts allocations by who made them: preloaded (LD_PRELOAD) into a program that is measured.
 *
 * A call of malloc, calloc, realloc, posix_memalign or aligned_alloc counts for the library that its
 * return address lies in. At the end, the counts are written to the file that PEAL_ALLOCATIONS names;
 * a program may also ask for the sums at any time (peal_allocation_count, peal_allocated_bytes).
 *
 * cc -O2 -shared -fPIC -o count-allocations.so count-allocations.c
 */
#define _GNU_SOURCE
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

enum { PROGRAM, SWIFT, NGHTTP2, OPENSSL, OTHER, OWNERS };
static const char *const names[OWNERS] = {"program", "swift", "nghttp2", "openssl", "other"};
static _Atomic uint64_t counts[OWNERS], sums[OWNERS];

/* The executable pieces of the libraries that were there at the start. */
static struct piece { uintptr_t start, end; int owner; } pieces[256];
static int piece_count;

static int owner_of_name(const char *name) {
    if (!*name) return PROGRAM;
    if (strstr(name, "/libswift")) return SWIFT;
    if (strstr(name, "/libnghttp2")) return NGHTTP2;
    if (strstr(name, "/libcrypto") || strstr(name, "/libssl")) return OPENSSL;
    return OTHER;
}

static int note(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    (void)data;
    for (int i = 0; i < info->dlpi_phnum && piece_count < 256; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type != PT_LOAD || !(header->p_flags & PF_X)) continue;
        uintptr_t start = info->dlpi_addr + header->p_vaddr;
        pieces[piece_count++] =
            (struct piece){start, start + header->p_memsz, owner_of_name(info->dlpi_name)};
    }
    return 0;
}

__attribute__((constructor)) static void begin(void) { dl_iterate_phdr(note, NULL); }

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("PEAL_ALLOCATIONS");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file) return;
    for (int owner = 0; owner < OWNERS; owner++)
        fprintf(file, "%s %llu %llu\n", names[owner], (unsigned long long)counts[owner],
                (unsigned long long)sums[owner]);
    fclose(file);
}

static inline void count(void *caller, size_t bytes) {
    uintptr_t address = (uintptr_t)caller;
    int owner = OTHER;
    for (int i = 0; i < piece_count; i++)
        if (address >= pieces[i].start && address < pieces[i].end) {
            owner = pieces[i].owner;
            break;
        }
    atomic_fetch_add_explicit(&counts[owner], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&sums[owner], bytes, memory_order_relaxed);
}

uint64_t peal_allocation_count(void) {
    uint64_t sum = 0;
    for (int owner = 0; owner < OWNERS; owner++) sum += counts[owner];
    return sum;
}

uint64_t peal_allocated_bytes(void) {
    uint64_t sum = 0;
    for (int owner = 0; owner < OWNERS; owner++) sum += sums[owner];
    return sum;
}

void *malloc(size_t bytes) {
    count(__builtin_return_address(0), bytes);
    return __libc_malloc(bytes);
}

void *calloc(size_t number, size_t bytes) {
    count(__builtin_return_address(0), number * bytes);
    return __libc_calloc(number, bytes);
}

void *realloc(void *old, size_t bytes) {
    count(__builtin_return_address(0), bytes);
    return __libc_realloc(old, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes) {
    count(__builtin_return_address(0), bytes);
    return __libc_memalign(alignment, bytes);
}

int posix_memalign(void **result, size_t alignment, size_t bytes) {
    count(__builtin_return_address(0), bytes);
    void *memory = __libc_memalign(alignment, bytes);
    if (!memory) return 12; /* ENOMEM */
    *result = memory;
    return 0;
}
