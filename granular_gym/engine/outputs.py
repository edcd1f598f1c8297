"""outputs.py: what a reader gets: NumPy arrays, DeviceArrays on the world's GPU, or torch tensors where the world runs.

torch is imported when it is first asked for, and only then.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from granular_gym.base import checks
from granular_gym.errors import GranularError

#: "numpy": on the host; "device": DeviceArray, on a GPU only; "torch": tensors, on the GPU or the host, without a copy
Output = Literal["numpy", "device", "torch"]
OUTPUTS: tuple[Output, ...] = get_args(Output)
#: what `World.read` gives as float32, and all that it gives
FloatField = Literal[
    "positions", "velocities", "angular_velocities", "angles", "radii", "tool_poses", "wrenches", "wall_wrenches"
]
Field = Literal[FloatField, "grain_materials"]
#: kDLCUDA, a kind of devices in DLPack
DLPACK_CUDA = 2


def torch_module() -> Any:
    """The torch package.

    Raises:
        GranularError: it is not installed.
    """
    try:
        import torch  # type: ignore[import-not-found, unused-ignore]
    except ImportError as error:
        raise GranularError("output: 'torch' needs PyTorch: pip install torch") from error
    return torch


def check_output(output: Any) -> Output:
    """Returns one of OUTPUTS.

    Raises:
        ArgumentError: it is none of them.
        GranularError: "torch", and it is not installed.
    """
    name: Any = checks.choice("output", output, OUTPUTS)
    if name == "torch":
        torch_module()
    chosen: Output = name
    return chosen


def lies_on(array: Any, device: str) -> bool:
    """Whether an array lies on this GPU ("cuda:0") and exports DLPack: torch's, JAX's, CuPy's or a DeviceArray."""
    where = getattr(array, "__dlpack_device__", None)
    if device == "cpu" or where is None or isinstance(array, np.ndarray):
        return False
    kind, number = where()
    return int(kind) == DLPACK_CUDA and device == f"cuda:{int(number)}"


def as_torch(array: Any) -> Any:
    """The tensor that shares the memory of a NumPy array or of a DeviceArray."""
    torch = torch_module()
    return torch.from_numpy(array) if isinstance(array, np.ndarray) else torch.from_dlpack(array)


def torch_stream(device: str) -> int:
    """The handle of the stream that torch works on now, on a GPU such as "cuda:0"."""
    return int(torch_module().cuda.current_stream(device).cuda_stream)


def stream_handle(stream: Any) -> int:
    """The handle of a CUDA stream: an integer, torch.cuda.Stream, cupy.cuda.Stream, or what has `__cuda_stream__`."""
    if hasattr(stream, "__cuda_stream__"):
        protocol = stream.__cuda_stream__
        stream = (protocol() if callable(protocol) else protocol)[1]
    for name in ("cuda_stream", "ptr"):
        stream = getattr(stream, name, stream)
    return checks.integer("stream", stream, 0, 2**63 - 1)


def kit_of(array: Any) -> Any:
    """The module whose functions take an array: torch of its tensors, else NumPy."""
    kind = type(array)
    return torch_module() if f"{kind.__module__}.{kind.__name__}" == "torch.Tensor" else np


def cast(array: Any, dtype: str) -> Any:
    """A NumPy array or a tensor as numbers of another type, by its name."""
    return array.astype(dtype) if isinstance(array, np.ndarray) else array.to(getattr(torch_module(), dtype))
