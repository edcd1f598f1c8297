"""setup.py: builds the extension granular_gym._core from csrc/, and what pyproject.toml cannot say of the package.

Every csrc/**/*.c is compiled. One build serves all Pythons from PYTHON_FLOOR on (docs/packaging.md). What is built in
place keeps its symbols; installed packages and wheels are stripped. Switches, by environment:
    STB_INCLUDE_DIR   folder that holds stb_image_write.h
    CC                the C compiler (gcc or clang)
    GG_DEBUG=1        -O0, asserts on
    GG_SANITIZE=address,undefined or thread
    GG_WERROR=1       warnings are errors
    GG_EXTENSION=0    leave the extension out: for an editable installation that build_ext --inplace completes
    GG_CFLAGS         more flags for the C compiler
    GG_CUDA           auto (default): with CUDA where nvcc is found; 0: without; 1: with, or fail;
                      emulate: kernels run on the CPU, for tests of the device code (slow); instrument: the same,
                      and every load and store of theirs is a call (testbed/instrumented.py)
    NVCC              the CUDA compiler; otherwise nvcc on the path or in CUDA_HOME/bin
    GG_CUDA_ARCH      compute capabilities to build for, as 75,80,90 (the last one also as PTX, for newer GPUs), or
                      native; default: 75 to 120
    GG_VERSION_LABEL  appended to the version, after a +: the CUDA wheel is 0.1.0+cuda
    GG_CUDA_FLAGS     more flags for nvcc; -fmad=true allows fused multiply-add: the results then differ from the CPU's
                      (for timing only)
"""

from __future__ import annotations

import copy
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.egg_info import egg_info

ROOT = Path(__file__).resolve().parent
STB_HEADER = "stb_image_write.h"
STB_FOLDERS = ("/usr/include/stb", "/usr/local/include/stb", "/usr/include", "/usr/local/include")
#: oldest Python that a build serves: names of files and wheels are made of it, and csrc/py keeps to its limited API
PYTHON_FLOOR = (3, 10)
# what makes every optimisation round as the source says: gcc 12, vectorising straight-line code, leaves out the
# rounding of doubles to floats that become doubles again (tests/c/test_rounding.c)
SAME_BITS = ["-ffp-contract=off", "-fno-tree-slp-vectorize"]
FLAGS = ["-std=c17", *SAME_BITS, "-fno-math-errno", "-fvisibility=hidden", "-Wall", "-Wextra"]
# nothing unwinds C: tables for it would be a fiftieth of the extension
FLAGS += ["-fno-unwind-tables", "-fno-asynchronous-unwind-tables"]
# nor does the build depend on what a distribution's Python was built with
FLAGS += ["-fno-stack-protector"]
# SIMD builds of contact laws, pair queries and pictures; which one runs is chosen at run time, by the CPU's features
SIMD_FLAGS = {
    "avx512.c": ["-mavx512f", "-mavx512vl", "-mavx512dq", "-mavx512bw"],
    "avx2.c": ["-mavx2"],
}
# flags that clang does not know: no copies of functions for constant arguments, a thirtieth of the extension that saves
# no instruction; and no alignment of code whose size matters more than its speed
GCC_FLAGS = ["-fno-ipa-cp-clone"]
GCC_SMALL = ["-falign-functions=1", "-falign-jumps=1", "-falign-loops=1"]


def on(name: str) -> bool:
    """Whether an environment switch is set."""
    return os.environ.get(name, "0") not in ("", "0")


def stb_include_dir() -> str:
    """The folder of stb_image_write.h; SystemExit with instructions where it is missing."""
    given = os.environ.get("STB_INCLUDE_DIR")
    for folder in [given] if given else STB_FOLDERS:
        if (Path(folder) / STB_HEADER).is_file():
            return str(folder)
    if given:
        raise SystemExit(f"granular_gym: STB_INCLUDE_DIR={given} holds no {STB_HEADER}.")
    raise SystemExit(
        f"granular_gym: the header {STB_HEADER} is missing. Install it (Debian, Ubuntu: apt-get install libstb-dev), "
        "or download it from https://github.com/nothings/stb and set STB_INCLUDE_DIR to the folder that holds it."
    )


def compile_flags() -> tuple[list[str], list[str]]:
    """Flags for compiling and for linking."""
    # no debugging information, which Python's own flags ask for: a third of the time; GG_CFLAGS=-g brings it back
    compiling = [*FLAGS, *(["-O0", "-g", "-UNDEBUG"] if on("GG_DEBUG") else ["-O3", "-g0"])]
    linking = ["-pthread"]
    if on("GG_WERROR"):
        compiling.append("-Werror")
    sanitize = os.environ.get("GG_SANITIZE")
    if sanitize:
        compiling += [f"-fsanitize={sanitize}", "-fno-omit-frame-pointer", "-g1"]
        linking.append(f"-fsanitize={sanitize}")
    compiling += os.environ.get("GG_CFLAGS", "").split()
    return compiling, linking


#: compiled side by side: the host's side, with a kernel a phase, and the step kernel of each law
CUDA_SOURCES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "csrc/backend/cuda").rglob("*.cu"))
#: what stands in for them
NO_CUDA_SOURCE = "csrc/backend/no_cuda.c"
#: values of GG_CUDA with which kernels run on the CPU, and their flags. Calls for loads and stores are made after most
#: optimisations; lines are named where they are told
EMULATED = {
    "emulate": ["-O2", "-DGG_NO_INLINE"],
    "instrument": ["-O2", "-g1", "-fsanitize=thread", "-DGG_EMULATOR_INSTRUMENT"],
}
CUDA_ARCHITECTURES = ("75", "80", "86", "89", "90", "100", "120")


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def nvcc() -> str | None:
    """Path of the CUDA compiler; None: build without CUDA, as GG_CUDA says or because nvcc is missing."""
    wanted = os.environ.get("GG_CUDA", "auto") or "auto"
    if wanted == "0" or wanted in EMULATED:
        return None
    if wanted not in ("auto", "1"):
        raise SystemExit(f"granular_gym: GG_CUDA: expected auto, 0, 1, emulate or instrument, got {wanted!r}.")
    home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    found = shutil.which(os.environ.get("NVCC", "nvcc")) or shutil.which("nvcc", path=os.path.join(home, "bin"))
    if not found and wanted == "1":
        raise SystemExit(
            "granular_gym: GG_CUDA=1, but nvcc was not found. "
            "Install the CUDA toolkit, or point NVCC or CUDA_HOME to it."
        )
    return found


def cuda_architectures(compiler: str) -> list[str]:
    """Flags of nvcc for the compute capabilities to build for."""
    given = os.environ.get("GG_CUDA_ARCH", "")
    if given == "native":
        return ["-arch=native"]
    known = re.findall(r"compute_(\d+)\b", subprocess.run([compiler, "--list-gpu-arch"], **CAPTURE).stdout)
    wanted = given.split(",") if given else [arch for arch in CUDA_ARCHITECTURES if arch in known]
    if not wanted:
        raise SystemExit(
            f"granular_gym: nvcc knows {','.join(known) or 'nothing'}, and none of {','.join(CUDA_ARCHITECTURES)}: "
            "GG_CUDA_ARCH names others; GG_CUDA=0 builds without CUDA."
        )
    for arch in wanted:
        if arch not in known:
            raise SystemExit(
                f"granular_gym: GG_CUDA_ARCH: expected native or some of {','.join(known)}, got {given!r}."
            )
    flags = [f"-gencode=arch=compute_{arch},code=sm_{arch}" for arch in wanted]
    return [*flags, f"-gencode=arch=compute_{wanted[-1]},code=compute_{wanted[-1]}"]


CAPTURE = {"check": True, "text": True, "stdout": subprocess.PIPE}


#: replace the headers of the CUDA toolkit where kernels run on the CPU
EMULATOR = ROOT / "tests" / "emulator"
EMULATOR_HEADERS = sorted(EMULATOR.glob("*.h"))


def cuda_command() -> list[str] | None:
    """Command that compiles the CUDA backend, without file names; None: build without CUDA."""
    warn = ["-Wall", "-Wextra", *(["-Werror"] if on("GG_WERROR") else [])]
    host = ["-fPIC", "-fvisibility=hidden", *SAME_BITS, *warn]
    optimise = "-O0" if on("GG_DEBUG") else "-O3"
    further = os.environ.get("GG_CUDA_FLAGS", "").split()
    kind = os.environ.get("GG_CUDA")
    if kind in EMULATED:
        cxx = os.environ.get("CXX", "g++")
        flags = [*host, "-DGG_CUDA_EMULATED", f"-I{relative([EMULATOR])[0]}"]
        return [cxx, "-std=c++17", optimise, *flags, *EMULATED[kind], *further, "-x", "c++"]
    compiler = nvcc()
    if compiler is None:
        return None
    strict = ["-Werror", "all-warnings"] if on("GG_WERROR") else []
    # no contraction to fused multiply-add, so that GPU and CPU agree bit for bit
    contraction = [] if any("fmad" in flag for flag in further) else ["-fmad=false"]
    # compute capabilities side by side, where there are more processors than files
    threads = f"--threads={max(1, processors() // len(CUDA_SOURCES))}"
    flags = [*contraction, threads, "-cudart=static", "-Xptxas=-v", "-Xcompiler=" + ",".join(host), *strict]
    flags += further
    return [compiler, "-std=c++17", optimise, *flags, *cuda_architectures(compiler)]


def cuda_library_dir(compiler: str) -> str:
    """The folder of the toolkit's static runtime library."""
    dryrun = [compiler, "--dryrun", "-x", "cu", "-E", os.devnull]
    output = subprocess.run(dryrun, text=True, capture_output=True).stderr
    for folder in reversed(re.findall(r'"-L([^"]+)"', output)):
        if os.path.exists(os.path.join(folder, "libcudart_static.a")):
            return folder
    raise SystemExit(f"granular_gym: {compiler} has no libcudart_static.a; set GG_CUDA=0 to build without CUDA.")


def hash_of(paths) -> str:
    """Hash of files, 16 hex digits."""
    total = hashlib.sha256()
    for path in relative(paths):
        total.update((ROOT / path).read_bytes())
    return total.hexdigest()[:16]


def source_hash() -> str:
    """Hash of the engine's sources: a bed in the cache is used only by the engine that settled it."""
    return hash_of(path for kind in ("c", "h", "cu", "cuh") for path in (ROOT / "csrc").rglob("*." + kind))


INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def included(source: Path) -> set[Path]:
    """A source file and all that it includes by a path relative to itself."""
    found, left = set(), [source.resolve()]
    while left:
        path = left.pop()
        if path not in found:
            found.add(path)
            left += [(path.parent / name).resolve() for name in INCLUDE.findall(path.read_text(encoding="utf-8"))]
    return found


def cuda_key(command: list[str]) -> str:
    """What the code of the CUDA kernels depends on: sources, compiler and flags, but for those of the host's code."""
    host = ("-Xcompiler", "-W", "all-warnings", "--threads")
    flags = " ".join(flag for flag in command[1:] if not flag.startswith(host))
    sources = set().union(*(included(ROOT / source) for source in CUDA_SOURCES))
    if os.environ.get("GG_CUDA") in EMULATED:
        sources |= set(EMULATOR_HEADERS)
    version = hashlib.sha256(compiler_version(command[:1]).encode()).hexdigest()[:16]
    return f"{hash_of(sources)} {version} {flags}"


def compiler_version(command: list[str]) -> str:
    """What the compiler says of itself."""
    return subprocess.run([*command, "--version"], text=True, capture_output=True).stdout


def own_flags(source: str, gcc: bool) -> list[str]:
    """Extra flags for one file."""
    path, simd = Path(source), platform.machine().lower() in ("x86_64", "amd64")
    # What runs once a call or a world: -O3 makes it larger, not faster. And on x86-64 the kernels of processors without
    # AVX2, older than 2013: a thirtieth of the extension for up to 41 % more instructions there
    small = path.parent.name in ("py", "world") or (simd and path.name == "portable.c")
    flags = [*(GCC_FLAGS if gcc else []), *(SIMD_FLAGS.get(path.name, []) if simd else [])]
    if small and not on("GG_DEBUG"):
        flags += ["-O2", *(GCC_SMALL if gcc else [])]
    return flags


def remove_others(extension: Path) -> None:
    """Removes what earlier builds, for one Python alone, left beside an extension: Python would import it first."""
    for path in extension.parent.glob(f"{extension.name.split('.')[0]}.*.so"):
        if path.name != extension.name:
            path.unlink()


class BuildExtension(build_ext):
    """build_ext with flags for each file, parallel compilation, and objects that are kept while nothing changes.

    Builds for nvcc, for the emulator and without CUDA share the objects of all C files.
    """

    def finalize_options(self) -> None:
        super().finalize_options()
        # objects built with other flags are kept apart
        key = "".join(c if c.isalnum() else "_" for c in " ".join(compile_flags()[0][len(FLAGS) :]))
        self.build_temp = os.path.join(self.build_temp, key)

    def cuda_objects(self) -> list[str]:
        """Where the objects of CUDA_SOURCES are."""
        kind = os.environ.get("GG_CUDA")
        folder = os.path.join(self.build_temp, kind if kind in EMULATED else "cuda")
        return [os.path.join(folder, f"{Path(source).stem}.o") for source in CUDA_SOURCES]

    def cuda_state(self, command: list[str]) -> tuple[Path, str]:
        """A file beside the objects of CUDA_SOURCES, and what it holds where they are those of this command."""
        return Path(self.cuda_objects()[0]).with_name("key"), f"{cuda_key(command)} {' '.join(command)}"

    def start_cuda(self, command: list[str], pool: ThreadPoolExecutor) -> list[Future]:
        """Begins to compile the CUDA backend, where its objects are not those of the same sources and command."""
        objects, (hash_file, key) = self.cuda_objects(), self.cuda_state(command)
        if all(map(os.path.exists, objects)) and hash_file.exists() and hash_file.read_text() == key:
            return []
        print("granular_gym: compiling the CUDA backend", file=sys.stderr)
        hash_file.parent.mkdir(exist_ok=True)
        hash_file.unlink(missing_ok=True)

        def compile_one(source: str, object_file: str) -> subprocess.CompletedProcess:
            return subprocess.run([*command, "-c", source, "-o", object_file], cwd=ROOT, stderr=subprocess.PIPE)

        return [pool.submit(compile_one, *each) for each in zip(CUDA_SOURCES, objects, strict=True)]

    def finish_cuda(self, command: list[str], compiling: list[Future]) -> None:
        """Waits for what `start_cuda` began."""
        done = [each.result() for each in compiling]
        output = "".join(each.stderr.decode(errors="replace") for each in done)
        if done and "-Xptxas=-v" in command:
            # registers, spills and shared memory of each kernel, after a line with what they depend on, for
            # tools/cuda_kernels.py; a build with other flags than the default keeps its log beside its objects
            folder = Path(self.build_temp) if os.environ.get("GG_CUDA_FLAGS") else ROOT / "build"
            (folder / "cuda_kernels.log").write_text(f"{cuda_key(command)}\n{output}")
        if any(each.returncode for each in done):
            raise SystemExit(f"granular_gym: the CUDA backend did not compile:\n{output}")
        if done:
            hash_file, key = self.cuda_state(command)
            hash_file.write_text(key)

    def link_cuda(self, ext: Extension, command: list[str]) -> None:
        """Links the objects of the CUDA backend, and the static CUDA runtime."""
        ext.extra_objects += self.cuda_objects()
        ext.libraries += ["stdc++"]
        if os.environ.get("GG_CUDA") not in EMULATED:
            ext.library_dirs.append(cuda_library_dir(command[0]))
            ext.libraries += ["cudart_static", "dl", "pthread", "rt"]

    def copy_extensions_to_source(self) -> None:
        for ext in self.extensions:
            remove_others(ROOT / self.get_ext_filename(ext.name))
        super().copy_extensions_to_source()

    def build_extension(self, ext: Extension) -> None:
        import numpy

        # bdist_wheel after build comes here twice, and what is added stays within a call
        ext = copy.deepcopy(ext)
        compiling, linking = compile_flags()
        ext.include_dirs += [numpy.get_include(), stb_include_dir()]
        ext.extra_compile_args += compiling
        ext.extra_link_args += linking
        keeps = on("GG_DEBUG") or os.environ.get("GG_SANITIZE") or os.environ.get("GG_CUDA") == "instrument"
        if not (self.inplace or keeps):
            ext.extra_link_args.append("-s")
        ext.define_macros.append(("GG_BUILD_FLAGS", '"' + " ".join(compiling) + '"'))
        ext.define_macros.append(("GG_SOURCE_HASH", f'"{source_hash()}"'))
        cuda = cuda_command()
        if cuda is None:
            print("granular_gym: built without CUDA (no nvcc)", file=sys.stderr)
        else:
            ext.sources.remove(NO_CUDA_SOURCE)
            self.link_cuda(ext, cuda)
        os.makedirs(self.build_temp, exist_ok=True)
        # an extension newer than its objects is linked again where it was linked of others, as with CUDA
        target = os.path.abspath(self.get_ext_fullpath(ext.name))
        linked = Path(self.build_temp).parent / f"{hashlib.sha256(target.encode()).hexdigest()[:16]}.linked"
        parts = repr([self.build_temp, cuda, ext.extra_objects, ext.extra_link_args])
        if not linked.exists() or linked.read_text() != parts:
            linked.unlink(missing_ok=True)
            Path(target).unlink(missing_ok=True)
        compiler = self.compiler
        plain_one, plain_all = compiler._compile, compiler.compile
        version = compiler_version(compiler.compiler_so[:1])
        state, gcc = source_hash() + numpy.__version__ + version, "Free Software Foundation" in version

        def compile_one(obj, src, extension, cc_args, postargs, pp_opts):
            flags = [*postargs, *own_flags(src, gcc)]
            # folders of headers do not count: an isolated environment has its own, with the same headers
            words = [word for word in (*cc_args, *pp_opts) if not word.startswith("-I")]
            key = state + " ".join([*compiler.compiler_so, *words, *flags])
            hash_file = Path(obj + ".key")
            if not (os.path.exists(obj) and hash_file.exists() and hash_file.read_text() == key):
                hash_file.unlink(missing_ok=True)
                plain_one(obj, src, extension, cc_args, flags, pp_opts)
                hash_file.write_text(key)

        def compile_all(sources, *args, **kwargs):
            with ThreadPoolExecutor(min(processors(), 16)) as pool:
                # the longest first
                compiling = self.start_cuda(cuda, pool) if cuda is not None else []
                done = list(pool.map(lambda source: plain_all([source], *args, **kwargs), sources))
                self.finish_cuda(cuda, compiling)
            return [obj for objects in done for obj in objects]

        compiler._compile, compiler.compile = compile_one, compile_all
        try:
            super().build_extension(ext)
            remove_others(Path(target))
            linked.write_text(parts)
        finally:
            compiler._compile, compiler.compile = plain_one, plain_all


def relative(paths) -> list[str]:
    """Paths relative to the project, sorted: the build does not depend on where the project is."""
    return sorted(path.relative_to(ROOT).as_posix() for path in paths)


if not shutil.which(os.environ.get("CC", "cc").split()[0]) and not shutil.which("gcc"):
    print("granular_gym: no C compiler found; set CC or install one (Debian, Ubuntu: apt-get install gcc)")

EXTENSION = Extension(
    "granular_gym._core",
    sources=relative((ROOT / "csrc").rglob("*.c")),
    depends=[
        "setup.py",
        *relative([*EMULATOR_HEADERS, *(ROOT / "csrc").rglob("*.h"), *(ROOT / "csrc").rglob("*.cu*")]),
    ],
    include_dirs=["csrc"],
    define_macros=[("Py_LIMITED_API", "0x{:02X}{:02X}0000".format(*PYTHON_FLOOR))],
    py_limited_api=True,
)


LABEL = os.environ.get("GG_VERSION_LABEL", "")


class LabelledVersion(egg_info):
    """egg_info that appends LABEL to the version, also in a source distribution, whose setup.cfg appends nothing."""

    def finalize_options(self) -> None:
        if LABEL:
            self.tag_build = f"+{LABEL}"
        super().finalize_options()


def stated(name: str) -> str:
    """The value of a line `name = "value"` of pyproject.toml."""
    found = re.search(rf'^{name} = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    if not found:
        raise SystemExit(f"granular_gym: pyproject.toml: expected a line {name} = ...")
    return found[1]


def readme() -> str:
    """README.md with absolute links, for a page that is not beside its files: those of the release of this version."""
    repository, tag = stated("Repository"), f"v{stated('version')}"
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for prefix, view in (("!", "raw"), ("", "blob")):
        # relative targets only: neither a scheme nor a place on the same page
        link = rf"(?<!!){prefix}\[([^\]]*)\]\((?![a-z]+:|#)([^)\s]+)\)"
        text = re.sub(link, rf"{prefix}[\1]({repository}/{view}/{tag}/\2)", text)
    return text


if __name__ == "__main__":
    setup(
        long_description=readme(),
        long_description_content_type="text/markdown",
        packages=[
            *find_packages(include=["granular_gym*"]),
            *(f"granular_gym.{name}" for name in ("envs", "scenes", "_assets")),
        ],
        package_dir={
            "granular_gym": "granular_gym",
            "granular_gym.envs": "envs",
            "granular_gym.scenes": "scenes",
            "granular_gym._assets": "assets",
        },
        package_data={"granular_gym": ["py.typed", "*.pyi"], "granular_gym._assets": ["*", "**/*"]},
        exclude_package_data={"granular_gym._assets": ["*.pyc", "__pycache__/*"]},
        include_package_data=False,
        ext_modules=[EXTENSION] if os.environ.get("GG_EXTENSION", "1") != "0" else [],
        cmdclass={"build_ext": BuildExtension, "egg_info": LabelledVersion},
        options={"bdist_wheel": {"py_limited_api": "cp{}{}".format(*PYTHON_FLOOR)}},
    )
