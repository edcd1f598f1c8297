#!/bin/sh
# check_races.sh: runs the engine's C tests of threads and worlds under ThreadSanitizer.
#
# Needs clang and the sanitizers' runtime (Debian: clang libclang-rt-14-dev, or the version of clang). The AVX kernels are
# not part of this build: they loop over the same slices as the others.
set -eu
cd "$(dirname "$0")/.."
if ! command -v clang >/dev/null; then
    echo "race check SKIPPED: clang is missing (Debian: apt-get install clang)"
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
export flags="-std=c17 -D_GNU_SOURCE -O1 -g1 -fno-omit-frame-pointer -ffp-contract=off -fno-math-errno -pthread \
    -fsanitize=thread -DGG_NO_WIDE_KERNELS -DGG_NO_INLINE -Icsrc -I$stb"
export folder
# the longest files first, on all processors
{
    find csrc/backend -name '*.c' -not -name 'avx*.c'
    find csrc -name '*.c' -not -path 'csrc/py/*' -not -path 'csrc/backend/*'
} | xargs -P "$(getconf _NPROCESSORS_ONLN)" -I{} sh -c 'clang $flags -c {} -o "$folder/$(echo {} | tr / _).o"'
for test in threads world picture; do
    clang $flags "$folder"/*.o "tests/c/test_$test.c" -lm -o "$folder/race"
    TSAN_OPTIONS="halt_on_error=1 exitcode=66" "$folder/race"
done
echo "race check passed"
