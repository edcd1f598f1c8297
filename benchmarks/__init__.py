"""Speed, and what it costs in accuracy: `python -m benchmarks`, or `make bench`. See run.py."""
