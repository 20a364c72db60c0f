"""Train the language model of chapter 12 and write down how it comes to write:
``language.json`` and ``.npz``.

    python -m tfbook.experiments.language [--folder _build/language]

Characters of Python's help texts (those of Python 3.11; they differ between versions),
three layers of 64 channels and 4 heads, 155,904 parameters; 3000 steps of 24 windows of
64, seed 0. 211 s of processor time, and some 100 s to measure. The run is kept in the
folder and goes on where it was stopped. Loss in bits a character, held out and on the
training text:

    step    0   6.71  6.73        guesses: uniform 6.69
    step   50   4.53  4.61                 unigram 4.69
    step  150   3.08  3.19                 bigram  3.45
    step  300   2.54  2.49                 trigram 2.62
    step 1000   2.09  1.96
    step 3000   1.90  1.51
"""

import argparse
import json
import math
import time
from pathlib import Path

import numpy as np
import torch

from tfbook.experiments import language
from tfbook.text import characters, decode, encode, text
from tfbook.text.ngrams import ngram_loss, uniform_loss
from tfbook.text.windows import (
    all_windows,
    longest_overlap,
    split,
    windows,
    without_repeats,
)
from tfbook.torch import LanguageModel, sample, token_distribution
from tfbook.torch.training import train
from tfbook.torch.training.checkpoint import load_checkpoint, save_checkpoint

T, BATCH, STEPS, RATE, SEED = 64, 24, 3000, 0.005, 0
SHOWN = (
    0,
    1,
    2,
    5,
    10,
    20,
    35,
    50,
    75,
    100,
    150,
    200,
    300,
    400,
    600,
    800,
    1000,
    1300,
    1600,
    2000,
    2500,
    3000,
)
PROMPT, WRITTEN, TEMPERATURE = "The result of the exp", 240, 0.7
WAYS = {
    "the likeliest each time": {"temperature": 0},
    "temperature 0.5": {"temperature": 0.5},
    "temperature 1": {"temperature": 1.0},
    "temperature 1.5": {"temperature": 1.5},
    "of the 5 likeliest": {"temperature": 1.0, "top_k": 5},
    "of the likeliest 90 %": {"temperature": 1.0, "top_p": 0.9},
}


def parts():
    """Vocabulary, tokens to train on and tokens to test on."""
    written = without_repeats(text())
    vocabulary = characters(written)
    return vocabulary, *split(encode(written, vocabulary))


def fresh(vocab):
    """The model before its first step."""
    torch.manual_seed(SEED)
    return LanguageModel(vocab, T, fused=True, **language.SIZES)


def run(folder, steps=STEPS):
    """Train, or go on; the model at each step to be shown is kept in the folder."""
    vocabulary, tokens, held_out = parts()

    def keep(model, step):
        if step in SHOWN:
            save_checkpoint(folder / f"{step}.safetensors", model)

    return train(
        fresh(len(vocabulary)),
        lambda rng: windows(tokens, T, BATCH, rng),
        steps,
        held_out=all_windows(held_out, T),
        rate=RATE,
        warmup=0.05,
        every=100,
        checkpoint=folder / "run.safetensors",
        seed=SEED,
        watch=keep,
    )


@torch.no_grad()
def write(model, vocabulary, n, seed=0, temperature=TEMPERATURE, **options):
    """Go on with the prompt, n characters more; the model reads the last T each
    time.
    """
    rng, tokens = (
        torch.Generator().manual_seed(seed),
        torch.tensor(encode(PROMPT, vocabulary)),
    )
    for _ in range(n):
        p = token_distribution(model(tokens[-T:])[-1], temperature, **options)
        tokens = torch.cat([tokens, sample(p, rng)[None]])
    return decode(tokens.numpy(), vocabulary)[len(PROMPT) :]


@torch.no_grad()
def surprise(model, read, batch=64):
    """Mean loss over windows, in bits a character."""
    losses = [
        torch.nn.functional.cross_entropy(
            model(torch.tensor(x)).flatten(0, 1),
            torch.tensor(y).flatten(),
            reduction="sum",
        ).item()
        for x, y in zip(
            *(
                np.array_split(part, len(read[0]) // batch + 1)
                for part in read
            )
        )
    ]
    return sum(losses) / read[0].size / math.log(2)


def parameters(model):
    """Of a model, as arrays."""
    return {
        name: p.detach().numpy() for name, p in model.state_dict().items()
    }


def heads(P, read, blanks):
    """Scores of all heads, (L, H, targets): on text, and induction on noise that comes
    twice.
    """
    again = language.noise(len(P["E"]))
    of_text, of_noise = (
        language.scores(
            language.read(tokens, P)[1],
            language.targets(tokens, blanks, period),
        )
        for tokens, period in ((read, None), (again, again.shape[-1] // 2))
    )
    return np.concatenate([of_text[..., :-1], of_noise[..., -1:]], axis=-1)


def at_step(folder, step):
    """What the figure shows of a step."""
    vocabulary, tokens, held_out = parts()
    model = fresh(len(vocabulary))
    load_checkpoint(folder / f"{step}.safetensors", model)
    with torch.no_grad():
        p = token_distribution(
            model(torch.tensor(encode(PROMPT, vocabulary)))[-1]
        )
    top = p.argsort(descending=True, stable=True)[:6]
    some = all_windows(held_out, T)
    behind = [
        token
        for token, character in enumerate(vocabulary)
        if character.isspace()
    ]
    return {
        "step": step,
        "held_out": round(surprise(model, some), 4),
        "train": round(
            surprise(
                model, tuple(part[::10] for part in all_windows(tokens, T))
            ),
            4,
        ),
        "sample": write(model, vocabulary, WRITTEN),
        "next": [[vocabulary[i], round(p[i].item(), 4)] for i in top],
        "heads": np.round(
            heads(parameters(model), some[0][::20], behind), 3
        ).tolist(),
    }


def measured(folder, run, seconds):
    """All that is stored."""
    vocabulary, tokens, held_out = parts()
    vocab, last = len(vocabulary), fresh(len(vocabulary))
    load_checkpoint(folder / f"{STEPS}.safetensors", last)
    page = write(last, vocabulary, 3000, seed=1)
    read, P = (
        tuple(part[::20] for part in all_windows(held_out, T)),
        parameters(last),
    )
    missed = [
        [
            round(nats(P, read, [(l, h)]) - nats(P, read), 4)
            for h in range(language.SIZES["H"])
        ]
        for l in range(language.SIZES["L"])
    ]
    return {
        "command": "python -m tfbook.experiments.language",
        "seed": SEED,
        "steps": STEPS,
        "batch": BATCH,
        "T": T,
        "rate": RATE,
        **language.SIZES,
        "parameters": sum(p.numel() for p in last.parameters()),
        "characters": [len(tokens), len(held_out)],
        "vocabulary": vocabulary,
        "torch": torch.__version__.partition("+")[0],
        "seconds": round(seconds),
        "prompt": PROMPT,
        "temperature": TEMPERATURE,
        "baselines": {
            name: round(loss / math.log(2), 4)
            for name, loss in baselines(tokens, held_out, vocab).items()
        },
        "last_loss": round(
            float(np.mean(run["losses"][-50:])) / math.log(2), 4
        ),
        "measured": [
            [step, round(loss / math.log(2), 4)]
            for step, loss in run["held_out"]
        ],
        "shown": [at_step(folder, step) for step in SHOWN],
        "ways": {
            name: write(last, vocabulary, 120, **options)
            for name, options in WAYS.items()
        },
        "without": missed,
        "page": page,
        "overlap": {
            name: longest_overlap(
                words(part), words(decode(tokens, vocabulary))
            )
            for name, part in (
                ("written", page),
                ("held out", decode(held_out[:3000], vocabulary)),
            )
        },
    }


def baselines(tokens, held_out, vocab):
    """Losses of guesses by counts, in nats."""
    counted = {
        name: ngram_loss(tokens, held_out, n, vocab)
        for n, name in enumerate(("unigram", "bigram", "trigram"), 1)
    }
    return {"uniform": uniform_loss(vocab)} | counted


def words(written):
    """A text with one blank wherever there is white space: lines and margins do not
    count.
    """
    return " ".join(written.split())


def nats(P, read, without=()):
    """The loss of the stored model without some heads."""
    logits = language.read(read[0], P, without)[0].astype(np.float64)
    shifted = logits - logits.max(axis=-1, keepdims=True)
    right = np.take_along_axis(shifted, read[1][..., None], axis=-1)[..., 0]
    return float((np.log(np.exp(shifted).sum(axis=-1)) - right).mean())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument(
        "--folder",
        type=Path,
        default=Path("_build/language"),
        help="where the run is kept while it lasts",
    )
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    began = time.process_time()
    losses = run(folder)
    record = measured(folder, losses, time.process_time() - began)
    language.FILE.write_text(
        json.dumps(record, ensure_ascii=False, indent=1) + "\n",
        encoding="utf-8",
    )
    last = fresh(len(record["vocabulary"]))
    load_checkpoint(folder / f"{STEPS}.safetensors", last)
    np.savez_compressed(
        language.MODEL,
        **{
            f"last.{name}": p.astype(np.float16)
            for name, p in parameters(last).items()
        },
    )
    for file in (language.FILE, language.MODEL):
        print(f"{file.name}: {file.stat().st_size:,} bytes")
