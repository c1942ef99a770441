"""Random forests: means of trees on bootstrap samples, with random columns at every node."""

from __future__ import annotations

from typing import ClassVar

from novum.trees.forests.forest_targets import ForestClassifier, ForestRegressor


class RandomForestClassifier(ForestClassifier):
    """A random forest of classification trees, on tables as they are.

    Every tree is grown on a bootstrap sample of the rows, and every node takes the best split of
    `max_features` columns drawn anew. A row is given the mean of the class shares that the trees
    give it.

    Attributes
    ----------
    forest_ : Forest
        All trees in one set of arrays.
    estimators_ : list of DecisionTreeClassifier
        The trees one by one, made when asked for.
    classes_ : array of labels, or a list of them for several targets
    class_prior_ : array (n_classes,), shares of the training weight
    feature_importances_ : array (n_columns,)
        Impurity that each column removes; see also `permutation_importances`.
    oob_score_ : float, with `oob_score`
    oob_decision_function_ : array (n_rows, n_classes), with `oob_score`
        NaN for a row that every tree has seen.
    estimators_samples_ : list of arrays, the rows drawn for each tree
    replaced_ : dict
        How many missing cells of each column were replaced.
    schema_, certificate_, draws_, n_classes_, n_outputs_

    Notes
    -----
    With weights rows are drawn in proportion to them, so that weight 2 is the row twice in law
    (give `max_samples` as a fraction for as many draws), and exactly so without bootstrap.
    Thresholds lie on the edges of the bins, so that rows to predict are coded once for all trees.
    One tree costs O(max_features x rows) for each of its levels. Criterion "gain_ratio" and
    "multiway" splits are grown on exact values, more slowly.

    References
    ----------
    Breiman, Random Forests, Machine Learning 45, 2001.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"outlook": ["sunny", "rainy", "overcast", "sunny"] * 5,
    ...                       "humidity": [70.0, 80.0, None, 95.0] * 5})
    >>> forest = RandomForestClassifier(10, random_state=0)
    >>> forest.fit(table, ["yes", "no", "yes", "no"] * 5).predict(table[:4]).tolist()
    ['yes', 'no', 'yes', 'no']
    """


class RandomForestRegressor(ForestRegressor):
    """A random forest of regression trees, on tables as they are.

    Every tree is grown on a bootstrap sample of the rows, and every node takes the best split of
    `max_features` columns drawn anew. A row is given the mean of what the trees predict.

    Attributes
    ----------
    forest_ : Forest
    estimators_ : list of DecisionTreeRegressor
    feature_importances_ : array (n_columns,)
    oob_score_ : float, with `oob_score`
    oob_prediction_ : array (n_rows,) or (n_rows, n_targets), with `oob_score`
    estimators_samples_, replaced_, schema_, certificate_, draws_, n_outputs_

    Notes
    -----
    As for `RandomForestClassifier`. Targets may be several columns.

    References
    ----------
    Breiman, Random Forests, Machine Learning 45, 2001.

    Examples
    --------
    >>> forest = RandomForestRegressor(20, random_state=0)
    >>> forest.fit([[1], [2], [3], [4]] * 5, [0.0, 0.0, 1.0, 3.0] * 5).predict([[1], [4]]).tolist()
    [0.0, 3.0]
    """


# --- Extra trees ----------------------------------------------------------------------------------


class ExtraTreesClassifier(ForestClassifier):
    """Extremely randomized classification trees, on tables as they are.

    Every node draws `max_features` columns and one cut of each, uniformly in the range of the
    node's rows (of levels: two sets at random), and takes the best of these. All trees learn from
    all rows unless `bootstrap=True`.

    Attributes
    ----------
    forest_, estimators_, classes_, class_prior_, feature_importances_, oob_score_, \
oob_decision_function_, estimators_samples_, replaced_, schema_, certificate_, draws_, n_classes_, \
n_outputs_
        As for `RandomForestClassifier`.

    References
    ----------
    Geurts, Ernst and Wehenkel, Extremely randomized trees, Machine Learning 63, 2006.

    Examples
    --------
    >>> forest = ExtraTreesClassifier(10, random_state=0)
    >>> forest.fit([[1], [2], [3], [4]], ["a", "a", "b", "b"]).predict([[1], [4]]).tolist()
    ['a', 'b']
    """

    _splitter: ClassVar[str] = "random"

    bootstrap = False


class ExtraTreesRegressor(ForestRegressor):
    """Extremely randomized regression trees, on tables as they are.

    Nodes draw one cut of each column that they try, as in `ExtraTreesClassifier`.

    Attributes
    ----------
    forest_, estimators_, feature_importances_, oob_score_, oob_prediction_, estimators_samples_, \
replaced_, schema_, certificate_, draws_, n_outputs_
        As for `RandomForestRegressor`.

    References
    ----------
    Geurts, Ernst and Wehenkel, Extremely randomized trees, Machine Learning 63, 2006.

    Examples
    --------
    >>> forest = ExtraTreesRegressor(10, random_state=0)
    >>> forest.fit([[1], [2], [3], [4]], [0.0, 0.0, 1.0, 3.0]).predict([[1], [4]]).tolist()
    [0.0, 3.0]
    """

    _splitter: ClassVar[str] = "random"

    bootstrap = False
