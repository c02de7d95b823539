/** Each step takes the database from the version of its index to the next. Steps are only ever added. */
export const MIGRATIONS: readonly string[] = [
  `CREATE TABLE keys (
     key_id TEXT PRIMARY KEY,
     hash TEXT NOT NULL UNIQUE,
     label TEXT NOT NULL,
     rpm INTEGER NOT NULL,
     burst INTEGER NOT NULL,
     created_ts REAL NOT NULL,
     revoked_ts REAL
   ) STRICT;
   CREATE TABLE usage_events (
     event_id TEXT PRIMARY KEY,
     key_id TEXT NOT NULL REFERENCES keys,
     input_chars INTEGER NOT NULL,
     input_ticks INTEGER NOT NULL,
     output_ticks INTEGER NOT NULL,
     ts REAL NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE usage_totals (
     key_id TEXT PRIMARY KEY REFERENCES keys,
     requests INTEGER NOT NULL,
     input_chars INTEGER NOT NULL,
     input_ticks INTEGER NOT NULL,
     output_ticks INTEGER NOT NULL,
     last_ts REAL NOT NULL
   ) STRICT, WITHOUT ROWID;`,
  // Events are forgotten after a day. Those of the first version are, all of them: nobody repeats them any more.
  `DROP TABLE usage_events;
   CREATE TABLE usage_events (
     event_id TEXT PRIMARY KEY,
     key_id TEXT NOT NULL REFERENCES keys,
     input_chars INTEGER NOT NULL,
     input_ticks INTEGER NOT NULL,
     output_ticks INTEGER NOT NULL,
     ts REAL NOT NULL,
     recorded_ts REAL NOT NULL DEFAULT (unixepoch('subsec'))
   ) STRICT, WITHOUT ROWID;`,
];
