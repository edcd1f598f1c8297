"""Speed on a GPU and its targets: `python -m benchmarks.gpu`, or `make gpu`; see run.py.

`targets` (figures to be reached) and `roofline` (the memory-bound time of a step) need the standard library only;
`target_cases` and `breakdown` measure worlds that `drives` builds, with the helpers of `case`; `figures` draws.
"""
