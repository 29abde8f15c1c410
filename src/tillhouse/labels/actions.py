"""Tags and academic terms: make, show, change and delete; find or make tags."""

from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import FieldError, Missing, check, existing
from tillhouse.kit.ids import BookKey, TagId, TermId, new_id
from tillhouse.kit.page import Deleted, Paged, PageOf
from tillhouse.kit.partial import facts_of, merged
from tillhouse.kit.text import slug
from tillhouse.labels import rules
from tillhouse.labels.store import TAGS, TERMS, find_tag_ids, upsert_tags
from tillhouse.labels.types import NewTag, NewTerm, Tag, TagPatch, Term, TermPatch


async def list_terms(call: Call, wanted: Paged) -> PageOf[Term]:
    """One page of the academic terms."""
    return await TERMS.page(call.db, call.book.id, wanted.pick())


async def show_term(call: Call, term_id: TermId) -> Term:
    """One academic term."""
    return existing(await TERMS.show(call.db, call.book.id, term_id))


async def create_term(call: Call, new: NewTerm) -> Term:
    """Make an academic term."""
    check(rules.term_faults(new))
    facts, key = facts_of(rules.TermFacts, new), BookKey(call.book.id, new_id())
    await TERMS.insert(call.db, key, rules.stored(facts), call.now)
    return await show_term(call, TermId(key.id))


async def new_term_faults(_call: Call, new: NewTerm) -> list[FieldError]:
    """The faults of a new term."""
    return rules.term_faults(new)


async def change_term(call: Call, term_id: TermId, patch: TermPatch) -> Term:
    """Change the fields that the patch names."""
    before = existing(await TERMS.lock(call.db, call.book.id, term_id))
    old = facts_of(rules.TermFacts, before)
    check(rules.term_faults(patch, old))
    facts = merged(old, patch)
    if facts == old:
        return before
    await TERMS.update(call.db, BookKey(call.book.id, term_id), rules.stored(facts), call.now)
    return await show_term(call, term_id)


async def term_faults(call: Call, term_id: TermId, patch: TermPatch) -> list[FieldError]:
    """The faults of a change of a term."""
    return rules.term_faults(patch, facts_of(rules.TermFacts, await show_term(call, term_id)))


async def delete_term(call: Call, term_id: TermId) -> Deleted:
    """Take an academic term out of the list."""
    if not await TERMS.delete(call.db, BookKey(call.book.id, term_id), call.now):
        raise Missing
    return Deleted(term_id, iso(call.now))


async def list_tags(call: Call, wanted: Paged) -> PageOf[Tag]:
    """One page of the tags."""
    return await TAGS.page(call.db, call.book.id, wanted.pick())


async def create_tag(call: Call, new: NewTag) -> Tag:
    """Make a tag."""
    tag_id = TagId(new_id())
    key = BookKey(call.book.id, tag_id)
    await TAGS.insert(call.db, key, (new.name, slug(new.name)), call.now)
    return await show_tag(call, tag_id)


async def show_tag(call: Call, tag_id: TagId) -> Tag:
    """One tag."""
    return existing(await TAGS.show(call.db, call.book.id, tag_id))


async def change_tag(call: Call, tag_id: TagId, patch: TagPatch) -> Tag:
    """Rename a tag; its slug follows."""
    if patch.name:
        key = BookKey(call.book.id, tag_id)
        await TAGS.update(call.db, key, (patch.name, slug(patch.name)), call.now)
    return await show_tag(call, tag_id)


async def delete_tag(call: Call, tag_id: TagId) -> Deleted:
    """Remove a tag, from whatever carries it as well."""
    if not await TAGS.delete(call.db, BookKey(call.book.id, tag_id), call.now):
        raise Missing
    return Deleted(tag_id, iso(call.now))


async def known_tags(call: Call, ids: list[UUID]) -> list[UUID]:
    """Those of the ids that are tags: one that was removed is on nothing any more."""
    return await find_tag_ids(call.db, call.book.id, ids)


async def tag_ids(call: Call, tags: list[str]) -> list[UUID]:
    """The ids of tags that are given by id, slug or name, each once, in the order given.

    Names that the book doesn't know become tags; an id that it doesn't know is refused by its
    place, as `tags[2]`.
    """
    if not tags:
        return []
    asked = rules.tags_asked(tags)
    new = [(new_id(), asked.names[one], one) for one in sorted(asked.names)]
    ids = list(asked.ids.values())
    rows = await upsert_tags(call.db, call.book.id, ids, new, call.now)
    by_id = {row["id"] for row in rows}
    by_slug = {row["slug"]: row["id"] for row in rows if row["slug"]}
    found = {index: id_ for index, id_ in asked.ids.items() if id_ in by_id}
    found |= {index: by_slug[one] for index, one in asked.slugs.items() if one in by_slug}
    check(rules.unknown_tags(asked, found, len(tags)))
    return list(dict.fromkeys(found[index] for index in range(len(tags))))
