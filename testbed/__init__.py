"""testbed: scenes that tests, benchmarks and validation share; not installed.

`beds` (lone grains, beds, heaps, boxes), `landings` (loose lattices that fall on a floor), `laws` (single grains and
gases compared with rigid-body laws), `planar` (planar grains), `parity` (scenes on which two devices are compared),
`standard` (columns and wide beds for timing). Importers put the project's root on the path: tests by tests/conftest.py,
scripts themselves.
"""
