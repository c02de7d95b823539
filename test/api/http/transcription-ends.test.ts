import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import { encodeWav } from "../../../src/audio/encode-wav.ts";
import { ClientGoneError } from "../../../src/requests/request-context.ts";
import { LONG_FILES } from "../../audio/recordings/bombs.ts";
import { ScriptedRecogniser } from "../../recognition/scripted-recogniser.ts";
import { until } from "../../waiting.ts";
import { openRaw } from "./raw-socket.ts";
import { startTestServer, type TestServer } from "./start.ts";
import { PATH, transcribe } from "./transcription-form.ts";

let server: TestServer;
let recogniser: ScriptedRecogniser;
beforeEach(async () => {
  recogniser = new ScriptedRecogniser();
  server = await startTestServer({ recogniser, flags: { shutdownGraceMs: "200" } });
});
afterEach(() => server.stop());

const metered = async () => (await (await server.get("/v1/usage")).json()).requests;
const left = () => server.metric(`requests_ended_total{route="${PATH}",end="left",type="none"}`);

describe("a client that leaves", () => {
  test("in the middle of its upload costs nothing, and its room is given back", async () => {
    const { socket } = await openRaw(server);
    const head = '--xyz\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\nRIFF';
    socket.write(
      `POST ${PATH} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${server.key}\r\nContent-Length: 9000000\r\n` +
        `Content-Type: multipart/form-data; boundary=xyz\r\n\r\n${head}${"x".repeat(100_000)}`,
    );
    const textBytes = 2 * 128 * 1024;
    const room = 9_000_000 + textBytes;
    await until("room for the body", async () => (await server.metric("receiving_bytes")) === room);
    socket.destroy();
    await until("the end", async () => (await left()) === 1);
    assert.equal(await server.metric("receiving_bytes"), 0);
    assert.equal(await metered(), 0);
    assert.equal(recogniser.clips.length, 0);
  });

  for (const stream of ["false", "true"]) {
    test(`while it is heard, stream ${stream}, stops the recogniser and is not metered`, async () => {
      recogniser.hold();
      const leaving = new AbortController();
      const init = { headers: { "X-API-Key": server.key }, signal: leaving.signal };
      const reply = transcribe(server, { stream }, init).then((given) => given.text());
      await until("the recogniser", () => recogniser.clips.length === 1);
      assert.equal(await server.metric("recordings_hearing"), 1);
      assert.equal(await server.metric("audio_bytes"), 0, "it is decoded as it is heard");
      leaving.abort();
      await assert.rejects(reply);
      await until("the end", () => recogniser.stopped.length === 1);
      assert.ok(recogniser.stopped[0] instanceof ClientGoneError);
      await until("the count", async () => (await left()) === 1);
      assert.equal(await server.metric("recordings_hearing"), 0);
      assert.equal(await metered(), 0);
    });
  }

  test("of a recogniser that holds all of a recording gives that room back", async () => {
    const holding = Object.assign(new ScriptedRecogniser(), { memoryBytesPerS: 64_000 });
    const own = await startTestServer({ recogniser: holding });
    try {
      holding.hold();
      const leaving = new AbortController();
      const init = { headers: { "X-API-Key": own.key }, signal: leaving.signal };
      const reply = transcribe(own, {}, init);
      await until("the recogniser", () => holding.clips.length === 1);
      const { durationS } = holding.clips[0]!;
      assert.equal(await own.metric("audio_bytes"), Math.ceil(64_000 * durationS));
      leaving.abort();
      await assert.rejects(reply);
      await until("the room", async () => (await own.metric("audio_bytes")) === 0);
    } finally {
      await own.stop();
    }
  });
});

describe("recordings at once", () => {
  test("leave others their room, however long what is being heard is", async () => {
    recogniser.hold();
    const long = LONG_FILES["FLAC of one value"]();
    const first = transcribe(server, { file: new Blob([new Uint8Array(long)]) });
    await until("the long one", () => recogniser.clips.length === 1);
    const other = await server.another();
    const second = transcribe(server, {}, { headers: other.auth });
    await until("the other key's", () => recogniser.clips.length === 2);
    const clip = encodeWav(new Int16Array(30 * 24_000).fill(100), 24_000);
    const audio_wav_b64 = Buffer.from(clip).toString("base64");
    const conversation = [{ text: "Hello.", audio_wav_b64 }, { text: "Hi." }];
    const spoken = await server.post("/v1/converse", { conversation }, other.auth);
    assert.equal(spoken.status, 200);
    recogniser.release();
    for (const { status } of await Promise.all([first, second])) assert.equal(status, 200);
    assert.ok(Math.abs(recogniser.clips[0]!.durationS - 1_500) < 0.1);
  });

  test("are heard one of a key, so that another key need not wait for the first one's", async () => {
    recogniser.hold();
    const other = await server.another();
    const replies = [transcribe(server), transcribe(server, { prompt: "Second." })];
    await until("the first", () => recogniser.clips.length === 1);
    replies.push(transcribe(server, { prompt: "Other." }, { headers: other.auth }));
    await until("the other key's", () => recogniser.clips.length === 2);
    assert.equal(recogniser.asked.at(-1)?.prompt, "Other.");
    recogniser.release();
    for (const reply of await Promise.all(replies)) assert.equal(reply.status, 200);
    assert.equal(recogniser.clips.length, 3);
  });

  test("are told that the server stops, once its grace is over", async () => {
    recogniser.hold();
    const reply = transcribe(server);
    await until("the recogniser", () => recogniser.clips.length === 1);
    const stopping = server.stop();
    const { status } = await reply;
    await stopping;
    assert.equal(status, 502);
    assert.ok(recogniser.isClosed);
    server = await startTestServer();
  });
});
