"""Training: the loop, its schedule and its checkpoints."""

from tfbook.torch.training.loop import (
    begin,
    evaluate,
    exhausted,
    expect_finite,
    guess_loss,
    least,
    on_device,
    parameter_groups,
    positive,
    schedule,
    seeded,
    set_rate,
    train,
    train_step,
)
