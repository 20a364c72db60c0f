"""How large models begin, and which operators are views that move nothing."""

import pytest
import torch

from tfbook.torch import LanguageModel
from tfbook.torch.kernels.traffic import CountTraffic
from tfbook.torch.sequences import MixedModel, SequenceClassifier

SIZES = {"d": 64, "H": 4, "L": 1}
MODELS = {
    "LanguageModel": lambda: LanguageModel(vocab=300, T_max=200, **SIZES),
    "SequenceClassifier": lambda: SequenceClassifier(
        d_in=80, classes=70, T_max=200, **SIZES
    ),
    "MixedModel": lambda: MixedModel(vocab=300, d_in=80, T_max=200, **SIZES),
}


@pytest.mark.parametrize("name", MODELS)
def test_tables_begin_small_matrices_by_their_width_and_vectors_at_rest(name):
    torch.manual_seed(0)
    for key, p in MODELS[name]().named_parameters():
        last = key.rpartition(".")[2]
        if last in ("E", "P"):
            assert p.std().item() == pytest.approx(0.02, rel=0.05), key
            assert abs(p.mean().item()) < 0.001
        elif last.startswith("gamma"):
            assert (p == 1).all(), key
        elif last.startswith(("beta", "b_")):
            assert (p == 0).all(), key
        else:
            assert p.std().item() == pytest.approx(len(p) ** -0.5, rel=0.05), key


VIEWS = {
    "view": lambda X: X.view(6, 4),
    "reshape": lambda X: X.reshape(2, 12),
    "expand": lambda X: X[..., None].expand(4, 6, 3),
    "transpose": lambda X: X.transpose(0, 1),
    "permute": lambda X: X.permute(1, 0),
    "t": lambda X: X.t(),
    "mT": lambda X: X.mT,
    "unsqueeze": lambda X: X.unsqueeze(0),
    "squeeze": lambda X: X[None].squeeze(0),
    "slice": lambda X: X[1:3, ::2],
    "select": lambda X: X[2],
    "detach": lambda X: X.detach(),
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_moves_nothing(name):
    X = torch.ones(4, 6)
    with CountTraffic() as counted:
        VIEWS[name](X)
    assert counted.operators == []


@pytest.mark.parametrize(
    ("f", "operator", "read", "written"),
    [
        (lambda X: X.exp(), "exp", 96, 96),
        (lambda X: X[:, :3].clone(), "clone", 48, 48),
        (lambda X: X @ X.T, "mm", 192, 64),
        (lambda X: X.sum(dim=-1), "sum", 96, 16),
        (lambda X: X + X[:1], "add", 120, 96),
        (lambda X: X.half(), "_to_copy", 96, 48),
    ],
    ids=["exp", "clone", "product", "sum", "broadcast", "half"],
)
def test_an_operator_moves_what_it_takes_and_gives(f, operator, read, written):
    X = torch.ones(4, 6)
    with CountTraffic() as counted:
        f(X)
    assert counted.operators == [(operator, read, written)]
