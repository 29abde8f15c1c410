-- Roles of a business whose members need a second factor: without one, a session of theirs turns it
-- on and does nothing else.
ALTER TABLE businesses ADD COLUMN second_factor_roles text[] NOT NULL DEFAULT '{}'
    CONSTRAINT businesses_second_factor_roles_known CHECK (second_factor_roles <@ ARRAY[
        'owner', 'admin', 'developer', 'manager', 'cashier', 'kitchen', 'front_desk', 'housekeeping'
    ]);
