#!/bin/sh
# check_sanitized.sh: runs tests/unit and tests/hostile with AddressSanitizer and UndefinedBehaviorSanitizer.
#
# Needs gcc. Leaks are not checked, as Python itself does not free all memory; the C tests check the engine for leaks.
# Takes several minutes, most of them for the build in build/sanitized.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
python=$root/.venv/bin/python
lib=$root/build/sanitized/lib
# checks of addresses and functions of headers as calls: less code to compile
calls="-DGG_NO_INLINE --param=asan-instrumentation-with-call-threshold=0"
GG_SANITIZE=address,undefined GG_CFLAGS="-Og $calls" CC=gcc "$python" setup.py --quiet build \
    --build-base build/sanitized --build-lib "$lib"
# run in the folder of the build, so that child processes of tests load it too; no quarantine of freed memory, which
# tests of memory use would take for a leak
cd "$lib"
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:quarantine_size_mb=0:thread_local_quarantine_size_kb=0
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
# the deselected test starts Python with an empty environment, so without the sanitizer's library
LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)" PYTHONPATH=$lib \
    "$python" -m pytest -q -p no:cacheprovider "$root/tests/unit" "$root/tests/hostile" \
    --ignore "$root/tests/unit/test_c.py" --ignore "$root/tests/unit/test_stubs.py" \
    --deselect tests/unit/test_exports.py::test_import_starts_no_thread_and_registers_the_tasks "$@"
