"""Recurrent layers: both halves agree, torch's own modules agree, and the faults that
readers report do not happen.
"""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import tfbook.numpy as tn
import tfbook.torch as tt

B, T, T_k, D, D_H = 2, 5, 7, 3, 11


def arrays(seed=0, dtype=np.float64, gates=1, leading=(B,)):
    rng = np.random.default_rng(seed)
    shapes = [
        (*leading, T, D),
        (D, gates * D_H),
        (D_H, gates * D_H),
        (gates * D_H,),
        (*leading, D_H),
        (*leading, D_H),
    ]
    return [(0.5 * rng.standard_normal(shape)).astype(dtype) for shape in shapes]


def tensors(arrays):
    return [torch.from_numpy(a) for a in arrays]


def layers(half, dtype=np.float64, leading=(B,)):
    """(name, f(X, h_0, c_0), X, h_0, c_0) for both layers of a half."""
    for name, gates in (("rnn", 1), ("lstm", 4)):
        X, W_x, W_h, b, h_0, c_0 = arrays(dtype=dtype, gates=gates, leading=leading)
        if half is tt:
            X, W_x, W_h, b, h_0, c_0 = tensors((X, W_x, W_h, b, h_0, c_0))
        P = {"W_x": W_x, "W_h": W_h, "b": b}
        if name == "rnn":
            yield (
                name,
                lambda X, h, c, half=half, P=P: half.rnn(X, **P, h_0=h),
                X,
                h_0,
                c_0,
            )
        else:
            yield (
                name,
                lambda X, h, c, half=half, P=P: half.lstm(X, P, h, c),
                X,
                h_0,
                c_0,
            )


def test_rnn_agrees_with_torchs_own():
    X, W_x, W_h, b, h_0, _ = tensors(arrays())
    oracle = torch.nn.RNN(D, D_H, batch_first=True, dtype=torch.float64)
    parameters = {
        "weight_ih_l0": W_x.T,
        "weight_hh_l0": W_h.T,
        "bias_ih_l0": b,
        "bias_hh_l0": 0 * b,
    }
    oracle.load_state_dict(parameters)
    torch.testing.assert_close(tt.rnn(X, W_x, W_h, b), oracle(X)[0])
    torch.testing.assert_close(tt.rnn(X, W_x, W_h, b, h_0), oracle(X, h_0[None])[0])


def test_lstm_agrees_with_torchs_own():
    X, W_x, W_h, b, h_0, c_0 = tensors(arrays(gates=4))
    oracle = torch.nn.LSTM(D, D_H, batch_first=True, dtype=torch.float64)
    oracle.load_state_dict(
        {
            "weight_ih_l0": W_x.T,
            "weight_hh_l0": W_h.T,
            "bias_ih_l0": b,
            "bias_hh_l0": 0 * b,
        }
    )
    P = {"W_x": W_x, "W_h": W_h, "b": b}
    torch.testing.assert_close(tt.lstm(X, P), oracle(X)[0])
    torch.testing.assert_close(
        tt.lstm(X, P, h_0, c_0), oracle(X, (h_0[None], c_0[None]))[0]
    )


@pytest.mark.parametrize("leading", [(), (B,), (B, 13)])
@pytest.mark.parametrize(
    ("dtype", "tolerance"),
    [(np.float64, 1e-12), (np.float32, 1e-5), (np.float16, 5e-3)],
)
def test_halves_agree_and_keep_the_dtype(leading, dtype, tolerance):
    for (name, f, X, h, c), (_, g, *_) in zip(
        layers(tn, dtype, leading), layers(tt, dtype, leading)
    ):
        for state in ((None, None), (h, c)):
            ours = f(X, *state)
            theirs = g(
                torch.from_numpy(X),
                *(None if s is None else torch.from_numpy(s) for s in state),
            )
            assert ours.shape == theirs.shape == (*leading, T, D_H), name
            assert ours.dtype == dtype, name
            assert theirs.numpy().dtype == dtype, name
            np.testing.assert_allclose(
                ours, theirs.numpy(), rtol=tolerance, atol=tolerance
            )


@settings(deadline=None, max_examples=25)
@given(cut=st.integers(0, T), name=st.sampled_from(["rnn", "lstm"]))
def test_a_sequence_may_be_read_in_two_parts(cut, name):
    """What is carried is all that the past has to say: the reason why running needs
    O(d) memory.
    """
    X, W_x, W_h, b, h_0, _ = arrays(gates=1)
    if name == "rnn":
        first = tn.rnn(X[:, :cut], W_x, W_h, b, h_0)
        state = first[:, -1] if cut else h_0
        whole = np.concatenate([first, tn.rnn(X[:, cut:], W_x, W_h, b, state)], axis=-2)
        np.testing.assert_allclose(whole, tn.rnn(X, W_x, W_h, b, h_0), rtol=1e-12)
    else:
        X, W_x, W_h, b, h_0, c_0 = arrays(gates=4)
        Y = tn.lstm(X, {"W_x": W_x, "W_h": W_h, "b": b}, h_0, c_0)
        changed = X.copy()
        changed[:, cut:] += 1
        np.testing.assert_array_equal(
            Y[:, :cut],
            tn.lstm(changed, {"W_x": W_x, "W_h": W_h, "b": b}, h_0, c_0)[:, :cut],
        )


@pytest.mark.parametrize("half", [tn, tt])
def test_every_sequence_of_a_batch_is_read_alone(half):
    for name, f, X, h, c in layers(half):
        batch = f(X, h, c)
        for i in range(B):
            np.testing.assert_allclose(
                np.asarray(batch[i]),
                np.asarray(f(X[i], h[i], c[i])),
                rtol=1e-12,
                err_msg=name,
            )


@pytest.mark.parametrize("half", [tn, tt])
def test_corners(half):
    for name, f, X, h, c in layers(half):
        assert tuple(f(X[:, :0], h, c).shape) == (B, 0, D_H), name
        assert tuple(f(X[:, :1], h, c).shape) == (B, 1, D_H), name
        assert tuple(f(X, h[0], c[0]).shape) == (B, T, D_H), (
            f"{name}: one start for all"
        )
        assert tuple(f(X[0], h, c).shape) == (B, T, D_H), (
            f"{name}: one sequence, many starts"
        )
        np.testing.assert_allclose(
            np.asarray(f(X[0], h, c)[1]), np.asarray(f(X[0], h[1], c[1])), rtol=1e-12
        )


@pytest.mark.parametrize("half", [tn, tt])
@pytest.mark.parametrize("size", [1e3, 1e30])
def test_large_numbers_do_not_overflow(half, size):
    for name, f, X, h, c in layers(half):
        Y = np.asarray(f(X * size, h, c))
        assert np.isfinite(Y).all(), name
        assert (abs(Y) <= T + abs(np.asarray(c)).max()).all(), name


@pytest.mark.parametrize("half", [tn, tt])
def test_a_wider_start_does_not_widen_the_states(half):
    narrow, wide = layers(half, np.float32), layers(half, np.float64)
    for (name, f, X, *_), (_, _, _, h, c) in zip(narrow, wide):
        assert np.asarray(f(X, h, c)).dtype == np.float32, name


def test_integers_are_taken_as_floats():
    X = np.arange(T * D).reshape(T, D) % 3
    W_x, W_h, b = np.ones((D, 2), int), np.eye(2, dtype=int), np.zeros(2, int)
    Y = tn.rnn(X, W_x, W_h, b)
    assert Y.dtype == np.float64
    np.testing.assert_array_equal(Y, tn.rnn(X * 1.0, W_x * 1.0, W_h * 1.0, b * 1.0))
    np.testing.assert_allclose(tt.rnn(*tensors([X, W_x, W_h, b])).numpy(), Y)


def test_inputs_are_left_alone():
    X, W_x, W_h, b, h_0, c_0 = given_ = arrays(gates=4)
    before = [a.copy() for a in given_]
    tn.lstm(X, {"W_x": W_x, "W_h": W_h, "b": b}, h_0, c_0)
    tt.lstm(
        torch.from_numpy(X),
        dict(zip(("W_x", "W_h", "b"), tensors([W_x, W_h, b]))),
        *tensors([h_0, c_0]),
    )
    for a, was in zip(given_, before):
        np.testing.assert_array_equal(a, was)


def test_gradients():
    X, W_x, W_h, b, h_0, _ = (
        t[..., :3, :2] if t.ndim == 3 else t for t in tensors(arrays())
    )
    W_x = W_x[:2]
    assert torch.autograd.gradcheck(
        tt.rnn, [t.requires_grad_() for t in (X, W_x, W_h, b, h_0)]
    )
    X, W_x, W_h, b, h_0, c_0 = [
        t.clone().requires_grad_() for t in tensors(arrays(gates=4))
    ]
    X = X[:, :2].detach().requires_grad_()
    assert torch.autograd.gradcheck(
        lambda X, W_x, W_h, b, h, c: tt.lstm(X, {"W_x": W_x, "W_h": W_h, "b": b}, h, c),
        (X, W_x, W_h, b, h_0, c_0),
        fast_mode=True,
    )


def test_an_open_cell_carries_a_gradient_any_distance():
    """The cell state is a highway; a plain recurrent layer's gradient fades."""
    steps, X = 200, torch.zeros(200, 1)
    P = {
        "W_x": torch.zeros(1, 4),
        "W_h": torch.zeros(1, 4),
        "b": torch.tensor([0.0, 30.0, 0.0, 30.0]),
    }
    c_0 = torch.tensor([0.1], requires_grad=True)
    tt.lstm(X, P, c_0=c_0)[-1].sum().backward()
    assert c_0.grad.item() > 0.9
    h_0 = torch.tensor([0.1], requires_grad=True)
    tt.rnn(X, torch.zeros(1, 1), 0.9 * torch.eye(1), torch.zeros(1), h_0)[
        -1
    ].sum().backward()
    assert h_0.grad.item() < 0.9**steps * 1.01


def test_recurrent_attention_agrees_and_asks_with_the_decoder():
    X, W_x, W_h, b, h_0, _ = arrays()
    context = np.random.default_rng(1).standard_normal((B, T_k, D_H))
    mask = tn.padding_mask([4, 7], T_k)
    Y = tn.recurrent_attention(X, context, W_x, W_h, b, h_0, mask)
    assert Y.shape == (B, T, D_H)
    twin = tt.recurrent_attention(
        *tensors([X, context, W_x, W_h, b, h_0]), mask=torch.from_numpy(mask)
    )
    np.testing.assert_allclose(Y, twin.numpy(), rtol=1e-12)
    np.testing.assert_allclose(
        Y,
        tn.scaled_dot_product_attention(
            tn.rnn(X, W_x, W_h, b, h_0), context, context, mask
        ),
        rtol=1e-12,
    )
    hidden = context.copy()
    hidden[0, 4:] = np.nan
    np.testing.assert_array_equal(
        Y, tn.recurrent_attention(X, hidden, W_x, W_h, b, h_0, mask)
    )
    order = np.random.default_rng(2).permutation(T_k)
    np.testing.assert_allclose(  # no order among the encoder's states
        tn.recurrent_attention(X, context[:, order], W_x, W_h, b),
        tn.recurrent_attention(X, context, W_x, W_h, b),
        rtol=1e-10,
    )


@pytest.mark.parametrize("half", [tn, tt])
def test_errors_name_the_argument_and_both_shapes(half):
    X, W_x, W_h, b, h_0, _ = arrays()
    make = torch.from_numpy if half is tt else np.asarray
    right = {"X": X, "W_x": W_x, "W_h": W_h, "b": b, "h_0": h_0}

    def call(f, **wrong):
        return f(**{name: make(a) for name, a in (right | wrong).items()})

    for wrong, message in (
        ({"X": X[0, 0]}, r"X: expected \(..., T, d\), got \(3,\)"),
        ({"W_x": W_x.T}, r"W_x: expected \(d, d_h\) = \(3, 11\), got \(11, 3\)"),
        (
            {"W_h": W_h[:, :-1]},
            r"W_h: expected \(d_h, d_h\) = \(11, 11\), got \(11, 10\)",
        ),
        ({"b": b[:1]}, r"b: expected \(d_h,\) = \(11,\), got \(1,\)"),
        (
            {"h_0": h_0[:, :1]},
            r"h_0: expected \(..., d_h\) = \(..., 11\), got \(2, 1\)",
        ),
        (
            {"h_0": np.zeros((3, D_H))},
            (
                r"h_0: expected a shape that broadcasts to the leading axes of X = "
                r"\(2,\), got \(3,\)"
            ),
        ),
    ):
        with pytest.raises(ValueError, match=message):
            call(half.rnn, **wrong)
    with pytest.raises(ValueError, match="P: expected W_x, W_h and b, got no W_h, b"):
        half.lstm(make(X), {"W_x": make(W_x)})
    with pytest.raises(
        ValueError, match=r"W_h: expected \(d_h, 4\*d_h\) = \(11, 44\), got \(11, 11\)"
    ):
        half.lstm(make(X), {"W_x": make(W_x), "W_h": make(W_h), "b": make(b)})
    with pytest.raises(
        ValueError,
        match=(
            r"context: expected \(..., T_k, d_h\) = \(..., T_k, 11\), got \(2, 5, 3\)"
        ),
    ):
        half.recurrent_attention(make(X), make(X), make(W_x), make(W_h), make(b))
