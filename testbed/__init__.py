"""testbed: scenes that tests, benchmarks and validation share; not installed.

`beds` (lone grains, beds, heaps, boxes), `laws` (single grains and gases held to rigid-body laws), `planar` (grains
that are shapes), `parity` (scenes on which two devices are compared), `standard` (the columns and wide beds that are
timed). Who imports it has the project's root on the path: tests through tests/conftest.py, scripts by themselves.
"""
