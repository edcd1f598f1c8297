/* cores.c: affinity, quotas of control groups, OMP_NUM_THREADS. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* affinity, clocks */
#endif
#include "cores.h"

#include "base.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_SIZE 4096

/* ---- affinity ---- */

static int32_t online_cores(void) {
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 && count < 1 << 20 ? (int32_t)count : 1;
}

#ifdef __linux__
gg_affinity gg_affinity_get(void) {
    gg_affinity a;
    CPU_ZERO(&a.cores);
    if (sched_getaffinity(0, sizeof a.cores, &a.cores)) {
        CPU_ZERO(&a.cores); /* more cores than the set can name */
    }
    return a;
}

int32_t gg_affinity_count(const gg_affinity *affinity) {
    int32_t count = CPU_COUNT(&affinity->cores);
    return count ? count : online_cores();
}

int gg_affinity_equal(const gg_affinity *a, const gg_affinity *b) { return CPU_EQUAL(&a->cores, &b->cores); }

void gg_affinity_set(const gg_affinity *wanted) {
    if (CPU_COUNT(&wanted->cores)) {
        (void)sched_setaffinity(0, sizeof wanted->cores, &wanted->cores); /* else it stays where it may run */
    }
}
#else
gg_affinity gg_affinity_get(void) { return (gg_affinity){online_cores()}; }
int32_t gg_affinity_count(const gg_affinity *affinity) { return affinity->count; }
int gg_affinity_equal(const gg_affinity *a, const gg_affinity *b) { return a->count == b->count; }
void gg_affinity_set(const gg_affinity *wanted) { (void)wanted; }
#endif

/* ---- control groups ---- */

/* where a hierarchy of control groups is mounted, and which group that place shows */
typedef struct mount {
    int version; /* 1 or 2; 0: not mounted */
    char root[PATH_SIZE], place[PATH_SIZE];
} mount;

/* whether a list divided by commas has a word */
static int has_word(const char *list, const char *word) {
    size_t length = strlen(word);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        if (!strncmp(at, word, length) && (at[length] == ',' || at[length] == '\0' || at[length] == '\n')) {
            return 1;
        }
    }
    return 0;
}

/* the file at `root` and `path`; NULL: there is none */
static FILE *open_below(const char *root, const char *path) {
    char whole[PATH_SIZE];
    int length = snprintf(whole, sizeof whole, "%s%s", root, path);
    return length >= 0 && (size_t)length < sizeof whole ? fopen(whole, "re") : NULL;
}

/* The mount whose files limit processor time: that of v1's controller "cpu", else v2. A line of mountinfo (proc(5)):
 * id parent device root place options [tags] - type source super-options */
static mount find_mount(const char *root) {
    mount found = {0, "", ""}, m;
    char line[3 * PATH_SIZE], type[32], options[PATH_SIZE];
    FILE *file = open_below(root, "/proc/self/mountinfo");
    while (file && fgets(line, sizeof line, file)) {
        const char *rest = strstr(line, " - ");
        if (!rest || sscanf(line, "%*s %*s %*s %4095s %4095s", m.root, m.place) != 2 ||
            sscanf(rest, " - %31s %*s %4095s", type, options) != 2) {
            continue;
        }
        m.version = !strcmp(type, "cgroup") && has_word(options, "cpu") ? 1 : !strcmp(type, "cgroup2") ? 2 : 0;
        if (m.version == 1 || (m.version == 2 && !found.version)) {
            found = m;
        }
    }
    if (file) {
        fclose(file);
    }
    return found;
}

/* the group of this process in a hierarchy; "": unknown. A line of cgroup: number:controllers:path */
static void find_group(const char *root, int version, char *group) {
    char line[2 * PATH_SIZE];
    group[0] = '\0';
    FILE *file = open_below(root, "/proc/self/cgroup");
    while (file && fgets(line, sizeof line, file)) {
        char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path) {
            continue;
        }
        *path = '\0';
        path[1 + strcspn(path + 1, "\n")] = '\0';
        if (version == 1 ? has_word(controllers + 1, "cpu") : controllers[1] == '\0') {
            snprintf(group, PATH_SIZE, "%.4000s", path + 1);
        }
    }
    if (file) {
        fclose(file);
    }
}

/* the numbers of a file of a group; -1 stands for "max" and for what is missing */
static void read_numbers(const char *root, const char *folder, const char *name, double *first, double *second) {
    char path[PATH_SIZE], text[2][32] = {"", ""};
    snprintf(path, sizeof path, "%.4000s/%s", folder, name);
    FILE *file = open_below(root, path);
    int count = file ? fscanf(file, "%31s %31s", text[0], text[1]) : 0;
    if (file) {
        fclose(file);
    }
    *first = count >= 1 && strcmp(text[0], "max") ? atof(text[0]) : -1.0;
    *second = count >= 2 ? atof(text[1]) : -1.0;
}

/* cores that one group grants; 0: no limit */
static int32_t group_cores(const char *root, int version, const char *folder) {
    double quota, period, none;
    if (version == 2) {
        read_numbers(root, folder, "cpu.max", &quota, &period);
    } else {
        read_numbers(root, folder, "cpu.cfs_quota_us", &quota, &none);
        read_numbers(root, folder, "cpu.cfs_period_us", &period, &none);
    }
    if (!(quota > 0.0 && period > 0.0)) {
        return 0;
    }
    double cores = quota / period;
    int32_t whole = cores < 1e6 ? (int32_t)cores : 1000000;
    return whole + ((double)whole < cores);
}

int32_t gg_quota_cores(const char *root) {
    mount m = find_mount(root);
    char group[PATH_SIZE], folder[2 * PATH_SIZE];
    if (!m.version) {
        return 0;
    }
    find_group(root, m.version, group);
    /* the path below the place of the mount; where the mount shows another part of the hierarchy, the place itself */
    size_t above = strcmp(m.root, "/") ? strlen(m.root) : 0;
    int inside = !strncmp(group, m.root, above) && (group[above] == '/' || group[above] == '\0');
    snprintf(folder, sizeof folder, "%s%s", m.place, inside && !strstr(group, "/..") ? group + above : "");
    int32_t least = 0;
    for (size_t shortest = strlen(m.place);;) {
        int32_t cores = group_cores(root, m.version, folder);
        least = cores && (!least || cores < least) ? cores : least;
        char *last = strrchr(folder, '/');
        if (strlen(folder) <= shortest || !last) {
            return least;
        }
        *last = '\0';
    }
}

/* ---- what a default may use ---- */

int32_t gg_omp_threads(const char *value) {
    char *end;
    errno = 0;
    long count = value ? strtol(value, &end, 10) : 0;
    if (!value || end == value || errno || count < 1) {
        return 0;
    }
    end += strspn(end, " \t");
    return *end == '\0' || *end == ',' ? (int32_t)GG_MIN(count, 1 << 20) : 0;
}

int32_t gg_usable_cores(void) {
    gg_affinity affinity = gg_affinity_get();
    int32_t cores = gg_affinity_count(&affinity);
    int32_t quota = gg_quota_cores(""), asked = gg_omp_threads(getenv("OMP_NUM_THREADS"));
    cores = quota ? GG_MIN(cores, quota) : cores;
    return asked ? GG_MIN(cores, asked) : cores;
}
