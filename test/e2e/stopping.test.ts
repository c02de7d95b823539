import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { openTenancy } from "../../src/accounts/open.ts";
import { SAME_SIGNAL_MS } from "../../src/cli/terminal/stop-signal.ts";
import { loadSettings } from "../../src/settings/load.ts";
import { startTestServer } from "../api/http/start.ts";
import type { SentEvent } from "../api/http/wire.ts";
import { until, within } from "../waiting.ts";
import { clientOf } from "./client.ts";
import { startServerProcess } from "./server-process.ts";

const TWO_SENTENCES = "The river runs past the old mill. Nobody has crossed it since the spring.";

describe("a server that receives a stop signal", () => {
  it("waits out its drain delay, finishes its stream, and exits with 0", async () => {
    const server = await startServerProcess({ env: { ANTIPHON_DRAIN_DELAY_MS: "200" } });
    const client = clientOf(server.url, server.key);
    const events: SentEvent[] = [];
    let exited = false;
    void server.ended.then(() => {
      exited = true;
    });
    for await (const event of client.stream({ conversation: [{ text: TWO_SENTENCES }] })) {
      events.push(event);
      if (events.length === 2) server.child.kill("SIGTERM");
      if (event.event === "end") assert.equal(exited, false);
    }
    const end = events.at(-1);
    assert.equal(end?.event, "end", JSON.stringify(end));
    assert.equal(end?.data.meta.stop, "finished");
    assert.equal((await within("the server's end", server.ended)).code, 0);
    assert.ok(!existsSync(join(server.dataDir, "antiphon.db-wal")), "the database was closed");
    const tenancy = await openTenancy(loadSettings({ flags: { dataDir: server.dataDir } }));
    assert.equal((await tenancy.allUsage())[0]?.requests, 1);
    await tenancy.close();
  });

  it("ends a stream with an error event after the grace period", async () => {
    const server = await startServerProcess({ env: { ANTIPHON_SHUTDOWN_GRACE_MS: "100" } });
    const client = clientOf(server.url, server.key);
    const body = { conversation: [{ text: TWO_SENTENCES.repeat(60) }], params: { max_new_tokens: 2_048 } };
    let last: SentEvent | undefined;
    for await (const event of client.stream(body)) {
      if (last === undefined) server.child.kill("SIGINT");
      last = event;
    }
    assert.equal(last?.event, "error");
    assert.equal(last?.data.type, "inference_error");
    assert.match(last?.data.message, /shutting down/);
    assert.equal((await within("the server's end", server.ended)).code, 0);
  });

  it("serves requests until a second signal ends the drain delay", async () => {
    const server = await startServerProcess({ env: { ANTIPHON_DRAIN_DELAY_MS: `${3_600_000}` } });
    const client = clientOf(server.url, server.key);
    assert.equal((await client.get("/ready")).status, 200);
    server.child.kill("SIGTERM");
    await until("the server to be unready", async () => (await client.get("/ready")).status === 502);
    // A signal within a second of the first counts as the same one.
    const second = pause(1.1 * SAME_SIGNAL_MS);
    const ready = await client.get("/ready");
    assert.ok(Number(ready.headers.get("retry-after")) >= 1);
    assert.equal((await ready.json()).error.type, "inference_error");
    assert.equal((await (await client.get("/health")).json()).ready, false);
    const whole = await client.post("/v1/tts", { text: "Yes." });
    assert.deepEqual([whole.status, whole.headers.get("connection")], [200, "close"]);
    const events: SentEvent[] = [];
    for await (const event of client.stream({ conversation: [{ text: TWO_SENTENCES }] })) {
      events.push(event);
      if (events.length > 1) continue;
      await second;
      server.child.kill("SIGTERM");
      await until("the port to close", () => isRefused(server.url));
    }
    assert.equal(events.at(-1)?.event, "end");
    assert.equal((await within("the server's end", server.ended)).code, 0);
  });

  it("closes a client that reads nothing after the grace period", async () => {
    let computed = 0;
    const server = await startTestServer({
      flags: { shutdownGraceMs: "100" },
      tone: { beforeFrame: () => void computed++ },
    });
    const { hostname, port } = new URL(server.url);
    const socket = connect({ host: hostname, port: Number(port) }).on("error", () => {});
    const body = JSON.stringify({
      conversation: [{ text: "word ".repeat(1_500) }],
      params: { max_new_tokens: 2_048 },
    });
    socket.write(
      `POST /v1/converse/stream HTTP/1.1\r\nHost: ${hostname}\r\nX-API-Key: ${server.key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    socket.pause();
    // No more frames are computed once the buffers of the socket are full.
    await until("full buffers", async () => {
      const before = computed;
      for (let i = 0; i < 20; i++) await (await server.get("/health", {})).text();
      return computed > 0 && computed === before;
    });
    assert.ok(computed < 2_048, `${computed} frames`);
    await server.stop();
    socket.destroy();
  });
});

async function isRefused(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  try {
    await once(socket, "connect");
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ECONNREFUSED";
  } finally {
    socket.destroy();
  }
}
