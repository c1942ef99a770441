"""Text: real messages, exact growth of the vocabulary, telling words, nasty documents."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB as OtherNB
from sklearn.pipeline import make_pipeline

from novum.bayes import BernoulliNB, ComplementNB, GaussianNB, TextClassifier
from novum.core import WorkingPoint, load, save
from novum.core.errors import InputError, NotAdditiveError

# 240 ham and 120 spam messages drawn at random from the SMS Spam Collection (Almeida and Hidalgo
# 2011, UCI Machine Learning Repository, CC BY 4.0).
MESSAGES = Path(__file__).parents[1] / "oracles" / "sms_spam_360.csv"


def messages() -> tuple[list[str], np.ndarray]:
    with MESSAGES.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [row["text"] for row in rows], np.array([row["label"] for row in rows])


TEXTS, LABELS = messages()
TRAIN, TEST = slice(0, 240), slice(240, None)


@pytest.fixture(scope="module")
def model() -> TextClassifier:
    return TextClassifier().fit(TEXTS[TRAIN], LABELS[TRAIN])


def test_agreement_with_scikit_learn(model: TextClassifier) -> None:
    theirs = make_pipeline(CountVectorizer(), OtherNB()).fit(TEXTS[TRAIN], LABELS[TRAIN])
    np.testing.assert_allclose(
        model.predict_proba(TEXTS[TEST]), theirs.predict_proba(TEXTS[TEST]), atol=1e-10
    )


def test_messages_are_told_apart(model: TextClassifier) -> None:
    assert model.score(TEXTS[TEST], LABELS[TEST]) > 0.92
    for classifier in (BernoulliNB(alpha=0.1), ComplementNB()):
        other = TextClassifier(classifier).fit(TEXTS[TRAIN], LABELS[TRAIN])
        assert other.score(TEXTS[TEST], LABELS[TEST]) > 0.85


def test_telling_words(model: TextClassifier) -> None:
    spam = dict(model.telling_words("spam", 20))
    assert {"free", "call", "txt"} <= set(spam)
    assert all(value > 0 for value in spam.values())
    assert not set(spam) & set(dict(model.telling_words("ham", 20)))
    # The definition, for one word.
    counts = model.counts(TEXTS[TRAIN]).toarray()
    j, size = model.vocabulary_.tolist().index("free"), len(model.vocabulary_)
    inside, outside = counts[LABELS[TRAIN] == "spam"], counts[LABELS[TRAIN] != "spam"]
    p, q = ((part[:, j].sum() + 1) / (part.sum() + size) for part in (inside, outside))
    assert spam["free"] == pytest.approx(math.log(p / q), rel=1e-10)


@pytest.mark.parametrize("classifier", [None, BernoulliNB(), ComplementNB()])
def test_batches_and_removal_are_exact(classifier: Any) -> None:
    fresh = TextClassifier(classifier)
    whole = clone(fresh).fit(TEXTS[:120], LABELS[:120])
    batches = clone(fresh)
    for start in range(0, 120, 40):
        batches.partial_fit(TEXTS[start : start + 40], LABELS[start : start + 40])
    assert batches.vocabulary_.tolist() == whole.vocabulary_.tolist()
    np.testing.assert_allclose(
        batches.predict_proba(TEXTS[TEST]), whole.predict_proba(TEXTS[TEST]), rtol=1e-9
    )
    batches.forget(TEXTS[80:120], LABELS[80:120])
    rest = clone(fresh).fit(TEXTS[:80], LABELS[:80])
    assert batches.vocabulary_.tolist() == rest.vocabulary_.tolist()
    np.testing.assert_allclose(
        batches.predict_proba(TEXTS[TEST]), rest.predict_proba(TEXTS[TEST]), rtol=1e-9
    )


def test_declared_classes() -> None:
    model = TextClassifier().partial_fit(["good day"], ["ham"], classes=["ham", "spam"])
    assert model.classes_.tolist() == ["ham", "spam"]
    assert model.predict(["day"]).tolist() == ["ham"]


def test_explanations_name_words(model: TextClassifier) -> None:
    found = model.explain("free call now")
    assert found.label == "spam"
    joint = model.predict_log_proba(["free call now"])[0]
    assert found.log_odds == pytest.approx(joint[1] - joint[0], rel=1e-9)
    assert set(found.columns) == {"free", "call", "now"}
    assert found.values == (1.0, 1.0, 1.0)


def test_words_that_are_not_known_leave_the_priors(model: TextClassifier) -> None:
    found = model.predict_proba(["zzyzx", ""])
    np.testing.assert_allclose(found, [model.class_prior_] * 2, rtol=1e-12)


def test_options_of_words() -> None:
    documents = ["The cat sat", "the dog sat", "A cat"]
    pairs = TextClassifier(ngram_range=(1, 2), stop_words=["the"]).fit(documents, [0, 1, 0])
    assert pairs.vocabulary_.tolist() == ["cat", "cat sat", "dog", "dog sat", "sat"]
    kept = TextClassifier(lowercase=False, token_pattern=r"\w+").fit(documents, [0, 1, 0])
    assert {"A", "The", "the"} <= set(kept.vocabulary_.tolist())
    often = TextClassifier(min_df=2).fit(documents, [0, 1, 0])
    assert often.vocabulary_.tolist() == ["cat", "sat", "the"]
    with pytest.raises(NotAdditiveError, match="min_df=2 leaves out words"):
        often.partial_fit(documents, [0, 1, 0])


def test_working_points_and_files(model: TextClassifier, tmp_path: Any) -> None:
    point = WorkingPoint.binary(prior=0.5, cost_fn=1, cost_fp=1e6, classes=("ham", "spam"))
    careful = model.at(point).predict(TEXTS[TEST])
    assert (careful == "spam").sum() < (model.predict(TEXTS[TEST]) == "spam").sum()
    save(model, tmp_path / "text.novum")
    back = load(tmp_path / "text.novum")
    assert back.predict_proba(TEXTS[TEST]).tobytes() == model.predict_proba(TEXTS[TEST]).tobytes()


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ("one text", "Put it into a list"),
        (["a text", None], "number 1 is None of type NoneType"),
        ([], "no documents"),
        (["!", "?"], "hold no word to learn from"),
    ],
)
def test_nasty_documents(documents: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        TextClassifier().fit(documents, [0] * len(documents))


def test_what_else_is_refused(model: TextClassifier) -> None:
    with pytest.raises(NotFittedError):
        TextClassifier().predict(["text"])
    with pytest.raises(InputError, match="GaussianNB does not count words"):
        TextClassifier(GaussianNB()).fit(["a text"], [0])
    with pytest.raises(InputError, match="does not know 'never'"):
        clone(model).fit(TEXTS[:9], LABELS[:9]).forget(["never zzyzx"], ["ham"])
    before = model.vocabulary_
    with pytest.raises(InputError):
        model.fit([None], ["ham"])
    assert model.vocabulary_ is before
