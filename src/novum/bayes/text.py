"""Text classification from documents to classes: words, counts, naive Bayes.

    documents  ->  words  ->  counts (sparse)  ->  MultinomialNB or another count model  ->  classes

Counts of words add up over documents, whatever vocabulary each batch brings: a word that a batch
does not have has the count zero there. So a classifier learns from batches, and forgets documents,
exactly as if it had been fitted to what remains.

How much a word tells about a class k is its part of the divergence of the class's words from those
of all other classes, `p log(p / q)`: a word must be frequent as well as peculiar.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils.validation import check_is_fitted

from novum.bayes.explanation import Explanation
from novum.bayes.multinomial import MultinomialNB
from novum.bayes.naive_bayes_engine import NaiveBayesModel, numbered_columns
from novum.bayes.naive_bayes_statistics import NaiveBayesStatistics
from novum.core.decisions import DecisionMixin
from novum.core.errors import InputError, NotAdditiveError
from novum.core.learners import Learner, fitted, parameter
from novum.core.runtime import fit_context, fitting
from novum.numerics import Array, Floats

# Words of two letters or more, as in scikit-learn.
_WORDS = r"(?u)\b\w\w+\b"


class TextClassifier(DecisionMixin, ClassifierMixin, Learner):
    """Naive Bayes on the words of documents.

    Parameters
    ----------
    classifier : MultinomialNB, BernoulliNB or ComplementNB, optional
        `MultinomialNB()` by default.
    lowercase : bool, default=True
        Whether `Word` and `word` are the same.
    token_pattern : str
        A regular expression of what counts as a word; two letters or more by default.
    ngram_range : tuple of int, default=(1, 1)
        Least and largest number of neighboring words that count together as one.
    stop_words : list of str or "english", optional
        Words to leave out.
    min_df : int, default=1
        Words of fewer documents are left out. Above 1 documents can no longer be added or removed.

    Attributes
    ----------
    vocabulary_ : array of str
        The words, sorted.
    classifier_ : the fitted classifier
    classes_, class_count_, class_prior_, certificate_, statistics_
        Those of `classifier_`.

    Notes
    -----
    Words that training did not have are left out in prediction. A document without any known word
    gets the class priors. `ngram_range`, `token_pattern` and `stop_words` are scikit-learn's.

    Examples
    --------
    >>> from novum.bayes import TextClassifier
    >>> model = TextClassifier().fit(["buy cheap pills", "cheap offer", "see you"], [1, 1, 0])
    >>> model.predict(["a cheap pill", "you"]).tolist()
    [1, 0]
    >>> [word for word, _ in model.telling_words(1, 1)]
    ['cheap']
    """

    invariances: ClassVar[Any] = ("row_order", "duplication")
    classifier: Any = parameter(NaiveBayesModel, None, default=None, kw_only=False)
    lowercase: bool = parameter(default=True)
    token_pattern: str = parameter(default=_WORDS)
    ngram_range: tuple[int, int] = parameter(tuple, default=(1, 1))
    stop_words: Any = parameter(None, list, str, default=None)
    min_df: int = parameter(default=1, at_least=1)

    classifier_: Any = fitted()
    vocabulary_: Array = fitted()

    # Fits

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fits the model to documents `X`, a sequence of text, and their classes `y`."""
        with fitting(self):
            words, sums = self._sums(X, y, sample_weight)
            self._store(words, sums)
        return self

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Adds documents, with the words they bring; the first call starts anew."""
        self._refuse_without_sums()
        with fitting(self):
            words, sums = self._sums(X, y, sample_weight)
            sums = sums if classes is None else sums.with_classes(classes)
            if hasattr(self, "classifier_"):
                everything = np.union1d(self.vocabulary_, words)
                old = _on_words(self.statistics_, self.vocabulary_, everything)
                words, sums = everything, old + _on_words(sums, words, everything)
            self._store(words, sums)
        return self

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Removes documents exactly, and the words that only they had."""
        check_is_fitted(self)
        self._refuse_without_sums()
        with fitting(self):
            words, sums = self._sums(X, y, sample_weight)
            strange = np.setdiff1d(words, self.vocabulary_)
            if strange.size:
                raise InputError(
                    f"The documents to remove were never added: the model does not know "
                    f"{str(strange[0])!r}. Remove only documents that it has learned from."
                )
            rest = self.statistics_ - _on_words(sums, words, self.vocabulary_)
            kept = rest.totals.sum(axis=0) > 0
            left = self.vocabulary_[kept]
            self._store(left, _on_words(rest, self.vocabulary_, left))
        return self

    # Prediction

    def predict(self, X: Any) -> Array:
        """The most probable class of each document."""
        return np.asarray(self._fitted().predict(self.counts(X)))

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, of shape (n_documents, n_classes)."""
        return np.asarray(self._fitted().predict_proba(self.counts(X)))

    def predict_log_proba(self, X: Any) -> Floats:
        """Their logarithms."""
        return np.asarray(self._fitted().predict_log_proba(self.counts(X)))

    def counts(self, X: Any) -> Any:
        """How often each word of the vocabulary occurs: a CSR matrix (n_documents, n_words)."""
        self._fitted()
        return self._vectorizer(self.vocabulary_).transform(_checked_documents(X))

    def explain(self, document: str, label: Any = None, against: Any = None) -> Explanation:
        """Each word's part of the log-odds of the predicted class against the next.

        Words that have no part in it are left out.
        """
        explanation = self._fitted().explain(self.counts([document]), label, against)
        speak = np.flatnonzero(explanation.contributions)
        return replace(
            explanation,
            columns=tuple(self.vocabulary_[speak].tolist()),
            values=tuple(explanation.values[j] for j in speak),
            contributions=explanation.contributions[speak],
        )

    def telling_words(self, label: Any, count: int = 10) -> list[tuple[str, float]]:
        """The words that tell most for a class, each with its log-odds against the other classes.

        Sorted by `p log(p / q)`, with `p` and `q` the smoothed shares of the word in the class and
        in all other classes together.
        """
        model = self._fitted()
        k = model._class_code(label)
        totals = self.statistics_.totals
        alpha = np.asarray(model.alpha, float)
        shares = [part + alpha for part in (totals[k], totals.sum(axis=0) - totals[k])]
        p, q = (part / part.sum() for part in shares)
        with np.errstate(divide="ignore", invalid="ignore"):
            log_odds = np.log(p) - np.log(q)
            tells = np.where(p > 0, p * log_odds, 0.0)
        order = np.argsort(-tells, kind="stable")[:count]
        return [(str(self.vocabulary_[j]), float(log_odds[j])) for j in order]

    # What it shares with its classifier

    @property
    def classes_(self) -> Array:
        return np.asarray(self.classifier_.classes_)

    @property
    def class_count_(self) -> Floats:
        return np.asarray(self.classifier_.class_count_)

    @property
    def class_prior_(self) -> Floats:
        return np.asarray(self.classifier_.class_prior_)

    @property
    def certificate_(self) -> Any:
        return self.classifier_.certificate_

    @property
    def statistics_(self) -> NaiveBayesStatistics:
        statistics: NaiveBayesStatistics = self.classifier_.statistics_
        return statistics

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags

    # Steps

    def _sums(self, X: Any, y: Any, sample_weight: Any) -> tuple[Array, NaiveBayesStatistics]:
        """The words of the documents, sorted, and the sums of their counts."""
        documents = _checked_documents(X)
        vectorizer = self._vectorizer(None)
        try:
            counts = vectorizer.fit_transform(documents)
        except ValueError as error:
            raise InputError(
                f"The {len(documents)} documents hold no word to learn from ({error}). Check "
                "`token_pattern`, `stop_words` and `min_df`."
            ) from error
        words = vectorizer.get_feature_names_out().astype(str)
        return words, self._model().statistics(counts, y, sample_weight)

    def _store(self, words: Array, sums: NaiveBayesStatistics) -> None:
        self.classifier_ = self._model().fit_statistics(sums)
        self.vocabulary_ = words

    def _model(self) -> Any:
        model = MultinomialNB() if self.classifier is None else clone(self.classifier)
        if not model._sparse_allowed:
            raise InputError(
                f"{type(model).__name__} does not count words. Use MultinomialNB, BernoulliNB or "
                "ComplementNB."
            )
        return model

    def _vectorizer(self, vocabulary: Array | None) -> CountVectorizer:
        return CountVectorizer(
            lowercase=self.lowercase,
            token_pattern=self.token_pattern,
            ngram_range=self.ngram_range,
            stop_words=self.stop_words,
            min_df=1 if vocabulary is not None else self.min_df,
            vocabulary=None if vocabulary is None else vocabulary.tolist(),
            dtype=np.float64,
        )

    def _fitted(self) -> Any:
        check_is_fitted(self, "classifier_")
        return self.classifier_

    def _refuse_without_sums(self) -> None:
        if self.min_df > 1:
            raise NotAdditiveError(
                f"min_df={self.min_df} leaves out words by all documents at once, so documents can "
                "be neither added nor removed. Use min_df=1."
            )


def _on_words(sums: NaiveBayesStatistics, words: Array, wanted: Array) -> NaiveBayesStatistics:
    """The sums with the counts of other words, in their order; unknown words have none."""
    totals = np.zeros((sums.n_classes, len(wanted)))
    known = np.isin(words, wanted)
    totals[:, np.searchsorted(wanted, words[known])] = sums.totals[:, known]
    return replace(sums, schema=numbered_columns(len(wanted)), totals=totals)


def _checked_documents(X: Any) -> Sequence[str]:
    if isinstance(X, (str, bytes)):
        raise InputError("Expected a sequence of documents, got one text. Put it into a list.")
    documents = X.tolist() if hasattr(X, "tolist") else list(X)
    for place, document in enumerate(documents):
        if not isinstance(document, str):
            raise InputError(
                f"Documents are text, but number {place} is {document!r:.60} of type "
                f"{type(document).__name__}. Select the documents that have a text."
            )
    if not documents:
        raise InputError("There are no documents. Pass at least one.")
    return documents
