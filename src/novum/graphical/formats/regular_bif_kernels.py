"""Compiled reading of the rows of all tables of a regular BIF file.

A row is `(state, ...) number, ...;`. The states of the parents are looked for where the row before
had them, then one further, then everywhere, since rows follow each other in some order of the
states. A number of at most 53 bits times a power of ten up to 10^22 is exact after one
multiplication or division; the others are left to Python, which rounds them correctly.
"""

from __future__ import annotations

import numpy as np

from novum.numerics.jit import kernel

POWERS = np.array([10.0**power for power in range(23)])
SPACE, COMMA, SEMICOLON, OPEN, CLOSE = ord(" "), ord(","), ord(";"), ord("("), ord(")")
ZERO, POINT, MINUS, PLUS = ord("0"), ord("."), ord("-"), ord("+")
SMALL_E, LARGE_E = ord("e"), ord("E")
MAX_MANTISSA = 2**53


@kernel("int64(uint8[::1], int64, int64)")
def skip_space(text, at, end):  # type: ignore[no-untyped-def]
    """The next place that is not white space."""
    while at < end and (text[at] == SPACE or (9 <= text[at] <= 13)):
        at += 1
    return at


@kernel("int64(uint8[::1], int64, int64, uint8[::1], int64[::1], int64, int64, int64)")
def find_state(text, start, stop, labels, label_starts, first, count, guess):  # type: ignore[no-untyped-def]
    """Which of a variable's labels the text between two places is; -1 where none."""
    for step in range(count):
        state = guess + step
        if state >= count:
            state -= count
        begin = label_starts[first + state]
        if label_starts[first + state + 1] - begin != stop - start:
            continue
        same = True
        for i in range(stop - start):
            if labels[begin + i] != text[start + i]:
                same = False
                break
        if same:
            return state
    return -1


@kernel("int64(uint8[::1], int64, int64, float64[::1], int64)")
def read_number(text, at, end, out_cells, cell):  # type: ignore[no-untyped-def]
    """Writes a number and returns its end; minus its end where Python must convert it; 0: none."""
    start, mantissa, n_digits, exponent, exact = at, np.int64(0), 0, 0, True
    point = False
    while at < end:
        c = text[at]
        if ZERO <= c <= ZERO + 9:
            n_digits += 1
            if mantissa <= MAX_MANTISSA:
                mantissa = mantissa * 10 + (c - ZERO)
                exponent -= 1 if point else 0
            else:
                exact = False
        elif c == POINT and not point:
            point = True
        else:
            break
        at += 1
    if n_digits == 0:
        return 0
    if at < end and (text[at] == SMALL_E or text[at] == LARGE_E):
        at += 1
        negative = at < end and text[at] == MINUS
        if at < end and (text[at] == MINUS or text[at] == PLUS):
            at += 1
        first, power = at, 0
        while at < end and ZERO <= text[at] <= ZERO + 9:
            power = min(power * 10 + (text[at] - ZERO), 10_000)
            at += 1
        if at == first:
            return 0
        exponent += -power if negative else power
    if not exact or mantissa > MAX_MANTISSA or exponent < -22 or exponent > 22:
        return -at if start < at else 0
    if exponent < 0:
        out_cells[cell] = mantissa / POWERS[-exponent]
    else:
        out_cells[cell] = mantissa * POWERS[exponent]
    return at


@kernel(
    "int64(uint8[::1], int64[:,::1], int64[::1], int64[::1], int64[::1], int64[::1], uint8[::1], "
    "int64[::1], int64[::1], float64[::1], uint8[::1], int64[:,::1])"
)
def read_tables(  # type: ignore[no-untyped-def]
    text,
    bodies,
    cards,
    scope_starts,
    scopes,
    label_firsts,
    labels,
    label_starts,
    table_starts,
    out_cells,
    out_seen,
    out_hard,
):
    """Reads the bodies of all tables; the number of hard numbers, or -1 for an irregular file.

    `bodies` (n, 2) are the places of the tables' rows, `scopes` the parents of each table;
    `out_seen` marks the first cell of rows that were read, `out_hard` (cells, 3) receives cell,
    start and end of numbers that Python must convert.
    """
    n_hard = 0
    for table in range(bodies.shape[0]):
        at, end = bodies[table]
        card = cards[table]
        n_rows = (table_starts[table + 1] - table_starts[table]) // card
        first_parent, last_parent = scope_starts[table], scope_starts[table + 1]
        guesses = np.zeros(last_parent - first_parent, np.int64)
        for _ in range(n_rows):
            at = skip_space(text, at, end)
            row = 0
            if last_parent > first_parent:
                if at >= end or text[at] != OPEN:
                    return -1
                for place in range(first_parent, last_parent):
                    at = skip_space(text, at + 1, end)
                    start = at
                    while at < end and text[at] != COMMA and text[at] != CLOSE:
                        at += 1
                    if at >= end or (text[at] == CLOSE) != (place == last_parent - 1):
                        return -1
                    stop = at
                    while stop > start and (text[stop - 1] == SPACE or 9 <= text[stop - 1] <= 13):
                        stop -= 1
                    parent = scopes[place]
                    guess = guesses[place - first_parent]
                    first = label_firsts[parent]
                    state = find_state(
                        text, start, stop, labels, label_starts, first, cards[parent], guess
                    )
                    if state < 0:
                        return -1
                    guesses[place - first_parent] = state
                    row = row * cards[parent] + state
                at += 1
            cell = table_starts[table] + row * card
            if out_seen[cell]:
                return -1
            out_seen[cell] = 1
            for state in range(card):
                start = skip_space(text, at, end)
                at = read_number(text, start, end, out_cells, cell + state)
                if at == 0:
                    return -1
                if at < 0:
                    at = -at
                    out_hard[n_hard, 0] = cell + state
                    out_hard[n_hard, 1] = start
                    out_hard[n_hard, 2] = at
                    n_hard += 1
                at = skip_space(text, at, end)
                mark = SEMICOLON if state == card - 1 else COMMA
                if at >= end or text[at] != mark:
                    return -1
                at += 1
        if skip_space(text, at, end) != end:
            return -1
    return n_hard
