-- A name that says what the function does: it undoes the statement that calls it.
ALTER FUNCTION take_back_unless(boolean) RENAME TO rollback_unless;
