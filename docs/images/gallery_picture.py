"""Makes `gallery.png`, twelve pictures of the gallery, from a site that `make docs` has built.

.venv/bin/python docs/images/gallery_picture.py
"""

from __future__ import annotations

from pathlib import Path

from PIL import Image, ImageOps

HERE = Path(__file__).resolve().parent
SHOWN = (
    "predict_a_class/01_a_tree_to_read",
    "predict_a_class/11_gaussian_classifiers",
    "predict_a_class/07_adaboost",
    "kernels_and_margins/01_margins",
    "predict_a_number/04_tube_and_kernel_ridge",
    "judge_and_decide/04_bayes_error_plot",
    "judge_and_decide/05_is_it_really_better",
    "find_groups/04_mixtures",
    "find_groups/03_trees_of_groups",
    "reduce_and_detect/04_smallest_sphere",
    "bayesian_networks/04_most_probable_path",
    "act_over_time/01_grid_world",
)
COLUMNS, SIZE, GAP = 4, (300, 200), 12


def main() -> None:
    rows = -(-len(SHOWN) // COLUMNS)
    width = COLUMNS * (SIZE[0] + GAP) + GAP
    sheet = Image.new("RGB", (width, rows * (SIZE[1] + GAP) + GAP), "#eef1f5")
    for number, name in enumerate(SHOWN):
        group, _, stem = name.partition("/")
        folder = HERE.parent / "examples" / group / "images"
        with Image.open(folder / f"sphx_glr_plot_{stem}_001.png") as picture:
            fitted = ImageOps.pad(picture.convert("RGB"), SIZE, color="white")
        place = (number % COLUMNS, number // COLUMNS)
        sheet.paste(fitted, tuple(GAP + p * (s + GAP) for p, s in zip(place, SIZE, strict=True)))
    sheet.quantize(128).save(HERE / "gallery.png", optimize=True)


if __name__ == "__main__":
    main()
