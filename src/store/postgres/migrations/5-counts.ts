/** The counts of the list, and vacuum of the inbox by the number of its dead rows. */
export const COUNTS = `
  ALTER TABLE rollcall.list
    ADD COLUMN subscribers bigint NOT NULL DEFAULT 0,
    ADD COLUMN reserved bigint NOT NULL DEFAULT 0;
  UPDATE rollcall.list SET (subscribers, reserved) = (
    SELECT count(*), count(*) FILTER (WHERE identity ~ '[@.](example\\.(com|org|net)|example|test|invalid|localhost)$')
    FROM rollcall.subscribers);
  -- Compaction deletes every row, so the rows that it leaves dead do not depend on those that wait.
  ALTER TABLE rollcall.inbox SET (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
    toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 1000);
  -- An older process does not count. Every one that changes the list reads the keys under the lock.
  ALTER TABLE rollcall.suppression_keys RENAME COLUMN key_id TO key_number`
