#!/bin/sh
# check_races.sh: runs the engine's C test under ThreadSanitizer with Archer, which makes it aware of OpenMP's barriers.
#
# Needs clang with its OpenMP runtime, libarcher and the sanitizers' runtime (Debian: clang libomp-dev
# libclang-rt-14-dev, or the version of clang). The AVX kernels are not part of this build: they loop over the same
# slices as the others.
set -eu
cd "$(dirname "$0")/.."
archer=$(ls /usr/lib/llvm-*/lib/libarcher.so 2>/dev/null | tail -n 1 || true)
if ! command -v clang >/dev/null || [ -z "$archer" ]; then
    echo "race check SKIPPED: clang or libarcher is missing (Debian: apt-get install clang libomp-dev)"
    exit 0
fi
if ! echo 'int main(void) { return 0; }' | clang -fsanitize=thread -x c -o /dev/null - 2>/dev/null; then
    echo "race check SKIPPED: clang has no ThreadSanitizer (Debian: apt-get install" \
        "libclang-rt-$(clang -dumpversion | cut -d . -f 1)-dev)"
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
stb=${STB_INCLUDE_DIR:-/usr/include/stb}
sources=$(find csrc -name '*.c' -not -path 'csrc/py/*' -not -name 'avx*.c' -not -name kernels.c)
clang -std=c17 -D_GNU_SOURCE -O1 -g -fno-omit-frame-pointer -ffp-contract=off -fno-math-errno -fopenmp -fsanitize=thread \
    -DGG_NO_WIDE_KERNELS -Icsrc -I"$stb" $sources csrc/backend/kernels.c tests/c/test_world.c -lm -o "$folder/race"
OMP_TOOL_LIBRARIES=$archer TSAN_OPTIONS="ignore_noninstrumented_modules=1 halt_on_error=1 exitcode=66" "$folder/race"
echo "race check passed"
