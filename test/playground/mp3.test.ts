import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { createEncoder } from "wasm-media-encoders";
import { openEncoder } from "../../src/audio/encode/open-encoder.ts";
import { TOP } from "../architecture/top.ts";
import { startTestServer, type TestServer } from "../http/start.ts";

const { encodeMp3 } = (await import(pathToFileURL(`${TOP}/playground/mp3.js`).href)) as {
  encodeMp3(pieces: readonly Int16Array[], sampleRate: number, load: () => Promise<object>): Promise<Blob>;
};

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.stop());

test("an MP3 that the page makes is what the server would have made of the same sound", async () => {
  const wasm = await server.get("/playground/lame.wasm", {});
  assert.equal(wasm.headers.get("content-type"), "application/wasm");
  const code = await wasm.arrayBuffer();
  const pieces = Array.from({ length: 12 }, (_, piece) =>
    Int16Array.from({ length: 1_920 }, (_, at) => 9_000 * Math.sin((1_920 * piece + at) / 17)),
  );
  const made = await encodeMp3(pieces, 24_000, async () => ({ createEncoder, code }));
  assert.equal(made.type, "audio/mpeg");
  const encoder = await openEncoder("mp3");
  const here = Buffer.concat([...pieces.map((pcm) => encoder.push(pcm)), encoder.end()]);
  encoder.free();
  assert.ok(Buffer.from(await made.arrayBuffer()).equals(here));
});

test("the page gets the encoder's module, which imports nothing that is not in it", async () => {
  const script = await server.get("/playground/lame.js", {});
  assert.equal(script.headers.get("content-type"), "text/javascript; charset=utf-8");
  const source = await script.text();
  assert.match(source, /createEncoder/);
  assert.doesNotMatch(source, /\bfrom\s*"|\bimport\s*"/);
});
