"""Words that people order by: whether labels look like the levels of a scale, and in which order.

Nothing is decided by this: labels are a scale where somebody says so, and here is what to ask about
and what to propose.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# Scales from low to high; words between bars stand at the same place.
_SCALES = tuple(
    tuple(frozenset(place.split("|")) for place in line.split())
    for line in (
        "none|no|absent very_low|verylow|vlow low|lo medium|med|mid|middle|moderate|average|normal "
        "high|hi very_high|veryhigh|vhigh extreme|extremely_high",
        "none|no|absent minimal|trace mild|slight|light moderate|medium severe|serious|heavy "
        "critical|very_severe fatal|death",
        "tiny|xxs extra_small|xs small|s medium|med|m large|big|l extra_large|xl huge|xxl xxxl",
        "terrible|awful|very_bad|very_poor bad|poor|unacc|unacceptable below_average|weak "
        "fair|ok|okay|acceptable|acc|average|normal|satisfactory|sufficient above_average good "
        "very_good|vgood excellent|great|outstanding best|perfect|ideal",
        "never rarely|seldom sometimes|occasionally often|frequently usually always",
        "strongly_disagree disagree neutral|neither|undecided agree strongly_agree",
        "very_dissatisfied dissatisfied|unsatisfied neutral|neither satisfied very_satisfied",
        "freezing cold cool mild|warm hot",
        "very_slow slow medium|moderate|normal fast very_fast",
        "beginner|novice elementary|basic intermediate advanced expert",
        "bronze silver gold platinum diamond",
        "i ii iii iv v vi vii viii ix x",
        "first second third fourth fifth",
        "child teenager|adolescent adult|middle_aged senior|elderly|old",
        "declining stable|unchanged improving",
    )
)
_NUMBERED = re.compile(r"(\D*)(\d{1,3})(\D*)")


def scale_of(labels: Sequence[object]) -> list[str] | None:
    """The labels from low to high, where they look like a scale; None where they do not.

    Examples
    --------
    >>> scale_of(["High", "low", "medium"]), scale_of(["stage 2", "stage 10", "stage 1"])
    (['low', 'medium', 'High'], ['stage 1', 'stage 2', 'stage 10'])
    >>> scale_of(["red", "green", "blue"])
    """
    texts = [label for label in labels if isinstance(label, str)]
    if len(texts) < max(2, len(labels)):
        return None
    words = [re.sub(r"[\s_-]+", "_", text.strip().lower()) for text in texts]
    for scale in _SCALES:
        levels = [[k for k, same in enumerate(scale) if word in same] for word in words]
        places = [one[0] for one in levels if one]
        if len(places) == len(words) == len(set(places)):
            return [text for _, text in sorted(zip(places, texts, strict=True))]
    parts = [_NUMBERED.fullmatch(text) for text in texts]
    known = [part for part in parts if part is not None]
    around = {(part[1], part[3]) for part in known}
    numbers = [int(part[2]) for part in known]
    if len(known) == len(texts) == len(set(numbers)) and len(around) == 1 and around != {("", "")}:
        return [text for _, text in sorted(zip(numbers, texts, strict=True))]
    return None
