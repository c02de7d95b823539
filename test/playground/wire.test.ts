import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { encodeWav as encodeWavHere } from "../../src/audio/wav-write.ts";
import { TOP } from "../architecture/top.ts";
import fc from "../properties.ts";

interface Wire {
  readEvents(chunks: AsyncIterable<Uint8Array>): AsyncIterable<{ event: string; data: unknown }>;
  pcmFromBase64(base64: string): Int16Array;
  encodeWav(pieces: readonly Int16Array[]): Uint8Array;
  toBase64(bytes: Uint8Array): string;
  curlFor(url: string, body: object, fileNames: readonly (string | undefined)[]): string;
}

const wire: Wire = await import(pathToFileURL(join(TOP, "playground", "wire.js")).href);

const EVENTS = [
  { event: "meta", data: { text: "Grüße 🎉\n\nto you" } },
  { event: "audio", data: { pcm_b64: "AAA=" } },
  { event: "message", data: { a: [1, 2] } },
];
const STREAM =
  `: hello\n\nevent: meta\ndata: ${JSON.stringify(EVENTS[0]!.data)}\n\n: keep-alive\n\n` +
  'event: audio\r\ndata:{"pcm_b64":"AAA="}\r\n\r\ndata: {"a":\ndata: [1,2]}\n\nevent: end\ndata: {"cut":';

async function* cut(bytes: Uint8Array, places: readonly number[]) {
  const ends = [...new Set(places.map((place) => place % bytes.length))].sort((a, b) => a - b);
  let from = 0;
  for (const to of [...ends, bytes.length]) {
    yield bytes.subarray(from, to);
    from = to;
  }
}

test("events are the same however the stream is cut, and half an event is none", async () => {
  const bytes = new TextEncoder().encode(STREAM);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(), { maxLength: 40 }), async (places) => {
      const events = [];
      for await (const event of wire.readEvents(cut(bytes, places))) events.push(event);
      assert.deepEqual(events, EVENTS);
    }),
  );
});

test("samples come through base64 and into a WAV as the server writes them", () => {
  fc.assert(
    fc.property(fc.array(fc.int16Array({ maxLength: 300 }), { maxLength: 5 }), (pieces) => {
      const wav = wire.encodeWav(pieces);
      assert.deepEqual(wav, encodeWavHere(pieces, 24_000));
      assert.equal(wire.toBase64(wav), Buffer.from(wav).toString("base64"));
      const joined = Int16Array.from(pieces.flatMap((piece) => [...piece]));
      const base64 = Buffer.from(joined.buffer).toString("base64");
      assert.deepEqual(wire.pcmFromBase64(base64), joined);
    }),
  );
});

test("base64 of a recording of many pieces is whole", () => {
  const bytes = Uint8Array.from({ length: 100_003 }, (_, i) => (i * 7_919) % 256);
  assert.equal(wire.toBase64(bytes), Buffer.from(bytes).toString("base64"));
});

const NASTY = `It's "quoted", $HOME, \`date\`, $(date), back\\slash, a\nnew line and 🎉`;

test("the curl command sends the body that the page sends, whatever is written in it", () => {
  const body = { conversation: [{ speaker: "0", text: NASTY }], params: { temperature: 0 } };
  assert.deepEqual(sent(wire.curlFor("http://localhost:1/v1", body, []), "."), body);
});

test("the curl command reads audio from the file it came from", () => {
  const folder = mkdtempSync(join(tmpdir(), "antiphon-"));
  try {
    const audio = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * 31) % 256));
    writeFileSync(join(folder, "it's mine.wav"), audio);
    const conversation = [
      { speaker: "0", text: NASTY, audio_wav_b64: audio.toString("base64") },
      { speaker: "1", text: "Reply." },
    ];
    const command = wire.curlFor("http://localhost:1/v1", { conversation }, ["it's mine.wav", undefined]);
    assert.ok(command.length < 1_000, "the audio itself is not in it");
    assert.deepEqual(sent(command, folder), { conversation });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** What a command's curl would send: curl is replaced with something that prints it. */
function sent(command: string, cwd: string): unknown {
  const curl =
    'curl() { for last; do :; done; if [ "$last" = "@-" ]; then cat; else printf %s "$last"; fi; }';
  const { stdout, stderr } = spawnSync("bash", ["-c", `${curl}\n${command}`], {
    cwd,
    encoding: "utf8",
    timeout: 60_000,
  });
  assert.equal(stderr, "");
  return JSON.parse(stdout);
}
