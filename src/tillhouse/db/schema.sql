-- Written by `make docs`; change a migration instead.

CREATE DOMAIN ledger_account_kind AS text
    CONSTRAINT ledger_account_kind_known CHECK (VALUE = ANY (ARRAY['wallet'::text, 'wallet_funding'::text, 'provider_clearing'::text, 'fees'::text, 'unapplied_receipts'::text, 'customer_credit'::text, 'receivable'::text, 'sales'::text, 'tips'::text, 'cash'::text, 'pos'::text, 'bank'::text, 'other_tender'::text, 'expenses'::text, 'refunds'::text, 'disputes'::text, 'withdrawals_in_transit'::text, 'opening'::text]));

CREATE DOMAIN ledger_hold_status AS text
    CONSTRAINT ledger_hold_status_known CHECK (VALUE = ANY (ARRAY['pending'::text, 'posted'::text, 'released'::text]));

CREATE DOMAIN order_amount AS numeric
    CONSTRAINT order_amount_bounds CHECK (VALUE >= 0::numeric AND VALUE < '1000000000000000'::numeric);

CREATE DOMAIN order_channel AS text
    CONSTRAINT order_channel_known CHECK (VALUE = ANY (ARRAY['in_person'::text, 'whatsapp'::text, 'instagram'::text, 'tiktok'::text, 'telegram'::text, 'twitter'::text, 'storefront'::text, 'dashboard'::text, 'checkout'::text, 'voice'::text, 'other'::text]));

CREATE DOMAIN order_line_type AS text
    CONSTRAINT order_line_type_known CHECK (VALUE = ANY (ARRAY['product'::text, 'fee'::text]));

CREATE DOMAIN order_payment_method AS text
    CONSTRAINT order_payment_method_known CHECK (VALUE = ANY (ARRAY['cash'::text, 'transfer'::text, 'pos'::text, 'cloove_pay'::text, 'credit'::text, 'other'::text]));

CREATE DOMAIN order_quantity AS numeric
    CONSTRAINT order_quantity_bounds CHECK (VALUE > 0::numeric AND VALUE < '1000000000'::numeric);

CREATE DOMAIN order_service_mode AS text
    CONSTRAINT order_service_mode_known CHECK (VALUE = ANY (ARRAY['dine_in'::text, 'takeaway'::text, 'room_service'::text]));

CREATE DOMAIN order_status AS text
    CONSTRAINT order_status_known CHECK (VALUE = ANY (ARRAY['scheduled'::text, 'pending'::text, 'completed'::text, 'cancelled'::text, 'refunded'::text]));

CREATE DOMAIN order_stock_state AS text
    CONSTRAINT order_stock_state_known CHECK (VALUE = ANY (ARRAY['none'::text, 'reserved'::text, 'taken'::text]));

CREATE DOMAIN payment_kind AS text
    CONSTRAINT payment_kind_known CHECK (VALUE = ANY (ARRAY['payment'::text, 'correction'::text]));

CREATE DOMAIN payment_status AS text
    CONSTRAINT payment_status_known CHECK (VALUE = ANY (ARRAY['pending'::text, 'successful'::text, 'failed'::text, 'reversed'::text]));

CREATE DOMAIN positive_amount AS numeric
    CONSTRAINT positive_amount_bounds CHECK (VALUE > 0::numeric AND VALUE < '1000000000000000'::numeric);

CREATE DOMAIN signed_amount AS numeric
    CONSTRAINT signed_amount_bounds CHECK (VALUE <> 0::numeric AND VALUE > '-1000000000000000'::numeric AND VALUE < '1000000000000000'::numeric);

CREATE DOMAIN stock_move_kind AS text
    CONSTRAINT stock_move_kind_known CHECK (VALUE = ANY (ARRAY['opening'::text, 'adjustment'::text, 'count'::text, 'purchase'::text, 'waste'::text, 'transfer'::text, 'sale'::text, 'reservation'::text, 'release'::text, 'restore'::text, 'return'::text]));

CREATE DOMAIN transaction_method AS text
    CONSTRAINT transaction_method_known CHECK (VALUE = ANY (ARRAY['cash'::text, 'transfer'::text, 'pos'::text, 'cloove_pay'::text, 'card'::text, 'credit'::text, 'wallet'::text, 'other'::text]));

CREATE DOMAIN transaction_status AS text
    CONSTRAINT transaction_status_known CHECK (VALUE = ANY (ARRAY['pending'::text, 'processing'::text, 'successful'::text, 'failed'::text, 'reversed'::text]));

CREATE DOMAIN transaction_type AS text
    CONSTRAINT transaction_type_known CHECK (VALUE = ANY (ARRAY['sale'::text, 'debt_payment'::text, 'wallet_deposit'::text, 'wallet_withdrawal'::text, 'refund'::text, 'reversal'::text, 'fee'::text, 'expense'::text, 'credit'::text, 'adjustment'::text, 'tip'::text, 'change'::text]));

CREATE DOMAIN withdrawal_status AS text
    CONSTRAINT withdrawal_status_known CHECK (VALUE = ANY (ARRAY['requested'::text, 'processing'::text, 'completed'::text, 'failed'::text, 'reversed'::text, 'cancelled'::text]));

CREATE OR REPLACE FUNCTION public.add_voice_call(counted voice_calls, times integer)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
    made_on date := (counted.created_at AT TIME ZONE 'UTC')::date;
BEGIN
    -- Always in this order, so that two can't wait for each other.
    INSERT INTO voice_call_tallies AS t (book_id, period, day, status, number_id, agent_id,
        ended_reason, slot, calls)
    SELECT counted.book_id, p.period, p.day, counted.status, counted.number_id,
        counted.agent_id, coalesce(counted.ended_reason, ''),
        CASE counted.status WHEN 'queued' THEN pg_backend_pid() % 4 ELSE 0 END, times
    FROM (VALUES ('ever', date '0001-01-01'), ('month', date_trunc('month', made_on)::date),
        ('day', made_on)) p (period, day)
    ON CONFLICT (book_id, period, day, status, number_id, agent_id, ended_reason, slot)
        DO UPDATE SET calls = t.calls + excluded.calls;
END $function$;

CREATE OR REPLACE FUNCTION public.analyze_what_grew()
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
DECLARE
    grown regclass;
    analyzed integer := 0;
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtextextended('analyze what grew', 0)) THEN
        RETURN 0;
    END IF;
    FOR grown IN
        SELECT c.oid FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid
        WHERE c.relnamespace = current_schema()::regnamespace AND c.reltuples < 100000
            AND s.n_live_tup > 100 AND s.n_live_tup > 2 * c.reltuples
            AND pg_has_role(c.relowner, 'USAGE')
        ORDER BY c.reltuples, c.oid
    LOOP
        EXECUTE format('ANALYZE %s', grown);
        analyzed := analyzed + 1;
        EXIT WHEN clock_timestamp() > statement_timestamp() + interval '20 ms';
    END LOOP;
    RETURN analyzed;
END $function$;

CREATE OR REPLACE FUNCTION public.asked_of_stay(book uuid, stay uuid)
 RETURNS numeric
 LANGUAGE sql
 STABLE
AS $function$
    SELECT asked_of_stay_before(book, stay, 0, 0, 0)
$function$;

CREATE OR REPLACE FUNCTION public.asked_of_stay_before(book uuid, stay uuid, deposit numeric, came numeric, owed numeric)
 RETURNS numeric
 LANGUAGE sql
 STABLE
AS $function$
    WITH held AS (
        SELECT o.id, o.customer_id, CASE WHEN o.deleted_at IS NULL
                AND o.status IN ('pending', 'completed') THEN o.remaining_amount ELSE 0 END AS owed,
            coalesce((SELECT sum(u.amount) FROM folio_uses u
                WHERE u.book_id = book AND u.reservation_id = stay AND u.order_id = o.id), 0)
                AS used,
            o.credit_amount - CASE
                WHEN o.deleted_at IS NOT NULL OR o.status = 'cancelled'
                    THEN o.amount_paid - o.change_amount
                WHEN o.status = 'scheduled' THEN 0
                ELSE greatest(o.amount_paid - o.total_amount + o.refunded_amount, 0)
                    - o.change_amount END AS needed
        FROM orders o WHERE o.book_id = book AND o.hotel_reservation_id = stay
    ), paid AS (
        SELECT coalesce(sum(CASE WHEN p.kind = 'payment' THEN p.amount ELSE -p.amount END), 0)
            - came AS amount
        FROM (
            SELECT m.kind, m.amount FROM folio_payments m
            WHERE m.book_id = book AND m.reservation_id = stay
            UNION ALL
            SELECT 'returning', b.amount FROM folio_returns b
            WHERE b.book_id = book AND b.reservation_id = stay AND b.status = 'pending'
        ) p
    )
    SELECT greatest(0,
        CASE WHEN r.status IN ('booked', 'checked_in')
            THEN r.deposit_amount + deposit - paid.amount END,
        coalesce((SELECT sum(h.owed) FROM held h WHERE h.customer_id = g.customer_id), 0)
            + owed - paid.amount
            + coalesce((SELECT sum(greatest(least(h.used, h.needed), 0)) FROM held h), 0))
    FROM hotel_reservations r
    JOIN hotel_guests g ON g.book_id = r.book_id AND g.id = r.guest_id
    CROSS JOIN paid
    WHERE r.book_id = book AND r.id = stay
$function$;

CREATE OR REPLACE FUNCTION public.audit_entities(metadata jsonb)
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
    SELECT coalesce(array_agg(DISTINCT lower(v.value #>> '{}')), '{}')
    FROM jsonb_path_query(metadata, '$.** ? (@.type() == "string")') AS v (value)
    WHERE v.value #>> '{}' ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
$function$;

CREATE OR REPLACE FUNCTION public.audit_hash(previous bytea, event audit_events)
 RETURNS bytea
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN sha256((previous || convert_to((jsonb_build_array((event).business_id, (event).sequence, (event).id, (event).developer_api_key_id, (event).actor_user_id, (event).actor_name, (event).event_type, (event).title, (event).ip_address, (event).metadata, iso((event).created_at)))::text, 'UTF8'::name)));

CREATE OR REPLACE FUNCTION public.booked_at(book uuid, moment timestamp with time zone, told_at timestamp with time zone)
 RETURNS timestamp with time zone
 LANGUAGE plpgsql
AS $function$
BEGIN
    RETURN CASE WHEN is_closed(book, moment) THEN told_at ELSE moment END;
END $function$;

CREATE OR REPLACE FUNCTION public.changed_at(before timestamp with time zone, asked timestamp with time zone)
 RETURNS timestamp with time zone
 LANGUAGE sql
 PARALLEL SAFE
RETURN GREATEST((before + '00:00:00.001'::interval), asked, clock_timestamp());

CREATE OR REPLACE FUNCTION public.check_guest_of_stay()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
    customer uuid;
BEGIN
    SELECT g.customer_id INTO customer FROM hotel_guests g
    WHERE g.book_id = NEW.book_id AND g.id = NEW.guest_id AND g.deleted_at IS NULL
    FOR KEY SHARE;
    PERFORM FROM customers c
    WHERE c.book_id = NEW.book_id AND c.id = customer AND c.deleted_at IS NULL
    FOR SHARE;
    IF NOT FOUND THEN
        -- As if the table had the CONSTRAINT hotel_reservations_of_known_guest.
        RAISE EXCEPTION 'the guest was deleted' USING
            ERRCODE = 'check_violation', CONSTRAINT = 'hotel_reservations_of_known_guest';
    END IF;
    RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.check_room_is_empty()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    -- The room's row is locked by now: a stay that has it FOR SHARE is seen here.
    IF EXISTS (
        SELECT FROM hotel_reservations v
        WHERE v.book_id = NEW.book_id AND v.room_id = NEW.id
            AND v.status IN ('booked', 'checked_in'))
    THEN
        -- As if the table had the CONSTRAINT hotel_rooms_empty, which no CHECK can say.
        RAISE EXCEPTION 'the room has a stay' USING
            ERRCODE = 'check_violation', CONSTRAINT = 'hotel_rooms_empty';
    END IF;
    RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.check_room_of_stay()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    PERFORM FROM hotel_rooms r
    WHERE r.book_id = NEW.book_id AND r.id = NEW.room_id AND r.deleted_at IS NULL
        AND r.status <> 'out_of_service'
    FOR SHARE;
    IF NOT FOUND THEN
        -- As if the table had the CONSTRAINT hotel_reservations_in_service.
        RAISE EXCEPTION 'the room is out of service' USING
            ERRCODE = 'check_violation', CONSTRAINT = 'hotel_reservations_in_service';
    END IF;
    RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.check_stay_of_order()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    PERFORM FROM hotel_reservations r
    WHERE r.book_id = NEW.book_id AND r.id = NEW.hotel_reservation_id
        AND r.status IN ('booked', 'checked_in')
    FOR SHARE;
    IF NOT FOUND THEN
        -- As if the table had the CONSTRAINT orders_on_open_stay, which no CHECK can say.
        RAISE EXCEPTION 'the stay is over' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'orders_on_open_stay';
    END IF;
    RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.close_link_of_settled_stay(book uuid, stay uuid, at timestamp with time zone, ended text, deposit numeric, came numeric, owed numeric)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
    before numeric;
BEGIN
    PERFORM FROM payment_links l WHERE l.book_id = book AND l.target_id = stay
        AND l.target_type = 'reservation' AND l.status = 'active' FOR NO KEY UPDATE;
    IF NOT FOUND OR asked_of_stay(book, stay) > 0 THEN
        RETURN;
    END IF;
    before := asked_of_stay_before(book, stay, deposit, came, owed);
    UPDATE payment_links l SET status = ended, updated_at = at,
        amount = CASE WHEN before > 0 THEN before ELSE l.amount END
    WHERE l.book_id = book AND l.target_id = stay AND l.target_type = 'reservation'
        AND l.status = 'active';
END $function$;

CREATE OR REPLACE FUNCTION public.close_links_of_charged_stay()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
    is_gone boolean := NEW.deleted_at IS NOT NULL
        OR NEW.status NOT IN ('pending', 'completed')
        OR NEW.customer_id IS DISTINCT FROM OLD.customer_id;
    owed numeric := CASE WHEN OLD.deleted_at IS NULL AND OLD.status IN ('pending', 'completed')
        THEN OLD.remaining_amount ELSE 0 END;
BEGIN
    PERFORM close_link_of_settled_stay(NEW.book_id, NEW.hotel_reservation_id, NEW.updated_at,
        CASE WHEN is_gone THEN 'CANCELLED' ELSE 'PAID' END, 0, 0,
        owed - CASE WHEN is_gone THEN 0 ELSE NEW.remaining_amount END);
    RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.close_links_of_debt()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    UPDATE payment_links SET updated_at = NEW.updated_at, amount = OLD.balance,
        status = CASE WHEN NEW.status = 'paid' THEN 'PAID' ELSE 'CANCELLED' END
    WHERE book_id = NEW.book_id AND target_id = NEW.id AND target_type = 'debt'
        AND status = 'active';
    RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.close_links_of_kept_deposit()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    PERFORM close_link_of_settled_stay(NEW.book_id, NEW.reservation_id,
        coalesce(NEW.ended_at, NEW.created_at), 'PAID', 0, NEW.amount, 0);
    RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.close_links_of_order()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    UPDATE payment_links SET updated_at = NEW.updated_at, amount = CASE
            WHEN OLD.remaining_amount > 0 THEN OLD.remaining_amount ELSE amount END,
        status = CASE WHEN NEW.deleted_at IS NULL AND NEW.status NOT IN ('cancelled', 'refunded')
            THEN 'PAID' ELSE 'CANCELLED' END
    WHERE book_id = NEW.book_id AND target_id = NEW.id AND target_type = 'sale'
        AND status = 'active';
    RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.close_links_of_paid_stay()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    PERFORM close_link_of_settled_stay(NEW.book_id, NEW.reservation_id, NEW.created_at, 'PAID',
        0, NEW.amount, 0);
    RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.close_links_of_smaller_deposit()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    PERFORM close_link_of_settled_stay(NEW.book_id, NEW.id, NEW.updated_at, 'PAID',
        OLD.deposit_amount - NEW.deposit_amount, 0, 0);
    RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.close_links_of_stay()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    UPDATE payment_links SET updated_at = NEW.updated_at,
        status = CASE WHEN NEW.status = 'checked_out' AND asked_of_stay(NEW.book_id, NEW.id) = 0
            THEN 'PAID' ELSE 'CANCELLED' END
    WHERE book_id = NEW.book_id AND target_id = NEW.id AND target_type = 'reservation'
        AND status = 'active';
    RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.customer_query(book_id uuid, words text)
 RETURNS tsquery
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN ((quote_literal(('#'::text || (book_id)::text)))::tsquery && to_tsquery('simple'::regconfig, words));

CREATE OR REPLACE FUNCTION public.customer_words(book_id uuid, name text)
 RETURNS tsvector
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (array_to_tsvector(ARRAY[('#'::text || (book_id)::text)]) || to_tsvector('simple'::regconfig, regexp_replace(name, '[!-/:-@[-`{-~]+'::text, ' '::text, 'g'::text)));

CREATE OR REPLACE FUNCTION public.delete_guest_of_customer()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    -- The customer's row is locked by now: a booking that has it FOR SHARE is seen here.
    IF EXISTS (
        SELECT FROM hotel_guests g
        JOIN hotel_reservations r ON r.book_id = g.book_id AND r.guest_id = g.id
        WHERE g.book_id = NEW.book_id AND g.customer_id = NEW.id AND g.deleted_at IS NULL
            AND r.status IN ('booked', 'checked_in'))
    THEN
        -- As if the table had the CONSTRAINT customers_not_expected, which no CHECK can say.
        RAISE EXCEPTION 'the customer is the guest of a stay' USING
            ERRCODE = 'check_violation', CONSTRAINT = 'customers_not_expected';
    END IF;
    UPDATE hotel_guests SET deleted_at = NEW.deleted_at, updated_at = NEW.deleted_at
    WHERE book_id = NEW.book_id AND customer_id = NEW.id AND deleted_at IS NULL;
    RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.is_closed(book uuid, moment timestamp with time zone)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
DECLARE
    ends timestamptz;
BEGIN
    -- Read with its lock, so that a closing that was waited for is seen.
    SELECT closed_until INTO ends FROM books WHERE id = book FOR SHARE;
    RETURN coalesce(moment < ends, false);
END $function$;

CREATE OR REPLACE FUNCTION public.iso(moment timestamp with time zone)
 RETURNS text
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN to_char((moment AT TIME ZONE 'UTC'::text), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'::text);

CREATE OR REPLACE FUNCTION public.least_id(moment timestamp with time zone)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (encode((SUBSTRING(int8send(((EXTRACT(epoch FROM moment) * (1000)::numeric))::bigint) FROM 3) || '\x70008000000000000000'::bytea), 'hex'::text))::uuid;

CREATE OR REPLACE FUNCTION public.made_at(id uuid)
 RETURNS timestamp with time zone
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN to_timestamp((((((('x'::text || lpad(replace("left"((id)::text, 13), '-'::text, ''::text), 16, '0'::text)))::bit(64))::bigint)::numeric / 1000.0))::double precision);

CREATE OR REPLACE FUNCTION public.new_id(moment timestamp with time zone)
 RETURNS uuid
 LANGUAGE sql
 PARALLEL SAFE
RETURN (encode(set_bit(set_bit(OVERLAY(uuid_send(gen_random_uuid()) PLACING SUBSTRING(int8send(((EXTRACT(epoch FROM moment) * (1000)::numeric))::bigint) FROM 3) FROM 1 FOR 6), (52)::bigint, 1), (53)::bigint, 1), 'hex'::text))::uuid;

CREATE OR REPLACE FUNCTION public.payment_method_bit(method text)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
    SELECT CASE method WHEN 'cash' THEN 1 WHEN 'transfer' THEN 2 WHEN 'pos' THEN 4
        WHEN 'cloove_pay' THEN 8 WHEN 'credit' THEN 16 WHEN 'other' THEN 32 END
$function$;

CREATE OR REPLACE FUNCTION public.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    RAISE EXCEPTION '% is append-only: % refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'insufficient_privilege';
END $function$;

CREATE OR REPLACE FUNCTION public.refuse_closed_period()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
    moment timestamptz;
    days text;
BEGIN
    IF TG_TABLE_NAME = 'orders' THEN
        moment := NEW.occurred_at;
    ELSE
        moment := NEW.happened_at;
    END IF;
    IF is_closed(NEW.book_id, moment) THEN
        SELECT jsonb_build_object(
            'closed_until', ((k.closed_until AT TIME ZONE b.time_zone)::date - 1)::text,
            'day', ((moment AT TIME ZONE b.time_zone)::date)::text
        ) INTO days
        FROM books k JOIN businesses b ON b.id = k.business_id WHERE k.id = NEW.book_id;
        -- As if the table had the CONSTRAINT books_period_is_open, which no CHECK can say.
        RAISE EXCEPTION 'the period is closed' USING ERRCODE = 'check_violation',
            CONSTRAINT = 'books_period_is_open', DETAIL = days;
    END IF;
    RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.refuse_ledger_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    RAISE EXCEPTION 'the ledger is only added to' USING ERRCODE = 'restrict_violation';
END $function$;

CREATE OR REPLACE FUNCTION public.refuse_voice_call_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    RAISE EXCEPTION 'a call that has ended stays as it is' USING ERRCODE = 'restrict_violation';
END $function$;

CREATE OR REPLACE FUNCTION public.rollback_unless(is_right boolean)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
BEGIN
    IF is_right THEN
        RETURN true;
    END IF;
    RAISE EXCEPTION 'taken back' USING ERRCODE = 'TH001';
END $function$;

CREATE OR REPLACE FUNCTION public.sell_when_confirmed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    IF is_closed(NEW.book_id, NEW.occurred_at) THEN
        NEW.occurred_at := NEW.updated_at;
    END IF;
    RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.tally_conversations()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO conversation_tally_changes
            (book_id, status, assignee_id, is_unread, conversations)
        SELECT book_id, status, assignee_id, unread_count > 0, count(*) FROM written
        GROUP BY 1, 2, 3, 4;
    ELSE
        INSERT INTO conversation_tally_changes
            (book_id, status, assignee_id, is_unread, conversations)
        SELECT book_id, status, assignee_id, is_unread, sum(conversations)
        FROM (
            SELECT book_id, status, assignee_id, unread_count > 0 AS is_unread,
                -1 AS conversations
            FROM replaced
            UNION ALL SELECT book_id, status, assignee_id, unread_count > 0, 1 FROM written
        ) c
        GROUP BY 1, 2, 3, 4 HAVING sum(conversations) <> 0;
    END IF;
    RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.tally_customer_credit()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
    more numeric := NEW.credits - NEW.debits;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        more := more - (OLD.credits - OLD.debits);
    END IF;
    INSERT INTO customer_credit_tallies (book_id, slot, credit)
    VALUES (NEW.book_id, pg_backend_pid() % 64, more)
    ON CONFLICT (book_id, slot) DO UPDATE SET credit = customer_credit_tallies.credit + more;
    RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.tally_debt()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        INSERT INTO debt_tallies (book_id, status, slot, debts, balance)
        VALUES (OLD.book_id, OLD.status, pg_backend_pid() % 64, -1, -OLD.balance)
        ON CONFLICT (book_id, status, slot) DO UPDATE
            SET debts = debt_tallies.debts - 1, balance = debt_tallies.balance - OLD.balance;
    END IF;
    INSERT INTO debt_tallies (book_id, status, slot, debts, balance)
    VALUES (NEW.book_id, NEW.status, pg_backend_pid() % 64, 1, NEW.balance)
    ON CONFLICT (book_id, status, slot) DO UPDATE
        SET debts = debt_tallies.debts + 1, balance = debt_tallies.balance + NEW.balance;
    RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.tally_order(counted orders, sign integer)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
    INSERT INTO order_tally_changes (book_id, day, quarter_at, status, payment_status, channel,
        payment_methods, service_mode, store_id, is_automated, is_fulfilled, recorded_by_id,
        served_by_id, academic_term_id, tag_ids, orders, total_amount, remaining_amount,
        refunded_amount, tax_amount, discount_amount, service_charge_amount,
        paid_by_cash, paid_by_transfer, paid_by_pos, paid_by_cloove_pay, paid_by_credit,
        paid_by_other)
    VALUES (counted.book_id, (counted.occurred_at AT TIME ZONE 'UTC')::date,
        date_bin('15 minutes', counted.occurred_at, '2001-01-01Z'), counted.status,
        counted.payment_status, counted.channel, counted.payment_methods, counted.service_mode,
        counted.store_id, counted.is_automated, counted.channel_fulfilled_at IS NOT NULL,
        counted.recorded_by_id, counted.served_by_id, counted.academic_term_id, counted.tag_ids,
        sign, sign * counted.total_amount, sign * counted.remaining_amount,
        sign * nullif(counted.refunded_amount, 0), sign * nullif(counted.tax_amount, 0),
        sign * nullif(counted.discount_amount, 0), sign * nullif(counted.service_charge_amount, 0),
        sign * counted.paid_by_cash, sign * counted.paid_by_transfer, sign * counted.paid_by_pos,
        sign * counted.paid_by_cloove_pay, sign * counted.paid_by_credit,
        sign * counted.paid_by_other);
END $function$;

CREATE OR REPLACE FUNCTION public.tally_orders()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    IF TG_OP <> 'INSERT' AND OLD.deleted_at IS NULL THEN
        PERFORM tally_order(OLD, -1);
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.deleted_at IS NULL THEN
        PERFORM tally_order(NEW, 1);
    END IF;
    RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.tally_payment_link()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
    made_on date := (NEW.created_at AT TIME ZONE 'UTC')::date;
    own integer := pg_backend_pid() % 8;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        INSERT INTO payment_link_tallies (book_id, day, status, target_type, slot, links)
        VALUES (OLD.book_id, made_on, OLD.status, OLD.target_type, own, -1)
        ON CONFLICT (book_id, day, status, target_type, slot)
            DO UPDATE SET links = payment_link_tallies.links - 1;
    END IF;
    INSERT INTO payment_link_tallies (book_id, day, status, target_type, slot, links)
    VALUES (NEW.book_id, made_on, NEW.status, NEW.target_type, own, 1)
    ON CONFLICT (book_id, day, status, target_type, slot)
        DO UPDATE SET links = payment_link_tallies.links + 1;
    RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.tally_stays()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO hotel_stay_tally_changes
            (book_id, check_in_on, check_out_on, status, room_type_id, stays)
        SELECT book_id, check_in_on, check_out_on, status, room_type_id, count(*) FROM written
        GROUP BY 1, 2, 3, 4, 5;
    ELSE
        INSERT INTO hotel_stay_tally_changes
            (book_id, check_in_on, check_out_on, status, room_type_id, stays)
        SELECT book_id, check_in_on, check_out_on, status, room_type_id, sum(stays)
        FROM (
            SELECT book_id, check_in_on, check_out_on, status, room_type_id, -1 AS stays
            FROM replaced
            UNION ALL SELECT book_id, check_in_on, check_out_on, status, room_type_id, 1
            FROM written
        ) c
        GROUP BY 1, 2, 3, 4, 5 HAVING sum(stays) <> 0;
    END IF;
    RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.tally_transactions()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        INSERT INTO transaction_tally_changes
            (book_id, day, type, status, method, store_id, transactions, amount)
        SELECT book_id, (happened_at AT TIME ZONE 'UTC')::date, type, status, method, store_id,
            -count(*), -sum(amount)
        FROM replaced WHERE is_told GROUP BY 1, 2, 3, 4, 5, 6;
    END IF;
    INSERT INTO transaction_tally_changes
        (book_id, day, type, status, method, store_id, transactions, amount)
    SELECT book_id, (happened_at AT TIME ZONE 'UTC')::date, type, status, method, store_id,
        count(*), sum(amount)
    FROM written WHERE is_told GROUP BY 1, 2, 3, 4, 5, 6;
    RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.tally_voice_call()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.status = 'queued' THEN
        PERFORM add_voice_call(OLD, -1);
    END IF;
    IF NEW.status = 'queued' OR NEW.ended_at IS NOT NULL THEN
        PERFORM add_voice_call(NEW, 1);
    END IF;
    RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.turn_webhook_partitions(moment timestamp with time zone, keep_days integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
DECLARE
    parent text;
    child text;
    week date;
    least uuid;
    beyond uuid;
    has_begun boolean;
    dropped integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('webhook partitions', 0));
    FOREACH parent IN ARRAY ARRAY['webhook_events', 'webhook_deliveries'] LOOP
        FOR ahead IN 0..2 LOOP
            week := date_trunc('week', moment AT TIME ZONE 'UTC')::date + 7 * ahead;
            child := format('%s_%s', parent, to_char(week, 'YYYYMMDD'));
            CONTINUE WHEN to_regclass(child) IS NOT NULL;
            least := least_id(week::timestamp AT TIME ZONE 'UTC');
            beyond := least_id((week + 7)::timestamp AT TIME ZONE 'UTC');
            EXECUTE format('SELECT EXISTS (SELECT FROM %I WHERE id >= $1 AND id < $2)',
                parent || '_rest') INTO has_begun USING least, beyond;
            IF NOT has_begun THEN
                EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)',
                    child, parent, least, beyond);
            END IF;
        END LOOP;
        FOR child IN
            SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
            WHERE i.inhparent = parent::regclass AND c.relname ~ '_[0-9]{8}$'
                AND to_date(right(c.relname, 8), 'YYYYMMDD') + 7
                    < (moment AT TIME ZONE 'UTC')::date - keep_days
        LOOP
            EXECUTE format('DROP TABLE %I', child);
            dropped := dropped + 1;
        END LOOP;
        EXECUTE format('DELETE FROM %1$I WHERE ctid = ANY (ARRAY('
            'SELECT ctid FROM %1$I WHERE id < $1 LIMIT 10000))', parent || '_rest')
            USING least_id(moment - make_interval(days => keep_days));
    END LOOP;
    RETURN dropped;
END $function$;

CREATE TABLE academic_terms (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    starts_on date,
    ends_on date,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    deleted_at timestamp(3) with time zone,
    CONSTRAINT academic_terms_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT academic_terms_in_order CHECK (ends_on >= starts_on),
    CONSTRAINT academic_terms_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);
CREATE UNIQUE INDEX academic_terms_name_key ON academic_terms USING btree (book_id, lower(name)) WHERE deleted_at IS NULL;

CREATE TABLE answer_storage (
    book_id uuid NOT NULL,
    day date NOT NULL,
    answers bigint NOT NULL,
    bytes bigint NOT NULL,
    latest_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT answer_storage_pkey PRIMARY KEY (book_id, day),
    CONSTRAINT answer_storage_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);
CREATE INDEX answer_storage_by_day ON answer_storage USING btree (day);
CREATE INDEX answer_storage_by_mark ON answer_storage USING btree (latest_at);

CREATE TABLE api_key_uses (
    book_id uuid NOT NULL,
    key_id uuid NOT NULL,
    last_used_at timestamp(3) with time zone NOT NULL,
    last_used_ip text NOT NULL,
    CONSTRAINT api_key_uses_pkey PRIMARY KEY (book_id, key_id),
    CONSTRAINT api_key_uses_book_id_key_id_fkey FOREIGN KEY (book_id, key_id) REFERENCES api_keys(book_id, id) ON DELETE CASCADE
);

CREATE TABLE api_keys (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    developer_app_id uuid NOT NULL,
    name text NOT NULL,
    public_key text NOT NULL,
    secret_prefix text NOT NULL,
    secret_digest bytea NOT NULL,
    secret_sealed bytea NOT NULL,
    scopes text[] NOT NULL,
    allowed_origins text[] NOT NULL,
    allowed_ip_ranges text[] NOT NULL,
    withdrawal_policy jsonb,
    expires_at timestamp(3) with time zone,
    revoked_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    made_by uuid,
    noted_at timestamp(3) with time zone,
    CONSTRAINT api_keys_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT api_keys_secret_digest_key UNIQUE (secret_digest),
    CONSTRAINT api_keys_have_a_scope CHECK (cardinality(scopes) > 0),
    CONSTRAINT api_keys_book_id_developer_app_id_fkey FOREIGN KEY (book_id, developer_app_id) REFERENCES developer_apps(book_id, id),
    CONSTRAINT api_keys_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);
CREATE INDEX api_keys_by_app ON api_keys USING btree (book_id, developer_app_id, id);
CREATE INDEX api_keys_by_maker ON api_keys USING btree (book_id, made_by, id) WHERE made_by IS NOT NULL;
CREATE INDEX api_keys_by_scope ON api_keys USING gin (scopes);

CREATE TABLE attempt_cells (
    subject bytea NOT NULL,
    full_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT attempt_cells_pkey PRIMARY KEY (subject)
);
CREATE INDEX attempt_cells_by_age ON attempt_cells USING btree (full_at);

CREATE TABLE audit_events (
    business_id uuid NOT NULL,
    sequence bigint NOT NULL,
    id uuid NOT NULL,
    developer_api_key_id uuid,
    actor_user_id uuid,
    actor_name text NOT NULL,
    event_type text NOT NULL,
    title text NOT NULL,
    ip_address text NOT NULL,
    metadata jsonb NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    hash bytea NOT NULL,
    CONSTRAINT audit_events_pkey PRIMARY KEY (business_id, sequence),
    CONSTRAINT audit_events_business_id_fkey FOREIGN KEY (business_id) REFERENCES businesses(id)
);
CREATE INDEX audit_events_by_entity ON audit_events USING gin (audit_entities(metadata));
CREATE INDEX audit_events_by_key ON audit_events USING btree (business_id, developer_api_key_id, created_at, id);
CREATE INDEX audit_events_by_time ON audit_events USING btree (business_id, created_at, id);
CREATE INDEX audit_events_by_type ON audit_events USING btree (business_id, event_type, created_at, id);
CREATE TRIGGER audit_events_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON audit_events FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TABLE audit_heads (
    business_id uuid NOT NULL,
    sequence bigint NOT NULL,
    hash bytea NOT NULL,
    CONSTRAINT audit_heads_pkey PRIMARY KEY (business_id),
    CONSTRAINT audit_heads_business_id_fkey FOREIGN KEY (business_id) REFERENCES businesses(id)
);

CREATE TABLE books (
    id uuid NOT NULL,
    business_id uuid NOT NULL,
    environment text NOT NULL,
    closed_until timestamp(3) with time zone,
    CONSTRAINT books_pkey PRIMARY KEY (id),
    CONSTRAINT books_one_per_environment UNIQUE (business_id, environment),
    CONSTRAINT books_environment_known CHECK (environment = ANY (ARRAY['test'::text, 'live'::text])),
    CONSTRAINT books_business_id_fkey FOREIGN KEY (business_id) REFERENCES businesses(id)
);

CREATE TABLE businesses (
    id uuid NOT NULL,
    name text NOT NULL,
    type text NOT NULL,
    currency text NOT NULL,
    time_zone text NOT NULL,
    country text NOT NULL,
    master_version integer NOT NULL,
    wrapped_data_key bytea NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    tax_inclusive boolean NOT NULL DEFAULT false,
    stock_policy text NOT NULL DEFAULT 'deny'::text,
    restocks_cancelled boolean NOT NULL DEFAULT true,
    legal_name text,
    address jsonb,
    tax_numbers jsonb NOT NULL DEFAULT '[]'::jsonb,
    receipt_footer text,
    second_factor_roles text[] NOT NULL DEFAULT '{}'::text[],
    service_charge_percent numeric,
    service_charge_modes text[] NOT NULL DEFAULT '{dine_in}'::text[],
    CONSTRAINT businesses_pkey PRIMARY KEY (id),
    CONSTRAINT businesses_country_form CHECK (country ~ '^[A-Z]{2}$'::text),
    CONSTRAINT businesses_currency_form CHECK (currency ~ '^[A-Z]{3}$'::text),
    CONSTRAINT businesses_second_factor_roles_known CHECK (second_factor_roles <@ ARRAY['owner'::text, 'admin'::text, 'developer'::text, 'manager'::text, 'cashier'::text, 'kitchen'::text, 'front_desk'::text, 'housekeeping'::text]),
    CONSTRAINT businesses_service_charge_modes_known CHECK (service_charge_modes <@ ARRAY['dine_in'::text, 'takeaway'::text, 'room_service'::text] AND cardinality(service_charge_modes) = (('dine_in'::text = ANY (service_charge_modes))::integer + ('takeaway'::text = ANY (service_charge_modes))::integer + ('room_service'::text = ANY (service_charge_modes))::integer)),
    CONSTRAINT businesses_service_charge_percent_bounds CHECK (service_charge_percent > 0::numeric AND service_charge_percent <= 100::numeric AND service_charge_percent = round(service_charge_percent, 2)),
    CONSTRAINT businesses_stock_policy_known CHECK (stock_policy = ANY (ARRAY['deny'::text, 'allow'::text])),
    CONSTRAINT businesses_type_known CHECK (type = ANY (ARRAY['retail'::text, 'restaurant'::text, 'hotel'::text, 'school'::text, 'services'::text]))
);

CREATE TABLE categories (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    "position" integer NOT NULL DEFAULT 0,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    deleted_at timestamp(3) with time zone,
    CONSTRAINT categories_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT categories_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);
CREATE INDEX categories_by_position ON categories USING btree (book_id, "position", lower(name), id) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX categories_name_key ON categories USING btree (book_id, lower(name)) WHERE deleted_at IS NULL;

CREATE TABLE components (
    book_id uuid NOT NULL,
    product_id uuid NOT NULL,
    variant_id uuid NOT NULL,
    quantity numeric NOT NULL,
    "position" integer NOT NULL DEFAULT 0,
    CONSTRAINT components_pkey PRIMARY KEY (book_id, product_id, variant_id),
    CONSTRAINT components_quantity_bounds CHECK (quantity > 0::numeric AND quantity < '1000000000'::numeric),
    CONSTRAINT components_book_id_product_id_fkey FOREIGN KEY (book_id, product_id) REFERENCES products(book_id, id),
    CONSTRAINT components_book_id_variant_id_fkey FOREIGN KEY (book_id, variant_id) REFERENCES variants(book_id, id)
);
CREATE INDEX components_by_variant ON components USING btree (book_id, variant_id);

CREATE TABLE conversation_notes (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    conversation_id uuid NOT NULL,
    text text NOT NULL,
    author_id uuid,
    created_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT conversation_notes_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT conversation_notes_book_id_conversation_id_fkey FOREIGN KEY (book_id, conversation_id) REFERENCES conversations(book_id, id)
);
CREATE INDEX conversation_notes_in_order ON conversation_notes USING btree (book_id, conversation_id, id);

CREATE TABLE conversation_tallies (
    book_id uuid NOT NULL,
    status text NOT NULL,
    assignee_id uuid,
    is_unread boolean NOT NULL,
    conversations bigint NOT NULL,
    CONSTRAINT conversation_tallies_kind_key UNIQUE NULLS NOT DISTINCT (book_id, status, assignee_id, is_unread)
) WITH (fillfactor=70);

CREATE TABLE conversation_tally_changes (
    book_id uuid NOT NULL,
    id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    status text NOT NULL,
    assignee_id uuid,
    is_unread boolean NOT NULL,
    conversations bigint NOT NULL,
    CONSTRAINT conversation_tally_changes_pkey PRIMARY KEY (book_id, id)
) WITH (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=500);

CREATE TABLE conversations (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    customer_phone text NOT NULL,
    customer_id uuid,
    assignee_id uuid,
    assigned_at timestamp(3) with time zone,
    last_message_at timestamp(3) with time zone NOT NULL,
    last_received_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    status text NOT NULL DEFAULT 'open'::text,
    snoozed_until timestamp(3) with time zone,
    unread_count integer NOT NULL DEFAULT 0,
    began_waiting_at timestamp(3) with time zone,
    CONSTRAINT conversations_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT conversations_phone_key UNIQUE (book_id, customer_phone),
    CONSTRAINT conversations_snoozed_until_of_snoozed CHECK ((status = 'snoozed'::text) = (snoozed_until IS NOT NULL)),
    CONSTRAINT conversations_status_known CHECK (status = ANY (ARRAY['open'::text, 'snoozed'::text, 'closed'::text])),
    CONSTRAINT conversations_unread_count_not_negative CHECK (unread_count >= 0),
    CONSTRAINT conversations_waiting_unassigned CHECK (began_waiting_at IS NULL OR status = 'open'::text AND assignee_id IS NULL),
    CONSTRAINT conversations_book_id_customer_id_fkey FOREIGN KEY (book_id, customer_id) REFERENCES customers(book_id, id),
    CONSTRAINT conversations_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);
CREATE INDEX conversations_by_assignee ON conversations USING btree (book_id, assignee_id, last_message_at, id) WHERE assignee_id IS NOT NULL;
CREATE INDEX conversations_by_customer ON conversations USING btree (book_id, customer_id, last_message_at, id) WHERE customer_id IS NOT NULL;
CREATE INDEX conversations_by_status ON conversations USING btree (book_id, status, last_message_at, id);
CREATE INDEX conversations_by_time ON conversations USING btree (book_id, last_message_at, id);
CREATE INDEX conversations_unread ON conversations USING btree (book_id, last_message_at, id) WHERE unread_count > 0;
CREATE INDEX conversations_waiting ON conversations USING btree (book_id, began_waiting_at, id) WHERE began_waiting_at IS NOT NULL;
CREATE TRIGGER conversations_are_tallied AFTER INSERT ON conversations REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION tally_conversations();
CREATE TRIGGER conversations_are_tallied_again AFTER UPDATE ON conversations REFERENCING OLD TABLE AS replaced NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION tally_conversations();

CREATE TABLE customer_credit_tallies (
    book_id uuid NOT NULL,
    slot integer NOT NULL,
    credit numeric NOT NULL,
    CONSTRAINT customer_credit_tallies_pkey PRIMARY KEY (book_id, slot)
) WITH (fillfactor=50);

CREATE TABLE customer_tallies (
    book_id uuid NOT NULL,
    slot integer NOT NULL,
    customers bigint NOT NULL,
    CONSTRAINT customer_tallies_pkey PRIMARY KEY (book_id, slot),
    CONSTRAINT customer_tallies_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
) WITH (fillfactor=50);

CREATE TABLE customers (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    email text,
    phone_number text,
    whatsapp_number text,
    notes text,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    deleted_at timestamp(3) with time zone,
    CONSTRAINT customers_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT customers_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);
CREATE INDEX customers_by_change ON customers USING btree (book_id, updated_at, id) WHERE deleted_at IS NULL;
CREATE INDEX customers_by_name ON customers USING btree (book_id, lower(name) text_pattern_ops, id) WHERE deleted_at IS NULL;
CREATE INDEX customers_by_whatsapp ON customers USING btree (book_id, whatsapp_number) WHERE deleted_at IS NULL;
CREATE INDEX customers_by_word ON customers USING gin (customer_words(book_id, name));
CREATE UNIQUE INDEX customers_email_key ON customers USING btree (book_id, lower(email)) WHERE deleted_at IS NULL;
CREATE INDEX customers_in_order ON customers USING btree (book_id, id) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX customers_phone_key ON customers USING btree (book_id, phone_number) WHERE deleted_at IS NULL;
CREATE TRIGGER expected_customers_stay BEFORE UPDATE OF deleted_at ON customers FOR EACH ROW WHEN (old.deleted_at IS NULL AND new.deleted_at IS NOT NULL) EXECUTE FUNCTION delete_guest_of_customer();

CREATE TABLE debt_tallies (
    book_id uuid NOT NULL,
    status text NOT NULL,
    slot integer NOT NULL,
    debts bigint NOT NULL,
    balance numeric NOT NULL DEFAULT 0,
    CONSTRAINT debt_tallies_pkey PRIMARY KEY (book_id, status, slot),
    CONSTRAINT debt_tallies_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
) WITH (fillfactor=50);

CREATE TABLE debts (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    source_id uuid NOT NULL,
    customer_id uuid NOT NULL,
    status text NOT NULL,
    balance numeric NOT NULL,
    currency text NOT NULL,
    opened_at timestamp(3) with time zone NOT NULL,
    closed_at timestamp(3) with time zone,
    updated_at timestamp(3) with time zone NOT NULL,
    source_type text NOT NULL,
    CONSTRAINT debts_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT debts_balance_bounds CHECK (balance >= 0::numeric AND (balance > 0::numeric) = (status = 'active'::text)),
    CONSTRAINT debts_status_known CHECK (status = ANY (ARRAY['active'::text, 'paid'::text, 'voided'::text, 'removed'::text])),
    CONSTRAINT debts_book_id_customer_id_fkey FOREIGN KEY (book_id, customer_id) REFERENCES customers(book_id, id)
);
CREATE INDEX debts_by_customer ON debts USING btree (book_id, customer_id, opened_at, id);
CREATE INDEX debts_by_source ON debts USING btree (book_id, source_id, opened_at, id);
CREATE INDEX debts_by_status ON debts USING btree (book_id, status, opened_at, id);
CREATE INDEX debts_by_time ON debts USING btree (book_id, opened_at, id);
CREATE UNIQUE INDEX debts_one_active_per_source ON debts USING btree (book_id, source_id, source_type) WHERE status = 'active'::text;
CREATE TRIGGER debts_are_tallied AFTER INSERT ON debts FOR EACH ROW EXECUTE FUNCTION tally_debt();
CREATE TRIGGER debts_are_tallied_again AFTER UPDATE ON debts FOR EACH ROW WHEN (old.status <> new.status OR old.balance <> new.balance) EXECUTE FUNCTION tally_debt();
CREATE TRIGGER payment_links_close_with_debts AFTER UPDATE ON debts FOR EACH ROW WHEN (old.status = 'active'::text AND new.status <> 'active'::text) EXECUTE FUNCTION close_links_of_debt();

CREATE TABLE developer_apps (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    status text NOT NULL DEFAULT 'active'::text,
    is_default boolean NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT developer_apps_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT developer_apps_status_known CHECK (status = 'active'::text),
    CONSTRAINT developer_apps_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);
CREATE UNIQUE INDEX developer_apps_one_default ON developer_apps USING btree (book_id) WHERE is_default;

CREATE TABLE dining_tables (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    store_id uuid,
    label text NOT NULL,
    area text,
    seats integer,
    is_active boolean NOT NULL DEFAULT true,
    sessions integer NOT NULL DEFAULT 0,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    deleted_at timestamp(3) with time zone,
    CONSTRAINT dining_tables_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT dining_tables_seats_known CHECK (seats >= 1 AND seats <= 1000),
    CONSTRAINT dining_tables_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id),
    CONSTRAINT dining_tables_book_id_store_id_fkey FOREIGN KEY (book_id, store_id) REFERENCES stores(book_id, id)
);
CREATE UNIQUE INDEX dining_tables_label_key ON dining_tables USING btree (book_id, store_id, lower(label)) NULLS NOT DISTINCT WHERE deleted_at IS NULL;

CREATE TABLE disputes (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    payin_id uuid NOT NULL,
    order_id uuid,
    provider text NOT NULL,
    provider_dispute_id text NOT NULL,
    status text NOT NULL,
    reason text,
    amount positive_amount NOT NULL,
    currency text NOT NULL,
    taken_told numeric NOT NULL,
    taken_amount numeric NOT NULL DEFAULT 0,
    fee numeric NOT NULL DEFAULT 0,
    claimed numeric NOT NULL DEFAULT 0,
    evidence_due_at timestamp(3) with time zone,
    opened_at timestamp(3) with time zone NOT NULL,
    closed_at timestamp(3) with time zone,
    postings integer NOT NULL DEFAULT 0,
    changes integer NOT NULL DEFAULT 0,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    credit_hold_id uuid,
    credit_holds integer NOT NULL DEFAULT 0,
    CONSTRAINT disputes_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT disputes_once UNIQUE (book_id, provider, provider_dispute_id),
    CONSTRAINT disputes_claimed_bounds CHECK (claimed >= 0::numeric),
    CONSTRAINT disputes_status_known CHECK (status = ANY (ARRAY['opened'::text, 'evidence_due'::text, 'won'::text, 'lost'::text])),
    CONSTRAINT disputes_taken_bounds CHECK (taken_amount >= 0::numeric),
    CONSTRAINT disputes_told_bounds CHECK (taken_told >= 0::numeric),
    CONSTRAINT disputes_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id),
    CONSTRAINT disputes_book_id_payin_id_fkey FOREIGN KEY (book_id, payin_id) REFERENCES payins(book_id, id),
    CONSTRAINT disputes_credit_hold_fkey FOREIGN KEY (book_id, credit_hold_id) REFERENCES ledger_holds(book_id, id)
);
CREATE INDEX disputes_by_order ON disputes USING btree (book_id, order_id, id) WHERE order_id IS NOT NULL;
CREATE INDEX disputes_by_payment ON disputes USING btree (book_id, payin_id);
CREATE INDEX disputes_by_status ON disputes USING btree (book_id, status, id);
CREATE INDEX disputes_claimed ON disputes USING btree (book_id, id) WHERE claimed > 0::numeric;

CREATE TABLE expenses (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    amount positive_amount NOT NULL,
    currency text NOT NULL,
    category text NOT NULL,
    description text,
    method transaction_method NOT NULL,
    store_id uuid,
    transaction_id uuid NOT NULL,
    transfer_id uuid NOT NULL,
    recorded_by_id uuid NOT NULL,
    recorded_by_name text NOT NULL,
    happened_at timestamp(3) with time zone NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    voided_at timestamp(3) with time zone,
    CONSTRAINT expenses_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT expenses_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id),
    CONSTRAINT expenses_book_id_store_id_fkey FOREIGN KEY (book_id, store_id) REFERENCES stores(book_id, id),
    CONSTRAINT expenses_book_id_transaction_id_fkey FOREIGN KEY (book_id, transaction_id) REFERENCES transactions(book_id, id),
    CONSTRAINT expenses_book_id_transfer_id_fkey FOREIGN KEY (book_id, transfer_id) REFERENCES ledger_transfers(book_id, id)
);
CREATE INDEX expenses_by_store ON expenses USING btree (book_id, store_id, happened_at, id) WHERE voided_at IS NULL;
CREATE INDEX expenses_by_time ON expenses USING btree (book_id, happened_at, id) WHERE voided_at IS NULL;
CREATE INDEX expenses_by_transaction ON expenses USING btree (book_id, transaction_id);
CREATE TRIGGER expenses_keep_closed_periods BEFORE INSERT ON expenses FOR EACH ROW WHEN (new.happened_at < new.created_at) EXECUTE FUNCTION refuse_closed_period();
CREATE TRIGGER expenses_stay_in_closed_periods BEFORE UPDATE OF voided_at ON expenses FOR EACH ROW WHEN (old.voided_at IS NULL AND new.voided_at IS NOT NULL) EXECUTE FUNCTION refuse_closed_period();

CREATE TABLE folio_nights (
    book_id uuid NOT NULL,
    reservation_id uuid NOT NULL,
    night_on date NOT NULL,
    order_id uuid NOT NULL,
    CONSTRAINT folio_nights_pkey PRIMARY KEY (book_id, reservation_id, night_on),
    CONSTRAINT folio_nights_book_id_order_id_key UNIQUE (book_id, order_id),
    CONSTRAINT folio_nights_book_id_order_id_fkey FOREIGN KEY (book_id, order_id) REFERENCES orders(book_id, id),
    CONSTRAINT folio_nights_book_id_reservation_id_fkey FOREIGN KEY (book_id, reservation_id) REFERENCES hotel_reservations(book_id, id)
);

CREATE TABLE folio_payments (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    reservation_id uuid NOT NULL,
    customer_id uuid NOT NULL,
    kind text NOT NULL,
    method transaction_method NOT NULL,
    amount positive_amount NOT NULL,
    reference text,
    reason text,
    transaction_id uuid NOT NULL,
    link_id uuid,
    receipt_id uuid,
    recorded_by_id uuid NOT NULL,
    recorded_by_name text NOT NULL,
    happened_at timestamp(3) with time zone NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT folio_payments_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT folio_payments_kind_known CHECK (kind = ANY (ARRAY['payment'::text, 'refund'::text, 'reversal'::text])),
    CONSTRAINT folio_payments_book_id_customer_id_fkey FOREIGN KEY (book_id, customer_id) REFERENCES customers(book_id, id),
    CONSTRAINT folio_payments_book_id_receipt_id_fkey FOREIGN KEY (book_id, receipt_id) REFERENCES payins(book_id, id),
    CONSTRAINT folio_payments_book_id_reservation_id_fkey FOREIGN KEY (book_id, reservation_id) REFERENCES hotel_reservations(book_id, id),
    CONSTRAINT folio_payments_book_id_transaction_id_fkey FOREIGN KEY (book_id, transaction_id) REFERENCES transactions(book_id, id)
);
CREATE INDEX folio_payments_by_transaction ON folio_payments USING btree (book_id, transaction_id);
CREATE INDEX folio_payments_of_reservation ON folio_payments USING btree (book_id, reservation_id, id);
CREATE UNIQUE INDEX folio_payments_receipt_key ON folio_payments USING btree (book_id, receipt_id) WHERE receipt_id IS NOT NULL AND kind = 'payment'::text;
CREATE CONSTRAINT TRIGGER payment_links_close_with_paid_stays AFTER INSERT ON folio_payments DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (new.kind = 'payment'::text) EXECUTE FUNCTION close_links_of_paid_stay();

CREATE TABLE folio_returns (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    reservation_id uuid NOT NULL,
    customer_id uuid NOT NULL,
    payment_id uuid NOT NULL,
    payin_id uuid NOT NULL,
    provider text NOT NULL,
    amount positive_amount NOT NULL,
    reason text,
    status payment_status NOT NULL DEFAULT 'pending'::text,
    hold_id uuid NOT NULL,
    credit_hold_id uuid NOT NULL,
    provider_refund_id text,
    asked_at timestamp(3) with time zone,
    is_unclear boolean NOT NULL DEFAULT false,
    shortfall numeric NOT NULL DEFAULT 0,
    taken_before numeric NOT NULL DEFAULT 0,
    failure_reason text,
    refund_id uuid,
    transaction_id uuid,
    recorded_by_id uuid NOT NULL,
    recorded_by_name text NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    ended_at timestamp(3) with time zone,
    CONSTRAINT folio_returns_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT folio_returns_shortfall_bounds CHECK (shortfall >= 0::numeric AND shortfall <= amount::numeric),
    CONSTRAINT folio_returns_taken_before_bounds CHECK (taken_before >= 0::numeric AND taken_before <= shortfall),
    CONSTRAINT folio_returns_book_id_customer_id_fkey FOREIGN KEY (book_id, customer_id) REFERENCES customers(book_id, id),
    CONSTRAINT folio_returns_book_id_payin_id_fkey FOREIGN KEY (book_id, payin_id) REFERENCES payins(book_id, id),
    CONSTRAINT folio_returns_book_id_payment_id_fkey FOREIGN KEY (book_id, payment_id) REFERENCES folio_payments(book_id, id),
    CONSTRAINT folio_returns_book_id_refund_id_fkey FOREIGN KEY (book_id, refund_id) REFERENCES folio_payments(book_id, id),
    CONSTRAINT folio_returns_book_id_reservation_id_fkey FOREIGN KEY (book_id, reservation_id) REFERENCES hotel_reservations(book_id, id),
    CONSTRAINT folio_returns_book_id_transaction_id_fkey FOREIGN KEY (book_id, transaction_id) REFERENCES transactions(book_id, id)
);
CREATE INDEX folio_returns_of_payin ON folio_returns USING btree (book_id, payin_id);
CREATE INDEX folio_returns_of_stay ON folio_returns USING btree (book_id, reservation_id, id);
CREATE INDEX folio_returns_on_their_way ON folio_returns USING btree (book_id, id) WHERE status::text = 'pending'::text;
CREATE UNIQUE INDEX folio_returns_provider_key ON folio_returns USING btree (book_id, provider, provider_refund_id) WHERE provider_refund_id IS NOT NULL;
CREATE CONSTRAINT TRIGGER payment_links_close_with_kept_deposits AFTER UPDATE ON folio_returns DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (old.status::text = 'pending'::text AND new.status::text <> 'pending'::text) EXECUTE FUNCTION close_links_of_kept_deposit();

CREATE TABLE folio_uses (
    book_id uuid NOT NULL,
    payment_id uuid NOT NULL,
    reservation_id uuid NOT NULL,
    order_id uuid NOT NULL,
    customer_id uuid NOT NULL,
    amount signed_amount NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT folio_uses_pkey PRIMARY KEY (book_id, payment_id),
    CONSTRAINT folio_uses_book_id_customer_id_fkey FOREIGN KEY (book_id, customer_id) REFERENCES customers(book_id, id),
    CONSTRAINT folio_uses_book_id_order_id_payment_id_fkey FOREIGN KEY (book_id, order_id, payment_id) REFERENCES payments(book_id, order_id, id),
    CONSTRAINT folio_uses_book_id_reservation_id_fkey FOREIGN KEY (book_id, reservation_id) REFERENCES hotel_reservations(book_id, id)
);
CREATE INDEX folio_uses_of_reservation ON folio_uses USING btree (book_id, reservation_id, order_id);

CREATE TABLE hotel_audits (
    book_id uuid NOT NULL,
    day date NOT NULL,
    nights integer NOT NULL DEFAULT 0,
    amount numeric NOT NULL DEFAULT 0,
    no_shows integer NOT NULL DEFAULT 0,
    overdue integer NOT NULL DEFAULT 0,
    started_at timestamp(3) with time zone NOT NULL,
    finished_at timestamp(3) with time zone,
    CONSTRAINT hotel_audits_pkey PRIMARY KEY (book_id, day),
    CONSTRAINT hotel_audits_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);

CREATE TABLE hotel_guests (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    customer_id uuid NOT NULL,
    name text NOT NULL,
    document_type text,
    document_number text,
    nationality text,
    notes text,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    deleted_at timestamp(3) with time zone,
    CONSTRAINT hotel_guests_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT hotel_guests_document_known CHECK (document_type = ANY (ARRAY['passport'::text, 'national_id'::text, 'drivers_license'::text, 'other'::text])),
    CONSTRAINT hotel_guests_book_id_customer_id_fkey FOREIGN KEY (book_id, customer_id) REFERENCES customers(book_id, id),
    CONSTRAINT hotel_guests_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);
CREATE INDEX hotel_guests_by_word ON hotel_guests USING gin (customer_words(book_id, name));
CREATE UNIQUE INDEX hotel_guests_customer_key ON hotel_guests USING btree (book_id, customer_id) WHERE deleted_at IS NULL;
CREATE INDEX hotel_guests_in_order ON hotel_guests USING btree (book_id, id) WHERE deleted_at IS NULL;

CREATE TABLE hotel_rate_plans (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    room_type_id uuid NOT NULL,
    name text NOT NULL,
    price order_amount NOT NULL,
    weekday_prices jsonb NOT NULL,
    taxes jsonb NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    deleted_at timestamp(3) with time zone,
    CONSTRAINT hotel_rate_plans_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT hotel_rate_plans_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id),
    CONSTRAINT hotel_rate_plans_book_id_room_type_id_fkey FOREIGN KEY (book_id, room_type_id) REFERENCES hotel_room_types(book_id, id)
);
CREATE UNIQUE INDEX hotel_rate_plans_name_key ON hotel_rate_plans USING btree (book_id, room_type_id, lower(name)) WHERE deleted_at IS NULL;

CREATE TABLE hotel_reservations (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    short_code text NOT NULL,
    status text NOT NULL,
    group_id uuid,
    guest_id uuid NOT NULL,
    guest_name text NOT NULL,
    room_type_id uuid NOT NULL,
    room_id uuid NOT NULL,
    rate_plan_id uuid,
    adults integer NOT NULL,
    children integer NOT NULL,
    check_in_on date NOT NULL,
    check_out_on date NOT NULL,
    nights jsonb NOT NULL,
    taxes jsonb NOT NULL,
    total_amount order_amount NOT NULL,
    deposit_amount order_amount NOT NULL,
    currency text NOT NULL,
    source text NOT NULL,
    notes text,
    checked_in_at timestamp(3) with time zone,
    checked_out_at timestamp(3) with time zone,
    cancelled_at timestamp(3) with time zone,
    no_show_at timestamp(3) with time zone,
    cancel_reason text,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    confirmed_at timestamp(3) with time zone,
    is_room_chosen boolean NOT NULL DEFAULT false,
    CONSTRAINT hotel_reservations_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT hotel_reservations_code_key UNIQUE (book_id, short_code),
    CONSTRAINT hotel_reservations_room_taken EXCLUDE USING gist (book_id WITH =, room_id WITH =, daterange(check_in_on, check_out_on) WITH &&) WHERE (status = ANY (ARRAY['booked'::text, 'checked_in'::text])) DEFERRABLE,
    CONSTRAINT hotel_reservations_adults_check CHECK (adults > 0),
    CONSTRAINT hotel_reservations_children_check CHECK (children >= 0),
    CONSTRAINT hotel_reservations_nights CHECK (check_out_on > check_in_on),
    CONSTRAINT hotel_reservations_status_known CHECK (status = ANY (ARRAY['booked'::text, 'checked_in'::text, 'checked_out'::text, 'cancelled'::text, 'no_show'::text])),
    CONSTRAINT hotel_reservations_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id),
    CONSTRAINT hotel_reservations_book_id_guest_id_fkey FOREIGN KEY (book_id, guest_id) REFERENCES hotel_guests(book_id, id),
    CONSTRAINT hotel_reservations_book_id_rate_plan_id_fkey FOREIGN KEY (book_id, rate_plan_id) REFERENCES hotel_rate_plans(book_id, id),
    CONSTRAINT hotel_reservations_book_id_room_id_room_type_id_fkey FOREIGN KEY (book_id, room_id, room_type_id) REFERENCES hotel_rooms(book_id, id, room_type_id)
) WITH (fillfactor=75);
CREATE INDEX hotel_reservations_by_arrival ON hotel_reservations USING btree (book_id, check_in_on, id);
CREATE INDEX hotel_reservations_by_departure ON hotel_reservations USING btree (book_id, check_out_on, id);
CREATE INDEX hotel_reservations_by_status ON hotel_reservations USING btree (book_id, status, id);
CREATE INDEX hotel_reservations_by_word ON hotel_reservations USING gin (customer_words(book_id, guest_name));
CREATE UNIQUE INDEX hotel_reservations_in_room ON hotel_reservations USING btree (book_id, room_id) WHERE status = 'checked_in'::text;
CREATE INDEX hotel_reservations_kept ON hotel_reservations USING btree (book_id, room_id, check_in_on, check_out_on) WHERE status = 'checked_in'::text OR status = 'booked'::text AND is_room_chosen;
CREATE INDEX hotel_reservations_of_group ON hotel_reservations USING btree (book_id, group_id, id) WHERE group_id IS NOT NULL;
CREATE INDEX hotel_reservations_of_guest ON hotel_reservations USING btree (book_id, guest_id, id);
CREATE INDEX hotel_reservations_of_room ON hotel_reservations USING btree (book_id, room_id, id);
CREATE INDEX hotel_reservations_open ON hotel_reservations USING btree (book_id, room_id, check_in_on, check_out_on) WHERE status = ANY (ARRAY['booked'::text, 'checked_in'::text]);
CREATE INDEX hotel_reservations_to_come ON hotel_reservations USING btree (book_id, room_type_id, check_in_on, check_out_on, room_id) INCLUDE (id, status, is_room_chosen) WHERE status = ANY (ARRAY['booked'::text, 'checked_in'::text]);
CREATE TRIGGER new_stays_have_open_rooms BEFORE INSERT ON hotel_reservations FOR EACH ROW WHEN (new.status = ANY (ARRAY['booked'::text, 'checked_in'::text])) EXECUTE FUNCTION check_room_of_stay();
CREATE CONSTRAINT TRIGGER payment_links_close_with_deposits AFTER UPDATE ON hotel_reservations DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (new.deposit_amount::numeric < old.deposit_amount::numeric) EXECUTE FUNCTION close_links_of_smaller_deposit();
CREATE TRIGGER payment_links_close_with_stays AFTER UPDATE OF status ON hotel_reservations FOR EACH ROW WHEN ((old.status = ANY (ARRAY['booked'::text, 'checked_in'::text])) AND (new.status = ANY (ARRAY['cancelled'::text, 'no_show'::text, 'checked_out'::text]))) EXECUTE FUNCTION close_links_of_stay();
CREATE TRIGGER stays_again_have_known_guests BEFORE UPDATE OF status ON hotel_reservations FOR EACH ROW WHEN ((old.status <> ALL (ARRAY['booked'::text, 'checked_in'::text])) AND (new.status = ANY (ARRAY['booked'::text, 'checked_in'::text]))) EXECUTE FUNCTION check_guest_of_stay();
CREATE TRIGGER stays_are_tallied AFTER INSERT ON hotel_reservations REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION tally_stays();
CREATE TRIGGER stays_are_tallied_again AFTER UPDATE ON hotel_reservations REFERENCING OLD TABLE AS replaced NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION tally_stays();
CREATE TRIGGER stays_have_known_guests BEFORE INSERT ON hotel_reservations FOR EACH ROW EXECUTE FUNCTION check_guest_of_stay();
CREATE TRIGGER stays_have_open_rooms BEFORE UPDATE OF room_id, status ON hotel_reservations FOR EACH ROW WHEN ((new.status = ANY (ARRAY['booked'::text, 'checked_in'::text])) AND (new.room_id <> old.room_id OR (old.status <> ALL (ARRAY['booked'::text, 'checked_in'::text])))) EXECUTE FUNCTION check_room_of_stay();
CREATE TRIGGER stays_of_other_guests_have_known_guests BEFORE UPDATE OF guest_id ON hotel_reservations FOR EACH ROW WHEN (old.guest_id IS DISTINCT FROM new.guest_id) EXECUTE FUNCTION check_guest_of_stay();

CREATE TABLE hotel_room_types (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    description text,
    capacity integer NOT NULL,
    rate order_amount NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    deleted_at timestamp(3) with time zone,
    CONSTRAINT hotel_room_types_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT hotel_room_types_capacity_check CHECK (capacity > 0),
    CONSTRAINT hotel_room_types_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);
CREATE UNIQUE INDEX hotel_room_types_name_key ON hotel_room_types USING btree (book_id, lower(name)) WHERE deleted_at IS NULL;

CREATE TABLE hotel_rooms (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    room_type_id uuid NOT NULL,
    number text NOT NULL,
    floor text,
    status text NOT NULL,
    notes text,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    deleted_at timestamp(3) with time zone,
    CONSTRAINT hotel_rooms_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT hotel_rooms_book_id_id_room_type_id_key UNIQUE (book_id, id, room_type_id),
    CONSTRAINT hotel_rooms_status_known CHECK (status = ANY (ARRAY['clean'::text, 'dirty'::text, 'out_of_service'::text])),
    CONSTRAINT hotel_rooms_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id),
    CONSTRAINT hotel_rooms_book_id_room_type_id_fkey FOREIGN KEY (book_id, room_type_id) REFERENCES hotel_room_types(book_id, id)
) WITH (fillfactor=75);
CREATE INDEX hotel_rooms_by_type ON hotel_rooms USING btree (book_id, room_type_id) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX hotel_rooms_number_key ON hotel_rooms USING btree (book_id, lower(number)) WHERE deleted_at IS NULL;
CREATE TRIGGER closed_rooms_are_empty BEFORE UPDATE OF status ON hotel_rooms FOR EACH ROW WHEN (old.status <> 'out_of_service'::text AND new.status = 'out_of_service'::text) EXECUTE FUNCTION check_room_is_empty();
CREATE TRIGGER deleted_rooms_are_empty BEFORE UPDATE OF deleted_at ON hotel_rooms FOR EACH ROW WHEN (old.deleted_at IS NULL AND new.deleted_at IS NOT NULL) EXECUTE FUNCTION check_room_is_empty();

CREATE TABLE hotel_service_requests (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    category text NOT NULL,
    status text NOT NULL,
    source text NOT NULL,
    description text,
    guest_id uuid,
    reservation_id uuid,
    room_id uuid,
    assigned_to uuid,
    started_at timestamp(3) with time zone,
    ended_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT hotel_service_requests_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT hotel_service_requests_category_known CHECK (category = ANY (ARRAY['housekeeping'::text, 'maintenance'::text, 'food'::text, 'transport'::text, 'laundry'::text, 'other'::text])),
    CONSTRAINT hotel_service_requests_source_known CHECK (source = ANY (ARRAY['guest'::text, 'staff'::text, 'voice'::text, 'message'::text])),
    CONSTRAINT hotel_service_requests_status_known CHECK (status = ANY (ARRAY['open'::text, 'in_progress'::text, 'done'::text, 'cancelled'::text])),
    CONSTRAINT hotel_service_requests_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id),
    CONSTRAINT hotel_service_requests_book_id_guest_id_fkey FOREIGN KEY (book_id, guest_id) REFERENCES hotel_guests(book_id, id),
    CONSTRAINT hotel_service_requests_book_id_reservation_id_fkey FOREIGN KEY (book_id, reservation_id) REFERENCES hotel_reservations(book_id, id),
    CONSTRAINT hotel_service_requests_book_id_room_id_fkey FOREIGN KEY (book_id, room_id) REFERENCES hotel_rooms(book_id, id)
);
CREATE INDEX hotel_service_requests_by_category ON hotel_service_requests USING btree (book_id, category, id);
CREATE INDEX hotel_service_requests_by_status ON hotel_service_requests USING btree (book_id, status, id);
CREATE INDEX hotel_service_requests_of_assignee ON hotel_service_requests USING btree (book_id, assigned_to, id) WHERE assigned_to IS NOT NULL;
CREATE INDEX hotel_service_requests_of_reservation ON hotel_service_requests USING btree (book_id, reservation_id, id) WHERE reservation_id IS NOT NULL;
CREATE INDEX hotel_service_requests_of_room ON hotel_service_requests USING btree (book_id, room_id, id) WHERE room_id IS NOT NULL;

CREATE TABLE hotel_settings (
    book_id uuid NOT NULL,
    check_in_time text NOT NULL,
    check_out_time text NOT NULL,
    audit_time text NOT NULL,
    no_show text NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT hotel_settings_pkey PRIMARY KEY (book_id),
    CONSTRAINT hotel_settings_no_show_known CHECK (no_show = ANY (ARRAY['keep'::text, 'release'::text])),
    CONSTRAINT hotel_settings_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);

CREATE TABLE hotel_stay_tallies (
    book_id uuid NOT NULL,
    side text NOT NULL,
    period text NOT NULL,
    day date NOT NULL,
    status text NOT NULL,
    stays bigint NOT NULL,
    room_type_id uuid NOT NULL,
    CONSTRAINT hotel_stay_tallies_pkey PRIMARY KEY (book_id, side, period, day, status, room_type_id) INCLUDE (stays)
) WITH (fillfactor=70);

CREATE TABLE hotel_stay_tally_changes (
    book_id uuid NOT NULL,
    id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    check_in_on date NOT NULL,
    check_out_on date NOT NULL,
    status text NOT NULL,
    stays bigint NOT NULL,
    room_type_id uuid NOT NULL,
    CONSTRAINT hotel_stay_tally_changes_pkey PRIMARY KEY (book_id, id)
) WITH (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=500);

CREATE TABLE idempotency_keys (
    book_id uuid NOT NULL,
    surface text NOT NULL,
    key text NOT NULL,
    fingerprint bytea NOT NULL,
    answer bytea,
    created_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT idempotency_keys_pkey PRIMARY KEY (book_id, surface, key),
    CONSTRAINT idempotency_keys_surface_known CHECK (surface = ANY (ARRAY['v1'::text, 'portal'::text])),
    CONSTRAINT idempotency_keys_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys USING btree (created_at);

CREATE TABLE installation (
    id smallint NOT NULL DEFAULT 1,
    master_version integer NOT NULL,
    wrapped_root bytea NOT NULL,
    created_at timestamp(3) with time zone NOT NULL DEFAULT now(),
    CONSTRAINT installation_pkey PRIMARY KEY (id),
    CONSTRAINT installation_is_one_row CHECK (id = 1)
);

CREATE TABLE invitations (
    business_id uuid NOT NULL,
    id uuid NOT NULL,
    email text NOT NULL,
    role text NOT NULL,
    invited_by uuid NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT invitations_pkey PRIMARY KEY (business_id, id),
    CONSTRAINT invitations_of_an_address UNIQUE (business_id, email),
    CONSTRAINT invitations_business_id_fkey FOREIGN KEY (business_id) REFERENCES businesses(id),
    CONSTRAINT invitations_invited_by_fkey FOREIGN KEY (invited_by) REFERENCES users(id)
);
CREATE INDEX invitations_by_end ON invitations USING btree (expires_at);

CREATE TABLE jobs (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    kind text NOT NULL,
    subject_id uuid NOT NULL,
    key text NOT NULL DEFAULT ''::text,
    payload bytea,
    due_at timestamp(3) with time zone NOT NULL,
    is_leased boolean NOT NULL DEFAULT false,
    generation integer NOT NULL DEFAULT 0,
    attempts integer NOT NULL DEFAULT 0,
    dead_at timestamp(3) with time zone,
    reason text,
    created_at timestamp(3) with time zone NOT NULL,
    is_ready boolean NOT NULL DEFAULT false,
    CONSTRAINT jobs_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT jobs_once UNIQUE (book_id, kind, subject_id, key)
) WITH (fillfactor=70, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=500);
CREATE INDEX jobs_dead ON jobs USING btree (dead_at) WHERE dead_at IS NOT NULL;
CREATE INDEX jobs_due ON jobs USING btree (kind, due_at) WHERE dead_at IS NULL AND NOT is_ready;
CREATE INDEX jobs_ready ON jobs USING btree (kind, book_id, due_at) WHERE dead_at IS NULL AND is_ready;

CREATE TABLE kitchen_tickets (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    order_id uuid NOT NULL,
    station text NOT NULL DEFAULT 'kitchen'::text,
    status text NOT NULL,
    queued_at timestamp(3) with time zone NOT NULL,
    preparing_at timestamp(3) with time zone,
    ready_at timestamp(3) with time zone,
    served_at timestamp(3) with time zone,
    closed_at timestamp(3) with time zone,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT kitchen_tickets_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT kitchen_tickets_one_per_station UNIQUE (book_id, order_id, station),
    CONSTRAINT kitchen_tickets_status_known CHECK (status = ANY (ARRAY['queued'::text, 'preparing'::text, 'ready'::text, 'served'::text])),
    CONSTRAINT kitchen_tickets_book_id_order_id_fkey FOREIGN KEY (book_id, order_id) REFERENCES orders(book_id, id)
) WITH (fillfactor=80);
CREATE INDEX kitchen_tickets_by_time ON kitchen_tickets USING btree (book_id, queued_at, id);
CREATE INDEX kitchen_tickets_on_board ON kitchen_tickets USING btree (book_id, queued_at, id) WHERE closed_at IS NULL AND status <> 'served'::text;

CREATE TABLE ledger_accounts (
    book_id uuid NOT NULL,
    kind ledger_account_kind NOT NULL,
    owner_id uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000'::uuid,
    currency text NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT ledger_accounts_pkey PRIMARY KEY (book_id, kind, owner_id),
    CONSTRAINT ledger_accounts_in_currency UNIQUE (book_id, kind, owner_id, currency),
    CONSTRAINT ledger_accounts_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);

CREATE TABLE ledger_balances (
    book_id uuid NOT NULL,
    kind text NOT NULL,
    owner_id uuid NOT NULL,
    debits numeric NOT NULL DEFAULT 0,
    credits numeric NOT NULL DEFAULT 0,
    held numeric NOT NULL DEFAULT 0,
    CONSTRAINT ledger_balances_pkey PRIMARY KEY (book_id, kind, owner_id),
    CONSTRAINT ledger_balances_counters CHECK (debits >= 0::numeric AND held >= 0::numeric),
    CONSTRAINT ledger_balances_not_below_zero CHECK (kind = 'wallet'::text OR credits >= (debits + held)),
    CONSTRAINT ledger_wallets_not_below_zero CHECK (kind <> 'wallet'::text OR credits >= (debits + held)),
    CONSTRAINT ledger_balances_book_id_kind_owner_id_fkey FOREIGN KEY (book_id, kind, owner_id) REFERENCES ledger_accounts(book_id, kind, owner_id)
) WITH (fillfactor=50);
CREATE TRIGGER customer_credit_is_tallied AFTER INSERT OR UPDATE ON ledger_balances FOR EACH ROW WHEN (new.kind = 'customer_credit'::text) EXECUTE FUNCTION tally_customer_credit();
CREATE TRIGGER ledger_balances_only_grow BEFORE UPDATE ON ledger_balances FOR EACH ROW WHEN (new.debits < old.debits OR new.credits < old.credits OR new.book_id <> old.book_id OR new.kind <> old.kind OR new.owner_id <> old.owner_id) EXECUTE FUNCTION refuse_ledger_change();
CREATE TRIGGER ledger_balances_stay BEFORE DELETE ON ledger_balances FOR EACH ROW EXECUTE FUNCTION refuse_ledger_change();

CREATE TABLE ledger_holds (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    account_kind text NOT NULL,
    account_owner uuid NOT NULL,
    amount positive_amount NOT NULL,
    currency text NOT NULL,
    kind text NOT NULL,
    source_type text NOT NULL,
    source_id uuid NOT NULL,
    sequence integer NOT NULL,
    status ledger_hold_status NOT NULL,
    transfer_id uuid,
    expires_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone NOT NULL,
    ended_at timestamp(3) with time zone,
    CONSTRAINT ledger_holds_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT ledger_holds_once UNIQUE (book_id, source_id, source_type, kind, sequence),
    CONSTRAINT ledger_holds_posted_once UNIQUE (book_id, transfer_id),
    CONSTRAINT ledger_holds_end CHECK ((status::text = 'pending'::text) = (ended_at IS NULL) AND (status::text = 'posted'::text) = (transfer_id IS NOT NULL)),
    CONSTRAINT ledger_holds_book_id_account_kind_account_owner_currency_fkey FOREIGN KEY (book_id, account_kind, account_owner, currency) REFERENCES ledger_accounts(book_id, kind, owner_id, currency),
    CONSTRAINT ledger_holds_book_id_transfer_id_fkey FOREIGN KEY (book_id, transfer_id) REFERENCES ledger_transfers(book_id, id)
);
CREATE INDEX ledger_holds_pending ON ledger_holds USING btree (book_id, account_kind, account_owner) WHERE status::text = 'pending'::text;
CREATE INDEX ledger_holds_to_expire ON ledger_holds USING btree (expires_at, id) WHERE status::text = 'pending'::text AND expires_at IS NOT NULL;
CREATE TRIGGER ledger_holds_are_kept BEFORE TRUNCATE ON ledger_holds FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();
CREATE TRIGGER ledger_holds_end_once BEFORE UPDATE ON ledger_holds FOR EACH ROW WHEN (old.status::text <> 'pending'::text OR new.status::text = 'pending'::text OR new.book_id <> old.book_id OR new.id <> old.id OR new.account_kind <> old.account_kind OR new.account_owner <> old.account_owner OR new.amount::numeric <> old.amount::numeric OR new.currency <> old.currency OR new.kind <> old.kind OR new.source_type <> old.source_type OR new.source_id <> old.source_id OR new.sequence <> old.sequence) EXECUTE FUNCTION refuse_ledger_change();
CREATE TRIGGER ledger_holds_stay BEFORE DELETE ON ledger_holds FOR EACH ROW EXECUTE FUNCTION refuse_ledger_change();

CREATE TABLE ledger_summed_days (
    book_id uuid NOT NULL,
    day date NOT NULL,
    CONSTRAINT ledger_summed_days_pkey PRIMARY KEY (book_id)
);

CREATE TABLE ledger_sums (
    book_id uuid NOT NULL,
    period text NOT NULL,
    began_at timestamp(0) with time zone NOT NULL,
    account_kind text NOT NULL,
    currency text NOT NULL,
    debits numeric NOT NULL,
    credits numeric NOT NULL,
    CONSTRAINT ledger_sums_pkey PRIMARY KEY (book_id, period, began_at, account_kind, currency),
    CONSTRAINT ledger_sums_period_known CHECK (period = ANY (ARRAY['quarter'::text, 'day'::text]))
) WITH (fillfactor=70);

CREATE TABLE ledger_tallies (
    book_id uuid NOT NULL,
    account_kind text NOT NULL,
    is_cost boolean NOT NULL,
    period text NOT NULL,
    began_at timestamp(0) with time zone NOT NULL,
    store_id uuid,
    amount numeric NOT NULL,
    CONSTRAINT ledger_tallies_kind_key UNIQUE NULLS NOT DISTINCT (book_id, account_kind, is_cost, period, began_at, store_id),
    CONSTRAINT ledger_tallies_period_known CHECK (period = ANY (ARRAY['quarter'::text, 'hour'::text]))
) WITH (fillfactor=70);

CREATE TABLE ledger_tally_changes (
    book_id uuid NOT NULL,
    id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    account_kind text NOT NULL,
    is_cost boolean NOT NULL,
    quarter_at timestamp(0) with time zone NOT NULL,
    store_id uuid,
    amount numeric NOT NULL,
    CONSTRAINT ledger_tally_changes_pkey PRIMARY KEY (book_id, id)
) WITH (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=500);

CREATE TABLE ledger_transfers (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    debit_kind text NOT NULL,
    debit_owner uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000'::uuid,
    credit_kind text NOT NULL,
    credit_owner uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000'::uuid,
    amount positive_amount NOT NULL,
    currency text NOT NULL,
    kind text NOT NULL,
    source_type text NOT NULL,
    source_id uuid NOT NULL,
    sequence integer NOT NULL,
    reverses_id uuid,
    happened_at timestamp(3) with time zone NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT ledger_transfers_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT ledger_transfers_once UNIQUE (book_id, source_id, source_type, kind, sequence),
    CONSTRAINT ledger_transfers_reversed_once UNIQUE (book_id, reverses_id),
    CONSTRAINT ledger_transfers_between_two CHECK (debit_kind <> credit_kind OR debit_owner <> credit_owner),
    CONSTRAINT ledger_transfers_book_id_credit_kind_credit_owner_currency_fkey FOREIGN KEY (book_id, credit_kind, credit_owner, currency) REFERENCES ledger_accounts(book_id, kind, owner_id, currency),
    CONSTRAINT ledger_transfers_book_id_debit_kind_debit_owner_currency_fkey FOREIGN KEY (book_id, debit_kind, debit_owner, currency) REFERENCES ledger_accounts(book_id, kind, owner_id, currency),
    CONSTRAINT ledger_transfers_book_id_reverses_id_fkey FOREIGN KEY (book_id, reverses_id) REFERENCES ledger_transfers(book_id, id)
);
CREATE INDEX ledger_transfers_by_credit ON ledger_transfers USING btree (book_id, credit_kind, credit_owner, id);
CREATE INDEX ledger_transfers_by_debit ON ledger_transfers USING btree (book_id, debit_kind, debit_owner, id);
CREATE INDEX ledger_transfers_by_kind ON ledger_transfers USING btree (book_id, kind, id) WHERE kind <> ALL (ARRAY['sale'::text, 'payment'::text]);
CREATE INDEX ledger_transfers_by_moment ON ledger_transfers USING btree (book_id, happened_at, id);
CREATE TRIGGER ledger_transfers_are_kept BEFORE TRUNCATE ON ledger_transfers FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();
CREATE TRIGGER ledger_transfers_stay BEFORE DELETE OR UPDATE ON ledger_transfers FOR EACH ROW EXECUTE FUNCTION refuse_ledger_change();

CREATE TABLE login_failures (
    account_digest bytea NOT NULL,
    network text NOT NULL,
    failures integer NOT NULL,
    last_failed_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT login_failures_pkey PRIMARY KEY (account_digest, network)
);
CREATE INDEX login_failures_by_age ON login_failures USING btree (last_failed_at);

CREATE TABLE members (
    business_id uuid NOT NULL,
    user_id uuid NOT NULL,
    role text NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    sessions_ended_at timestamp with time zone,
    CONSTRAINT members_pkey PRIMARY KEY (business_id, user_id),
    CONSTRAINT members_role_known CHECK (role = ANY (ARRAY['owner'::text, 'admin'::text, 'developer'::text, 'manager'::text, 'cashier'::text, 'kitchen'::text, 'front_desk'::text, 'housekeeping'::text])),
    CONSTRAINT members_business_id_fkey FOREIGN KEY (business_id) REFERENCES businesses(id),
    CONSTRAINT members_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE INDEX members_by_user ON members USING btree (user_id);

CREATE TABLE message_storage (
    book_id uuid NOT NULL,
    messages bigint NOT NULL,
    bytes bigint NOT NULL,
    counted_to uuid,
    notes_counted_to uuid,
    conversations_counted_to uuid,
    CONSTRAINT message_storage_pkey PRIMARY KEY (book_id),
    CONSTRAINT message_storage_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);

CREATE TABLE messages (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    conversation_id uuid NOT NULL,
    direction text NOT NULL,
    type text NOT NULL,
    text text NOT NULL,
    template jsonb,
    delivery_status text,
    provider text NOT NULL,
    number_id uuid NOT NULL,
    provider_message_id text,
    error text,
    purpose text,
    sent_by_id uuid,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    attachment_id uuid,
    CONSTRAINT messages_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT messages_provider_key UNIQUE (book_id, provider, provider_message_id),
    CONSTRAINT messages_purpose_key UNIQUE (book_id, purpose),
    CONSTRAINT messages_delivery_status_known CHECK (delivery_status = ANY (ARRAY['queued'::text, 'sending'::text, 'sent'::text, 'delivered'::text, 'read'::text, 'failed'::text, 'unknown'::text])),
    CONSTRAINT messages_direction_known CHECK (direction = ANY (ARRAY['inbound'::text, 'outbound'::text])),
    CONSTRAINT messages_book_id_attachment_id_fkey FOREIGN KEY (book_id, attachment_id) REFERENCES messaging_attachments(book_id, id),
    CONSTRAINT messages_book_id_conversation_id_fkey FOREIGN KEY (book_id, conversation_id) REFERENCES conversations(book_id, id),
    CONSTRAINT messages_book_id_number_id_fkey FOREIGN KEY (book_id, number_id) REFERENCES messaging_numbers(book_id, id)
);
CREATE INDEX messages_by_attachment ON messages USING btree (book_id, attachment_id) WHERE attachment_id IS NOT NULL;
CREATE INDEX messages_by_conversation ON messages USING btree (book_id, conversation_id, id);
CREATE INDEX messages_by_word ON messages USING gin (customer_words(book_id, text));

CREATE TABLE messaging_attachments (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    kind text,
    status text NOT NULL,
    filename text,
    content_type text,
    size_bytes integer,
    sha256 bytea,
    content bytea,
    error text,
    number_id uuid,
    provider_media_id text,
    provider_sha256 text,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT messaging_attachments_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT messaging_attachments_kind_known CHECK (kind = ANY (ARRAY['image'::text, 'audio'::text, 'video'::text, 'document'::text, 'sticker'::text])),
    CONSTRAINT messaging_attachments_ready_with_content CHECK ((status = 'ready'::text) = (content IS NOT NULL AND kind IS NOT NULL AND content_type IS NOT NULL AND size_bytes IS NOT NULL AND sha256 IS NOT NULL)),
    CONSTRAINT messaging_attachments_status_known CHECK (status = ANY (ARRAY['uploading'::text, 'fetching'::text, 'ready'::text, 'failed'::text])),
    CONSTRAINT messaging_attachments_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id),
    CONSTRAINT messaging_attachments_book_id_number_id_fkey FOREIGN KEY (book_id, number_id) REFERENCES messaging_numbers(book_id, id)
);
CREATE INDEX messaging_attachments_uploading ON messaging_attachments USING btree (created_at) WHERE status = 'uploading'::text;

CREATE TABLE messaging_inboxes (
    book_id uuid NOT NULL,
    assigns_automatically boolean NOT NULL DEFAULT true,
    turns bigint NOT NULL DEFAULT 0,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT messaging_inboxes_pkey PRIMARY KEY (book_id),
    CONSTRAINT messaging_inboxes_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);

CREATE TABLE messaging_numbers (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    provider text NOT NULL,
    phone_number text NOT NULL,
    provider_number_id text,
    credentials_sealed bytea,
    status text NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT messaging_numbers_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT messaging_numbers_provider_known CHECK (provider = ANY (ARRAY['sandbox'::text, 'whatsapp'::text])),
    CONSTRAINT messaging_numbers_status_known CHECK (status = ANY (ARRAY['active'::text, 'disabled'::text])),
    CONSTRAINT messaging_numbers_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);
CREATE UNIQUE INDEX messaging_numbers_id_key ON messaging_numbers USING btree (id);
CREATE UNIQUE INDEX messaging_numbers_one_active ON messaging_numbers USING btree (book_id) WHERE status = 'active'::text;

CREATE TABLE messaging_presence (
    business_id uuid NOT NULL,
    user_id uuid NOT NULL,
    online_until timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT messaging_presence_pkey PRIMARY KEY (business_id, user_id),
    CONSTRAINT messaging_presence_business_id_user_id_fkey FOREIGN KEY (business_id, user_id) REFERENCES members(business_id, user_id) ON DELETE CASCADE
);

CREATE TABLE messaging_storage (
    book_id uuid NOT NULL,
    attachments bigint NOT NULL,
    bytes bigint NOT NULL,
    CONSTRAINT messaging_storage_pkey PRIMARY KEY (book_id),
    CONSTRAINT messaging_storage_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);

CREATE TABLE messaging_turns (
    book_id uuid NOT NULL,
    user_id uuid NOT NULL,
    turn bigint NOT NULL,
    CONSTRAINT messaging_turns_pkey PRIMARY KEY (book_id, user_id),
    CONSTRAINT messaging_turns_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);

CREATE TABLE modifier_groups (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    min_choices integer NOT NULL DEFAULT 0,
    max_choices integer,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    deleted_at timestamp(3) with time zone,
    CONSTRAINT modifier_groups_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT modifier_groups_choices_known CHECK (min_choices >= 0 AND COALESCE(max_choices, 1000) >= GREATEST(min_choices, 1)),
    CONSTRAINT modifier_groups_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);

CREATE TABLE modifier_options (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    modifier_group_id uuid NOT NULL,
    name text NOT NULL,
    price_delta numeric NOT NULL DEFAULT 0,
    is_active boolean NOT NULL DEFAULT true,
    "position" integer NOT NULL DEFAULT 0,
    deleted_at timestamp(3) with time zone,
    CONSTRAINT modifier_options_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT modifier_options_of_group UNIQUE (book_id, modifier_group_id, id),
    CONSTRAINT modifier_options_delta_bounds CHECK (price_delta > '-1000000000000000'::numeric AND price_delta < '1000000000000000'::numeric),
    CONSTRAINT modifier_options_book_id_modifier_group_id_fkey FOREIGN KEY (book_id, modifier_group_id) REFERENCES modifier_groups(book_id, id)
);

CREATE TABLE order_items (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    order_id uuid NOT NULL,
    "position" integer NOT NULL,
    line_type order_line_type NOT NULL,
    product_id uuid,
    variant_id uuid,
    product_name text NOT NULL,
    variant_name text,
    quantity order_quantity NOT NULL,
    unit_price numeric NOT NULL,
    original_unit_price numeric NOT NULL,
    subtotal_amount numeric NOT NULL,
    discount_amount numeric NOT NULL,
    tax_amount numeric NOT NULL,
    total_price order_amount NOT NULL,
    image_url text,
    modifiers jsonb NOT NULL DEFAULT '[]'::jsonb,
    components jsonb NOT NULL DEFAULT '[]'::jsonb,
    tax_rate numeric,
    CONSTRAINT order_items_pkey PRIMARY KEY (book_id, order_id, "position"),
    CONSTRAINT order_items_id_key UNIQUE (book_id, id),
    CONSTRAINT order_items_book_id_order_id_fkey FOREIGN KEY (book_id, order_id) REFERENCES orders(book_id, id),
    CONSTRAINT order_items_book_id_product_id_variant_id_fkey FOREIGN KEY (book_id, product_id, variant_id) REFERENCES variants(book_id, product_id, id)
);

CREATE TABLE order_storage (
    book_id uuid NOT NULL,
    orders bigint NOT NULL,
    bytes bigint NOT NULL,
    counted_to uuid NOT NULL,
    CONSTRAINT order_storage_pkey PRIMARY KEY (book_id),
    CONSTRAINT order_storage_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);

CREATE TABLE order_tallies (
    book_id uuid NOT NULL,
    period text NOT NULL,
    day date,
    status text NOT NULL,
    payment_status text NOT NULL,
    channel text NOT NULL,
    service_mode text,
    store_id uuid,
    is_automated boolean NOT NULL,
    is_fulfilled boolean NOT NULL,
    orders bigint NOT NULL,
    total_amount numeric NOT NULL,
    remaining_amount numeric NOT NULL,
    payment_methods smallint NOT NULL,
    paid_by_cash numeric NOT NULL,
    paid_by_transfer numeric NOT NULL,
    paid_by_pos numeric NOT NULL,
    paid_by_cloove_pay numeric NOT NULL,
    paid_by_credit numeric NOT NULL,
    paid_by_other numeric NOT NULL,
    refunded_amount numeric NOT NULL DEFAULT 0,
    CONSTRAINT order_tallies_kind_key UNIQUE NULLS NOT DISTINCT (book_id, period, day, status, payment_status, channel, payment_methods, service_mode, store_id, is_automated, is_fulfilled),
    CONSTRAINT order_tallies_period_known CHECK (period = ANY (ARRAY['day'::text, 'month'::text, 'ever'::text]))
) WITH (fillfactor=70);

CREATE TABLE order_tallies_in_detail (
    book_id uuid NOT NULL,
    day date,
    status text NOT NULL,
    payment_status text NOT NULL,
    channel text NOT NULL,
    service_mode text,
    store_id uuid,
    is_automated boolean NOT NULL,
    is_fulfilled boolean NOT NULL,
    recorded_by_id uuid NOT NULL,
    served_by_id uuid,
    academic_term_id uuid,
    tag_ids uuid[] NOT NULL,
    orders bigint NOT NULL,
    total_amount numeric NOT NULL,
    remaining_amount numeric NOT NULL,
    payment_methods smallint NOT NULL,
    paid_by_cash numeric NOT NULL,
    paid_by_transfer numeric NOT NULL,
    paid_by_pos numeric NOT NULL,
    paid_by_cloove_pay numeric NOT NULL,
    paid_by_credit numeric NOT NULL,
    paid_by_other numeric NOT NULL,
    refunded_amount numeric NOT NULL DEFAULT 0,
    CONSTRAINT order_tallies_in_detail_kind_key UNIQUE NULLS NOT DISTINCT (book_id, day, status, payment_status, channel, payment_methods, service_mode, store_id, is_automated, is_fulfilled, recorded_by_id, served_by_id, academic_term_id, tag_ids)
) WITH (fillfactor=80);
CREATE INDEX order_tallies_in_detail_by_recorder ON order_tallies_in_detail USING btree (book_id, recorded_by_id, day);
CREATE INDEX order_tallies_in_detail_by_server ON order_tallies_in_detail USING btree (book_id, served_by_id, day) WHERE served_by_id IS NOT NULL;
CREATE INDEX order_tallies_in_detail_by_tags ON order_tallies_in_detail USING btree (book_id, day) WHERE tag_ids <> '{}'::uuid[];

CREATE TABLE order_tally_changes (
    book_id uuid NOT NULL,
    id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    day date NOT NULL,
    status text NOT NULL,
    payment_status text NOT NULL,
    channel text NOT NULL,
    service_mode text,
    store_id uuid,
    is_automated boolean NOT NULL,
    is_fulfilled boolean NOT NULL,
    recorded_by_id uuid NOT NULL,
    served_by_id uuid,
    academic_term_id uuid,
    tag_ids uuid[] NOT NULL,
    orders bigint NOT NULL,
    total_amount numeric NOT NULL,
    remaining_amount numeric NOT NULL,
    quarter_at timestamp(0) with time zone,
    payment_methods smallint NOT NULL,
    paid_by_cash numeric,
    paid_by_transfer numeric,
    paid_by_pos numeric,
    paid_by_cloove_pay numeric,
    paid_by_credit numeric,
    paid_by_other numeric,
    refunded_amount numeric,
    tax_amount numeric,
    discount_amount numeric,
    service_charge_amount numeric,
    CONSTRAINT order_tally_changes_pkey PRIMARY KEY (book_id, id)
) WITH (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=500);

CREATE TABLE orders (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    short_code text COLLATE "C" NOT NULL,
    idempotency_key text,
    idempotency_fingerprint bytea,
    status order_status NOT NULL,
    summary text NOT NULL,
    currency text NOT NULL,
    subtotal_amount order_amount NOT NULL,
    discount_amount order_amount NOT NULL,
    service_charge_amount order_amount NOT NULL,
    tax_amount order_amount NOT NULL,
    exclusive_tax_amount order_amount NOT NULL,
    adjustment_amount numeric NOT NULL DEFAULT 0,
    total_amount order_amount NOT NULL,
    amount_paid order_amount NOT NULL,
    payment_method order_payment_method NOT NULL,
    customer_id uuid,
    store_id uuid,
    channel order_channel NOT NULL,
    channel_fulfilled_at timestamp(3) with time zone,
    is_automated boolean NOT NULL DEFAULT false,
    scheduled_at timestamp(3) with time zone,
    scheduled_confirmed_at timestamp(3) with time zone,
    service_mode order_service_mode,
    table_session_id uuid,
    table_label text,
    covers integer,
    hotel_reservation_id uuid,
    hotel_room_id uuid,
    academic_term_id uuid,
    promotion_id uuid,
    promotion_customer_id uuid,
    tag_ids uuid[] NOT NULL DEFAULT '{}'::uuid[],
    notes text,
    recorded_by_id uuid NOT NULL,
    recorded_by_name text NOT NULL,
    served_by_id uuid,
    entry_source text NOT NULL,
    recovery_session_id text,
    cancellation jsonb,
    wants_kitchen boolean NOT NULL DEFAULT false,
    fires_at timestamp(3) with time zone,
    stock_state order_stock_state NOT NULL DEFAULT 'none'::text,
    stock_round integer NOT NULL DEFAULT 0,
    postings integer NOT NULL DEFAULT 0,
    occurred_at timestamp(3) with time zone NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    deleted_at timestamp(3) with time zone,
    change_amount order_amount NOT NULL DEFAULT 0,
    refunded_amount order_amount NOT NULL DEFAULT 0,
    credit_amount numeric NOT NULL DEFAULT 0,
    tip_amount order_amount NOT NULL DEFAULT 0,
    payment_status text NOT NULL GENERATED ALWAYS AS (
CASE
    WHEN ((amount_paid)::numeric >= ((total_amount)::numeric - (refunded_amount)::numeric)) THEN 'paid'::text
    WHEN ((amount_paid)::numeric > (0)::numeric) THEN 'partial'::text
    ELSE 'pending'::text
END) STORED,
    remaining_amount numeric NOT NULL GENERATED ALWAYS AS (GREATEST((((total_amount)::numeric - (refunded_amount)::numeric) - (amount_paid)::numeric), (0)::numeric)) STORED,
    paid_by_cash numeric,
    paid_by_transfer numeric,
    paid_by_pos numeric,
    paid_by_cloove_pay numeric,
    paid_by_credit numeric,
    paid_by_other numeric,
    payment_methods smallint NOT NULL GENERATED ALWAYS AS ((((((((payment_method_bit((payment_method)::text) |
CASE
    WHEN (paid_by_cash IS NULL) THEN 0
    ELSE 1
END) |
CASE
    WHEN (paid_by_transfer IS NULL) THEN 0
    ELSE 2
END) |
CASE
    WHEN (paid_by_pos IS NULL) THEN 0
    ELSE 4
END) |
CASE
    WHEN (paid_by_cloove_pay IS NULL) THEN 0
    ELSE 8
END) |
CASE
    WHEN (paid_by_credit IS NULL) THEN 0
    ELSE 16
END) |
CASE
    WHEN (paid_by_other IS NULL) THEN 0
    ELSE 32
END))::smallint) STORED,
    returning_amount order_amount NOT NULL DEFAULT 0,
    reopened_at timestamp(3) with time zone,
    CONSTRAINT orders_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT orders_short_code_key UNIQUE (book_id, short_code),
    CONSTRAINT orders_add_up CHECK (total_amount::numeric = (subtotal_amount::numeric - discount_amount::numeric + service_charge_amount::numeric + exclusive_tax_amount::numeric + adjustment_amount)),
    CONSTRAINT orders_change_within_paid CHECK (change_amount::numeric <= amount_paid::numeric),
    CONSTRAINT orders_refunded_within_total CHECK (refunded_amount::numeric <= total_amount::numeric),
    CONSTRAINT orders_book_id_academic_term_id_fkey FOREIGN KEY (book_id, academic_term_id) REFERENCES academic_terms(book_id, id),
    CONSTRAINT orders_book_id_customer_id_fkey FOREIGN KEY (book_id, customer_id) REFERENCES customers(book_id, id),
    CONSTRAINT orders_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id),
    CONSTRAINT orders_book_id_hotel_reservation_id_fkey FOREIGN KEY (book_id, hotel_reservation_id) REFERENCES hotel_reservations(book_id, id),
    CONSTRAINT orders_book_id_hotel_room_id_fkey FOREIGN KEY (book_id, hotel_room_id) REFERENCES hotel_rooms(book_id, id),
    CONSTRAINT orders_book_id_promotion_id_fkey FOREIGN KEY (book_id, promotion_id) REFERENCES promotions(book_id, id),
    CONSTRAINT orders_book_id_store_id_fkey FOREIGN KEY (book_id, store_id) REFERENCES stores(book_id, id),
    CONSTRAINT orders_book_id_table_session_id_fkey FOREIGN KEY (book_id, table_session_id) REFERENCES table_sessions(book_id, id)
) WITH (fillfactor=85);
CREATE INDEX orders_by_change ON orders USING btree (book_id, updated_at, id) WHERE deleted_at IS NULL;
CREATE INDEX orders_by_customer ON orders USING btree (book_id, customer_id, occurred_at, id) INCLUDE (status, payment_status, channel, payment_methods, service_mode, store_id, is_automated, channel_fulfilled_at, recorded_by_id, served_by_id, academic_term_id, total_amount, remaining_amount, refunded_amount, paid_by_cash, paid_by_transfer, paid_by_pos, paid_by_cloove_pay, paid_by_credit, paid_by_other) WHERE customer_id IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX orders_by_recorder ON orders USING btree (book_id, recorded_by_id, occurred_at, id) WHERE deleted_at IS NULL;
CREATE INDEX orders_by_schedule ON orders USING btree (book_id, scheduled_at, id) WHERE deleted_at IS NULL AND status::text = 'scheduled'::text;
CREATE INDEX orders_by_server ON orders USING btree (book_id, served_by_id, occurred_at, id) WHERE deleted_at IS NULL AND served_by_id IS NOT NULL;
CREATE INDEX orders_by_session ON orders USING btree (book_id, table_session_id) WHERE table_session_id IS NOT NULL;
CREATE INDEX orders_by_status ON orders USING btree (book_id, status, occurred_at, id) WHERE deleted_at IS NULL AND status::text <> 'completed'::text;
CREATE INDEX orders_by_tag ON orders USING gin (tag_ids) WHERE tag_ids <> '{}'::uuid[];
CREATE INDEX orders_by_term ON orders USING btree (book_id, academic_term_id, occurred_at, id) WHERE academic_term_id IS NOT NULL;
CREATE INDEX orders_by_time ON orders USING btree (book_id, occurred_at, id) INCLUDE (status, payment_status, channel, payment_methods, service_mode, store_id) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX orders_idempotency_key ON orders USING btree (book_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX orders_of_stay ON orders USING btree (book_id, hotel_reservation_id) WHERE hotel_reservation_id IS NOT NULL;
CREATE INDEX orders_to_fire ON orders USING btree (fires_at) WHERE fires_at IS NOT NULL;
CREATE TRIGGER orders_are_on_open_stays BEFORE INSERT ON orders FOR EACH ROW WHEN (new.hotel_reservation_id IS NOT NULL) EXECUTE FUNCTION check_stay_of_order();
CREATE TRIGGER orders_are_sold_when_confirmed BEFORE UPDATE OF status ON orders FOR EACH ROW WHEN (old.status::text = 'scheduled'::text AND (new.status::text = ANY (ARRAY['pending'::text, 'completed'::text]))) EXECUTE FUNCTION sell_when_confirmed();
CREATE TRIGGER orders_are_tallied AFTER INSERT OR DELETE ON orders FOR EACH ROW EXECUTE FUNCTION tally_orders();
CREATE TRIGGER orders_are_tallied_again AFTER UPDATE ON orders FOR EACH ROW WHEN (old.status::text IS DISTINCT FROM new.status::text OR old.payment_status IS DISTINCT FROM new.payment_status OR old.channel::text IS DISTINCT FROM new.channel::text OR old.payment_methods IS DISTINCT FROM new.payment_methods OR old.service_mode::text IS DISTINCT FROM new.service_mode::text OR old.store_id IS DISTINCT FROM new.store_id OR old.is_automated IS DISTINCT FROM new.is_automated OR (old.channel_fulfilled_at IS NULL) IS DISTINCT FROM (new.channel_fulfilled_at IS NULL) OR old.recorded_by_id IS DISTINCT FROM new.recorded_by_id OR old.served_by_id IS DISTINCT FROM new.served_by_id OR old.academic_term_id IS DISTINCT FROM new.academic_term_id OR old.tag_ids IS DISTINCT FROM new.tag_ids OR old.total_amount::numeric IS DISTINCT FROM new.total_amount::numeric OR old.remaining_amount IS DISTINCT FROM new.remaining_amount OR old.refunded_amount::numeric IS DISTINCT FROM new.refunded_amount::numeric OR old.tax_amount::numeric IS DISTINCT FROM new.tax_amount::numeric OR old.discount_amount::numeric IS DISTINCT FROM new.discount_amount::numeric OR old.service_charge_amount::numeric IS DISTINCT FROM new.service_charge_amount::numeric OR old.paid_by_cash IS DISTINCT FROM new.paid_by_cash OR old.paid_by_transfer IS DISTINCT FROM new.paid_by_transfer OR old.paid_by_pos IS DISTINCT FROM new.paid_by_pos OR old.paid_by_cloove_pay IS DISTINCT FROM new.paid_by_cloove_pay OR old.paid_by_credit IS DISTINCT FROM new.paid_by_credit OR old.paid_by_other IS DISTINCT FROM new.paid_by_other OR old.occurred_at IS DISTINCT FROM new.occurred_at OR old.deleted_at IS DISTINCT FROM new.deleted_at) EXECUTE FUNCTION tally_orders();
CREATE TRIGGER orders_keep_closed_periods BEFORE INSERT ON orders FOR EACH ROW WHEN (new.entry_source = 'import'::text) EXECUTE FUNCTION refuse_closed_period();
CREATE TRIGGER orders_stay_in_closed_periods BEFORE UPDATE OF status, total_amount, deleted_at ON orders FOR EACH ROW WHEN (old.status::text <> 'scheduled'::text AND
        CASE
            WHEN old.deleted_at IS NOT NULL THEN '-2'::integer::numeric
            WHEN old.status::text = ANY (ARRAY['pending'::text, 'completed'::text, 'refunded'::text]) THEN old.total_amount::numeric
            WHEN (old.cancellation ->> 'previousStatus'::text) = 'scheduled'::text THEN '-2'::integer::numeric
            ELSE '-1'::integer::numeric
        END <>
        CASE
            WHEN new.deleted_at IS NOT NULL OR new.status::text = 'scheduled'::text THEN '-2'::integer::numeric
            WHEN new.status::text = ANY (ARRAY['pending'::text, 'completed'::text, 'refunded'::text]) THEN new.total_amount::numeric
            WHEN (new.cancellation ->> 'previousStatus'::text) = 'scheduled'::text THEN '-2'::integer::numeric
            ELSE '-1'::integer::numeric
        END) EXECUTE FUNCTION refuse_closed_period();
CREATE CONSTRAINT TRIGGER payment_links_close_with_charges AFTER UPDATE ON orders DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (new.hotel_reservation_id IS NOT NULL AND (new.remaining_amount < old.remaining_amount OR new.total_amount::numeric < old.total_amount::numeric OR new.refunded_amount::numeric > old.refunded_amount::numeric OR new.status::text <> old.status::text OR (new.deleted_at IS NULL) <> (old.deleted_at IS NULL) OR new.customer_id IS DISTINCT FROM old.customer_id)) EXECUTE FUNCTION close_links_of_charged_stay();
CREATE TRIGGER payment_links_close_with_orders AFTER UPDATE ON orders FOR EACH ROW WHEN (old.remaining_amount > 0::numeric AND new.remaining_amount = 0::numeric OR old.deleted_at IS NULL AND new.deleted_at IS NOT NULL OR old.status::text <> new.status::text AND (new.status::text = ANY (ARRAY['cancelled'::text, 'refunded'::text]))) EXECUTE FUNCTION close_links_of_order();

CREATE TABLE password_links (
    user_id uuid NOT NULL,
    token_digest bytea NOT NULL,
    requested_at timestamp(3) with time zone NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    password_changed_at timestamp(3) with time zone NOT NULL,
    used_at timestamp(3) with time zone,
    CONSTRAINT password_links_pkey PRIMARY KEY (user_id),
    CONSTRAINT password_links_of_a_token UNIQUE (token_digest),
    CONSTRAINT password_links_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);
CREATE INDEX password_links_by_end ON password_links USING btree (expires_at);

CREATE TABLE payins (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    provider text NOT NULL,
    provider_transaction_id text NOT NULL,
    status text NOT NULL,
    virtual_account_id uuid,
    target_type text,
    target_id uuid,
    amount positive_amount NOT NULL,
    fee numeric NOT NULL,
    currency text NOT NULL,
    payer_name text,
    paid_at timestamp(3) with time zone NOT NULL,
    applied_at timestamp(3) with time zone,
    reversed_at timestamp(3) with time zone,
    reversal_applied_at timestamp(3) with time zone,
    conditions text[] NOT NULL DEFAULT '{}'::text[],
    transaction_id uuid,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    asked_at timestamp(3) with time zone,
    given_back numeric NOT NULL DEFAULT 0,
    returned_told numeric NOT NULL DEFAULT 0,
    returned_amount numeric NOT NULL DEFAULT 0,
    returned_fee numeric NOT NULL DEFAULT 0,
    returned_applied numeric NOT NULL DEFAULT 0,
    returned_at timestamp(3) with time zone,
    postings integer NOT NULL DEFAULT 0,
    disputed_amount numeric NOT NULL DEFAULT 0,
    CONSTRAINT payins_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT payins_once UNIQUE (book_id, provider, provider_transaction_id),
    CONSTRAINT payins_disputed_bounds CHECK (disputed_amount >= 0::numeric),
    CONSTRAINT payins_fee_bounds CHECK (fee >= 0::numeric AND fee <= amount::numeric),
    CONSTRAINT payins_given_back_bounds CHECK (given_back >= 0::numeric),
    CONSTRAINT payins_returned_applied_bounds CHECK (returned_applied >= 0::numeric AND returned_applied <= returned_amount),
    CONSTRAINT payins_returned_bounds CHECK (returned_amount >= 0::numeric AND returned_amount <= amount::numeric AND returned_amount <= returned_told),
    CONSTRAINT payins_returned_fee_bounds CHECK (returned_fee >= 0::numeric AND returned_fee <= fee),
    CONSTRAINT payins_status_known CHECK (status = ANY (ARRAY['received'::text, 'reversed'::text])),
    CONSTRAINT payins_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id),
    CONSTRAINT payins_book_id_virtual_account_id_fkey FOREIGN KEY (book_id, virtual_account_id) REFERENCES virtual_accounts(book_id, id)
);
CREATE INDEX payins_by_account ON payins USING btree (book_id, virtual_account_id) WHERE virtual_account_id IS NOT NULL;
CREATE INDEX payins_by_provider_transaction ON payins USING btree (book_id, provider, split_part(provider_transaction_id, '#'::text, 1));
CREATE INDEX payins_by_target ON payins USING btree (book_id, target_type, target_id, paid_at);
CREATE INDEX payins_by_time ON payins USING btree (book_id, paid_at, id);
CREATE INDEX payins_by_transaction ON payins USING btree (book_id, transaction_id) WHERE transaction_id IS NOT NULL;
CREATE INDEX payins_to_apply ON payins USING btree (book_id, target_type, target_id) WHERE applied_at IS NULL OR returned_applied < returned_amount;

CREATE TABLE payment_link_tallies (
    book_id uuid NOT NULL,
    day date NOT NULL,
    status text NOT NULL,
    target_type text NOT NULL,
    slot integer NOT NULL,
    links bigint NOT NULL,
    CONSTRAINT payment_link_tallies_pkey PRIMARY KEY (book_id, day, status, target_type, slot)
) WITH (fillfactor=50);

CREATE TABLE payment_links (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    reference text COLLATE "C" NOT NULL,
    target_type text NOT NULL,
    target_id uuid,
    order_id uuid,
    title text,
    amount positive_amount NOT NULL,
    currency text NOT NULL,
    customer_id uuid,
    customer_name text,
    customer_email text,
    customer_phone text,
    description text NOT NULL,
    redirect_url text,
    status text NOT NULL,
    is_reusable boolean NOT NULL DEFAULT false,
    is_static boolean NOT NULL DEFAULT false,
    expires_at timestamp(3) with time zone,
    amount_received numeric NOT NULL DEFAULT 0,
    payments_count integer NOT NULL DEFAULT 0,
    conditions text[] NOT NULL DEFAULT '{}'::text[],
    last_paid_at timestamp(3) with time zone,
    idempotency_key text,
    idempotency_fingerprint bytea,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT payment_links_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT payment_links_reference_key UNIQUE (reference),
    CONSTRAINT payment_links_conditions_known CHECK (conditions <@ '{partial,over,late,reversed}'::text[]),
    CONSTRAINT payment_links_received CHECK (amount_received >= 0::numeric AND payments_count >= 0),
    CONSTRAINT payment_links_status_known CHECK (status = ANY (ARRAY['active'::text, 'PAID'::text, 'EXPIRED'::text, 'CANCELLED'::text])),
    CONSTRAINT payment_links_target_type_known CHECK (target_type = ANY (ARRAY['sale'::text, 'debt'::text, 'wallet'::text, 'reservation'::text])),
    CONSTRAINT payment_links_targets CHECK ((target_type = 'wallet'::text) = (target_id IS NULL) AND (target_type = ANY (ARRAY['wallet'::text, 'reservation'::text])) = (order_id IS NULL)),
    CONSTRAINT payment_links_book_id_customer_id_fkey FOREIGN KEY (book_id, customer_id) REFERENCES customers(book_id, id),
    CONSTRAINT payment_links_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id),
    CONSTRAINT payment_links_book_id_order_id_fkey FOREIGN KEY (book_id, order_id) REFERENCES orders(book_id, id)
) WITH (fillfactor=85);
CREATE INDEX payment_links_by_customer ON payment_links USING btree (book_id, customer_id, created_at, id) WHERE customer_id IS NOT NULL;
CREATE INDEX payment_links_by_status ON payment_links USING btree (book_id, status, created_at, id);
CREATE INDEX payment_links_by_target ON payment_links USING btree (book_id, target_id, created_at, id) WHERE target_id IS NOT NULL;
CREATE INDEX payment_links_by_time ON payment_links USING btree (book_id, created_at, id) INCLUDE (status, target_type, expires_at);
CREATE INDEX payment_links_by_type ON payment_links USING btree (book_id, target_type, created_at, id);
CREATE INDEX payment_links_by_word ON payment_links USING gin (customer_words(book_id, (((COALESCE(customer_name, ''::text) || ' '::text) || COALESCE(title, ''::text)) || ' '::text) || description));
CREATE INDEX payment_links_expiring ON payment_links USING btree (book_id, expires_at) WHERE status = 'active'::text AND expires_at IS NOT NULL;
CREATE UNIQUE INDEX payment_links_idempotency_key ON payment_links USING btree (book_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE UNIQUE INDEX payment_links_one_active ON payment_links USING btree (book_id, target_id, target_type) WHERE status = 'active'::text AND target_id IS NOT NULL;
CREATE INDEX payment_links_to_expire ON payment_links USING btree (expires_at) WHERE status = 'active'::text AND expires_at IS NOT NULL;
CREATE TRIGGER payment_links_are_tallied AFTER INSERT ON payment_links FOR EACH ROW EXECUTE FUNCTION tally_payment_link();
CREATE TRIGGER payment_links_are_tallied_again AFTER UPDATE ON payment_links FOR EACH ROW WHEN (old.status <> new.status) EXECUTE FUNCTION tally_payment_link();

CREATE TABLE payment_providers (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    provider text NOT NULL,
    is_selected boolean NOT NULL,
    credentials_sealed bytea,
    hint text,
    down_until timestamp(3) with time zone,
    last_error text,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT payment_providers_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT payment_providers_once UNIQUE (book_id, provider),
    CONSTRAINT payment_providers_known CHECK (provider = ANY (ARRAY['sandbox'::text, 'paystack'::text, 'flutterwave'::text, 'monnify'::text, 'stripe'::text])),
    CONSTRAINT payment_providers_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);

CREATE TABLE payments (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    order_id uuid NOT NULL,
    kind payment_kind NOT NULL,
    method order_payment_method NOT NULL,
    amount signed_amount NOT NULL,
    tip_amount order_amount NOT NULL DEFAULT 0,
    change_amount order_amount NOT NULL DEFAULT 0,
    reference text,
    status payment_status NOT NULL DEFAULT 'successful'::text,
    transaction_id uuid NOT NULL,
    link_id uuid,
    receipt_id uuid,
    recorded_by_id uuid NOT NULL,
    recorded_by_name text NOT NULL,
    happened_at timestamp(3) with time zone NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT payments_pkey PRIMARY KEY (book_id, order_id, id),
    CONSTRAINT payments_corrected CHECK ((kind::text = 'correction'::text) = (amount::numeric < 0::numeric)),
    CONSTRAINT payments_book_id_order_id_fkey FOREIGN KEY (book_id, order_id) REFERENCES orders(book_id, id)
);
CREATE INDEX payments_by_link ON payments USING btree (book_id, link_id) WHERE link_id IS NOT NULL;
CREATE UNIQUE INDEX payments_receipt_key ON payments USING btree (book_id, receipt_id) WHERE receipt_id IS NOT NULL;
CREATE TRIGGER payments_keep_closed_periods BEFORE INSERT ON payments FOR EACH ROW WHEN (new.happened_at < new.created_at AND new.receipt_id IS NULL) EXECUTE FUNCTION refuse_closed_period();

CREATE TABLE payout_accounts (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    status text NOT NULL,
    version integer NOT NULL DEFAULT 1,
    provider text NOT NULL,
    bank_code text NOT NULL,
    bank_name text,
    account_number text NOT NULL,
    account_name text,
    currency text NOT NULL,
    error text,
    usable_at timestamp(3) with time zone,
    created_by_id uuid NOT NULL,
    created_by_name text NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT payout_accounts_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT payout_accounts_have_a_name CHECK (status <> 'active'::text OR account_name IS NOT NULL AND usable_at IS NOT NULL),
    CONSTRAINT payout_accounts_status_known CHECK (status = ANY (ARRAY['checking'::text, 'active'::text, 'failed'::text, 'inactive'::text])),
    CONSTRAINT payout_accounts_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);
CREATE UNIQUE INDEX payout_accounts_once ON payout_accounts USING btree (book_id, provider, bank_code, account_number) WHERE status = ANY (ARRAY['checking'::text, 'active'::text]);

CREATE TABLE payout_controls (
    book_id uuid NOT NULL,
    day date NOT NULL,
    spent numeric NOT NULL,
    max_per_day numeric,
    frozen_at timestamp(3) with time zone,
    frozen_reason text,
    frozen_by text,
    failures integer NOT NULL DEFAULT 0,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT payout_controls_pkey PRIMARY KEY (book_id),
    CONSTRAINT payout_controls_bounds CHECK (spent >= 0::numeric),
    CONSTRAINT payout_controls_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
) WITH (fillfactor=50);

CREATE TABLE product_modifier_groups (
    book_id uuid NOT NULL,
    product_id uuid NOT NULL,
    modifier_group_id uuid NOT NULL,
    "position" integer NOT NULL DEFAULT 0,
    CONSTRAINT product_modifier_groups_pkey PRIMARY KEY (book_id, product_id, modifier_group_id),
    CONSTRAINT product_modifier_groups_book_id_modifier_group_id_fkey FOREIGN KEY (book_id, modifier_group_id) REFERENCES modifier_groups(book_id, id),
    CONSTRAINT product_modifier_groups_book_id_product_id_fkey FOREIGN KEY (book_id, product_id) REFERENCES products(book_id, id)
);
CREATE INDEX product_modifier_groups_by_group ON product_modifier_groups USING btree (book_id, modifier_group_id);

CREATE TABLE products (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    type text NOT NULL,
    description text,
    category_id uuid,
    unit text,
    sku text,
    base_price numeric NOT NULL,
    tax_rate numeric NOT NULL DEFAULT 0,
    image_url text,
    is_active boolean NOT NULL DEFAULT true,
    is_extra_only boolean NOT NULL DEFAULT false,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    deleted_at timestamp(3) with time zone,
    CONSTRAINT products_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT products_price_bounds CHECK (base_price >= 0::numeric AND base_price < '1000000000000000'::numeric),
    CONSTRAINT products_tax_rate_bounds CHECK (tax_rate >= 0::numeric AND tax_rate <= 100::numeric),
    CONSTRAINT products_type_known CHECK (type = ANY (ARRAY['simple'::text, 'variable'::text, 'bundle'::text, 'service'::text])),
    CONSTRAINT products_book_id_category_id_fkey FOREIGN KEY (book_id, category_id) REFERENCES categories(book_id, id),
    CONSTRAINT products_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);
CREATE INDEX products_by_activity ON products USING btree (book_id, is_active, id) WHERE deleted_at IS NULL;
CREATE INDEX products_by_category ON products USING btree (book_id, category_id, id);
CREATE INDEX products_by_change ON products USING btree (book_id, updated_at, id) WHERE deleted_at IS NULL;
CREATE INDEX products_by_name ON products USING btree (book_id, lower(name) text_pattern_ops, id);
CREATE INDEX products_by_sku ON products USING btree (book_id, lower(sku) text_pattern_ops) WHERE deleted_at IS NULL;
CREATE INDEX products_by_type ON products USING btree (book_id, type, id) WHERE deleted_at IS NULL;
CREATE INDEX products_live ON products USING btree (book_id, id) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX products_sku_key ON products USING btree (book_id, sku) WHERE deleted_at IS NULL;

CREATE TABLE promotion_customers (
    book_id uuid NOT NULL,
    promotion_id uuid NOT NULL,
    customer_id uuid NOT NULL,
    used integer NOT NULL,
    CONSTRAINT promotion_customers_pkey PRIMARY KEY (book_id, promotion_id, customer_id),
    CONSTRAINT promotion_customers_used_known CHECK (used >= 0),
    CONSTRAINT promotion_customers_book_id_promotion_id_fkey FOREIGN KEY (book_id, promotion_id) REFERENCES promotions(book_id, id)
);

CREATE TABLE promotions (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    type text NOT NULL,
    scope text NOT NULL,
    value numeric NOT NULL,
    product_ids uuid[] NOT NULL DEFAULT '{}'::uuid[],
    category_ids uuid[] NOT NULL DEFAULT '{}'::uuid[],
    minimum_subtotal numeric,
    maximum_discount numeric,
    starts_at timestamp(3) with time zone,
    ends_at timestamp(3) with time zone,
    days integer[],
    from_minute integer,
    to_minute integer,
    limit_total integer,
    limit_per_customer integer,
    used integer NOT NULL DEFAULT 0,
    is_active boolean NOT NULL DEFAULT true,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    deleted_at timestamp(3) with time zone,
    CONSTRAINT promotions_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT promotions_scope_known CHECK (scope = ANY (ARRAY['order'::text, 'products'::text, 'categories'::text])),
    CONSTRAINT promotions_type_known CHECK (type = ANY (ARRAY['percent'::text, 'fixed'::text, 'free_item'::text])),
    CONSTRAINT promotions_value_bounds CHECK (value >= 0::numeric AND value < '1000000000000000'::numeric),
    CONSTRAINT promotions_within_limit CHECK (used >= 0 AND used <= limit_total),
    CONSTRAINT promotions_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);
CREATE INDEX promotions_by_name ON promotions USING btree (book_id, lower(name), id);

CREATE TABLE provider_events (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    provider text NOT NULL,
    fingerprint bytea NOT NULL,
    body bytea NOT NULL,
    received_at timestamp(3) with time zone NOT NULL,
    processed_at timestamp(3) with time zone,
    outcome text,
    CONSTRAINT provider_events_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT provider_events_once UNIQUE (book_id, provider, fingerprint),
    CONSTRAINT provider_events_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);
CREATE INDEX provider_events_by_time ON provider_events USING btree (received_at);
CREATE INDEX provider_events_waiting ON provider_events USING btree (book_id) WHERE processed_at IS NULL;

CREATE TABLE quick_replies (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    shortcut text NOT NULL,
    text text NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT quick_replies_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT quick_replies_shortcut_key UNIQUE (book_id, shortcut),
    CONSTRAINT quick_replies_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);

CREATE UNLOGGED TABLE rate_cells (
    book_id uuid NOT NULL,
    key_id uuid NOT NULL,
    full_at double precision NOT NULL,
    granted integer NOT NULL,
    CONSTRAINT rate_cells_pkey PRIMARY KEY (book_id, key_id)
) WITH (fillfactor=20);

CREATE TABLE receipts (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    order_id uuid,
    number integer NOT NULL,
    content jsonb NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    transaction_id uuid,
    reservation_id uuid,
    CONSTRAINT receipts_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT receipts_number_key UNIQUE (book_id, order_id, number),
    CONSTRAINT receipts_are_of_one CHECK (num_nonnulls(order_id, transaction_id, reservation_id) = 1),
    CONSTRAINT receipts_book_id_order_id_fkey FOREIGN KEY (book_id, order_id) REFERENCES orders(book_id, id),
    CONSTRAINT receipts_book_id_reservation_id_fkey FOREIGN KEY (book_id, reservation_id) REFERENCES hotel_reservations(book_id, id),
    CONSTRAINT receipts_book_id_transaction_id_fkey FOREIGN KEY (book_id, transaction_id) REFERENCES transactions(book_id, id)
);
CREATE UNIQUE INDEX receipts_id_key ON receipts USING btree (id);
CREATE UNIQUE INDEX receipts_of_stay ON receipts USING btree (book_id, reservation_id, number) WHERE reservation_id IS NOT NULL;
CREATE UNIQUE INDEX receipts_of_transaction ON receipts USING btree (book_id, transaction_id, number) WHERE transaction_id IS NOT NULL;

CREATE TABLE refunds (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    order_id uuid NOT NULL,
    method order_payment_method NOT NULL,
    amount positive_amount NOT NULL,
    reason text,
    lines jsonb,
    restocked boolean NOT NULL DEFAULT false,
    status payment_status NOT NULL DEFAULT 'successful'::text,
    transaction_id uuid,
    payment_id uuid,
    provider text,
    provider_refund_id text,
    recorded_by_id uuid NOT NULL,
    recorded_by_name text NOT NULL,
    happened_at timestamp(3) with time zone NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    payin_id uuid,
    hold_id uuid,
    credit_hold_id uuid,
    restocks boolean NOT NULL DEFAULT false,
    asked_at timestamp(3) with time zone,
    is_unclear boolean NOT NULL DEFAULT false,
    shortfall order_amount NOT NULL DEFAULT 0,
    of_sale order_amount NOT NULL DEFAULT 0,
    failure_reason text,
    ended_at timestamp(3) with time zone,
    withdrawal_id uuid,
    taken_before order_amount NOT NULL DEFAULT 0,
    CONSTRAINT refunds_pkey PRIMARY KEY (book_id, order_id, id),
    CONSTRAINT refunds_go_one_way CHECK (hold_id IS NULL OR withdrawal_id IS NULL),
    CONSTRAINT refunds_have_transactions CHECK (transaction_id IS NOT NULL OR (hold_id IS NOT NULL OR withdrawal_id IS NOT NULL) AND ((status::text = ANY (ARRAY['pending'::text, 'failed'::text])) OR shortfall::numeric = amount::numeric)),
    CONSTRAINT refunds_shortfall_within_amount CHECK (shortfall::numeric <= amount::numeric),
    CONSTRAINT refunds_taken_before_within_shortfall CHECK (taken_before::numeric <= shortfall::numeric),
    CONSTRAINT refunds_book_id_order_id_fkey FOREIGN KEY (book_id, order_id) REFERENCES orders(book_id, id),
    CONSTRAINT refunds_book_id_order_id_payment_id_fkey FOREIGN KEY (book_id, order_id, payment_id) REFERENCES payments(book_id, order_id, id),
    CONSTRAINT refunds_book_id_payin_id_fkey FOREIGN KEY (book_id, payin_id) REFERENCES payins(book_id, id),
    CONSTRAINT refunds_book_id_withdrawal_id_fkey FOREIGN KEY (book_id, withdrawal_id) REFERENCES withdrawals(book_id, id)
);
CREATE INDEX refunds_of_payin ON refunds USING btree (book_id, payin_id) WHERE payin_id IS NOT NULL;
CREATE UNIQUE INDEX refunds_of_withdrawal ON refunds USING btree (book_id, withdrawal_id) WHERE withdrawal_id IS NOT NULL;
CREATE INDEX refunds_on_their_way ON refunds USING btree (book_id, id) WHERE status::text = 'pending'::text;
CREATE UNIQUE INDEX refunds_provider_key ON refunds USING btree (book_id, provider, provider_refund_id) WHERE provider_refund_id IS NOT NULL;
CREATE UNIQUE INDEX refunds_sent ON refunds USING btree (book_id, id) WHERE hold_id IS NOT NULL OR withdrawal_id IS NOT NULL;

CREATE TABLE sales_by_hour (
    book_id uuid NOT NULL,
    hour_at timestamp(0) with time zone NOT NULL,
    store_id uuid,
    total_amount numeric NOT NULL,
    tax_amount numeric NOT NULL DEFAULT 0,
    discount_amount numeric NOT NULL DEFAULT 0,
    service_charge_amount numeric NOT NULL DEFAULT 0,
    CONSTRAINT sales_by_hour_key UNIQUE NULLS NOT DISTINCT (book_id, hour_at, store_id)
) WITH (fillfactor=70);

CREATE TABLE sales_by_quarter_hour (
    book_id uuid NOT NULL,
    quarter_at timestamp(0) with time zone NOT NULL,
    store_id uuid,
    total_amount numeric NOT NULL,
    tax_amount numeric NOT NULL DEFAULT 0,
    discount_amount numeric NOT NULL DEFAULT 0,
    service_charge_amount numeric NOT NULL DEFAULT 0,
    CONSTRAINT sales_by_quarter_hour_key UNIQUE NULLS NOT DISTINCT (book_id, quarter_at, store_id)
) WITH (fillfactor=70);

CREATE TABLE sandbox_disputes (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    payment_id uuid NOT NULL,
    state text NOT NULL,
    amount numeric NOT NULL,
    fee numeric NOT NULL,
    currency text NOT NULL,
    evidence_due_at timestamp(3) with time zone NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    closed_at timestamp(3) with time zone,
    CONSTRAINT sandbox_disputes_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT sandbox_disputes_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id),
    CONSTRAINT sandbox_disputes_book_id_payment_id_fkey FOREIGN KEY (book_id, payment_id) REFERENCES sandbox_payments(book_id, id)
);
CREATE INDEX sandbox_disputes_by_payment ON sandbox_disputes USING btree (book_id, payment_id);
CREATE INDEX sandbox_disputes_by_time ON sandbox_disputes USING btree (book_id, created_at, id);

CREATE TABLE sandbox_payments (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    reference text,
    account_number text NOT NULL,
    state text NOT NULL,
    amount positive_amount NOT NULL,
    fee numeric NOT NULL,
    currency text NOT NULL,
    payer_name text,
    paid_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT sandbox_payments_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT sandbox_payments_state_known CHECK (state = ANY (ARRAY['pending'::text, 'successful'::text, 'failed'::text, 'reversed'::text])),
    CONSTRAINT sandbox_payments_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);
CREATE INDEX sandbox_payments_by_number ON sandbox_payments USING btree (book_id, account_number, paid_at);
CREATE INDEX sandbox_payments_by_time ON sandbox_payments USING btree (book_id, paid_at, id);

CREATE TABLE sandbox_payouts (
    book_id uuid NOT NULL,
    reference text NOT NULL,
    state text NOT NULL,
    amount positive_amount NOT NULL,
    currency text NOT NULL,
    bank_code text NOT NULL,
    account_number text NOT NULL,
    reason text,
    asked integer NOT NULL DEFAULT 0,
    created_at timestamp(3) with time zone NOT NULL,
    fee numeric NOT NULL DEFAULT 0,
    CONSTRAINT sandbox_payouts_pkey PRIMARY KEY (book_id, reference),
    CONSTRAINT sandbox_payouts_fee_check CHECK (fee >= 0::numeric),
    CONSTRAINT sandbox_payouts_state_known CHECK (state = ANY (ARRAY['processing'::text, 'completed'::text, 'failed'::text, 'reversed'::text])),
    CONSTRAINT sandbox_payouts_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);
CREATE INDEX sandbox_payouts_by_time ON sandbox_payouts USING btree (book_id, created_at, reference);

CREATE TABLE sandbox_refunds (
    book_id uuid NOT NULL,
    reference text NOT NULL,
    payment_id uuid NOT NULL,
    state text NOT NULL,
    amount positive_amount NOT NULL,
    currency text NOT NULL,
    reason text,
    asked integer NOT NULL DEFAULT 0,
    created_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT sandbox_refunds_pkey PRIMARY KEY (book_id, reference),
    CONSTRAINT sandbox_refunds_state_known CHECK (state = ANY (ARRAY['pending'::text, 'successful'::text, 'failed'::text])),
    CONSTRAINT sandbox_refunds_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id),
    CONSTRAINT sandbox_refunds_book_id_payment_id_fkey FOREIGN KEY (book_id, payment_id) REFERENCES sandbox_payments(book_id, id)
);
CREATE INDEX sandbox_refunds_by_time ON sandbox_refunds USING btree (book_id, created_at, reference);
CREATE INDEX sandbox_refunds_of_payment ON sandbox_refunds USING btree (book_id, payment_id);

CREATE TABLE schema_migrations (
    number integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT schema_migrations_pkey PRIMARY KEY (number)
);

CREATE TABLE second_factors (
    user_id uuid NOT NULL,
    sealed_secret bytea NOT NULL,
    begun_at timestamp(3) with time zone NOT NULL,
    confirmed_at timestamp(3) with time zone,
    last_step bigint NOT NULL DEFAULT 0,
    recovery_digests bytea[] NOT NULL DEFAULT '{}'::bytea[],
    CONSTRAINT second_factors_pkey PRIMARY KEY (user_id),
    CONSTRAINT second_factors_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

CREATE TABLE sessions (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    business_id uuid NOT NULL,
    refresh_digest bytea,
    previous_refresh_digest bytea,
    refreshed_at timestamp(3) with time zone NOT NULL,
    password_verified_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    ended_at timestamp(3) with time zone,
    ip_address text NOT NULL,
    network text NOT NULL,
    refresh_generation integer NOT NULL DEFAULT 0,
    opened_business_id uuid,
    cookie_digest bytea,
    previous_cookie_digest bytea,
    cookie_renewed_at timestamp with time zone,
    device text,
    CONSTRAINT sessions_pkey PRIMARY KEY (id),
    CONSTRAINT sessions_cookie_digest_key UNIQUE (cookie_digest),
    CONSTRAINT sessions_previous_cookie_digest_key UNIQUE (previous_cookie_digest),
    CONSTRAINT sessions_previous_refresh_digest_key UNIQUE (previous_refresh_digest),
    CONSTRAINT sessions_refresh_digest_key UNIQUE (refresh_digest),
    CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE INDEX sessions_by_end ON sessions USING btree (LEAST(ended_at, expires_at));
CREATE INDEX sessions_by_user_and_network ON sessions USING btree (user_id, network);

CREATE TABLE stage_messages (
    book_id uuid NOT NULL,
    stage text NOT NULL,
    is_sent boolean NOT NULL,
    text text NOT NULL,
    template_name text,
    template_language text,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT stage_messages_pkey PRIMARY KEY (book_id, stage),
    CONSTRAINT stage_messages_stage_known CHECK (stage = ANY (ARRAY['queued'::text, 'preparing'::text, 'ready'::text, 'served'::text])),
    CONSTRAINT stage_messages_template_whole CHECK ((template_name IS NULL) = (template_language IS NULL)),
    CONSTRAINT stage_messages_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);

CREATE TABLE stock_levels (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    variant_id uuid NOT NULL,
    store_id uuid,
    on_hand numeric NOT NULL,
    reserved numeric NOT NULL DEFAULT 0,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT stock_levels_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT stock_levels_place_key UNIQUE NULLS NOT DISTINCT (book_id, variant_id, store_id),
    CONSTRAINT stock_levels_on_hand_bounds CHECK (on_hand > '-1000000000000'::numeric AND on_hand < '1000000000000'::numeric),
    CONSTRAINT stock_levels_reserved_bounds CHECK (reserved >= 0::numeric AND reserved < '1000000000000'::numeric),
    CONSTRAINT stock_levels_book_id_store_id_fkey FOREIGN KEY (book_id, store_id) REFERENCES stores(book_id, id),
    CONSTRAINT stock_levels_book_id_variant_id_fkey FOREIGN KEY (book_id, variant_id) REFERENCES variants(book_id, id)
) WITH (fillfactor=50);
CREATE INDEX stock_levels_by_store ON stock_levels USING btree (book_id, store_id, id);

CREATE TABLE stock_moves (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    variant_id uuid NOT NULL,
    store_id uuid,
    kind stock_move_kind NOT NULL,
    on_hand_change numeric NOT NULL,
    reserved_change numeric NOT NULL DEFAULT 0,
    order_id uuid,
    order_item_id uuid,
    round integer NOT NULL DEFAULT 0,
    reason text,
    actor jsonb,
    created_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT stock_moves_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT stock_moves_book_id_variant_id_fkey FOREIGN KEY (book_id, variant_id) REFERENCES variants(book_id, id)
);
CREATE INDEX stock_moves_by_kind ON stock_moves USING btree (book_id, kind, id) WHERE kind::text <> 'sale'::text;
CREATE INDEX stock_moves_by_order ON stock_moves USING btree (book_id, order_id, id) WHERE order_id IS NOT NULL;
CREATE INDEX stock_moves_by_store ON stock_moves USING btree (book_id, store_id, id);
CREATE INDEX stock_moves_by_variant ON stock_moves USING btree (book_id, variant_id, id);
CREATE INDEX stock_moves_counted ON stock_moves USING btree (book_id, variant_id, created_at) WHERE kind::text = ANY (ARRAY['opening'::text, 'count'::text]);
CREATE UNIQUE INDEX stock_moves_once_per_line ON stock_moves USING btree (book_id, order_item_id, variant_id, kind, round) WHERE kind::text <> 'return'::text;
CREATE INDEX stock_moves_returned ON stock_moves USING btree (book_id, order_item_id, variant_id, round) WHERE kind::text = 'return'::text;

CREATE TABLE stores (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    address text,
    phone text,
    time_zone text,
    day_cutoff_minutes integer NOT NULL DEFAULT 0,
    preparation_minutes integer NOT NULL DEFAULT 20,
    is_active boolean NOT NULL DEFAULT true,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    deleted_at timestamp(3) with time zone,
    CONSTRAINT stores_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT stores_day_cutoff_within_a_day CHECK (day_cutoff_minutes >= 0 AND day_cutoff_minutes <= 1439),
    CONSTRAINT stores_preparation_known CHECK (preparation_minutes >= 0 AND preparation_minutes <= 1440),
    CONSTRAINT stores_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);
CREATE UNIQUE INDEX stores_name_key ON stores USING btree (book_id, lower(name)) WHERE deleted_at IS NULL;

CREATE TABLE subscriptions (
    business_id uuid NOT NULL,
    status text NOT NULL,
    trial_ends_at timestamp(3) with time zone,
    api_access boolean NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT subscriptions_pkey PRIMARY KEY (business_id),
    CONSTRAINT subscriptions_status_known CHECK (status = ANY (ARRAY['trial'::text, 'active'::text, 'past_due'::text, 'cancelled'::text])),
    CONSTRAINT subscriptions_business_id_fkey FOREIGN KEY (business_id) REFERENCES businesses(id)
);

CREATE TABLE table_sessions (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    table_id uuid NOT NULL,
    status text NOT NULL,
    covers integer,
    opened_at timestamp(3) with time zone NOT NULL,
    closed_at timestamp(3) with time zone,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT table_sessions_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT table_sessions_covers_known CHECK (covers >= 1 AND covers <= 1000),
    CONSTRAINT table_sessions_status_known CHECK (status = ANY (ARRAY['open'::text, 'closed'::text])),
    CONSTRAINT table_sessions_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id),
    CONSTRAINT table_sessions_book_id_table_id_fkey FOREIGN KEY (book_id, table_id) REFERENCES dining_tables(book_id, id)
);
CREATE INDEX table_sessions_by_table ON table_sessions USING btree (book_id, table_id, opened_at, id);
CREATE INDEX table_sessions_by_time ON table_sessions USING btree (book_id, opened_at, id);
CREATE UNIQUE INDEX table_sessions_one_open ON table_sessions USING btree (book_id, table_id) WHERE status = 'open'::text;

CREATE TABLE tags (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    slug text NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT tags_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT tags_slug_key UNIQUE (book_id, slug),
    CONSTRAINT tags_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);

CREATE TABLE transaction_tallies (
    book_id uuid NOT NULL,
    day date,
    type text NOT NULL,
    status text NOT NULL,
    method text NOT NULL,
    store_id uuid,
    transactions bigint NOT NULL,
    amount numeric NOT NULL,
    CONSTRAINT transaction_tallies_kind_key UNIQUE NULLS NOT DISTINCT (book_id, day, type, status, method, store_id)
) WITH (fillfactor=70);

CREATE TABLE transaction_tally_changes (
    book_id uuid NOT NULL,
    id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    day date NOT NULL,
    type text NOT NULL,
    status text NOT NULL,
    method text NOT NULL,
    store_id uuid,
    transactions bigint NOT NULL,
    amount numeric NOT NULL,
    CONSTRAINT transaction_tally_changes_pkey PRIMARY KEY (book_id, id)
) WITH (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=500);

CREATE TABLE transactions (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    reference text COLLATE "C" NOT NULL,
    type transaction_type NOT NULL,
    status transaction_status NOT NULL,
    method transaction_method NOT NULL,
    amount signed_amount NOT NULL,
    currency text NOT NULL,
    source_id uuid NOT NULL,
    customer_id uuid,
    store_id uuid,
    happened_at timestamp(3) with time zone NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    source_type text NOT NULL,
    is_told boolean NOT NULL DEFAULT true,
    CONSTRAINT transactions_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT transactions_reference_key UNIQUE (book_id, reference),
    CONSTRAINT transactions_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);
CREATE INDEX transactions_by_customer ON transactions USING btree (book_id, customer_id, happened_at) WHERE customer_id IS NOT NULL;
CREATE INDEX transactions_by_source ON transactions USING btree (book_id, source_id);
CREATE INDEX transactions_by_time ON transactions USING btree (book_id, happened_at, id);
CREATE INDEX transactions_of_expenses ON transactions USING btree (book_id, happened_at) INCLUDE (amount, store_id) WHERE type::text = 'expense'::text AND status::text = 'successful'::text;
CREATE INDEX transactions_of_fees_and_disputes ON transactions USING btree (book_id, happened_at) INCLUDE (type, amount, store_id) WHERE status::text = 'successful'::text AND (type::text = 'fee'::text OR type::text = 'reversal'::text AND source_type = 'dispute'::text);
CREATE TRIGGER transactions_are_tallied AFTER INSERT ON transactions REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION tally_transactions();
CREATE TRIGGER transactions_are_tallied_again AFTER UPDATE ON transactions REFERENCING OLD TABLE AS replaced NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION tally_transactions();

CREATE TABLE usage_records (
    book_id uuid NOT NULL,
    day date NOT NULL,
    developer_app_id uuid NOT NULL,
    method text NOT NULL,
    endpoint text NOT NULL,
    status_family text NOT NULL,
    request_count bigint NOT NULL,
    error_count bigint NOT NULL,
    total_latency_ms bigint NOT NULL,
    CONSTRAINT usage_records_pkey PRIMARY KEY (book_id, day, developer_app_id, method, endpoint, status_family),
    CONSTRAINT usage_records_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);
CREATE INDEX usage_records_by_day ON usage_records USING btree (day);

CREATE TABLE users (
    id uuid NOT NULL,
    email text NOT NULL,
    name text NOT NULL,
    password_hash text NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    password_changed_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT users_pkey PRIMARY KEY (id),
    CONSTRAINT users_email_key UNIQUE (email)
);

CREATE TABLE variant_prices (
    book_id uuid NOT NULL,
    variant_id uuid NOT NULL,
    store_id uuid NOT NULL,
    price numeric NOT NULL,
    CONSTRAINT variant_prices_pkey PRIMARY KEY (book_id, variant_id, store_id),
    CONSTRAINT variant_prices_bounds CHECK (price >= 0::numeric AND price < '1000000000000000'::numeric),
    CONSTRAINT variant_prices_book_id_store_id_fkey FOREIGN KEY (book_id, store_id) REFERENCES stores(book_id, id),
    CONSTRAINT variant_prices_book_id_variant_id_fkey FOREIGN KEY (book_id, variant_id) REFERENCES variants(book_id, id)
);

CREATE TABLE variants (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    product_id uuid NOT NULL,
    name text NOT NULL,
    sku text,
    price numeric,
    image_url text,
    is_implicit boolean NOT NULL DEFAULT false,
    is_active boolean NOT NULL DEFAULT true,
    tracks_stock boolean NOT NULL DEFAULT false,
    stock_policy text,
    low_stock_threshold numeric,
    "position" integer NOT NULL DEFAULT 0,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    deleted_at timestamp(3) with time zone,
    CONSTRAINT variants_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT variants_of_product UNIQUE (book_id, product_id, id),
    CONSTRAINT variants_price_bounds CHECK (price >= 0::numeric AND price < '1000000000000000'::numeric),
    CONSTRAINT variants_stock_policy_known CHECK (stock_policy = ANY (ARRAY['deny'::text, 'allow'::text])),
    CONSTRAINT variants_threshold_bounds CHECK (low_stock_threshold >= 0::numeric AND low_stock_threshold < '1000000000'::numeric),
    CONSTRAINT variants_book_id_product_id_fkey FOREIGN KEY (book_id, product_id) REFERENCES products(book_id, id)
);
CREATE INDEX variants_by_sku ON variants USING btree (book_id, lower(sku) text_pattern_ops) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX variants_one_implicit ON variants USING btree (book_id, product_id) WHERE is_implicit;
CREATE UNIQUE INDEX variants_sku_key ON variants USING btree (book_id, sku) WHERE deleted_at IS NULL;

CREATE TABLE virtual_accounts (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    target_type text NOT NULL,
    target_id uuid NOT NULL,
    provider text NOT NULL,
    reference text NOT NULL,
    status text NOT NULL,
    amount positive_amount NOT NULL,
    currency text NOT NULL,
    provider_reference text,
    account_number text,
    bank_name text,
    account_name text,
    url text,
    error text,
    expires_at timestamp(3) with time zone,
    asked_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    order_id uuid,
    CONSTRAINT virtual_accounts_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT virtual_accounts_reference_key UNIQUE (book_id, reference),
    CONSTRAINT virtual_accounts_status_known CHECK (status = ANY (ARRAY['opening'::text, 'open'::text, 'failed'::text, 'closed'::text])),
    CONSTRAINT virtual_accounts_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);
CREATE INDEX virtual_accounts_by_number ON virtual_accounts USING btree (book_id, provider, account_number) WHERE account_number IS NOT NULL;
CREATE INDEX virtual_accounts_by_order ON virtual_accounts USING btree (book_id, order_id, created_at) WHERE order_id IS NOT NULL;
CREATE INDEX virtual_accounts_by_reference ON virtual_accounts USING btree (reference);
CREATE INDEX virtual_accounts_by_target ON virtual_accounts USING btree (book_id, target_type, target_id, created_at);
CREATE UNIQUE INDEX virtual_accounts_one_open ON virtual_accounts USING btree (book_id, target_type, target_id) WHERE status = ANY (ARRAY['opening'::text, 'open'::text]);

CREATE TABLE voice_agents (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    description text,
    status text NOT NULL,
    store_id uuid,
    language text NOT NULL,
    tone text NOT NULL,
    is_default boolean NOT NULL DEFAULT false,
    greeting text,
    instructions text,
    script text NOT NULL,
    tools text[] NOT NULL,
    disclosure text NOT NULL,
    is_recording boolean NOT NULL,
    voicemail_action text NOT NULL,
    max_duration_s integer NOT NULL,
    ring_timeout_s integer NOT NULL,
    silence_timeout_s integer NOT NULL,
    max_attempts integer NOT NULL,
    retry_delay_s integer NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    deleted_at timestamp(3) with time zone,
    runtime text NOT NULL DEFAULT 'scripted'::text,
    model_url text,
    model_name text,
    model_key_sealed bytea,
    CONSTRAINT voice_agents_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT voice_agents_chat_has_a_model CHECK (runtime <> 'chat'::text OR model_url IS NOT NULL AND model_name IS NOT NULL),
    CONSTRAINT voice_agents_default_is_active CHECK (NOT is_default OR status = 'active'::text AND deleted_at IS NULL),
    CONSTRAINT voice_agents_max_attempts_check CHECK (max_attempts > 0),
    CONSTRAINT voice_agents_max_duration_s_check CHECK (max_duration_s > 0),
    CONSTRAINT voice_agents_retry_delay_s_check CHECK (retry_delay_s > 0),
    CONSTRAINT voice_agents_ring_timeout_s_check CHECK (ring_timeout_s > 0),
    CONSTRAINT voice_agents_runtime_known CHECK (runtime = ANY (ARRAY['scripted'::text, 'chat'::text])),
    CONSTRAINT voice_agents_silence_timeout_s_check CHECK (silence_timeout_s > 0),
    CONSTRAINT voice_agents_status_known CHECK (status = ANY (ARRAY['active'::text, 'inactive'::text])),
    CONSTRAINT voice_agents_voicemail_known CHECK (voicemail_action = ANY (ARRAY['hang_up'::text, 'leave_message'::text])),
    CONSTRAINT voice_agents_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id),
    CONSTRAINT voice_agents_book_id_store_id_fkey FOREIGN KEY (book_id, store_id) REFERENCES stores(book_id, id)
);
CREATE INDEX voice_agents_by_time ON voice_agents USING btree (book_id, created_at, id) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX voice_agents_one_default ON voice_agents USING btree (book_id) WHERE is_default;

CREATE TABLE voice_attempts (
    book_id uuid NOT NULL,
    call_id uuid NOT NULL,
    number integer NOT NULL,
    id uuid NOT NULL,
    started_at timestamp(3) with time zone NOT NULL,
    ended_at timestamp(3) with time zone,
    result text,
    ended_by text,
    sip_status integer,
    detail text,
    told bytea,
    told_number integer,
    CONSTRAINT voice_attempts_pkey PRIMARY KEY (book_id, call_id, number),
    CONSTRAINT voice_attempts_id UNIQUE (book_id, id),
    CONSTRAINT voice_attempts_book_id_call_id_fkey FOREIGN KEY (book_id, call_id) REFERENCES voice_calls(book_id, id)
);

CREATE TABLE voice_call_tallies (
    book_id uuid NOT NULL,
    period text NOT NULL,
    day date NOT NULL,
    status text NOT NULL,
    number_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    ended_reason text NOT NULL,
    slot integer NOT NULL,
    calls bigint NOT NULL,
    CONSTRAINT voice_call_tallies_pkey PRIMARY KEY (book_id, period, day, status, number_id, agent_id, ended_reason, slot)
) WITH (fillfactor=50);

CREATE TABLE voice_calls (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    status text NOT NULL,
    queue_reason text,
    due_at timestamp(3) with time zone NOT NULL,
    expires_at timestamp(3) with time zone NOT NULL,
    scheduled_at timestamp(3) with time zone,
    direction text NOT NULL DEFAULT 'outbound'::text,
    number_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    provider text NOT NULL,
    customer_id uuid,
    customer_name text,
    customer_phone text NOT NULL,
    order_id uuid,
    purpose text NOT NULL,
    context text,
    metadata jsonb NOT NULL,
    attempt integer NOT NULL DEFAULT 0,
    max_attempts integer NOT NULL,
    lease_until timestamp(3) with time zone,
    generation integer NOT NULL DEFAULT 0,
    provider_call_id text,
    dialed_at timestamp(3) with time zone,
    ringing_at timestamp(3) with time zone,
    answered_at timestamp(3) with time zone,
    ended_at timestamp(3) with time zone,
    duration_seconds integer NOT NULL DEFAULT 0,
    ended_reason text,
    ended_by text,
    answered_by text,
    outcome_code text,
    outcome jsonb,
    has_opted_out boolean NOT NULL DEFAULT false,
    recording_status text NOT NULL DEFAULT 'none'::text,
    idempotency_key text,
    idempotency_fingerprint bytea,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    reservation_id uuid,
    summary text,
    hang_up_at timestamp(3) with time zone,
    CONSTRAINT voice_calls_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT voice_calls_end CHECK ((ended_at IS NOT NULL) = (status = ANY (ARRAY['completed'::text, 'failed'::text, 'missed'::text, 'cancelled'::text]))),
    CONSTRAINT voice_calls_recording_known CHECK (recording_status = ANY (ARRAY['none'::text, 'recording'::text, 'ready'::text, 'deleted'::text])),
    CONSTRAINT voice_calls_status_known CHECK (status = ANY (ARRAY['queued'::text, 'dialing'::text, 'ringing'::text, 'in_progress'::text, 'completed'::text, 'failed'::text, 'missed'::text, 'cancelled'::text])),
    CONSTRAINT voice_calls_book_id_agent_id_fkey FOREIGN KEY (book_id, agent_id) REFERENCES voice_agents(book_id, id),
    CONSTRAINT voice_calls_book_id_customer_id_fkey FOREIGN KEY (book_id, customer_id) REFERENCES customers(book_id, id),
    CONSTRAINT voice_calls_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id),
    CONSTRAINT voice_calls_book_id_number_id_fkey FOREIGN KEY (book_id, number_id) REFERENCES voice_numbers(book_id, id),
    CONSTRAINT voice_calls_book_id_order_id_fkey FOREIGN KEY (book_id, order_id) REFERENCES orders(book_id, id),
    CONSTRAINT voice_calls_book_id_reservation_id_fkey FOREIGN KEY (book_id, reservation_id) REFERENCES hotel_reservations(book_id, id)
) WITH (fillfactor=75);
CREATE INDEX voice_calls_by_agent ON voice_calls USING btree (book_id, agent_id, created_at, id);
CREATE INDEX voice_calls_by_customer ON voice_calls USING btree (book_id, customer_id, created_at, id) WHERE customer_id IS NOT NULL;
CREATE INDEX voice_calls_by_number ON voice_calls USING btree (book_id, number_id, created_at, id);
CREATE INDEX voice_calls_by_phone ON voice_calls USING btree (book_id, customer_phone, created_at, id);
CREATE INDEX voice_calls_by_reason ON voice_calls USING btree (book_id, ended_reason, created_at, id) WHERE ended_reason IS NOT NULL;
CREATE INDEX voice_calls_by_status ON voice_calls USING btree (book_id, status, created_at, id);
CREATE INDEX voice_calls_by_time ON voice_calls USING btree (book_id, created_at, id) INCLUDE (status, number_id, agent_id, ended_reason);
CREATE INDEX voice_calls_by_word ON voice_calls USING gin (customer_words(book_id, (COALESCE(customer_name, ''::text) || ' '::text) || purpose));
CREATE UNIQUE INDEX voice_calls_idempotency_key ON voice_calls USING btree (book_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX voice_calls_queue ON voice_calls USING btree (book_id, number_id, due_at, id) WHERE status = 'queued'::text;
CREATE INDEX voice_calls_slots ON voice_calls USING btree (book_id, number_id, lease_until) WHERE lease_until IS NOT NULL;
CREATE INDEX voice_calls_to_expire ON voice_calls USING btree (expires_at) WHERE status = 'queued'::text;
CREATE INDEX voice_calls_to_reconcile ON voice_calls USING btree (lease_until) WHERE lease_until IS NOT NULL;
CREATE TRIGGER voice_calls_are_tallied AFTER INSERT ON voice_calls FOR EACH ROW EXECUTE FUNCTION tally_voice_call();
CREATE TRIGGER voice_calls_are_tallied_again AFTER UPDATE ON voice_calls FOR EACH ROW WHEN ((old.status = 'queued'::text) <> (new.status = 'queued'::text) OR (old.ended_at IS NULL) <> (new.ended_at IS NULL)) EXECUTE FUNCTION tally_voice_call();
CREATE TRIGGER voice_calls_end_once BEFORE UPDATE ON voice_calls FOR EACH ROW WHEN (old.ended_at IS NOT NULL AND (old.status <> new.status OR old.ended_at IS DISTINCT FROM new.ended_at)) EXECUTE FUNCTION refuse_voice_call_change();

CREATE TABLE voice_days (
    book_id uuid NOT NULL,
    day date NOT NULL,
    calls integer NOT NULL,
    CONSTRAINT voice_days_pkey PRIMARY KEY (book_id, day),
    CONSTRAINT voice_days_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
) WITH (fillfactor=50);

CREATE TABLE voice_numbers (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    phone_number text NOT NULL,
    label text NOT NULL,
    provider text NOT NULL,
    settings_sealed bytea,
    status text NOT NULL,
    is_default boolean NOT NULL DEFAULT false,
    default_agent_id uuid,
    store_id uuid,
    max_concurrent_calls integer NOT NULL,
    calls_per_second integer NOT NULL,
    calls_from text,
    calls_until text,
    next_dial_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    deleted_at timestamp(3) with time zone,
    allowed_prefixes text[] NOT NULL DEFAULT '{}'::text[],
    CONSTRAINT voice_numbers_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT voice_numbers_calls_per_second_check CHECK (calls_per_second > 0),
    CONSTRAINT voice_numbers_default_is_there CHECK (NOT is_default OR deleted_at IS NULL),
    CONSTRAINT voice_numbers_hours CHECK ((calls_from IS NULL) = (calls_until IS NULL)),
    CONSTRAINT voice_numbers_max_concurrent_calls_check CHECK (max_concurrent_calls > 0),
    CONSTRAINT voice_numbers_provider_known CHECK (provider = ANY (ARRAY['simulator'::text, 'sip'::text, 'twilio'::text])),
    CONSTRAINT voice_numbers_status_known CHECK (status = ANY (ARRAY['active'::text, 'paused'::text])),
    CONSTRAINT voice_numbers_book_id_default_agent_id_fkey FOREIGN KEY (book_id, default_agent_id) REFERENCES voice_agents(book_id, id),
    CONSTRAINT voice_numbers_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id),
    CONSTRAINT voice_numbers_book_id_store_id_fkey FOREIGN KEY (book_id, store_id) REFERENCES stores(book_id, id)
) WITH (fillfactor=50);
CREATE UNIQUE INDEX voice_numbers_once ON voice_numbers USING btree (book_id, phone_number) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX voice_numbers_one_default ON voice_numbers USING btree (book_id) WHERE is_default;

CREATE TABLE voice_prompts (
    book_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    script text NOT NULL,
    step text NOT NULL,
    text text NOT NULL,
    sound bytea NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT voice_prompts_pkey PRIMARY KEY (book_id, agent_id, script, step),
    CONSTRAINT voice_prompts_book_id_agent_id_fkey FOREIGN KEY (book_id, agent_id) REFERENCES voice_agents(book_id, id)
);

CREATE TABLE voice_recordings (
    book_id uuid NOT NULL,
    call_id uuid NOT NULL,
    file text NOT NULL,
    duration_ms integer NOT NULL,
    size_bytes bigint NOT NULL,
    ready_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT voice_recordings_pkey PRIMARY KEY (book_id, call_id),
    CONSTRAINT voice_recordings_book_id_call_id_fkey FOREIGN KEY (book_id, call_id) REFERENCES voice_calls(book_id, id)
);
CREATE INDEX voice_recordings_by_time ON voice_recordings USING btree (ready_at);

CREATE TABLE voice_settings (
    book_id uuid NOT NULL,
    calls_per_day integer NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT voice_settings_pkey PRIMARY KEY (book_id),
    CONSTRAINT voice_settings_calls_positive CHECK (calls_per_day >= 0),
    CONSTRAINT voice_settings_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);

CREATE TABLE voice_steps (
    book_id uuid NOT NULL,
    call_id uuid NOT NULL,
    attempt integer NOT NULL,
    "position" integer NOT NULL,
    role text NOT NULL,
    text text NOT NULL,
    started_ms integer NOT NULL,
    ended_ms integer NOT NULL,
    confidence double precision,
    CONSTRAINT voice_steps_pkey PRIMARY KEY (book_id, call_id, attempt, "position"),
    CONSTRAINT voice_steps_role_known CHECK (role = ANY (ARRAY['agent'::text, 'customer'::text, 'dtmf'::text, 'tool'::text])),
    CONSTRAINT voice_steps_book_id_call_id_fkey FOREIGN KEY (book_id, call_id) REFERENCES voice_calls(book_id, id)
);

CREATE TABLE voice_suppressions (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    phone_number text NOT NULL,
    reason text NOT NULL,
    note text,
    call_id uuid,
    created_by_name text NOT NULL,
    created_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT voice_suppressions_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT voice_suppressions_once UNIQUE (book_id, phone_number),
    CONSTRAINT voice_suppressions_reason_known CHECK (reason = ANY (ARRAY['manual'::text, 'opt_out'::text, 'unwanted'::text])),
    CONSTRAINT voice_suppressions_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
);
CREATE INDEX voice_suppressions_by_time ON voice_suppressions USING btree (book_id, created_at, id);

CREATE TABLE wallet_days (
    book_id uuid NOT NULL,
    day date NOT NULL,
    change numeric NOT NULL,
    credits numeric NOT NULL,
    CONSTRAINT wallet_days_pkey PRIMARY KEY (book_id, day)
);

CREATE TABLE webhook_deliveries (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    developer_app_id uuid NOT NULL,
    webhook_endpoint_id uuid NOT NULL,
    event_id uuid NOT NULL,
    event_type text NOT NULL,
    status text NOT NULL,
    url text NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    response_status integer,
    latency_ms integer,
    error_message text,
    attempts_log jsonb NOT NULL DEFAULT '[]'::jsonb,
    next_attempt_at timestamp(3) with time zone,
    delivered_at timestamp(3) with time zone,
    updated_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT webhook_deliveries_status_known CHECK (status = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text]))
) PARTITION BY RANGE (id);
CREATE INDEX webhook_deliveries_by_app ON webhook_deliveries USING btree (developer_app_id, status, id);
CREATE INDEX webhook_deliveries_by_app_and_type ON webhook_deliveries USING btree (developer_app_id, event_type, status, id);
CREATE INDEX webhook_deliveries_by_endpoint ON webhook_deliveries USING btree (webhook_endpoint_id, status, id);
CREATE INDEX webhook_deliveries_by_endpoint_and_type ON webhook_deliveries USING btree (webhook_endpoint_id, event_type, status, id);
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries USING btree (event_id);

CREATE TABLE webhook_endpoints (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    developer_app_id uuid NOT NULL,
    name text NOT NULL,
    url text NOT NULL,
    events text[] NOT NULL,
    status text NOT NULL,
    last_delivery_status text,
    failure_count integer NOT NULL DEFAULT 0,
    last_delivered_at timestamp(3) with time zone,
    disabled_at timestamp(3) with time zone,
    probe_until timestamp with time zone,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    first_failed_at timestamp(3) with time zone,
    CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT webhook_endpoints_have_an_event CHECK (cardinality(events) > 0),
    CONSTRAINT webhook_endpoints_status_known CHECK (status = ANY (ARRAY['active'::text, 'disabled'::text])),
    CONSTRAINT webhook_endpoints_book_id_developer_app_id_fkey FOREIGN KEY (book_id, developer_app_id) REFERENCES webhook_secrets(book_id, developer_app_id)
) WITH (fillfactor=50);
CREATE INDEX webhook_endpoints_by_app ON webhook_endpoints USING btree (developer_app_id, status);

CREATE TABLE webhook_events (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    type text NOT NULL,
    developer_app_id uuid,
    payload text NOT NULL,
    entity_id uuid,
    CONSTRAINT webhook_events_pkey PRIMARY KEY (book_id, id)
) PARTITION BY RANGE (id);
CREATE INDEX webhook_events_by_entity ON webhook_events USING btree (entity_id);

CREATE TABLE webhook_queue (
    book_id uuid NOT NULL,
    delivery_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    event_id uuid NOT NULL,
    attempt integer NOT NULL DEFAULT 1,
    due_at timestamp with time zone NOT NULL,
    is_claimed boolean NOT NULL DEFAULT false,
    generation integer NOT NULL DEFAULT 0,
    CONSTRAINT webhook_queue_pkey PRIMARY KEY (book_id, delivery_id)
) WITH (fillfactor=70, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=500);
CREATE INDEX webhook_queue_by_lane ON webhook_queue USING btree (endpoint_id, due_at);

CREATE TABLE webhook_secrets (
    book_id uuid NOT NULL,
    developer_app_id uuid NOT NULL,
    secret_prefix text NOT NULL,
    secret_sealed bytea NOT NULL,
    rotated_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone NOT NULL,
    CONSTRAINT webhook_secrets_pkey PRIMARY KEY (book_id, developer_app_id),
    CONSTRAINT webhook_secrets_book_id_developer_app_id_fkey FOREIGN KEY (book_id, developer_app_id) REFERENCES developer_apps(book_id, id)
);

CREATE TABLE withdrawal_spends (
    book_id uuid NOT NULL,
    lineage_id uuid NOT NULL,
    day date NOT NULL,
    spent numeric NOT NULL,
    CONSTRAINT withdrawal_spends_pkey PRIMARY KEY (book_id, lineage_id),
    CONSTRAINT withdrawal_spends_bounds CHECK (spent >= 0::numeric),
    CONSTRAINT withdrawal_spends_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id)
) WITH (fillfactor=50);

CREATE TABLE withdrawals (
    book_id uuid NOT NULL,
    id uuid NOT NULL,
    status withdrawal_status NOT NULL,
    amount positive_amount NOT NULL,
    currency text NOT NULL,
    narration text,
    reference text,
    payout_account_id uuid NOT NULL,
    account_version integer NOT NULL,
    provider text NOT NULL,
    bank_code text NOT NULL,
    bank_name text,
    account_number text NOT NULL,
    account_name text NOT NULL,
    provider_key text NOT NULL,
    provider_reference text,
    is_unclear boolean NOT NULL DEFAULT false,
    asked_at timestamp(3) with time zone,
    fee numeric NOT NULL DEFAULT 0,
    failure_reason text,
    lineage_id uuid,
    counted_on date NOT NULL,
    hold_id uuid NOT NULL,
    transfer_id uuid,
    payout_transfer_id uuid,
    transaction_id uuid,
    idempotency_key text NOT NULL,
    idempotency_fingerprint bytea NOT NULL,
    requested_by_id uuid NOT NULL,
    requested_by_name text NOT NULL,
    sent_at timestamp(3) with time zone,
    ended_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL,
    looked_at timestamp(3) with time zone,
    order_id uuid,
    fee_due numeric NOT NULL DEFAULT 0,
    amount_due numeric NOT NULL DEFAULT 0,
    CONSTRAINT withdrawals_pkey PRIMARY KEY (book_id, id),
    CONSTRAINT withdrawals_idempotency_key UNIQUE (book_id, idempotency_key),
    CONSTRAINT withdrawals_provider_key UNIQUE (book_id, provider_key),
    CONSTRAINT withdrawals_are_sent CHECK ((status::text = ANY (ARRAY['requested'::text, 'cancelled'::text])) OR sent_at IS NOT NULL AND transfer_id IS NOT NULL),
    CONSTRAINT withdrawals_due_bounds CHECK (fee_due >= 0::numeric AND fee_due <= fee AND amount_due >= 0::numeric AND amount_due <= amount::numeric),
    CONSTRAINT withdrawals_fee_bounds CHECK (fee >= 0::numeric),
    CONSTRAINT withdrawals_have_transactions CHECK (transaction_id IS NOT NULL OR order_id IS NOT NULL),
    CONSTRAINT withdrawals_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id),
    CONSTRAINT withdrawals_book_id_order_id_fkey FOREIGN KEY (book_id, order_id) REFERENCES orders(book_id, id),
    CONSTRAINT withdrawals_book_id_payout_account_id_fkey FOREIGN KEY (book_id, payout_account_id) REFERENCES payout_accounts(book_id, id)
);
CREATE INDEX withdrawals_by_account ON withdrawals USING btree (book_id, payout_account_id, id);
CREATE INDEX withdrawals_by_provider_key ON withdrawals USING btree (provider_key);
CREATE INDEX withdrawals_by_status ON withdrawals USING btree (book_id, status, id);
CREATE INDEX withdrawals_counted ON withdrawals USING btree (book_id, created_at) INCLUDE (amount) WHERE status::text = ANY (ARRAY['requested'::text, 'processing'::text, 'completed'::text]);
CREATE INDEX withdrawals_counted_by_lineage ON withdrawals USING btree (book_id, lineage_id, created_at) INCLUDE (amount) WHERE status::text = ANY (ARRAY['requested'::text, 'processing'::text, 'completed'::text]);
CREATE INDEX withdrawals_due ON withdrawals USING btree (book_id, id) WHERE fee_due > 0::numeric OR amount_due > 0::numeric;
CREATE INDEX withdrawals_open ON withdrawals USING btree (book_id, status) INCLUDE (amount) WHERE status::text = ANY (ARRAY['requested'::text, 'processing'::text]);
