/* failing_malloc.h: an allocator that fails from the n-th call on, for programs linked with --wrap. */
#ifndef GG_FAILING_MALLOC_H
#define GG_FAILING_MALLOC_H

#include <stdlib.h>

static long calls, fail_first, fail_last, blocks;

static int refused(void) {
    calls++;
    return calls >= fail_first && calls <= fail_last;
}

/* of the next calls, numbers first to last fail */
static void arm(long first, long last) {
    calls = 0;
    fail_first = first;
    fail_last = last;
}

/* whether a call failed since arm() */
static int disarm(void) {
    int failed = fail_last > 0 && calls >= fail_first;
    arm(0, 0);
    return failed;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **out, size_t alignment, size_t size);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_posix_memalign(void **out, size_t alignment, size_t size);
void __wrap_free(void *block);

static void *counted(void *block) {
    blocks += block != NULL;
    return block;
}
void *__wrap_malloc(size_t size) { return refused() ? NULL : counted(__real_malloc(size)); }
void *__wrap_calloc(size_t count, size_t size) {
    /* systems that overcommit would grant it; 256 GiB must fail */
    int absurd = size && count > ((size_t)1 << 38) / size;
    return refused() || absurd ? NULL : counted(__real_calloc(count, size));
}
void *__wrap_realloc(void *old, size_t size) {
    void *block = refused() ? NULL : __real_realloc(old, size);
    return old ? block : counted(block);
}
void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    return refused() ? NULL : counted(__real_aligned_alloc(alignment, size));
}
int __wrap_posix_memalign(void **out, size_t alignment, size_t size) {
    int status = refused() ? 12 : __real_posix_memalign(out, alignment, size);
    blocks += status == 0;
    return status;
}
void __wrap_free(void *block) {
    blocks -= block != NULL;
    __real_free(block);
}

#endif
