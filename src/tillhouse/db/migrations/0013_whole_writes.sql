-- A statement that is a whole transaction can look at what it did, and undo it.
CREATE FUNCTION take_back_unless(is_right boolean) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF is_right THEN
        RETURN true;
    END IF;
    RAISE EXCEPTION 'taken back' USING ERRCODE = 'TH001';
END $$;
