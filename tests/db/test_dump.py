"""The schema's dump is complete, stable, and the same from every version of PostgreSQL."""

from uuid import uuid4

import asyncpg
import pytest

from tests.db.dump import dump
from tests.db.servers import embedded, oldest
from tillhouse.db.migrate import migrate

pytestmark = pytest.mark.proof

SCHEMA = """
CREATE TYPE mood AS ENUM ('good', 'bad');
CREATE DOMAIN money_amount AS numeric(20, 4) NOT NULL
    CONSTRAINT money_amount_positive CHECK (VALUE >= 0);
CREATE SEQUENCE counter START WITH 5;
CREATE FUNCTION twice(value integer DEFAULT 1) RETURNS integer
    LANGUAGE sql IMMUTABLE RETURN value * 2;
CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN NEW.label := upper(NEW.label); RETURN NEW; END $$;
CREATE TABLE sales (
    book_id uuid NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    feeling mood DEFAULT 'good',
    amount money_amount DEFAULT 1.5,
    label varchar(20) COLLATE "C" CHECK (label IN ('a', 'b') OR length(label) > 2),
    doubled integer GENERATED ALWAYS AS (length(label) * 2) STORED,
    gone integer,
    made_at timestamptz(3) NOT NULL DEFAULT now(),
    PRIMARY KEY (book_id, id)
) WITH (fillfactor = 80);
ALTER TABLE sales DROP COLUMN gone;
CREATE INDEX sales_by_label ON sales (book_id, lower(label) DESC) INCLUDE (amount)
    WHERE feeling <> 'bad';
CREATE TRIGGER sales_touch BEFORE INSERT OR UPDATE OF label ON sales
    FOR EACH ROW WHEN (NEW.label IS NOT NULL) EXECUTE FUNCTION touch();
CREATE UNLOGGED TABLE cells (
    book_id uuid, sale_id bigint, place int4range,
    EXCLUDE USING gist (place WITH &&),
    FOREIGN KEY (book_id, sale_id) REFERENCES sales ON DELETE CASCADE DEFERRABLE
);
CREATE TABLE nothing (id int PRIMARY KEY);
CREATE TABLE logs (made_at timestamptz NOT NULL, id int REFERENCES nothing)
    PARTITION BY RANGE (made_at);
CREATE INDEX logs_by_id ON logs (id);
CREATE TABLE logs_2026_01 PARTITION OF logs
    FOR VALUES FROM ('2026-01-01') TO ('2026-02-01');
CREATE VIEW good_sales AS SELECT s.id, s.label || 'sales.' AS label FROM sales s
    WHERE s.feeling = 'good';
CREATE VIEW sale_cells AS SELECT sales.id, c.place FROM sales JOIN cells c ON c.sale_id = sales.id;
"""

EXPECTED_SALES = """\
CREATE TABLE sales (
    book_id uuid NOT NULL,
    id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    feeling mood DEFAULT 'good'::mood,
    amount money_amount DEFAULT 1.5,
    label character varying(20) COLLATE "C",
    doubled integer GENERATED ALWAYS AS ((length((label)::text) * 2)) STORED,
    made_at timestamp(3) with time zone NOT NULL DEFAULT now(),
    CONSTRAINT sales_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT sales_label_check CHECK ((label::text = ANY (ARRAY['a'::character varying, \
'b'::character varying]::text[])) OR length(label::text) > 2)
) WITH (fillfactor=80);
CREATE INDEX sales_by_label ON sales USING btree (book_id, lower(label::text) DESC) \
INCLUDE (amount) WHERE feeling <> 'bad'::mood;
CREATE TRIGGER sales_touch BEFORE INSERT OR UPDATE OF label ON sales FOR EACH ROW \
WHEN (new.label IS NOT NULL) EXECUTE FUNCTION touch();
"""


async def dumps(url: str) -> list[str]:
    """Dump the product's schema, made twice, and one that holds a bit of everything."""
    texts: list[str] = []
    for schema in ("", "", SCHEMA):
        name = f"test_{uuid4().hex}"
        main = await asyncpg.connect(url)
        await main.execute(f"CREATE DATABASE {name}")
        await main.close()
        connection = await asyncpg.connect(url, database=name)
        try:
            if schema:
                await connection.execute(schema)
            else:
                await migrate(connection)
            texts.append(await dump(connection))
        finally:
            await connection.close()
    return texts


async def test_dump_is_complete_and_the_same_everywhere() -> None:
    """The text tells all there is, and neither the version nor a second making changes it."""
    with embedded() as newest_url, oldest() as oldest_url:
        newest, old = await dumps(newest_url), await dumps(oldest_url)
    assert newest[0] == newest[1]
    assert newest == old
    text = newest[2]
    assert EXPECTED_SALES in text
    assert "logs_2026_01" not in text
    assert "CREATE TABLE logs (\n    made_at timestamp with time zone NOT NULL" in text
    assert ") PARTITION BY RANGE (made_at);\nCREATE INDEX logs_by_id ON logs USING" in text
    assert "CREATE UNLOGGED TABLE cells (" in text
    assert "EXCLUDE USING gist (place WITH &&)" in text
    assert "REFERENCES sales(book_id, id) ON DELETE CASCADE DEFERRABLE" in text
    assert "CREATE TYPE mood AS ENUM ('good', 'bad');" in text
    assert "CREATE DOMAIN money_amount AS numeric(20,4) NOT NULL" in text
    assert "CREATE SEQUENCE counter AS bigint INCREMENT BY 1 MINVALUE 1" in text
    assert "sales_id_seq" not in text
    assert "RETURN (value * 2);" in text
    assert "SELECT id,\n    label::text || 'sales.'::text AS label\n   FROM sales s" in text
    assert "SELECT sales.id,\n    c.place" in text
    assert "CREATE TABLE schema_migrations (" in newest[0]
