"""Academic terms and tags: what this room brings along."""

from tillhouse.db.constraints import taken, wrong_field
from tillhouse.http.route import Group
from tillhouse.labels.routes import ROUTES
from tillhouse.room import Room

ROOM = Room(
    name="labels",
    routes=ROUTES,
    groups=(
        Group("/v1/academic-terms", "Academic terms", "The terms of a school's sales.", "places"),
        Group("/v1/tags", "Tags", "Words that orders are sorted by.", "places"),
    ),
    kept_tables=("academic_terms", "tags"),
    refusals=(
        wrong_field("academic_terms_in_order", "ends_on", "must not be before starts_on"),
        taken(
            "academic_terms_name_key",
            "There is a term of this name already: choose another name.",
        ),
        taken(
            "tags_slug_key",
            "There is a tag of this name already: use it, or choose another name.",
        ),
    ),
)
