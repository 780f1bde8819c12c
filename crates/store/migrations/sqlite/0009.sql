-- A digest of an event's other fields: of what stands nowhere else, nothing would tell that it was damaged. Events of before have
-- none.
ALTER TABLE events ADD COLUMN sum TEXT;
