"""Speed on a GPU beside its targets: `python -m benchmarks.gpu`, or `make gpu`. See run.py.

`targets` (figures that were promised) and `roofline` (the least time that memory allows) need nothing but the standard
library; `target_cases` and `breakdown` measure, on worlds that `drives` builds, as `case` says; `figures` draws.
"""
