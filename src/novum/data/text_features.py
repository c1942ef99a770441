"""Free text as sparse features: words and sequences of characters, weighted by what they tell.

A text is a bag of terms. The weight of a term t in a text of which it makes up `count` places is

    (1 + log count) * idf(t),    idf(t) = 1 + log((1 + n) / (1 + df(t))),

with `df(t)` the number of the n training texts that have it; the weights of the words of a text,
and those of its characters, are then brought to length one (Salton and Buckley 1988). Words carry
the meaning; sequences of characters within words carry what spelling, endings and compounds share.

Counting is most of the work and does not depend on which rows are learned from, so the counts of a
column of texts are kept for the next fold of a cross-validation. Which terms there are, and what
they weigh, is learned from the rows of the fit alone.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from threading import Lock
from typing import Any, ClassVar, NamedTuple, Self

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse
from sklearn.base import TransformerMixin, clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Certificate, Learner, Verdict, fitted, parameter
from novum.core.runtime import check_memory, fit_context, fitting
from novum.core.tables import (
    MISSING,
    Coding,
    Column,
    Kind,
    Schema,
    arrow_of,
    as_table,
    check_sample,
    checked_rows,
    checked_weight,
    column_names,
    column_places,
    columns_of,
    is_frame,
    n_rows_of,
    refuse_missing,
    rows_of,
    treatment_blocks,
)
from novum.data.date_features import TypeReader
from novum.numerics import Array, Floats, Integers

# Words on average from which "auto" takes a column for text and not for names of levels.
TEXT_WORDS = 3.0
# Longer terms are addresses or noise; they would widen every name in a model file.
_LONGEST_TERM = 40
_ANALYZERS = ("word", "char_wb")


class TextFeatures(TransformerMixin, Learner):
    """Columns of free text become a sparse matrix of weighted terms; others pass as numbers.

    Parameters
    ----------
    columns : "auto" or list of names or positions
        Columns of text. "auto" takes those whose cells have three words or more on average. A list
        or series of texts is taken as a table of one column.
    words : pair of int or None
        Least and largest number of neighboring words that make a term; None for no words.
    characters : pair of int or None
        Least and largest length of sequences of characters, within words and their ends; None for
        none.
    min_df : int
        Terms of fewer texts are left out.
    max_features : int or None
        Words, and sequences of characters, of each column at most: those of most texts.
    lowercase : bool
        Whether `Word` and `word` are the same.
    others : transformer or None
        Prepares the other columns, such as a pipeline that fills and scales; None takes them as
        they are. Either way levels are then coded against the first one, as in linear models.

    Attributes
    ----------
    text_columns_ : int array
        Positions of the columns of text.
    vocabulary_ : array of str
        The terms: words and then characters of the first column, of the second, and so on; sorted
        within each.
    starts_ : int array
        Where the terms of each column's words and characters begin, and the end.
    idf_ : array
        Weight of each term.
    others_ : the fitted transformer, or None
    coded_schema_ : Schema or None
        Of the other columns as they are coded; None where there are none.
    schema_, certificate_

    Notes
    -----
    A missing text has no terms. Terms that training did not have are left out. The other columns
    must have no missing cells when they are coded. `sample_weight` goes to `others`; rows of weight
    zero are absent.

    References
    ----------
    Salton and Buckley (1988), Term-weighting approaches in automatic text retrieval.

    Examples
    --------
    >>> from novum.data import TextFeatures
    >>> texts = ["the cat sat", "the cat ran", "a dog ran"]
    >>> model = TextFeatures(characters=None).fit(texts)
    >>> model.get_feature_names_out().tolist()
    ['text:cat', 'text:ran', 'text:the']
    >>> model.transform(["cat cat bird"]).toarray().tolist()
    [[1.0, 0.0, 0.0]]
    """

    invariances: ClassVar[Any] = ("row_order",)

    columns: Any = parameter({"auto"}, "array-like", default="auto", kw_only=False)
    words: Any = parameter(tuple, list, None, default=(1, 1))
    characters: Any = parameter(tuple, list, None, default=(2, 4))
    min_df: int = parameter(default=2, at_least=1)
    max_features: int | None = parameter(default=50_000, at_least=1)
    lowercase: bool = parameter(default=True)
    others: Any = parameter(HasMethods(["fit", "transform"]), None, default=None)

    text_columns_: Integers = fitted()
    vocabulary_: Array = fitted()
    starts_: Integers = fitted()
    idf_: Floats = fitted()
    others_: Any = fitted()
    coded_schema_: Schema | None = fitted()
    schema_: Schema = fitted()
    certificate_: Certificate = fitted()

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learns terms and their weights, and prepares the other columns.

        Parameters
        ----------
        X : data frame, array of objects, or sequence of texts
        y : array (n,), optional
            Only for `others`.
        sample_weight : array (n,), optional
            Only for `others`, but that rows of weight zero are absent.
        """
        with fitting(self):
            self._check_ranges()
            X = self._table(X, reset=True)
            weight = checked_weight(sample_weight, n_rows_of(X))
            if weight is not None and not weight.all():
                kept = np.flatnonzero(weight)
                X, weight = rows_of(X, kept), weight[kept]
                y = None if y is None else rows_of(y, kept)
            names = column_names(X)
            places = self._places(X, names)
            self.text_columns_ = np.array(places, np.int64)
            self._fit_terms(X, places, names)
            self._fit_others(X, y, weight, names)
            self.certificate_ = Certificate(
                objective="weights of terms",
                verdict=Verdict.PROVED,
                value=float(len(self.vocabulary_)),
                details={"columns": len(places), "texts": n_rows_of(X)},
            )
        return self

    def transform(self, X: Any) -> sparse.csr_matrix:
        """Coded other columns, and behind them the weights of the terms: a CSR matrix."""
        check_is_fitted(self)
        X = self._table(X, reset=False)
        blocks = [] if self.coded_schema_ is None else [self._coded(X)]
        number = 0
        for place in self.text_columns_.tolist():
            array = _texts(X, place, self.schema_.names[place])
            for analyzer, span in self._spans():
                terms = slice(*self.starts_[number : number + 2])
                number += 1
                counted = _counts(array, analyzer, span, self.lowercase)
                blocks.append(_weighted(counted, self.vocabulary_[terms], self.idf_[terms]))
        return sparse.csr_matrix(sparse.hstack(blocks, format="csr", dtype=np.float64))

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the features: `column:word`, and `column:'abc'` for sequences of characters."""
        check_is_fitted(self)
        given = self.schema_.names if input_features is None else tuple(input_features)
        own = getattr(self, "feature_names_in_", None)
        if len(given) != self.schema_.n_columns:
            raise InputError(
                f"input_features should have length {self.schema_.n_columns}, got {len(given)}."
            )
        if input_features is not None and own is not None and list(given) != own.tolist():
            raise InputError("input_features is not equal to feature_names_in_.")
        names: list[str] = []
        if self.coded_schema_ is not None:
            renamed = dict(zip(self.schema_.names, map(str, given), strict=True))
            columns = tuple(
                Column(renamed.get(c.name, c.name), c.kind, c.levels)
                for c in self.coded_schema_.columns
            )
            names += Coding(Schema(columns)).names
        number = 0
        for place in self.text_columns_.tolist():
            for analyzer, _ in self._spans():
                terms = self.vocabulary_[slice(*self.starts_[number : number + 2])].tolist()
                number += 1
                shown = terms if analyzer == "word" else map(repr, terms)
                names += [f"{given[place]}:{term}" for term in shown]
        return np.array(names, object)

    # Steps

    def _table(self, X: Any, *, reset: bool) -> Any:
        rows = checked_rows(self, _named_texts(X), reset=reset)
        return as_table(rows, dense_for=type(self).__name__)

    def _spans(self) -> list[tuple[str, tuple[int, int]]]:
        """What is counted: the analyzer, and the least and largest number of its units."""
        wanted = zip(_ANALYZERS, (self.words, self.characters), strict=True)
        return [(analyzer, (span[0], span[1])) for analyzer, span in wanted if span is not None]

    def _check_ranges(self) -> None:
        for name, span in (("words", self.words), ("characters", self.characters)):
            whole = span is None or (len(span) == 2 and all(type(end) is int for end in span))
            if not whole or (span is not None and not 1 <= span[0] <= span[1]):
                raise InputError(
                    f"{name}={span!r} is no pair of least and largest length. Write it like (1, 2),"
                    " or None."
                )
        if not self._spans():
            raise InputError("`words` and `characters` are both None. Count one of them.")

    def _places(self, X: Any, names: tuple[str, ...]) -> list[int]:
        if isinstance(self.columns, str):
            return [place for place in range(len(names)) if _is_text(X, place)]
        return sorted(set(column_places(self.columns, names)))

    def _fit_terms(self, X: Any, places: list[int], names: tuple[str, ...]) -> None:
        vocabulary: list[Array] = []
        weights: list[Floats] = []
        for place in places:
            array = _texts(X, place, names[place])
            for analyzer, span in self._spans():
                terms, idf = self._terms(_counts(array, analyzer, span, self.lowercase))
                vocabulary.append(terms)
                weights.append(idf)
        if places and not sum(map(len, vocabulary)):
            raise InputError(
                f"The texts of {names[places[0]]!r} have no term in {self.min_df} or more of the "
                f"{n_rows_of(X)} rows. Lower `min_df`, or name columns of text."
            )
        self.starts_ = np.cumsum([0, *map(len, vocabulary)]).astype(np.int64)
        self.vocabulary_ = np.concatenate(vocabulary) if vocabulary else np.empty(0, "U1")
        self.idf_ = np.concatenate(weights) if weights else np.empty(0)

    def _terms(self, counted: TermCounts) -> tuple[Array, Floats]:
        """The terms of enough texts, and their weights."""
        texts = np.bincount(counted.codes[counted.codes >= 0], minlength=counted.counts.shape[0])
        presence = counted.counts.astype(bool).astype(np.float64)
        df = np.asarray(presence.T @ texts.astype(np.float64))
        kept = np.flatnonzero(df >= self.min_df)
        if self.max_features is not None and len(kept) > self.max_features:
            # Ties are cut in the order of the terms.
            most = np.argsort(-df[kept], kind="stable")[: self.max_features]
            kept = np.sort(kept[most])
        n_texts = len(counted.codes)
        return counted.terms[kept], 1.0 + np.log((1.0 + n_texts) / (1.0 + df[kept]))

    def _fit_others(self, X: Any, y: Any, weight: Any, names: tuple[str, ...]) -> None:
        others = np.setdiff1d(np.arange(len(names)), self.text_columns_)
        columns = [Column(name, Kind.NOMINAL) for name in names]
        self.others_, self.coded_schema_ = None, None
        named = is_frame(X)
        if others.size:
            part = columns_of(X, others)
            if self.others is not None:
                takes = weight is not None and has_fit_parameter(self.others, "sample_weight")
                more = {"sample_weight": weight} if takes else {}
                self.others_ = clone(self.others).fit(part, y, **more)
            read = self._prepared(part)
            self.coded_schema_ = _checked(read, None).schema
            before = self.coded_schema_ if self.others_ is None else self.others_.schema_
            for place, column in zip(others.tolist(), before.columns, strict=True):
                columns[place] = Column(names[place], column.kind, column.levels)
            named = named and before.named
        self.schema_ = Schema(tuple(columns), named)

    def _prepared(self, others: Any) -> Any:
        return others if self.others_ is None else self.others_.transform(others)

    def _coded(self, X: Any) -> sparse.csr_matrix:
        names = self.schema_.names
        others = np.setdiff1d(np.arange(len(names)), self.text_columns_)
        sample = _checked(self._prepared(columns_of(X, others)), self.coded_schema_)
        return sparse.vstack([sparse.csr_matrix(rows) for _, rows in treatment_blocks(sample)])

    def _check_state(self) -> None:
        n_blocks = self.text_columns_.size * len(self._spans())
        fits = (
            self.starts_.shape == (n_blocks + 1,)
            and self.starts_[0] == 0
            and (np.diff(self.starts_) >= 0).all()
            and self.vocabulary_.shape == self.idf_.shape == (self.starts_[-1],)
            and (self.text_columns_ >= 0).all()
            and (self.text_columns_ < self.schema_.n_columns).all()
            and (self.others_ is None or hasattr(self.others_, "transform"))
        )
        if not fits:
            raise ModelFileError("The parts of these features of texts do not fit each other.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []
        return tags


# --- Columns --------------------------------------------------------------------------------------


def _named_texts(X: Any) -> Any:
    """Texts alone become a table of one column."""
    if not isinstance(X, (list, tuple, np.ndarray)) and nw.dependencies.is_into_series(X):
        series = nw.from_native(X, series_only=True)
        return pa.table({str(series.name or "text"): series.to_arrow()})
    flat = X.tolist() if isinstance(X, np.ndarray) and X.ndim == 1 else X
    listed = isinstance(flat, (list, tuple)) and len(flat) > 0
    if listed and all(cell is None or isinstance(cell, str) for cell in flat):
        return pa.table({"text": pa.array(flat, pa.string())})
    return X


def _texts(X: Any, place: int, name: str) -> pa.DictionaryArray:
    """A column of text, coded by its different texts."""
    array = arrow_of(X, place)
    coded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    kind = coded.type.value_type
    if not (_is_string(kind) or pa.types.is_null(kind)):
        raise InputError(
            f"Column {name!r} holds {kind} and no text. Name columns of text, or convert it."
        )
    return coded


def _is_string(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _is_text(X: Any, place: int) -> bool:
    if not is_frame(X) and X.dtype.kind not in "OUST":
        return False
    try:
        array = arrow_of(X, place)
    except InputError:
        return False
    coded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    if not _is_string(coded.type.value_type) or coded.type.ordered:
        return False
    used = coded.dictionary.take(pc.unique(coded.indices.drop_null())).cast(pa.string())
    words = pc.mean(pc.list_value_length(pc.utf8_split_whitespace(pc.utf8_trim_whitespace(used))))
    return len(used) > 0 and words.as_py() >= TEXT_WORDS


def _checked(X: Any, schema: Schema | None) -> Any:
    """The other columns as a sample to code; missing cells are refused by column and row."""
    sample = check_sample(TypeReader(), X, target="none", schema=schema, allow_missing=True)
    mask = np.zeros((sample.n_rows, sample.schema.n_columns), bool)
    mask[:, sample.schema.numeric] = np.isnan(sample.numeric)
    mask[:, sample.schema.categorical] = sample.codes == MISSING
    if mask.any():
        refuse_missing(mask, sample.schema.names, "TextFeatures")
    return sample


# --- Counting -------------------------------------------------------------------------------------


class TermCounts(NamedTuple):
    """How often each term stands in each text.

    Attributes
    ----------
    codes : array (n,)
        The text of each row, -1 where missing.
    terms : array of str
        Sorted.
    counts : CSR matrix (number of different texts, number of terms)
    """

    codes: Integers
    terms: Array
    counts: sparse.csr_matrix


_KEPT: OrderedDict[bytes, tuple[Array, sparse.csr_matrix]] = OrderedDict()
_KEPT_LOCK = Lock()
# Columns of text whose counts are kept, and counts of each at most: 12 bytes apiece.
_MOST_KEPT = 6
_MOST_COUNTS = 20_000_000


def _counts(
    array: pa.DictionaryArray, analyzer: str, span: tuple[int, int], lowercase: bool
) -> TermCounts:
    """The counts of a column, from those kept where the same texts were counted before."""
    texts = array.dictionary.cast(pa.string())
    indices = pc.fill_null(array.indices.cast(pa.int64()), -1).to_numpy(zero_copy_only=False)
    digest = hashlib.sha256(repr((analyzer, span, lowercase, len(texts))).encode())
    digest.update(pa.record_batch([texts], ["texts"]).serialize())
    key = digest.digest()
    with _KEPT_LOCK:
        kept = _KEPT.get(key)
        if kept is not None:
            _KEPT.move_to_end(key)
    if kept is None:
        kept = _counted(texts, analyzer, span, lowercase)
        if kept[1].nnz <= _MOST_COUNTS:
            with _KEPT_LOCK:
                _KEPT[key] = kept
                while len(_KEPT) > _MOST_KEPT:
                    _KEPT.popitem(last=False)
    return TermCounts(indices, *kept)


def _counted(
    texts: pa.StringArray, analyzer: str, span: tuple[int, int], lowercase: bool
) -> tuple[Array, sparse.csr_matrix]:
    size = int(pc.sum(pc.utf8_length(texts)).as_py() or 0)
    per_character = 0.5 if analyzer == "word" else 1.0
    check_memory(
        int(64 * per_character * size * (span[1] - span[0] + 1)),
        f"Counting the terms of {len(texts):,} texts of {size:,} characters",
        "Count words alone (`characters=None`), or fewer texts.",
    )
    vectorizer = CountVectorizer(
        analyzer=analyzer, ngram_range=span, lowercase=lowercase, dtype=np.float64
    )
    try:
        counts = vectorizer.fit_transform(texts.fill_null("").to_pylist())
    except ValueError:
        # scikit-learn refuses texts without any term.
        return np.empty(0, "U1"), sparse.csr_matrix((len(texts), 0))
    terms = vectorizer.get_feature_names_out()
    short = np.array([len(term) <= _LONGEST_TERM for term in terms], bool)
    return terms[short].astype(str), sparse.csr_matrix(counts[:, short])


def _weighted(counted: TermCounts, vocabulary: Array, idf: Floats) -> sparse.csr_matrix:
    """The weights of a vocabulary's terms in each row, of length one unless there is none."""
    n_terms = len(vocabulary)
    places = np.searchsorted(vocabulary, counted.terms) if n_terms else np.empty(0, np.int64)
    places = np.minimum(places, max(n_terms - 1, 0))
    known = np.flatnonzero(vocabulary[places] == counted.terms) if n_terms else places
    rows = np.flatnonzero(counted.codes >= 0)
    chosen = counted.counts[counted.codes[rows]][:, known].tocsr()
    weights = (1.0 + np.log(chosen.data)) * idf[places[known]][chosen.indices]
    lengths = np.diff(chosen.indptr)
    squares = np.append(weights**2, 0.0)
    norms = np.sqrt(np.add.reduceat(squares, chosen.indptr[:-1])) if len(rows) else np.empty(0)
    norms = np.where(lengths > 0, norms, 1.0)
    weights = weights / np.repeat(norms, lengths)
    widths = np.zeros(len(counted.codes), np.int64)
    widths[rows] = lengths
    indptr = np.concatenate([[0], np.cumsum(widths)])
    indices = places[known][chosen.indices]
    return sparse.csr_matrix((weights, indices, indptr), shape=(len(counted.codes), n_terms))
