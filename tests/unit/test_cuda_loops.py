"""Loops of machine code are found and measured (tools/cuda_loops.py)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import cuda_loops

#: a loop with a short and a long way, within another one; a loop without a root
CODE = """
.section .text.gg_coloured_step_kernel,"ax"
.text.gg_coloured_step_kernel:
        /*0000*/                   MOV R1, c[0x0][0x28] ;
.L_outer:
        /*0010*/                   LDS.128 R4, [R3] ;
.L_inner:
        /*0020*/                   LDG.E R2, desc[UR6][R4.64] ;
        /*0030*/                   MUFU.RSQ R5, R2 ;
        /*0040*/               @P0 BRA `(.L_short) ;
        /*0050*/                   MUFU.RCP R6, R5 ;
        /*0060*/                   FMUL R6, R6, R5 ;
        /*0070*/               @P2 STS.128 [R7], R8 ;
.L_short:
        /*0080*/                   IMAD.MOV.U32 R2, RZ, RZ, R6 ;
        /*0090*/               @P1 BRA `(.L_inner) ;
        /*00a0*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*00b0*/               @P3 BRA `(.L_outer) ;
.L_plain:
        /*00c0*/                   LDG.E R2, desc[UR6][R4.64] ;
        /*00d0*/               @P3 BRA `(.L_plain) ;
        /*00e0*/                   EXIT ;
"""


def test_loops() -> None:
    """The innermost loop is found, with its longest way; a branch forward skips, and one that always goes ends it."""
    (function,) = cuda_loops.functions(CODE)
    assert function.name == "gg_coloured_step_kernel" and len(function.code) == 15
    ends = [function.code[end] for _, end in function.loops()]
    assert ends == ["@P3 BRA `(.L_outer)", "@P1 BRA `(.L_inner)", "@P3 BRA `(.L_plain)"]
    kinds = {"arithmetic": 1, "global": 1, "shared": 1, "spilled": 0, "moves": 1}
    row = {"longest path": 8, "around": 11, "all": 8, **kinds}
    assert cuda_loops.solving(function) == [row]
    (function,) = cuda_loops.functions(CODE.replace("@P0 BRA", "BRA"))
    assert cuda_loops.solving(function) == [{**row, "longest path": 5, "around": 8}]
    (function,) = cuda_loops.functions(CODE.replace("FMUL R6, R6, R5", "STL [R1], R6"))
    assert cuda_loops.solving(function) == [{**row, "arithmetic": 0, "spilled": 1}]
    (function,) = cuda_loops.functions(CODE.replace("MUFU.RCP", "MUFU.EX2"))
    assert cuda_loops.solving(function) == []
    assert cuda_loops.calls(function) == (0, 0)
    called = CODE.replace("EXIT", "CALL.REL.NOINC `($gg_function)").replace("LDG.E R2", "LD.E R2", 1)
    (function,) = cuda_loops.functions(called.replace("MOV R1", "CALL.REL `($__internal_1_$div) MOV R1"))
    assert cuda_loops.calls(function) == (1, 1)


def test_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A file or a program that is not there is said."""
    with pytest.raises(SystemExit):
        cuda_loops.main([str(tmp_path / "none.so")])
    assert "none.so is not there" in capsys.readouterr().err
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(SystemExit, match="pip install nvidia-cuda-cuobjdump"):
        cuda_loops.tool("nvdisasm")
