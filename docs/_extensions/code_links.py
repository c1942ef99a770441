"""Names of Novum in running text become links into the reference.

`KMeans`, `KMeans(n_clusters=3)`, `novum.clustering` and `novum.clustering.KMeans` between backticks
are enough. A bare name is linked where it is one thing only and cannot be an ordinary word.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from reference_pages import homes, packages
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform

_CALL = re.compile(r"^([A-Za-z_][\w.]*)(\(.*\))?$", re.DOTALL)


def targets() -> dict[str, str]:
    """Texts that name one thing, and the full path of what they name."""
    home = homes()
    result = {path: public.path for path, public in home.items()}
    bare: dict[str, set[str]] = {}
    for public in home.values():
        bare.setdefault(public.name, set()).add(public.path)
    for name, paths in bare.items():
        ours = [path for path in paths if not path.startswith(("novum.display", "novum.numerics"))]
        distinctive = "_" in name or (name != name.lower() and len(name) > 2)
        if len(ours) == 1 and distinctive:
            result[name] = ours[0]
    return result


class CodeLinks(SphinxPostTransform):
    default_priority = 5

    def run(self, **_: Any) -> None:
        names = self.env.app.code_targets
        for literal in list(self.document.findall(nodes.literal)):
            inside = literal.parent
            while inside is not None and not isinstance(
                inside,
                nodes.reference | addnodes.pending_xref | nodes.title | addnodes.desc_signature,
            ):
                inside = inside.parent
            match = _CALL.match(literal.astext())
            if inside is not None or match is None:
                continue
            text = match.group(1)
            domain = self.env.domains["py"]
            target = names.get(text)
            if text in packages():
                target = text
            if target is None:
                owner, _, member = text.rpartition(".")
                target = f"{names[owner]}.{member}" if owner in names else None
            entry = domain.objects.get(target) or domain.modules.get(target)
            if entry is None or entry.docname == self.env.docname:
                continue
            link = nodes.reference("", "", internal=True, classes=["code-link"])
            link["refuri"] = self.app.builder.get_relative_uri(self.env.docname, entry.docname)
            link["refuri"] += f"#{entry.node_id}"
            literal.replace_self(link)
            link += literal


def setup(app: Any) -> dict[str, bool]:
    app.code_targets = targets()
    app.add_post_transform(CodeLinks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
