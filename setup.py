"""setup.py: builds the extension granular_gym._core from csrc/.

Every csrc/**/*.c is compiled. Switches, by environment:
    STB_INCLUDE_DIR   folder that holds stb_image_write.h
    CC                the C compiler (gcc or clang)
    GG_DEBUG=1        -O0, asserts on
    GG_SANITIZE=address,undefined or thread
    GG_WERROR=1       warnings are errors
    GG_CFLAGS         further flags
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
STB_HEADER = "stb_image_write.h"
STB_PLACES = ("/usr/include/stb", "/usr/local/include/stb", "/usr/include", "/usr/local/include")
FLAGS = ["-std=c17", "-ffp-contract=off", "-fno-math-errno", "-fopenmp", "-fvisibility=hidden", "-Wall", "-Wextra"]
# the wide builds of the contact solve; which one runs is decided by the processor at run time
SIMD_FLAGS = {
    "ncp_avx512.c": ["-mavx512f", "-mavx512vl", "-mavx512dq", "-mavx512bw"],
    "ncp_avx2.c": ["-mavx2"],
}


def on(name: str) -> bool:
    """Whether an environment switch is set."""
    return os.environ.get(name, "0") not in ("", "0")


def stb_include_dir() -> str:
    """The folder of stb_image_write.h, or a message that says how to get it."""
    given = os.environ.get("STB_INCLUDE_DIR")
    for place in [given] if given else STB_PLACES:
        if (Path(place) / STB_HEADER).is_file():
            return str(place)
    if given:
        raise SystemExit(f"granular_gym: STB_INCLUDE_DIR={given} holds no {STB_HEADER}.")
    raise SystemExit(
        f"granular_gym: the header {STB_HEADER} is missing. Install it (Debian, Ubuntu: apt-get install libstb-dev), "
        "or download it from https://github.com/nothings/stb and set STB_INCLUDE_DIR to the folder that holds it."
    )


def compile_flags() -> tuple[list[str], list[str]]:
    """Flags for compiling and for linking."""
    compiling = [*FLAGS, *(["-O0", "-g", "-UNDEBUG"] if on("GG_DEBUG") else ["-O3"])]
    linking = ["-fopenmp"]
    if on("GG_WERROR"):
        compiling.append("-Werror")
    sanitize = os.environ.get("GG_SANITIZE")
    if sanitize:
        compiling += [f"-fsanitize={sanitize}", "-fno-omit-frame-pointer", "-g"]
        linking.append(f"-fsanitize={sanitize}")
    compiling += os.environ.get("GG_CFLAGS", "").split()
    return compiling, linking


def source_hash() -> str:
    """Names the engine's source: what was settled by another engine must not pass for a bed of this one."""
    total = hashlib.sha256()
    for path in relative([*(ROOT / "csrc").rglob("*.c"), *(ROOT / "csrc").rglob("*.h")]):
        total.update((ROOT / path).read_bytes())
    return total.hexdigest()[:16]


def simd_flags(source: str) -> list[str]:
    """Further flags of one file."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return []
    return SIMD_FLAGS.get(os.path.basename(source), [])


class BuildExtension(build_ext):
    """build_ext with flags per file, and as many compilers at a time as there are cores."""

    def finalize_options(self) -> None:
        super().finalize_options()
        # a change of flags must not find objects of other flags
        key = "".join(c if c.isalnum() else "_" for c in " ".join(compile_flags()[0][len(FLAGS) :]))
        self.build_temp = os.path.join(self.build_temp, key)

    def build_extension(self, ext: Extension) -> None:
        import numpy

        compiling, linking = compile_flags()
        ext.include_dirs += [numpy.get_include(), stb_include_dir()]
        ext.extra_compile_args += compiling
        ext.extra_link_args += linking
        ext.define_macros.append(("GG_BUILD_FLAGS", '"' + " ".join(compiling) + '"'))
        ext.define_macros.append(("GG_SOURCE_HASH", f'"{source_hash()}"'))
        compiler = self.compiler
        plain_one, plain_all = compiler._compile, compiler.compile

        def compile_one(obj, src, extension, cc_args, postargs, pp_opts):
            plain_one(obj, src, extension, cc_args, [*postargs, *simd_flags(src)], pp_opts)

        def compile_all(sources, *args, **kwargs):
            workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
            with ThreadPoolExecutor(max(1, min(workers, 8))) as pool:
                done = list(pool.map(lambda source: plain_all([source], *args, **kwargs), sources))
            return [obj for objects in done for obj in objects]

        compiler._compile, compiler.compile = compile_one, compile_all
        try:
            super().build_extension(ext)
        finally:
            compiler._compile, compiler.compile = plain_one, plain_all


def relative(paths) -> list[str]:
    """Paths relative to the project, sorted: the same build wherever it lies."""
    return sorted(path.relative_to(ROOT).as_posix() for path in paths)


if not shutil.which(os.environ.get("CC", "cc").split()[0]) and not shutil.which("gcc"):
    print("granular_gym: no C compiler found; set CC or install one (Debian, Ubuntu: apt-get install gcc)")

setup(
    packages=["granular_gym", "granular_gym.envs", "granular_gym._assets"],
    package_dir={"granular_gym": "granular_gym", "granular_gym.envs": "envs", "granular_gym._assets": "assets"},
    package_data={"granular_gym": ["py.typed", "*.pyi"], "granular_gym._assets": ["*", "**/*"]},
    exclude_package_data={"granular_gym._assets": ["*.pyc", "__pycache__/*"]},
    include_package_data=False,
    ext_modules=[
        Extension(
            "granular_gym._core",
            sources=relative((ROOT / "csrc").rglob("*.c")),
            depends=["setup.py", *relative((ROOT / "csrc").rglob("*.h"))],
            include_dirs=["csrc"],
        )
    ],
    cmdclass={"build_ext": BuildExtension},
)
