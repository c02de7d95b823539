import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { openTenancy } from "../../src/accounts/open.ts";
import { loadSettings } from "../../src/settings/load.ts";
import { needsValkey, startValkey } from "../accounts/valkey/valkey-server.ts";
import type { Reply } from "../api/http/wire.ts";
import { until } from "../waiting.ts";
import { clientOf } from "./client.ts";
import { temporaryFolder } from "./folders.ts";
import { antiphon } from "./program.ts";
import { startServerProcess, WITHOUT_MODELS } from "./server-process.ts";

const BURST = 6;
const PASSWORD = "hunter2-is-secret";

/** Creates a key that regains nothing during a test. */
async function keyOfFew(dataDir: string): Promise<string> {
  const tenancy = await openTenancy(loadSettings({ flags: { dataDir } }));
  const { key } = await tenancy.createKey({ label: "few", rpm: 1, burst: BURST });
  await tenancy.close();
  return key;
}

describe("two servers with one Valkey", needsValkey(), () => {
  const closings: (() => Promise<unknown>)[] = [];
  after(async () => {
    for (const close of closings) await close();
  });

  it("share a key's bucket, go on alone during an outage, and log no password", async () => {
    const valkey = await startValkey({ flags: ["--requirepass", PASSWORD] });
    closings.push(() => valkey.stop());
    const dataDir = join(temporaryFolder(), "shared");
    const key = await keyOfFew(dataDir);
    const urlFile = join(temporaryFolder(), "valkey-url");
    const url = valkey.url.replace("//", `//:${PASSWORD}@`);
    writeFileSync(urlFile, `${url}\n`, { mode: 0o600 });
    const shared = { ANTIPHON_BUCKETS_KIND: "valkey", ANTIPHON_BUCKETS_TIMEOUT_MS: "10000" };
    const servers = [
      await startServerProcess({ dataDir, env: { ...shared, ANTIPHON_BUCKETS_URL: url } }),
      await startServerProcess({ dataDir, env: { ...shared, ANTIPHON_BUCKETS_URL_FILE: urlFile } }),
    ] as const;
    const clients = servers.map((server) => clientOf(server.url, key));
    const ask = (at: number): Promise<Reply> => clients[at % 2]!.post("/v1/tts", { text: "Hi." });
    const left = (reply: Reply) => Number(reply.headers.get("x-ratelimit-remaining"));

    const replies = await Promise.all(Array.from({ length: 2 * BURST }, (_, at) => ask(at)));
    const spoken = replies.filter(({ status }) => status === 200);
    assert.deepEqual(spoken.map(left).sort(), [0, 1, 2, 3, 4, 5]);
    assert.ok(replies.every(({ status }) => status === 200 || status === 429));
    for (const client of clients) assert.equal(left(await client.get("/v1/usage")), 0);

    await valkey.signal("SIGKILL");
    assert.equal((await ask(0)).status, 429, "it goes on from what it knows");
    const metric = /^antiphon_takes_alone_total 1$/m;
    assert.match(await (await clients[0]!.get("/metrics")).text(), metric);
    for (const client of clients) assert.equal((await client.get("/ready")).status, 200);

    const again = await startValkey({ port: valkey.port, flags: ["--requirepass", PASSWORD] });
    closings.push(() => again.stop());
    await until(
      "a token of the shared bucket, which is full again",
      async () => (await ask(1)).status === 200,
    );
    await until("the other server's recovery", async () => (await ask(0)).status === 200);
    assert.equal(left(await clients[0]!.get("/v1/usage")), BURST - 2);
    for (const server of servers) {
      const { code } = await server.stop();
      assert.equal(code, 0);
      assert.ok(!`${server.stdout()}${server.stderr()}`.includes(PASSWORD));
    }
  });

  it("start without it, report why, and refuse an invalid address", async () => {
    const dataDir = join(temporaryFolder(), "data");
    const valkey = { ...WITHOUT_MODELS, ANTIPHON_BUCKETS_KIND: "valkey" };
    const wrong: readonly [env: Record<string, string>, says: RegExp][] = [
      [{}, /^The address of the shared buckets is missing: put it into ANTIPHON_BUCKETS_URL/],
      [{ ANTIPHON_BUCKETS_URL: `http://:${PASSWORD}@h` }, /ANTIPHON_BUCKETS_URL.* begins with neither redis/],
      [{ ANTIPHON_BUCKETS_URL_FILE: join(dataDir, "none") }, /^buckets\.urlFile .* does not exist/i],
    ];
    for (const [env, says] of wrong) {
      const line = ["serve", "--port", "0", "--data-dir", dataDir];
      const { code, stderr } = await antiphon(line, { env: { ...valkey, ...env } });
      assert.match(stderr, says);
      assert.ok(!stderr.includes(PASSWORD));
      assert.notEqual(code, 0);
    }
    const lonely = await startServerProcess({
      dataDir,
      env: { ANTIPHON_BUCKETS_KIND: "valkey", ANTIPHON_BUCKETS_URL: `redis://:${PASSWORD}@127.0.0.1:1` },
    });
    assert.match(lonely.stderr(), /"cause":"The shared buckets at 127\.0\.0\.1:1 cannot be reached .*shared/);
    const client = clientOf(lonely.url, lonely.key);
    assert.equal((await client.post("/v1/tts", { text: "Hi." })).status, 200);
    assert.equal((await lonely.stop()).code, 0);
    assert.ok(!lonely.stderr().includes(PASSWORD));
  });
});
