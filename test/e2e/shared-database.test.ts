import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { auditedEvents } from "../accounts/postgres/postgres-audit.ts";
import { needsPostgres, ROOT, startPostgres } from "../accounts/postgres/postgres-server.ts";
import { startProxy, through } from "../accounts/tcp-proxy.ts";
import { runAntiphon } from "../cli/run-antiphon.ts";
import { until, within } from "../waiting.ts";
import { clientOf, okay } from "./client.ts";
import { temporaryFolder } from "./folders.ts";
import { type ServerProcess, startServerProcess, WITHOUT_MODELS } from "./server-process.ts";

const SECRETS = [ROOT.password, encodeURIComponent(ROOT.password)];

describe("servers with one PostgreSQL database", needsPostgres(), async () => {
  const postgres = await startPostgres();
  const serve = (url: string, env: Record<string, string> = {}) =>
    startServerProcess({ env: { ANTIPHON_STORE_URL: url, ...env } });

  const command = (url: string, ...line: string[]) => runAntiphon(line, { env: { ANTIPHON_STORE_URL: url } });

  /** Stops servers and checks that they printed no secret. */
  async function stop(servers: readonly ServerProcess[]): Promise<void> {
    for (const server of servers) {
      assert.equal((await server.stop()).code, 0);
      for (const secret of SECRETS) assert.ok(!`${server.stdout()}${server.stderr()}`.includes(secret));
    }
  }

  it("create one first key, honour every key at once, and add up its usage", async () => {
    const url = await postgres.url();
    const urlFile = join(temporaryFolder(), "url");
    writeFileSync(urlFile, `${url}\n`, { mode: 0o600 });
    const servers = await Promise.all([
      serve(url),
      startServerProcess({ env: { ANTIPHON_STORE_KIND: "postgres", ANTIPHON_STORE_URL_FILE: urlFile } }),
    ]);
    const [first] = servers.flatMap(({ key }) => (key === "" ? [] : [key]));
    assert.equal(servers.filter(({ key }) => key !== "").length, 1);
    for (const server of servers) await clientOf(server.url, first!).tts({ text: "Hello." });

    const made = await command(url, "keys", "create", "--label", "both", "--json");
    const { key, key_id } = JSON.parse(made.stdout) as { key: string; key_id: string };
    const clients = servers.map((server) => clientOf(server.url, key));
    for (const client of clients) await client.tts({ text: "Hello there." });
    for (const client of clients) {
      const { requests, input_chars } = await client.usage();
      assert.deepEqual([requests, input_chars], [2, 2 * "Hello there.".length]);
    }
    const total = JSON.parse((await command(url, "usage", key_id, "--json")).stdout) as { requests: number };
    assert.equal(total.requests, 2);
    assert.match((await command(url, "check")).stdout, /^The schema antiphon of the database .* is sound/);

    assert.equal((await command(url, "keys", "revoke", key_id)).code, 0);
    for (const client of clients) assert.equal((await client.post("/v1/tts", { text: "Hi." })).status, 401);
    for (const server of servers) await clientOf(server.url, first!).tts({ text: "Hello." });
    assert.equal((await auditedEvents(url)).size, 6);
    await stop(servers);
  });

  it("meter every answered request exactly once when one of them is killed", async () => {
    const url = await postgres.url();
    const often = { ANTIPHON_DEFAULT_KEY_RPM: "100000", ANTIPHON_DEFAULT_KEY_BURST: "100000" };
    const servers = await Promise.all([serve(url, often), serve(url, often)]);
    const key = servers.map((server) => server.key).join("");
    const answered = [0, 0];
    const asking = servers.map(async (server, at) => {
      const client = clientOf(server.url, key);
      const ask = async () => {
        for (let i = 0; i < 10; i++) {
          const { status } = await client.post("/v1/tts", { text: "Hi." });
          if (status === 200) answered[at]! += 1;
          if (at === 0 && answered[0] === 8) server.child.kill("SIGKILL");
        }
      };
      await Promise.allSettled(Array.from({ length: 4 }, ask));
    });
    await Promise.all(asking);
    await within("the killed server's end", servers[0]!.ended);
    const events = (await auditedEvents(url)).size;
    const sum = answered[0]! + answered[1]!;
    assert.equal(answered[1], 40);
    assert.ok(answered[0]! >= 8 && answered[0]! < 40, `the killed server answered ${answered[0]}`);
    assert.ok(events >= sum && events <= sum + 4, `${events} events, ${sum} answered, 4 pending`);
    await stop([servers[1]!]);
  });

  it("answer 502 with Retry-After during an outage, never 401, and recover", async () => {
    const url = await postgres.url();
    const proxy = await startProxy(postgres.port);
    const env = { ANTIPHON_STORE_TIMEOUT_MS: "400", ANTIPHON_STORE_COMMIT_TIMEOUT_MS: "800" };
    const server = await serve(through(proxy, url), env);
    try {
      const client = clientOf(server.url, server.key);
      await client.tts({ text: "Hello." });
      proxy.hold();
      for (const refused of [
        await client.post("/v1/tts", { text: "Hello." }),
        await client.post("/v1/converse/stream", { conversation: [{ text: "Hello." }] }),
        await client.get("/v1/usage"),
      ]) {
        assert.equal(refused.status, 502);
        assert.equal(refused.headers.get("retry-after"), "2");
        const { error } = await refused.json();
        assert.equal(error.type, "inference_error");
        assert.doesNotMatch(error.message, /127\.0\.0\.1|database test/);
      }
      for (const path of ["/health", "/ready", "/metrics"])
        assert.equal((await client.get(path)).status, 200, path);
      proxy.pass();
      await until("the recovery", async () => (await client.get("/v1/usage")).status === 200);
      await client.tts({ text: "Hello." });
      assert.equal((await okay(await client.get("/v1/usage"))).requests, 2);
      assert.match(server.stderr(), /"cause":"The database test\d+ on .* cannot be reached .*database/);
      await stop([server]);
    } finally {
      await proxy.close();
    }
  });

  it("fail to start without it, with a sentence that holds no secret", async () => {
    const url = await postgres.url();
    const changed = (change: Partial<URL>) => Object.assign(new URL(url), change).href;
    const unreachable = changed({ port: "1" });
    for (const [env, error] of [
      [{ ANTIPHON_STORE_URL: unreachable }, /on 127\.0\.0\.1:1 cannot be reached \(.*ECONNREFUSED/],
      [{ ANTIPHON_STORE_URL: changed({ password: "guess" }) }, /refuses the login .*correct the user or/],
      [{ ANTIPHON_STORE_URL: "mysql://x:guess@y/z" }, /is not a PostgreSQL address/],
      [{ ANTIPHON_STORE_KIND: "postgres" }, /^The address of the database is missing: put it into ANTIPHON_/],
      [{ ANTIPHON_STORE_URL_FILE: "nowhere" }, /nowhere.* does not exist/],
    ] as const) {
      const line = ["serve", "--port", "0", "--data-dir", join(temporaryFolder(), "data")];
      const { code, stdout, stderr } = await runAntiphon(line, { env: { ...WITHOUT_MODELS, ...env } });
      assert.deepEqual([code, stdout], [1, ""], stderr);
      const sentences = stderr.split("\n").filter((text) => text !== "" && !text.startsWith("{"));
      assert.equal(sentences.length, 1, stderr);
      assert.match(sentences[0]!, error);
      for (const secret of [...SECRETS, "guess"]) assert.ok(!stderr.includes(secret), stderr);
    }
    const listed = await command(unreachable, "keys", "list");
    assert.deepEqual([listed.code, listed.stdout], [1, ""]);
    assert.match(listed.stderr, /cannot be reached/);
  });

  it("are not contacted if the settings keep the keys in a file", async () => {
    const env = {
      ANTIPHON_STORE_KIND: "libsql",
      ANTIPHON_STORE_URL: "postgres://nobody@127.0.0.1:1/nothing",
    };
    const server = await startServerProcess({ env });
    await clientOf(server.url, server.key).tts({ text: "Hello." });
    assert.equal((await server.stop()).code, 0);
  });
});
