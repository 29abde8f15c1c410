"""Calls without a request, for what one room does for another: real transactions, committed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

from tests.make import Business
from tillhouse.access.call import Call
from tillhouse.access.callers import Book, Books, UserCaller
from tillhouse.access.process import Services
from tillhouse.accounts.store import list_books
from tillhouse.kit.clock import now
from tillhouse.kit.ids import new_id
from tillhouse.kit.secrets import Environment


@asynccontextmanager
async def calling(
    services: Services, business: Business, environment: Environment = "test"
) -> AsyncIterator[Call]:
    """The owner's call, in one of both books; committed when the block ends well."""
    business_id = UUID(business.id)
    async with services.pool.transaction() as db:
        ids = {row["environment"]: row["id"] for row in await list_books(db, business_id)}
        books = Books(test=ids["test"], live=ids["live"])
        owner = UserCaller(
            user_id=UUID(business.user_id),
            session_id=new_id(),
            business_id=business_id,
            books=books,
            name="Ada Owner",
            email=business.email,
            role="owner",
            permissions=frozenset(),
            scopes=frozenset(),
            password_verified_at=None,
            subscription_fault=None,
        )
        yield Call(
            db=db,
            services=services,
            now=now(),
            request_id="test",
            ip="127.0.0.1",
            business_id=business_id,
            book=Book(books.of(environment), environment),
            caller=owner,
        )
