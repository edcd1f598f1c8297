"""What is read of a file of callgrind: totals, and misses by function, costs of calls left out."""

from __future__ import annotations

from benchmarks import caches

TEXT = """\
version: 1
events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw
fn=(1) outer
cfn=(2) sweep
calls=3 10
+4 900 0 0 0 0 0 0 50 50
12 100 10 5 0 4 2 0 3 1
fn=(2)
10 800 80 40 0 20 10 0 9 2
* 100 20 10 0 2 1
totals: 1000 110 55 0 26 13 0 12 3
"""


def test_costs_of_calls_count_once_and_names_are_known_from_calls():
    totals, each = caches.read(TEXT)
    assert totals == {
        "Ir": 1000,
        "Dr": 110,
        "Dw": 55,
        "I1mr": 0,
        "D1mr": 26,
        "D1mw": 13,
        "ILmr": 0,
        "DLmr": 12,
        "DLmw": 3,
    }
    assert each == {"sweep": 11, "outer": 4}
