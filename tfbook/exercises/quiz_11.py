"""The quiz of chapter 11, on the GPU."""

from tfbook.exercises.quiz import choice

QUIZ = [
    choice(
        "A chip does 300 TFLOPs and moves 2 TB in a second. A kernel does 30 FLOPs for "
        "each byte. How much of the arithmetic can it use?",
        (
            "at most a fifth",
            (
                "2 TB/s at 30 FLOPs a byte are 60 TFLOP/s, a fifth of 300. The ridge "
                "is at 150 FLOPs a byte."
            ),
        ),
        {
            "all of it, if the kernel is written well": (
                "No kernel can compute with numbers that have not arrived yet."
            ),
            "a thirtieth": (
                "The intensity has to be compared with the ridge, 300 T / 2 T = 150 "
                "FLOPs a byte."
            ),
            "all of it, if T is large "
            "enough": "Only where the intensity grows with T. Here it is 30.",
        },
    ),
    choice(
        "Fused attention is faster than plain attention on a GPU because",
        (
            "the T × T matrices never go to main memory",
            (
                "It does the same products. What it saves is that T² numbers pass "
                "through main memory four times."
            ),
        ),
        {
            "it skips products with small weights": (
                "It is exact: it does all products that plain attention does."
            ),
            "its softmax needs no exponentials": (
                "It needs as many, and some more to correct what was summed before."
            ),
            "it works in half precision, and plain attention in "
            "float32": "Either can work in either.",
        },
    ),
    choice(
        "A model writes one token at a time, in float16, from a cache. Its attention "
        "does about 1 FLOP for each byte. What raises that?",
        (
            "eight query heads that share one key/value head",
            "Each key that is read is then used by eight queries: 8 FLOPs a byte.",
        ),
        {
            "64 sequences at a time instead of one": (
                "Each sequence has a cache of its own: 64 times the FLOPs, and 64 "
                "times the bytes."
            ),
            "a text that is eight times as "
            "long": "Eight times as many keys are read, and each is used once.",
            "a chip whose arithmetic is eight times as fast": (
                "The intensity is the kernel's own. Such a chip would wait even more."
            ),
        },
    ),
    choice(
        "What is the next bfloat16 after 256?",
        (
            "258",
            "Eight bits with the leading 1: from 256 to 512 there are 128 steps of 2.",
        ),
        {
            "257": (
                "256 + 1 needs nine bits. A bfloat16 has eight, the leading 1 included."
            ),
            "256.0625": (
                "That is not even the next float16, which is 256.25: eleven bits with "
                "the leading 1."
            ),
            "320": "That would be four steps between two powers of two. There are 128.",
        },
    ),
    choice(
        "A gradient of 10<sup>−9</sup> is stored in float16. It becomes",
        (
            "0, because the smallest float16 is 6·10<sup>−8</sup>",
            (
                "That is why losses are multiplied by a large number first, and "
                "gradients divided by it afterwards."
            ),
        ),
        {
            "the nearest multiple of 10<sup>−10</sup>, with an error of some per "
            "cent": (
                "The smallest number above 0 is 2<sup>−24</sup>, about "
                "6·10<sup>−8</sup>. Below half of it there is only 0."
            ),
            "infinity, because float16 ends at 65504 and this is beyond its range": (
                "It is the other end of the range: too small, not too large."
            ),
            "10<sup>−9</sup> with three digits, as any float16 has": (
                "Three digits it has from 6·10<sup>−5</sup> on. Below that they go, "
                "one by one."
            ),
        },
    ),
    choice(
        "The errors of attention were 14 to 20 times as large in bfloat16 as in "
        "float16, but bfloat16 is what most large models are trained in. Why?",
        (
            "Its range is that of float32",
            (
                "Eight bits of exponent: nothing overflows or vanishes that did not in "
                "float32. Small errors average out, an infinity does not."
            ),
        ),
        {
            "It takes half as many bytes": "Both take two.",
            "Its numbers lie closer together": (
                "They lie eight times as far apart: 8 bits with the leading 1, against "
                "11."
            ),
            "Its sums are kept in "
            "float32": "On tensor cores those of float16 are, too.",
        },
    ),
]
