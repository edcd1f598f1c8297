/* test_cores.c: how many cores a process may use: control groups of both versions, in folders that stand for /, and
 * OMP_NUM_THREADS.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../csrc/base/cores.h"
#include "check.h"

/* writes a file and the folders above it */
static void put(const char *root, const char *path, const char *text) {
    char whole[512];
    snprintf(whole, sizeof whole, "%s%s", root, path);
    for (char *at = strchr(whole, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        mkdir(whole, 0777);
        *at = '/';
    }
    FILE *file = fopen(whole, "w");
    if (CHECK(file != NULL)) {
        fputs(text, file);
        fclose(file);
    }
}

#define MOUNT_2 "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
#define OTHERS                                                                                                         \
    "22 27 0:21 / /proc rw,relatime - proc proc rw\n"                                                                  \
    "35 31 0:32 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n"

static void test_version_2(void) {
    /* a container: its group is the root of what it sees */
    put("box", "/proc/self/mountinfo", OTHERS MOUNT_2);
    put("box", "/proc/self/cgroup", "0::/\n");
    CHECK(gg_quota_cores("box") == 0);
    put("box", "/sys/fs/cgroup/cpu.max", "max 100000\n");
    CHECK(gg_quota_cores("box") == 0);
    put("box", "/sys/fs/cgroup/cpu.max", "150000 100000\n");
    CHECK(gg_quota_cores("box") == 2);
    put("box", "/sys/fs/cgroup/cpu.max", "400000 100000\n");
    CHECK(gg_quota_cores("box") == 4);
    put("box", "/sys/fs/cgroup/cpu.max", "1000 100000\n");
    CHECK(gg_quota_cores("box") == 1);
    /* a service: the least of its group and those above */
    put("service", "/proc/self/mountinfo", MOUNT_2);
    put("service", "/proc/self/cgroup", "0::/jobs.slice/one/part\n");
    put("service", "/sys/fs/cgroup/jobs.slice/one/part/cpu.max", "max 100000\n");
    CHECK(gg_quota_cores("service") == 0);
    put("service", "/sys/fs/cgroup/jobs.slice/cpu.max", "600000 100000\n");
    CHECK(gg_quota_cores("service") == 6);
    put("service", "/sys/fs/cgroup/jobs.slice/one/cpu.max", "250000 100000\n");
    CHECK(gg_quota_cores("service") == 3);
    /* moved out of what it sees: the place of the mount is what is left */
    put("moved", "/proc/self/mountinfo", MOUNT_2);
    put("moved", "/proc/self/cgroup", "0::/../elsewhere\n");
    put("moved", "/sys/fs/cgroup/cpu.max", "200000 100000\n");
    CHECK(gg_quota_cores("moved") == 2);
}

static void test_version_1(void) {
    const char *const mount =
        OTHERS "33 31 0:30 /docker/ab /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n"
               "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
    put("old", "/proc/self/mountinfo", mount);
    put("old", "/proc/self/cgroup", "4:memory:/docker/ab\n3:cpuset:/\n2:cpu,cpuacct:/docker/ab/inner\n0::/else\n");
    put("old", "/sys/fs/cgroup/unified/cpu.max", "100000 100000\n");
    CHECK(gg_quota_cores("old") == 0);
    put("old", "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
    put("old", "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    CHECK(gg_quota_cores("old") == 0);
    put("old", "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "350000\n");
    CHECK(gg_quota_cores("old") == 4);
    put("old", "/sys/fs/cgroup/cpu,cpuacct/inner/cpu.cfs_quota_us", "20000\n");
    put("old", "/sys/fs/cgroup/cpu,cpuacct/inner/cpu.cfs_period_us", "10000\n");
    CHECK(gg_quota_cores("old") == 2);
}

/* nothing there, or nothing that makes sense: no limit */
static void test_nonsense(void) {
    CHECK(gg_quota_cores("nowhere") == 0);
    put("odd", "/proc/self/mountinfo", "\n1 2 3\n - \n30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\nlast");
    put("odd", "/proc/self/cgroup", "\nx\n0:\n:::\n0::\n");
    CHECK(gg_quota_cores("odd") == 0);
    const char *const numbers[] = {"", "x y", "100000", "-5 100000", "100000 0", "nan nan", "1e30 1"};
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
        put("odd", "/sys/fs/cgroup/cpu.max", numbers[k]);
        int32_t cores = gg_quota_cores("odd");
        CHECK(cores == 0 || (k == 6 && cores > 1000));
    }
}

static void test_omp(void) {
    CHECK(gg_omp_threads(NULL) == 0 && gg_omp_threads("") == 0 && gg_omp_threads("x") == 0);
    CHECK(gg_omp_threads("0") == 0 && gg_omp_threads("-3") == 0 && gg_omp_threads("2x") == 0);
    CHECK(gg_omp_threads("99999999999999999999") == 0);
    CHECK(gg_omp_threads("1") == 1 && gg_omp_threads(" 12 ") == 12 && gg_omp_threads("4,2") == 4);
}

static void test_usable(void) {
    unsetenv("OMP_NUM_THREADS");
    int32_t cores = gg_usable_cores();
    gg_affinity affinity = gg_affinity_get();
    CHECK(cores >= 1 && cores <= gg_affinity_count(&affinity));
    setenv("OMP_NUM_THREADS", "1", 1);
    CHECK(gg_usable_cores() == 1);
    setenv("OMP_NUM_THREADS", "100000", 1);
    CHECK(gg_usable_cores() == cores);
}

int main(void) {
    char folder[] = "cores_XXXXXX";
    if (!CHECK(mkdtemp(folder) != NULL && chdir(folder) == 0)) {
        return check_report();
    }
    test_version_2();
    test_version_1();
    test_nonsense();
    test_omp();
    test_usable();
    return check_report();
}
