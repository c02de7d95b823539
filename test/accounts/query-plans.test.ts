import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type Database from "libsql";
import pg from "pg";
import { readsOn, writesOn } from "../../src/accounts/libsql/ledger.ts";
import { openDatabase } from "../../src/accounts/libsql/libsql-database.ts";
import { sourceFiles } from "../architecture/read-imports.ts";
import { TOP } from "../architecture/top.ts";
import { temporaryFolder } from "./folders.ts";
import { needsPostgres, startPostgres } from "./postgres/postgres-server.ts";
import { hashOf, keyRecord, openPostgres, usage, withStores } from "./postgres/postgres-stores.ts";
import { voiceRecord } from "./store-conformance.ts";

/** Whether a statement selects certain rows, not all or a number of them. */
const isSelective = (sql: string) => /[?$]/.test(sql.replaceAll(/LIMIT [?$]\d*/g, "").replaceAll('"$', ""));

describe("every statement for certain rows uses an index", () => {
  it("in libsql", () => {
    const database = openDatabase(join(temporaryFolder(), "antiphon.db"));
    const statements: string[] = [];
    const recorder = new Proxy(database, {
      get(target, name) {
        const value = Reflect.get(target, name);
        if (name === "prepare") {
          return (sql: string) => {
            statements.push(sql);
            return target.prepare(sql);
          };
        }
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    try {
      readsOn(recorder);
      writesOn(recorder);
      assert.ok(statements.filter(isSelective).length >= 13, "all are seen");
      for (const sql of statements.filter(isSelective)) {
        const plan = planIn(database, sql);
        assert.doesNotMatch(plan.join("; "), /\bSCAN\b/, sql);
      }
    } finally {
      database.close();
    }
  });

  it("and no other file queries libsql", () => {
    const asking = sourceFiles(TOP, "src/accounts").filter((file) =>
      /\.prepare\(/.test(readFileSync(join(TOP, file), "utf8")),
    );
    assert.deepEqual(asking, ["src/accounts/libsql/ledger.ts"]);
  });

  describe("in PostgreSQL", needsPostgres(), () => {
    let stop = async (): Promise<void> => {};
    after(() => stop());

    it("with any parameters", async () => {
      const server = await startPostgres();
      stop = () => server.kill("SIGKILL");
      const url = await server.url();
      const statements = new Set<string>();
      const sent = pg.Client.prototype.query;
      // Records the statements, which the store passes as one object.
      pg.Client.prototype.query = function (this: pg.Client, ...given: never[]) {
        const [statement] = given as unknown as [pg.QueryConfig | string];
        if (typeof statement === "object" && "values" in statement && statement.values!.length > 0)
          statements.add(statement.text);
        return Reflect.apply(sent, this, given);
      } as typeof sent;
      try {
        await withStores([openPostgres(url)], async (store) => {
          await store.createFirstKey(keyRecord("key_a"), hashOf("key_a"));
          await store.createKey(keyRecord("key_b"), hashOf("key_b"));
          await store.findKey(hashOf("key_a"));
          await store.commit([usage("0190b6a8-0000-7000-8000-000000000001", "key_a")]);
          await store.totals("key_a");
          const voice = voiceRecord("voice_a", "key_a", "Ann", 1);
          await store.addVoice(voice, new Uint8Array(4), 3);
          await store.listVoices("key_a");
          await store.findVoice("key_a", voice.name);
          await store.voiceAudio(voice.voiceId);
          await store.removeVoice("key_a", voice.name);
          await store.updateKey("key_b", { burst: 4 });
          await store.revokeKey("key_b", 2);
        });
      } finally {
        pg.Client.prototype.query = sent;
      }
      const selective = [...statements].filter((text) => /"antiphon"\.(?:keys|usage|voices)/.test(text));
      assert.ok(selective.length >= 12, `${selective.length} are seen`);
      const client = new pg.Client(url);
      await client.connect();
      try {
        await client.query("SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off");
        for (const [index, text] of selective.entries()) {
          const parameters = Math.max(...[...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
          await client.query(`PREPARE s${index} AS ${text}`);
          const nulls = Array.from({ length: parameters }, () => "NULL").join(", ");
          const { rows } = await client.query(`EXPLAIN EXECUTE s${index} (${nulls})`);
          const plan = rows.map((row: Record<string, string>) => row["QUERY PLAN"]).join("\n");
          assert.doesNotMatch(plan, /Seq Scan/, text);
        }
      } finally {
        await client.end();
      }
    });
  });
});

function planIn(database: Database.Database, sql: string): string[] {
  const parameters = Math.max(
    (sql.match(/\?(?!\d)/g) ?? []).length,
    ...[...sql.matchAll(/\?(\d+)/g)].map(([, n]) => Number(n)),
  );
  const values = Array.from({ length: parameters }, () => null);
  const rows = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(values) as { readonly detail: string }[];
  return rows.map(({ detail }) => detail);
}
