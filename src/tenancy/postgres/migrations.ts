/**
 * Each step takes a schema from the version of its index to the next; `{schema}` stands for its quoted name. Steps are
 * only ever added.
 */
export const MIGRATIONS: readonly string[] = [
  `CREATE TABLE {schema}.schema_version (version integer NOT NULL);
   INSERT INTO {schema}.schema_version VALUES (0);
   CREATE TABLE {schema}.keys (
     key_id text PRIMARY KEY,
     hash text NOT NULL UNIQUE,
     label text NOT NULL,
     rpm integer NOT NULL,
     burst integer NOT NULL,
     created_ts double precision NOT NULL,
     revoked_ts double precision
   );
   CREATE TABLE {schema}.usage_events (
     event_id uuid PRIMARY KEY,
     key_id text NOT NULL,
     input_chars bigint NOT NULL,
     input_ticks bigint NOT NULL,
     output_ticks bigint NOT NULL,
     ts double precision NOT NULL,
     recorded_ts timestamptz NOT NULL DEFAULT now()
   ) PARTITION BY RANGE (event_id);
   CREATE TABLE {schema}.usage_events_rest PARTITION OF {schema}.usage_events DEFAULT;
   CREATE TABLE {schema}.usage_totals (
     key_id text PRIMARY KEY REFERENCES {schema}.keys,
     requests bigint NOT NULL,
     input_chars bigint NOT NULL,
     input_ticks bigint NOT NULL,
     output_ticks bigint NOT NULL,
     last_ts double precision
   ) WITH (fillfactor = 50);`,
];
