import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ask, audibleSpan, gapsIn, TIMEOUT } from "../../bench/peers/ask.ts";

const RATE_HZ = 1_000;
const SECOND = Buffer.alloc(2 * RATE_HZ, 1);

describe("a request of the comparison with peers", () => {
  /** Sends a header, a second of sound, and a second more, late or never. */
  const server = createServer(async (request, reply) => {
    if (request.url === "/refused") return reply.writeHead(422).end("no");
    reply.write(Buffer.alloc(44));
    reply.write(SECOND);
    if (request.url === "/hangs") return;
    await sleep(request.url === "/late" ? 1_300 : 0);
    reply.end(SECOND);
  });
  const asked = (path: string, timeoutMs = 5_000) => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
    return ask({ url, headers: {}, headerBytes: 44 }, "{}", { timeoutMs });
  };
  before(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  test("has the samples without the header, and no gap", async () => {
    const reply = await asked("/");
    assert.equal(reply.pcm.length, 2 * RATE_HZ);
    assert.equal(reply.failure, null);
    assert.equal(gapsIn(reply, RATE_HZ), 0);
  });

  test("has a gap if sound comes after the earlier sound was played", async () => {
    assert.equal(gapsIn(await asked("/late"), RATE_HZ), 1);
  });

  test("ends with the time, and with what had come", async () => {
    const { failure, firstAudioMs, chunks } = await asked("/hangs", 200);
    assert.equal(failure, TIMEOUT);
    assert.ok(firstAudioMs !== null && chunks.length > 0);
  });

  test("has no sound if it is refused", async () => {
    const { status, firstAudioMs, pcm } = await asked("/refused");
    assert.deepEqual([status, firstAudioMs, pcm.length], [422, null, 0]);
  });
});

test("finds the audible part of a sound", () => {
  const pcm = new Int16Array(RATE_HZ).fill(5_000, 250, 700);
  assert.deepEqual(audibleSpan(pcm, RATE_HZ), { fromS: 0.25, toS: 0.7 });
});
