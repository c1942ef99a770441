"""NumPy's seeded streams in kernels: `Generator(PCG64(SeedSequence(...)))`, bit for bit.

A stream is a function of its words, those of the seed and of the key of a task:

    pool = mix(hash(words))                                      four words of 32 bits
    (state, increment) = hash(pool)                              128 bits each
    state <- state * multiplier + increment                      PCG64, a step
    number = rotate(upper xor lower half, by its upper 6 bits)   XSL-RR

Whole numbers below n are those of Lemire: the upper half of n times 32 bits, drawn anew where the
lower half is among the 2^32 mod n that would make some of them likelier. A fit that needs a short
stream for each of many tasks makes them all in one call, in a hundredth of the time.

References: O'Neill (2014) for PCG64; O'Neill (2015), "Developing a seed_seq alternative", for the
pool; Lemire (2019), "Fast random integer generation in an interval".
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from novum.numerics.jit import inner_kernel, lean_kernel

_POOL = 4
_FIRST_HASH, _FIRST_FACTOR = np.uint32(0x43B0D7E5), np.uint32(0x931E8875)
_SECOND_HASH, _SECOND_FACTOR = np.uint32(0x8B51F9DD), np.uint32(0x58F38DED)
_MIX_LEFT, _MIX_RIGHT = np.uint32(0xCA01F9DD), np.uint32(0x4973F715)
_HALF = np.uint32(16)

_STEP_HIGH, _STEP_LOW = np.uint64(0x2360ED051FC65DA4), np.uint64(0x4385DF649FCCF645)
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_WORD, _LOWER = np.uint64(32), np.uint64(0xFFFFFFFF)
_LARGEST = np.uint64(0xFFFFFFFFFFFFFFFF)


# --- Seeds ----------------------------------------------------------------------------------------


@inner_kernel()
def hashed(word, chain, factor):
    """A word hashed by the next constant of a chain, which moves on."""
    word = np.uint32(word ^ chain[0])
    chain[0] = np.uint32(chain[0] * factor)
    word = np.uint32(word * chain[0])
    return np.uint32(word ^ (word >> _HALF))


@inner_kernel()
def mixed(one, other):
    """Two words in one."""
    word = np.uint32(np.uint32(one * _MIX_LEFT) - np.uint32(other * _MIX_RIGHT))
    return np.uint32(word ^ (word >> _HALF))


@inner_kernel()
def seed_stream(words, task, pool, chain, out_state):
    """The state of the stream of `words` followed by the number of a task.

    At least four words come before it. `out_state` gets the halves of the state and of the
    increment, upper ones first, and an empty place for the rest of a number that was halved.
    """
    chain[0] = _FIRST_HASH
    for i in range(_POOL):
        pool[i] = hashed(words[i], chain, _FIRST_FACTOR)
    for source in range(_POOL):
        for i in range(_POOL):
            if i != source:
                pool[i] = mixed(pool[i], hashed(pool[source], chain, _FIRST_FACTOR))
    for source in range(_POOL, words.size + 1):
        word = words[source] if source < words.size else np.uint32(task)
        for i in range(_POOL):
            pool[i] = mixed(pool[i], hashed(word, chain, _FIRST_FACTOR))
    chain[0] = _SECOND_HASH
    for i in range(_POOL):
        low = hashed(pool[(2 * i) % _POOL], chain, _SECOND_FACTOR)
        high = hashed(pool[(2 * i + 1) % _POOL], chain, _SECOND_FACTOR)
        out_state[i] = np.uint64(high) << _WORD | np.uint64(low)
    start_high, start_low = out_state[0], out_state[1]
    out_state[2] = out_state[2] << _ONE | out_state[3] >> np.uint64(63)
    out_state[3] = out_state[3] << _ONE | _ONE
    # From zero, one step leaves the increment.
    out_state[1] = out_state[3] + start_low
    out_state[0] = out_state[2] + start_high + np.uint64(out_state[1] < start_low)
    step(out_state)
    out_state[4] = _ZERO
    out_state[5] = _ZERO


# --- Numbers --------------------------------------------------------------------------------------


@inner_kernel()
def upper_half(a, b):
    """The upper 64 bits of a product."""
    a_low, a_high, b_low, b_high = a & _LOWER, a >> _WORD, b & _LOWER, b >> _WORD
    cross = a_high * b_low + (a_low * b_low >> _WORD)
    other = a_low * b_high + (cross & _LOWER)
    return a_high * b_high + (cross >> _WORD) + (other >> _WORD)


@inner_kernel()
def step(state):
    """One step of the generator."""
    high, low = state[0], state[1]
    product = low * _STEP_LOW
    carried = upper_half(low, _STEP_LOW) + high * _STEP_LOW + low * _STEP_HIGH
    state[1] = product + state[3]
    state[0] = carried + state[2] + np.uint64(state[1] < product)


@inner_kernel()
def next_number(state):
    """64 bits."""
    step(state)
    number, turn = state[0] ^ state[1], state[0] >> np.uint64(58)
    return number >> turn | number << (np.uint64(64) - turn & np.uint64(63))


@inner_kernel()
def next_half(state):
    """32 bits: the lower half of a number, and at the next call the upper one."""
    if state[4] != _ZERO:
        state[4] = _ZERO
        return state[5]
    number = next_number(state)
    state[4], state[5] = _ONE, number >> _WORD
    return number & _LOWER


@inner_kernel()
def next_below(state, n):
    """A whole number from 0 to n - 1; n is at least 2 and less than 2^32."""
    product = next_half(state) * n
    if product & _LOWER < n:
        least = (_LOWER + _ONE - n) % n
        while product & _LOWER < least:
            product = next_half(state) * n
    return product >> _WORD


# --- One stream for each task ---------------------------------------------------------------------

# pool, constant of the hash, state: scratch of a stream
SCRATCH = "Tuple((uint32[::1], uint32[::1], uint64[::1]))"


def stream_scratch() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Room for the state of one stream."""
    return np.empty(_POOL, np.uint32), np.empty(1, np.uint32), np.empty(6, np.uint64)


@lean_kernel(f"void(uint32[::1], int64, {SCRATCH}, uint64[::1])")
def positive_words(words, first, scratch, out):
    """`integers(1, 2**64, dtype=uint64)`, the first of the streams of tasks `first` and on.

    Examples
    --------
    >>> words, out = np.arange(5, dtype=np.uint32), np.empty(2, np.uint64)
    >>> positive_words(words, 7, stream_scratch(), out)
    >>> seed = np.random.SeedSequence(words[:4].tolist(), spawn_key=(4, 8))
    >>> bool(np.random.default_rng(seed).integers(1, 2**64, dtype=np.uint64) == out[1])
    True
    """
    pool, chain, state = scratch
    for i in range(out.size):
        seed_stream(words, first + i, pool, chain, state)
        number = next_number(state)
        while number == _ZERO:
            number = next_number(state)
        # The upper half of the number times 2^64 - 1, counted from 1.
        out[i] = upper_half(number, _LARGEST) + _ONE


@lean_kernel(f"void(uint32[::1], int64, int64, {SCRATCH}, int64[::1])")
def whole_numbers(words, task, n, scratch, out):
    """`integers(0, n, out.size)` of the stream of a task; n is less than 2^32.

    Examples
    --------
    >>> words, out = np.arange(5, dtype=np.uint32), np.empty(3, np.int64)
    >>> whole_numbers(words, 8, 10, stream_scratch(), out)
    >>> seed = np.random.SeedSequence(words[:4].tolist(), spawn_key=(4, 8))
    >>> bool((np.random.default_rng(seed).integers(0, 10, 3) == out).all())
    True
    """
    pool, chain, state = scratch
    seed_stream(words, task, pool, chain, state)
    for i in range(out.size):
        out[i] = np.int64(next_below(state, np.uint64(n))) if n > 1 else np.int64(0)


@lean_kernel(f"void(uint32[::1], int64, int64, {SCRATCH}, int32[:, ::1])")
def draw_counts(words, first, n_draws, scratch, out):
    """How often each of the columns is drawn with replacement: a row for each task from `first` on.

    The draws are those of `whole_numbers`.
    """
    pool, chain, state = scratch
    n = out.shape[1]
    for i in range(out.shape[0]):
        for j in range(n):
            out[i, j] = 0
        seed_stream(words, first + i, pool, chain, state)
        for _ in range(n_draws):
            drawn = next_below(state, np.uint64(n)) if n > 1 else _ZERO
            out[np.uint64(i), drawn] += 1
