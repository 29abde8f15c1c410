-- Roles of a hotel's people.
ALTER TABLE members
    DROP CONSTRAINT members_role_known,
    ADD CONSTRAINT members_role_known CHECK (role IN (
        'owner', 'admin', 'developer', 'manager', 'cashier', 'kitchen', 'front_desk',
        'housekeeping'));
