"""Speed and accuracy: `python -m benchmarks`, or `make bench`; see run.py."""
