"""Settings of a test in which all pairs of values meet, not all combinations."""

import pytest
from allpairspy import AllPairs


def all_pairs(n=2, **values):
    """Run a test with few settings: any n values of different arguments meet in one."""
    rows = [tuple(row) for row in AllPairs(list(values.values()), n=n)]
    names = ["-".join(map(str, row)) for row in rows]
    return pytest.mark.parametrize(list(values), rows, ids=names)
