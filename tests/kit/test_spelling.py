"""The one spelling of a name, in which it is kept and looked for."""

import unicodedata

import pytest

from tillhouse.customers.types import PersonName
from tillhouse.kit.text import spelling
from tillhouse.kit.values import Search
from tillhouse.products.values import CatalogName


@pytest.mark.parametrize(
    "typed",
    [
        "Zoë Strauß",
        "Zoe\u0308 Strauß",
        "  Zoë   Strauß ",
        "Zoë\u00a0Strauß",
        "\u3000Zoë\u2003Strauß\u2028",
    ],
)
def test_a_name_has_one_spelling(typed: str) -> None:
    """Accents composed, spaces of any kind made one."""
    assert spelling(typed) == "Zoë Strauß"


@pytest.mark.parametrize("type_", [CatalogName, PersonName, Search])
def test_what_is_kept_and_what_is_looked_for_are_spelt_alike(type_: type[Search]) -> None:
    """Otherwise one would never find the other."""
    apart = unicodedata.normalize("NFD", " Añejo\u00a0 \u2003Café ")
    assert type_.from_wire(apart) == "Añejo Café"


@pytest.mark.parametrize("value", [5, None, True, [], {}, "x" * 121])
def test_a_search_is_a_text_of_some_length(value: object) -> None:
    """For anything that a query or a program gives."""
    with pytest.raises(ValueError, match="must"):
        Search.from_wire(value)
