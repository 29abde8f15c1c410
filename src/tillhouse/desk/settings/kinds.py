"""The plain things of the settings: stores, tables, tags and academic terms."""

from tillhouse.desk.settings import operations as ops
from tillhouse.desk.settings import sections
from tillhouse.desk.settings.things import Field, Kind

STORES = Kind(
    section=sections.STORES, key="store_id",
    make=ops.MAKE_STORE, one=ops.STORE, change=ops.CHANGE_STORE, delete=ops.DELETE_STORE,
    fields=(
        Field("name", is_required=True),
        Field("address", column="c-2"),
        Field("phone", "tel"),
        Field("time_zone", "zone", has_hint=True),
        Field("day_cutoff", "time", is_cleared=False, column="c-3", has_hint=True,
              at_first="00:00"),
        Field("preparation_minutes", "number", is_cleared=False, column="c-4", has_hint=True,
              at_first="20"),
        Field("is_active", "flag", column="c-2", has_hint=True, at_first="true"),
    ),
)  # fmt: skip
TABLES = Kind(
    section=sections.TABLES, key="table_id",
    make=ops.MAKE_TABLE, one=ops.TABLE, change=ops.CHANGE_TABLE, delete=ops.DELETE_TABLE,
    fields=(
        Field("label", is_required=True),
        Field("area", column="c-2", has_hint=True),
        Field("seats", "number", column="c-3"),
        Field("store_id", "store", column="c-4"),
        Field("is_active", "flag", column="c-2", has_hint=True, at_first="true"),
    ),
)  # fmt: skip
TAGS = Kind(
    section=sections.TAGS, key="tag_id",
    make=ops.MAKE_TAG, one=ops.TAG, change=ops.CHANGE_TAG, delete=ops.DELETE_TAG,
    fields=(Field("name", is_required=True),),
)  # fmt: skip
TERMS = Kind(
    section=sections.TERMS, key="term_id",
    make=ops.MAKE_TERM, one=ops.TERM, change=ops.CHANGE_TERM, delete=ops.DELETE_TERM,
    fields=(
        Field("name", is_required=True),
        Field("starts_on", "date", column="c-2"),
        Field("ends_on", "date", column="c-2"),
    ),
)  # fmt: skip
