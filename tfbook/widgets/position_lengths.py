"""For the positions figure: what a token costs each trained model, by position, up to
the length that it is read at.
"""

import numpy as np

from tfbook.experiments.positions import READ, SCHEMES, TRAINED, losses
from tfbook.widgets.base import table

READS = (32, 64, 128, 256, 512)
DRAWN = (*SCHEMES, "lstm")
NAMES = {"alibi": "ALiBi", "lstm": "LSTM"}
# of windows of positions, counted from 1
ENDS = np.unique(
    np.round(2 ** np.arange(0, np.log2(READ) + 0.1, 0.25))
).astype(int)
LOST = 0.05  # nats a token above what the same model needs where its training ended


def lengths():
    """Curves, marks and means, ready to be drawn: places on the axis are powers of two,
    in parts of the whole.
    """
    curves = [
        curve(NAMES.get(reader, reader), losses()[reader].mean(axis=0))
        for reader in DRAWN
    ]
    said = []
    for i in range(len(READS)):
        means = sorted(
            (c["reads"][i]["mean"], c["name"])
            for c in curves
            if not c["reads"][i]["ends"]
        )
        said.append({"best": means[0][::-1], "worst": means[-1][::-1]})
    every = np.concatenate([c["loss"] for c in curves])
    most, margin = float(every.max()), 0.12 * float(np.ptp(every))
    ticks = {
        "loss": list(range(int(every.min()) + 1, int(every.max()) + 1)),
        "position": [(p, across(p)) for p in (1, 4, 16, *READS[1:])],
        "trained": TRAINED,
    }
    return {
        "trained": across(TRAINED),
        "reads": READS,
        "ticks": ticks,
        "curves": curves,
        "said": said,
        "least": round(float(every.min()) - margin, 3),
        "most": round(most, 3),
    }


def curve(name, loss):
    """One reader's loss (READ,): its mean in each window, and for each reading length
    how much is drawn and what it comes to.
    """
    T_end = int(np.isfinite(loss).sum())
    windows = [
        (start, end) for start, end in zip([0, *ENDS], ENDS) if end <= T_end
    ]
    heights = [loss[start:end].mean() for start, end in windows]
    at_trained = loss[TRAINED * 3 // 4 : TRAINED].mean()
    reads = []
    for T in READS:
        points = len([end for _, end in windows if end <= T])
        reads.append(
            {
                "points": points,
                "ends": T_end < T,
                "mean": None
                if T_end < T
                else round(float(loss[:T].mean()), 3),
                "lost": bool(
                    T > TRAINED and heights[points - 1] > at_trained + LOST
                ),
            }
        )
    return {
        "name": name,
        "at": [across(end) for _, end in windows],
        "loss": np.round(heights, 3).tolist(),
        "reads": reads,
    }


def across(position):
    """Where a position stands on an axis of powers of two that ends at READ."""
    return round(float(np.log2(position) / np.log2(READ)), 4)


def still_lengths():
    """The means as a table, for a page without scripts."""
    columns = "".join(f"<th scope=col>{T}</th>" for T in READS)
    rows = "".join(
        f"<tr><th scope=row>{c['name']}</th>"
        + "".join(
            f"<td>{'ends' if r['ends'] else format(r['mean'], '.2f')}</td>"
            for r in c["reads"]
        )
        for c in lengths()["curves"]
    )
    caption = f"Trained at {TRAINED}, read at T: loss of a token in nats"
    return table(caption, f"<th scope=row>T</th>{columns}", rows)
