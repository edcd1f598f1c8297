#!/bin/sh
# setup_system.sh: system packages for the build, and an empty virtual environment.
#
# Checks for a C compiler, the stb header, Python's headers and its venv module. As root on a Debian system
# missing packages are installed; otherwise they are listed, and the script fails.
set -eu

PYTHON=${PYTHON:-python3}
VENV=${VENV:-.venv}

has_stb() {
    for folder in "${STB_INCLUDE_DIR:-}" /usr/include/stb /usr/local/include/stb /usr/include /usr/local/include; do
        if [ -n "$folder" ] && [ -f "$folder/stb_image_write.h" ]; then
            return 0
        fi
    done
    return 1
}

has_compiler() {
    command -v "${CC:-cc}" >/dev/null 2>&1 || return 1
    echo 'int main(void) { return 0; }' | "${CC:-cc}" -pthread -x c -o /dev/null - >/dev/null 2>&1
}

has_python_headers() {
    "$PYTHON" -c 'import os, sys, sysconfig
sys.exit(not os.path.isfile(os.path.join(sysconfig.get_paths()["include"], "Python.h")))' 2>/dev/null
}

missing() {
    list=""
    command -v "$PYTHON" >/dev/null 2>&1 || list="$list python3"
    has_compiler || list="$list gcc libc6-dev"
    has_stb || list="$list libstb-dev"
    has_python_headers || list="$list python3-dev"
    "$PYTHON" -c 'import ensurepip, venv' 2>/dev/null || list="$list python3-venv"
    echo "$list"
}

packages=$(missing)
if [ -n "$packages" ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "installing$packages"
        log=$(mktemp)
        # shellcheck disable=SC2086
        if ! { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
            $packages; } >"$log" 2>&1; then
            cat "$log"
            rm -f "$log"
            exit 1
        fi
        rm -f "$log"
    else
        echo "missing:$packages" >&2
        echo "install them, for example: sudo apt-get install$packages" >&2
        exit 1
    fi
fi
packages=$(missing)
if [ -n "$packages" ]; then
    echo "still missing:$packages (PYTHON=$PYTHON, CC=${CC:-cc})" >&2
    exit 1
fi

"$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || {
    echo "Python 3.10 or newer is needed, $PYTHON is $("$PYTHON" --version)" >&2
    exit 1
}
if [ ! -x "$VENV/bin/python" ]; then
    "$PYTHON" -m venv "$VENV"
fi
