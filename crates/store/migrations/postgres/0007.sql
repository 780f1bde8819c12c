-- The agent that a task asks for, and the rest that it takes: when it ends on which clock, and whose tasks wait with it.
ALTER TABLE tasks ADD COLUMN agent TEXT;
ALTER TABLE tasks ADD COLUMN rest_agent TEXT;
ALTER TABLE tasks ADD COLUMN rest_timeline TEXT;
ALTER TABLE tasks ADD COLUMN rest_ends BIGINT;
UPDATE tasks SET agent = body::json ->> 'agent';
CREATE INDEX tasks_resting ON tasks (rest_ends) WHERE rest_ends IS NOT NULL;
