"""The contract at the door: what it converts, what it refuses and how it says so."""

from types import SimpleNamespace

import numpy as np
import pytest

from tfbook.shapes import expect, shapes

ARRAYS = SimpleNamespace(
    floats=lambda name, X, like: np.asarray(X, float),
    integers=lambda name, X, like: np.asarray(X, int),
    booleans=lambda name, X, like: np.asarray(X, bool),
    alike=lambda real: real,
    WORDS={
        "floats": "array_like",
        "integers": "array_like of int",
        "booleans": "array_like of bool",
        "answer": "ndarray",
    },
)


@shapes(
    ARRAYS,
    Q="... T d_k",
    K="... T_k d_k",
    mask="... T T_k",
    scale="number",
    causal="flag",
    returns="... T T_k",
)
def scores(Q, K, mask=None, scale=None, causal=False):
    """Compare queries with keys.

    Parameters
    ----------
    Q
        Queries.
    K
        Keys.
    mask
        True where a query may attend.
    scale
        Factor of the products.
    causal
        Hide what comes later.

    Returns
    -------
    ndarray
    """
    return Q, K, mask, scale, causal


@shapes(ARRAYS, X="... T d", W="d H*d_k", W_2="d H_kv*d_k", H="size", H_kv="divides H")
def heads(X, W, W_2, H, H_kv=None):
    return H, H_kv


@shapes(ARRAYS, tokens="int ... T", P="T d", T_k="count", base="positive")
def embed(tokens, P=None, T_k=None, base=1.0):
    return tokens


Q, K = np.ones((2, 5, 4)), np.ones((2, 7, 4))


def test_arguments_are_converted_by_place_and_by_name():
    given = scores([[1, 2]], K=[[3, 4]], mask=[[1]], scale=2)
    assert [X.dtype.kind for X in given[:3]] == ["f", "f", "b"]
    assert given[3:] == (2.0, False)
    assert scores(Q, K)[2:] == (None, None, False)
    assert embed([[1, 2]]).dtype.kind == "i"


def test_a_divisor_takes_the_size_that_it_divides():
    X, W = np.ones((3, 4)), np.ones((4, 12))
    assert heads(X, W, W, 6) == (6, 6)
    assert heads(X, W, W[:, :4], 6, 2) == (6, 2)
    assert heads(X, W, W[:, :4], H=6, H_kv=2) == (6, 2)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (
            lambda: scores(Q, K[..., :3]),
            "K: expected (..., T_k, d_k) = (..., T_k, 4), got (2, 7, 3)",
        ),
        (lambda: scores(Q[0, 0], K), "Q: expected (..., T, d_k), got (4,)"),
        (
            lambda: scores(Q, np.ones((3, 7, 4))),
            "K: expected a shape that broadcasts to the leading axes of Q = (2,),"
            " got (3,)",
        ),
        (
            lambda: scores(Q, K, np.ones((5, 6))),
            "mask: expected a shape that broadcasts to (..., T, T_k) = (2, 5, 7),"
            " got (5, 6)",
        ),
        (lambda: scores(Q[..., :1, :], K, np.ones((5, 7))), "mask: expected"),
        (
            lambda: scores(Q, K, scale=np.inf),
            "scale: expected a finite real number, got inf",
        ),
        (
            lambda: scores(Q, K, scale=True),
            "scale: expected a finite real number, got True",
        ),
        (lambda: scores(Q, K, causal="no"), "causal: expected True or False, got str"),
        (
            lambda: heads(Q, np.ones((4, 6)), np.ones((4, 6)), 5),
            "W: expected channels for H = 5 heads of one size, got 6",
        ),
        (
            lambda: heads(Q, np.ones((4, 6)), np.ones((4, 6)), 6, 4),
            "H_kv: expected a divisor of H = 6",
        ),
        (
            lambda: heads(Q, np.ones((4, 6)), np.ones((4, 5)), 6, 2),
            "W_2: expected (d, H_kv*d_k) = (4, 2), got (4, 5)",
        ),
        (
            lambda: heads(Q, np.ones((4, 6)), np.ones((4, 6)), 0),
            "H: expected a whole number, at least 1, got 0",
        ),
        (
            lambda: heads(Q, np.ones((4, 6)), np.ones((4, 6)), 2.0),
            "H: expected a whole number, at least 1, got 2.0",
        ),
        (
            lambda: heads(Q, np.ones((4, 6)), np.ones((4, 6)), True),
            "H: expected a whole number",
        ),
        (
            lambda: embed([1, 2, 3], np.ones((2, 4))),
            "P: expected (T, d) = (3, d), got (2, 4)",
        ),
        (
            lambda: embed([1], T_k=-1),
            "T_k: expected a whole number, at least 0, got -1",
        ),
        (lambda: embed([1], base=0), "base: expected a number above 0, got 0"),
    ],
)
def test_a_broken_contract_says_what_was_expected_and_what_came(call, says):
    with pytest.raises(ValueError, match="expected") as error:
        call()
    assert str(error.value).startswith(says)


def test_leading_axes_broadcast_together():
    assert scores(np.ones((3, 1, 5, 4)), K)[0].shape == (3, 1, 5, 4)
    assert scores(Q[0], K, np.ones((6, 1, 1, 7)))[2].shape == (6, 1, 1, 7)
    with pytest.raises(ValueError, match="leading axes of Q"):
        scores(np.ones((3, 3, 5, 4)), K)


def test_a_missing_argument_is_still_a_type_error():
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'K'"):
        scores(Q)


def test_a_form_of_no_argument_is_refused():
    with pytest.raises(ValueError, match="expected arguments of"):
        shapes(ARRAYS, Z="... d")(lambda f: f)


def test_the_docstring_gets_types_and_shapes():
    said = scores.__doc__
    assert "\nQ : array_like, shape (..., T, d_k)\n    Queries." in said
    assert (
        "\nmask : array_like of bool, broadcasts to (..., T, T_k), optional\n" in said
    )
    assert "\nscale : float, optional\n" in said
    assert "\ncausal : bool\n" in said
    assert "\nndarray, shape (..., T, T_k)" in said


def test_the_door_is_a_function_of_its_module():
    assert scores.__globals__ is globals(), "doctest asks"
    assert scores.__wrapped__.__name__ == scores.__name__ == "scores"
    assert scores.contract["K"] == "... T_k d_k"
    assert scores.returns == "... T T_k"


def test_expect_names_products():
    expect("W_O", (24, 16), "(H*d_v, d)", H=4, d_v=6, d=16)
    with pytest.raises(
        ValueError, match=r"W_O: expected \(H\*d_v, d\) = \(24, 16\), got"
    ):
        expect("W_O", (16, 24), "(H*d_v, d)", H=4, d_v=6, d=16)
