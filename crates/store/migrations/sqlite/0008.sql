-- The latest time in the ledger is found without reading all of it.
CREATE INDEX events_at ON events (at);
