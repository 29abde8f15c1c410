-- Since 0.1.0: the share of an order that its business takes for service, in per cent, and the
-- service modes of the orders that it is taken of.
ALTER TABLE businesses
    ADD COLUMN service_charge_percent numeric
        CONSTRAINT businesses_service_charge_percent_bounds CHECK (
            service_charge_percent > 0 AND service_charge_percent <= 100
            AND service_charge_percent = round(service_charge_percent, 2)),
    ADD COLUMN service_charge_modes text[] NOT NULL DEFAULT '{dine_in}'
        CONSTRAINT businesses_service_charge_modes_known CHECK (
            service_charge_modes <@ ARRAY['dine_in', 'takeaway', 'room_service']
            AND cardinality(service_charge_modes)
                = ('dine_in' = ANY (service_charge_modes))::integer
                + ('takeaway' = ANY (service_charge_modes))::integer
                + ('room_service' = ANY (service_charge_modes))::integer);
