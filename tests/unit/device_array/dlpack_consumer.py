"""A consumer of DLPack capsules: the structs of the protocol, declared here once more."""

from __future__ import annotations

import ctypes
from typing import Any

import granular_gym as gg


class Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class Plain(ctypes.Structure):
    _fields_ = (("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    )


KINDS = {"dltensor": Plain, "dltensor_versioned": Versioned}
api = ctypes.pythonapi
api.PyCapsule_GetName.argtypes, api.PyCapsule_GetName.restype = [ctypes.py_object], ctypes.c_char_p
api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_GetPointer.restype = ctypes.c_void_p


def inside(capsule: Any) -> Any:
    """The managed tensor in a capsule that nobody has taken; it lives as long as the capsule."""
    name = api.PyCapsule_GetName(capsule)
    return KINDS[name.decode()].from_address(api.PyCapsule_GetPointer(capsule, name))


used_names = [ctypes.create_string_buffer(f"used_{kind}".encode()) for kind in KINDS]


def take(capsule: Any) -> Any:
    """Takes the tensor as a consumer does; the caller owes it a call of `drop`."""
    managed = inside(capsule)
    api.PyCapsule_SetName(capsule, ctypes.cast(used_names[isinstance(managed, Versioned)], ctypes.c_char_p))
    return managed


def drop(managed: Any) -> None:
    """The consumer is done. ctypes calls without the GIL."""
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(managed.deleter)(ctypes.addressof(managed))


def facts(tensor: Tensor) -> tuple[Any, ...]:
    lengths = [(tensor.shape[k], tensor.strides[k]) for k in range(tensor.ndim)]
    return tensor.code, tensor.bits, tensor.lanes, tensor.byte_offset, lengths


class OnHost:
    """A DeviceArray seen by a library that knows no GPU."""

    def __init__(self, array: gg.DeviceArray, versioned: bool = True) -> None:
        self.array, self.versioned = array, versioned

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __dlpack__(self, **kwargs: Any) -> Any:
        asked = {"max_version": kwargs.get("max_version")} if self.versioned else {}
        return self.array.__dlpack__(dl_device=(1, 0), **asked)
