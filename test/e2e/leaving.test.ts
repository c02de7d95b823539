import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { after, before, describe, it } from "node:test";
import { startTestServer } from "../api/http/start.ts";
import { until, within } from "../waiting.ts";
import { type ServerWithPool, startServerWithPool } from "./server-with-pool.ts";

const LONG = "The tide came in over the flats and went out again. ".repeat(40);
const MANY_FRAMES = { max_new_tokens: 2_048 };

async function send(server: { url: string; key: string }, path: string, body: unknown): Promise<Socket> {
  const { hostname, port } = new URL(server.url);
  const socket = connect({ host: hostname, port: Number(port) });
  await within("the connection", once(socket, "connect"));
  const json = JSON.stringify(body);
  const head = `POST ${path} HTTP/1.1\r\nHost: ${hostname}\r\nX-API-Key: ${server.key}\r\nContent-Type: application/json\r\n`;
  const sent = new Promise((resolve) =>
    socket.write(`${head}Content-Length: ${json.length}\r\n\r\n${json}`, resolve),
  );
  await within("the request to be sent", sent);
  return socket;
}

describe("a client that leaves", () => {
  let server: ServerWithPool;
  before(async () => {
    server = await startServerWithPool();
  });
  after(() => server.stop());

  it("a stream stops the voice within a frame, and pays for what was sent", async () => {
    const { frames, pool, client } = server;
    const earlier = { ...frames };
    const stream = client.stream({ conversation: [{ text: LONG }], params: MANY_FRAMES });
    for (let i = 0; i < 6; i++) await stream.next();
    await stream.return();
    await until("the voice to stop", () => pool.stats().open === 0);
    await until("the usage", async () => (await client.usage()).requests === 1);
    const given = frames.given - earlier.given;
    assert.ok(
      frames.afterAbort - earlier.afterAbort <= 1,
      `${frames.afterAbort} frames came after it had left`,
    );
    const { output_audio_seconds } = await client.usage();
    assert.ok(output_audio_seconds >= 5 * 0.08, `${output_audio_seconds} s`);
    assert.ok(
      Math.abs(output_audio_seconds - given * 0.08) < 0.081,
      `${given} frames, ${output_audio_seconds} s`,
    );
    assert.ok(given < 512, "the voice did not go on to the end");
  });

  it("a whole reply stops the voice, and pays nothing", async () => {
    const { frames, pool, client } = server;
    const { requests } = await client.usage();
    const before = { ...frames };
    const socket = await send(server, "/v1/tts", { text: LONG, params: MANY_FRAMES });
    await until("three frames", () => frames.given >= before.given + 3);
    socket.destroy();
    await until("the voice to stop", () => pool.stats().open === 0);
    assert.ok(frames.afterAbort - before.afterAbort <= 1);
    assert.ok(frames.given - before.given < 1_000, "the voice did not go on to the end");
    assert.equal((await client.usage()).requests, requests);
  });
});

it("a client that leaves during its request's body pays nothing", async () => {
  let computed = 0;
  const server = await startTestServer({ tone: { beforeFrame: () => void computed++ } });
  try {
    const wav = Buffer.from("UklGRgAAAABXQVZFZm10IBAAAAABAAEAwF0AAIC7AAACABAAZGF0YQAAAAA=", "base64");
    const audio_wav_b64 = Buffer.concat([wav, Buffer.alloc(300_000, 1)]).toString("base64");
    const body = { conversation: [{ audio_wav_b64 }, { text: "Nobody hears this." }] };
    (await send(server, "/v1/converse", body)).destroy();
    // Large requests are prepared in order, so the other one's turn has passed.
    const mine = await (await server.post("/v1/converse", body)).json();
    const { requests, input_chars } = await (await server.get("/v1/usage")).json();
    assert.deepEqual([requests, input_chars], [1, mine.usage.input_chars]);
    assert.equal(computed, mine.meta.frames);
  } finally {
    await server.stop();
  }
});
