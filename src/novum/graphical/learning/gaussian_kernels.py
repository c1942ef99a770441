"""Scores of families of numbers, compiled: regressions within configurations of discrete parents.

Columns are in units of their standard deviation, about their mean. A configuration has its own
regression where it has rows enough and its residuals some spread; the others share the regression
over all rows, so that no single row has an infinite density.

    numbers  number of each variable's column (-1 of one with states), columns (m, rows), their
             products (m, m), rows of (log of the unit, prior scale, largest log-likelihood), room
             for moments, configuration of each row
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

import numpy as np

from novum.numerics import inner_kernel

# Of families that leave no spread, or that no network of this kind has. Finite: nothing is wrong
# with the table.
NO_DENSITY = -1e300
# Variance, in units of the column's own, below which a column is a function of its parents.
LEAST_VARIANCE = 1e-10
# Share of a parent's scatter below which it is a function of the parents before it.
LEAST_PIVOT = 1e-11
LOG_TAU = math.log(2 * math.pi)


@inner_kernel()
def factorize(matrix, size):
    """The Cholesky factor of the lower half in place; dependent columns become zero.

    Returns whether all columns but the last were independent.
    """
    for a in range(size):
        whole = matrix[a * size + a]
        left = whole
        for c in range(a):
            left -= matrix[a * size + c] ** 2
        # The last is the child: what is left of it is the residual.
        if left <= (LEAST_PIVOT * whole if a < size - 1 else 0.0):
            left = 0.0
        pivot = math.sqrt(left)
        matrix[a * size + a] = pivot
        for b in range(a + 1, size):
            value = matrix[b * size + a]
            for c in range(a):
                value -= matrix[b * size + c] * matrix[a * size + c]
            matrix[b * size + a] = value / pivot if pivot > 0.0 else 0.0


@inner_kernel()
def coefficients(matrix, size, out):
    """The regression of the last column on the others, from the factor."""
    for i in range(size - 1):
        a = size - 2 - i
        value = matrix[(size - 1) * size + a]
        for b in range(a + 1, size - 1):
            value -= matrix[b * size + a] * out[b]
        pivot = matrix[a * size + a]
        out[a] = value / pivot if pivot > 0.0 else 0.0


@inner_kernel()
def wishart_score(matrix, mean, weight, size, prior, floats):
    """Marginal likelihood of the last column given the others, from their scatter.

    `prior` are the scales of the columns, `floats` as in a rule: rows of the prior of means, and
    degrees of freedom less the number of columns (Geiger and Heckerman 2002, corrected by Kuipers,
    Moffa and Heckerman 2014).
    """
    rows, degrees = floats[3], floats[4] + size
    share = weight * rows / (weight + rows)
    log_prior = 0.0
    for a in range(size):
        for b in range(a + 1):
            matrix[a * size + b] += share * mean[a] * mean[b]
        matrix[a * size + a] += prior[a]
        log_prior += math.log(prior[a])
    factorize(matrix, size)
    log_above = 0.0
    for a in range(size - 1):
        log_above += 2.0 * math.log(matrix[a * size + a])
    last = 2.0 * math.log(matrix[size * size - 1])
    log_prior_above = log_prior - math.log(prior[size - 1])
    score = 0.5 * (math.log(rows) - math.log(rows + weight)) - 0.5 * weight * math.log(math.pi)
    score += math.lgamma((weight + degrees) / 2) - math.lgamma(degrees / 2)
    score += 0.5 * degrees * log_prior - 0.5 * (degrees - 1) * log_prior_above
    score -= 0.5 * (weight + degrees) * (log_above + last)
    return score + 0.5 * (weight + degrees - 1) * log_above


@inner_kernel()
def number_score(starts, codes, weights, numbers, floats, is_wishart, members, n_parents, q):
    """The score of a numeric child, last of `members`, and a bound for it and larger families."""
    number_of, columns, scatter, scales, room, cells = numbers
    n_rows = codes.shape[1]
    # Columns of the family, the child last, in the first places of the room.
    size = 0
    for i in range(n_parents + 1):
        if number_of[members[i]] >= 0:
            size += 1
    n_states = n_parents + 1 - size
    block = size * size
    need = 4 * size + (q + 2) * (1 + size + block)
    if need > room.size:
        return -np.inf, np.inf
    place = room[:size]
    at = 0
    for i in range(n_parents + 1):
        if number_of[members[i]] >= 0:
            place[at] = number_of[members[i]]
            at += 1
    child = number_of[members[n_parents]]
    prior, slopes = room[size : 2 * size], room[2 * size : 3 * size]
    for a in range(size):
        prior[a] = scales[1, int(place[a])]
    total = 0.0
    if weights.size:
        for i in range(n_rows):
            total += weights[i]
    else:
        total = float(n_rows)
    begin = 4 * size
    own = room[begin : begin + q]
    means = room[begin + q : begin + q + (q + 2) * size]
    begin += q + (q + 2) * size
    blocks = room[begin : begin + (q + 2) * block]
    jacobian = total * scales[0, child]
    # The regression over all rows is block q.
    for a in range(size):
        means[q * size + a] = 0.0
        for b in range(a + 1):
            blocks[q * block + a * size + b] = scatter[int(place[a]), int(place[b])]
    if n_states:
        for i in range(q):
            own[i] = 0.0
        for i in range(q * size):
            means[i] = 0.0
        for i in range(q * block):
            blocks[i] = 0.0
        for i in range(n_rows):
            cells[i] = 0
        for m in range(n_parents):
            variable = members[m]
            if number_of[variable] < 0:
                card = starts[variable + 1] - starts[variable]
                for i in range(n_rows):
                    cells[i] = cells[i] * card + codes[variable, i]
        for i in range(n_rows):
            w = weights[i] if weights.size else 1.0
            own[cells[i]] += w
            for a in range(size):
                means[cells[i] * size + a] += w * columns[int(place[a]), i]
        for j in range(q):
            for a in range(size):
                means[j * size + a] = means[j * size + a] / own[j] if own[j] > 0.0 else 0.0
        for i in range(n_rows):
            w = weights[i] if weights.size else 1.0
            j = cells[i]
            for a in range(size):
                x = w * (columns[int(place[a]), i] - means[j * size + a])
                for b in range(a + 1):
                    y = columns[int(place[b]), i] - means[j * size + b]
                    blocks[j * block + a * size + b] += x * y
    else:
        own[0] = total
        for a in range(size):
            means[a] = 0.0
        for i in range(block):
            blocks[i] = blocks[q * block + i]
    score = -jacobian
    if is_wishart:
        for j in range(q):
            if own[j] > 0.0:
                score += wishart_score(
                    blocks[j * block : (j + 1) * block], means[j * size : (j + 1) * size], own[j],
                    size, prior, floats,
                )  # fmt: skip
        return score, np.inf
    pooled = blocks[q * block : (q + 1) * block]
    factorize(pooled, size)
    variance = pooled[block - 1] ** 2 / total
    if not variance > LEAST_VARIANCE:
        return NO_DENSITY, np.inf
    coefficients(pooled, size, slopes)
    for j in range(q):
        if own[j] == 0.0:
            continue
        # The factor overwrites the scatter, which a shared regression needs.
        work = blocks[(q + 1) * block : (q + 2) * block]
        for i in range(block):
            work[i] = blocks[j * block + i]
        factorize(work, size)
        left = work[block - 1] ** 2
        if own[j] > size and left > LEAST_VARIANCE * own[j]:
            score -= 0.5 * own[j] * (LOG_TAU + math.log(left / own[j]) + 1.0)
            continue
        # Squares of the residuals of the regression over all rows.
        squares, mean = 0.0, means[j * size + size - 1]
        for a in range(size - 1):
            mean -= slopes[a] * means[j * size + a]
        for a in range(size):
            wa = 1.0 if a == size - 1 else -slopes[a]
            for b in range(a + 1):
                wb = 1.0 if b == size - 1 else -slopes[b]
                twice = 1.0 if a == b else 2.0
                squares += twice * wa * wb * blocks[j * block + a * size + b]
        squares += own[j] * mean * mean
        score -= 0.5 * (own[j] * (LOG_TAU + math.log(variance)) + squares / variance)
    penalty = floats[1] * q * (size + 1)
    return score - penalty, scales[2, child] - penalty


@inner_kernel()
def number_family(numbers, starts, codes, weights, floats, is_wishart, members, n_parents, cells):
    """Whether a family has columns of numbers, and then its score and bound."""
    if numbers is None:
        # Known when the kernel is compiled: nothing below is.
        return False, 0.0, 0.0
    number_of = numbers[0]
    # A number has any parents, a state only such that have states.
    if number_of[members[n_parents]] >= 0:
        score, bound = number_score(
            starts, codes, weights, numbers, floats, is_wishart, members, n_parents,
            cells,
        )  # fmt: skip
        return True, score, bound
    for i in range(n_parents):
        if number_of[members[i]] >= 0:
            return True, NO_DENSITY, np.inf
    return False, 0.0, 0.0
