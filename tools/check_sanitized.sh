#!/bin/sh
# check_sanitized.sh: the Python extension under AddressSanitizer and UndefinedBehaviorSanitizer: tests/unit and tests/hostile.
#
# Needs gcc. Leaks are not looked for: Python itself leaves blocks behind; the C tests look for those of the engine. Takes
# several minutes, most of them for the build, which lands in build/sanitized and touches nothing else.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
python=$root/.venv/bin/python
lib=$root/build/sanitized/lib
GG_SANITIZE=address,undefined GG_CFLAGS=-O1 CC=gcc "$python" setup.py --quiet build --build-base build/sanitized \
    --build-lib "$lib"
# from the folder of the build, so that the processes that tests start load it too; the quarantine of freed blocks would
# look like a leak to the tests that watch the memory of the process
cd "$lib"
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:quarantine_size_mb=0:thread_local_quarantine_size_kb=0
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
# the deselected test starts Python with an empty environment, without the sanitizer's library
LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)" PYTHONPATH=$lib \
    "$python" -m pytest -q -p no:cacheprovider "$root/tests/unit" "$root/tests/hostile" \
    --ignore "$root/tests/unit/test_c.py" --ignore "$root/tests/unit/test_stubs.py" \
    --deselect tests/unit/test_exports.py::test_import_starts_no_thread_and_registers_the_tasks "$@"
