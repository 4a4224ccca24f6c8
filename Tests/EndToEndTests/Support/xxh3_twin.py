#!/usr/bin/python3
"""Makes a file of other bytes that has the size and the XXH3 digest (128 bits) of a file: XXH3 is not made to withstand that.

   xxh3_twin.py FILE BEGINNING TWIN

The twin begins with the bytes of the file BEGINNING. Within one block each of XXH3's eight accumulators takes the sum of products
of halves of words, some of which can be chosen: so that the accumulators are after that block what they are in FILE.
"""
import struct, sys

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
MASK = 2**64 - 1
BLOCK, STRIPE = 1024, 64
PRIME = 0x9E3779B1
START = [
    0xC2B2AE3D, 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x85EBCA77,
    0x27D4EB2F165667C5, 0x9E3779B1,
]


def word(data, place):
    return struct.unpack_from("<Q", data, place)[0]


def accumulate(sums, data, place, secret):
    for lane in range(8):
        value = word(data, place + 8 * lane)
        key = value ^ word(SECRET, secret + 8 * lane)
        sums[lane ^ 1] = (sums[lane ^ 1] + value) & MASK
        sums[lane] = (sums[lane] + (key & 0xFFFFFFFF) * (key >> 32)) & MASK


def stripes(sums, data, block, numbers):
    for number in numbers:
        accumulate(sums, data, block * BLOCK + number * STRIPE, 8 * number)


def before(data, block):
    sums = START[:]
    for number in range(block):
        stripes(sums, data, number, range(16))
        for lane in range(8):
            value = sums[lane]
            sums[lane] = (value ^ value >> 47 ^ word(SECRET, 128 + 8 * lane)) * PRIME & MASK
    return sums


def twin(target, beginning):
    block = (len(beginning) + BLOCK - 1) // BLOCK
    assert (block + 1) * BLOCK < len(target), "the beginning is too long"
    made = bytearray(target)
    made[: len(beginning)] = beginning
    wanted, sums = before(target, block), before(made, block)
    stripes(wanted, target, block, range(16))
    stripes(sums, made, block, range(2, 16))
    for lane in range(8):
        missing = (wanted[lane ^ 1] - sums[lane ^ 1]) & MASK
        low, high = word(SECRET, 8 * lane) & 0xFFFFFFFF, word(SECRET, 8 + 8 * lane) >> 32 << 32
        # Words that share a half with the secret add nothing but themselves.
        rest = (missing - low - high) & MASK
        struct.pack_into("<Q", made, block * BLOCK + 8 * lane, rest >> 32 << 32 | low)
        struct.pack_into("<Q", made, block * BLOCK + STRIPE + 8 * lane, high | rest & 0xFFFFFFFF)
    return bytes(made)


target, beginning = (open(path, "rb").read() for path in sys.argv[1:3])
open(sys.argv[3], "wb").write(twin(target, beginning))
