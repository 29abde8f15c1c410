"""The document of one operation: what it names of the whole one, and nothing else.

Schemathesis keeps a registry of the whole document for each schema, 12 MB of it, and a schema for
each test: of all operations this took 3.4 GB.
"""

import json
import re
from typing import Any

_REFERENCE = re.compile(r'"\$ref": "#/components/(\w+)/([^"/]+)"')


def excerpt(document: dict[str, Any], path: str) -> dict[str, Any]:
    """The document with this path alone, and the components that it names."""
    paths = {path: document["paths"][path]}
    wanted, components = _named(paths), dict[str, dict[str, Any]]()
    while wanted:
        kind, name = wanted.pop()
        if name not in components.setdefault(kind, {}):
            components[kind][name] = document["components"][kind][name]
            wanted |= _named(components[kind][name])
    components["securitySchemes"] = document["components"]["securitySchemes"]
    kept = {name: part for name, part in document.items() if name not in ("webhooks", "tags")}
    return {**kept, "paths": paths, "components": components}


def _named(part: object) -> set[tuple[str, str]]:
    """The components that a part refers to, by kind and name."""
    return set(_REFERENCE.findall(json.dumps(part)))
