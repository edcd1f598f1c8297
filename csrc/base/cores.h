/* cores.h: how many cores this process may use. On the host alone. */
#ifndef GG_CORES_H
#define GG_CORES_H

#include <stdint.h>

#ifdef __linux__
#include <sched.h>
typedef struct gg_affinity {
    cpu_set_t cores;
} gg_affinity;
#else
typedef struct gg_affinity {
    int32_t count;
} gg_affinity;
#endif

/* the cores that the calling thread may run on, and their number: at least 1 */
gg_affinity gg_affinity_get(void);
int32_t gg_affinity_count(const gg_affinity *affinity);
int gg_affinity_equal(const gg_affinity *a, const gg_affinity *b);
/* lets the calling thread run where `wanted` says */
void gg_affinity_set(const gg_affinity *wanted);

/* Cores by the processor time that control groups grant, rounded up: the least of the group of this process and of those
 * above it; cgroup v1 (cpu.cfs_quota_us over cpu.cfs_period_us) and v2 (cpu.max). 0: no limit, or not to be found.
 * root: what the paths /proc/self and /sys begin with, "" but in tests. */
int32_t gg_quota_cores(const char *root);

/* threads that OMP_NUM_THREADS asks for, given its value; the first of a list; 0: none */
int32_t gg_omp_threads(const char *value);

/* Cores that a default may use, at least 1: the least of the affinity of the calling thread, the quota and
 * OMP_NUM_THREADS. */
int32_t gg_usable_cores(void);

#endif
