import assert from "node:assert/strict";
import { after, test } from "node:test";
import Fastify from "fastify";
import { readFormBodies, requireForm } from "../../../src/api/http/form-body.ts";
import fc from "../../properties.ts";
import { ScriptedRecogniser } from "../../recognition/scripted-recogniser.ts";
import { PATH, WAV } from "./forms.ts";
import { exchange } from "./raw-socket.ts";
import { startTestServer } from "./start.ts";

const recogniser = new ScriptedRecogniser();
const server = await startTestServer({ recogniser });
after(() => server.stop());

const BOUNDARY = "xyz";
const TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

function part(head: string, body: string | Uint8Array): Buffer {
  const lines = `--${BOUNDARY}\r\nContent-Disposition: form-data; ${head}\r\n\r\n`;
  return Buffer.concat([Buffer.from(lines), Buffer.from(body), Buffer.from("\r\n")]);
}

function whole(file: Uint8Array = WAV): Buffer {
  const end = Buffer.from(`--${BOUNDARY}--\r\n`);
  return Buffer.concat([part('name="model"', "whisper-1"), part('name="file"; filename="a"', file), end]);
}

/** Posts bytes chunked, in chunks of a given size. */
function chunked(bytes: Buffer, chunkBytes: number): Promise<string> {
  const chunks = [
    `POST ${PATH} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-API-Key: ${server.key}\r\n` +
      `Content-Type: ${TYPE}\r\nTransfer-Encoding: chunked\r\n\r\n`,
  ];
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    const chunk = bytes.subarray(at, at + chunkBytes);
    chunks.push(`${chunk.length.toString(16)}\r\n${chunk.toString("latin1")}\r\n`);
  }
  return exchange(server, `${chunks.join("")}0\r\n\r\n`);
}

/** Posts a form as it is. */
function post(body: Uint8Array, type = TYPE) {
  const headers = { "X-API-Key": server.key, "Content-Type": type };
  return fetch(server.url + PATH, { method: "POST", headers, body: Buffer.from(body) });
}

/** The message of the 422 for a form that begins with these parts. */
async function messageFor(...parts: Buffer[]): Promise<string> {
  const reply = await post(Buffer.concat([...parts, whole()]));
  assert.equal(reply.status, 422);
  return ((await reply.json()) as { error: { message: string } }).error.message;
}

/** A WAV of silence. */
function wavOfSize(dataBytes: number): Uint8Array {
  const wav = new Uint8Array(44 + dataBytes);
  wav.set(WAV.subarray(0, 44));
  new DataView(wav.buffer).setUint32(40, dataBytes, true);
  return wav;
}

test("reads a chunked form in chunks of any size, down to single bytes", async () => {
  recogniser.clips.length = 0;
  for (const chunkBytes of [1, 7, 1_000, 100_000]) {
    const file = chunkBytes === 1 ? wavOfSize(200) : WAV;
    assert.match(await chunked(whole(file), chunkBytes), /^HTTP\/1\.1 200 OK/, `${chunkBytes}`);
  }
  assert.deepEqual(
    recogniser.clips.map(({ samples }) => samples.length),
    [100, 8_000, 8_000, 8_000],
  );
  const [, first, ...others] = recogniser.clips;
  for (const { samples } of others) assert.deepEqual(samples, first?.samples, "the same file");
  assert.match(await chunked(whole(wavOfSize(400_000)), 50_000), /^HTTP\/1\.1 200 OK/);
  assert.equal(recogniser.clips.at(-1)?.samples.length, 200_000);
});

test("rejects a long form in single-byte chunks", async () => {
  const form = whole(wavOfSize(40_000));
  const refusal = /^HTTP\/1\.1 400 [\s\S]*too many small chunks: send it in chunks of 64/;
  assert.match(await chunked(form, 1), refusal);
  assert.match(await chunked(form, 100), /^HTTP\/1\.1 200 OK/);
});

test("answers every mutated form with 200, 400 or 422", async () => {
  const isAnswered = async (body: Uint8Array, type: string) => {
    const reply = await post(body, type);
    const text = await reply.text();
    assert.ok([200, 400, 422].includes(reply.status), `${reply.status}: ${text}`);
    if (reply.status !== 200) assert.ok(JSON.parse(text).error.message.length > 10);
  };
  const good = whole(WAV.slice(0, 244));
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { maxLength: 4 }),
      fc.nat(good.length),
      fc.nat(good.length),
      async (faults, from, to) => {
        const bytes = Buffer.from(good);
        for (const [at, value] of faults) bytes[at] = value;
        await isAnswered(
          from < to ? Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]) : bytes,
          TYPE,
        );
      },
    ),
    { numRuns: 150 },
  );
  const anyBody = fc.uint8Array({ maxLength: 300 });
  await fc.assert(
    fc.asyncProperty(anyBody, fc.string({ maxLength: 80 }), async (body, boundary) => {
      const own = encodeURIComponent(boundary);
      const type = `multipart/form-data; boundary="${own}"`;
      await isAnswered(body, type);
      await isAnswered(Buffer.concat([Buffer.from(`--${own}\r\n`), body]), type);
    }),
    { numRuns: 60 },
  );
});

test("limits the total size of the text fields", async () => {
  const full = [..."abcde"].map((name) => part(`name="${name}"`, "é".repeat(30_000)));
  const named = Array.from({ length: 20 }, (_, at) => part(`name="${at}${"n".repeat(7_000)}"`, ""));
  for (const parts of [full, named])
    assert.equal(
      await messageFor(...parts),
      "the text fields are over 131072 bytes together: send less in them",
    );
});

test("counts the text of a form from its headers to the request's end", async () => {
  const held: number[] = [];
  const app = Fastify();
  app.decorateRequest("tracked");
  const admitRecording = async (_caller: unknown, bytes: number) => {
    held.push(bytes);
    return { shrink: (units: number) => held.push(units) };
  };
  app.addHook("onRequest", async (request) => {
    request.tracked = { caller: {}, response: {}, signal: new AbortController().signal } as never;
  });
  readFormBodies(app, { admitRecording } as never, { field: "file", maxBytes: 200_000 });
  app.post("/", async (request) => requireForm(request, "file").fields.length);
  const body = Buffer.concat([part('name="prompt"', "я".repeat(1_000)), whole(new Uint8Array(100_000))]);
  const reply = await app.inject({ method: "POST", url: "/", headers: { "content-type": TYPE }, body });
  assert.equal(reply.body, "2");
  const chars = "prompt".length + 1_000 + "model".length + "whisper-1".length;
  assert.deepEqual(held, [body.length + 2 * 131_072, body.length + 2 * chars]);
});

test("treats JavaScript's property names as unknown fields", async () => {
  for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty", ""])
    assert.match(await messageFor(part(`name="${name}"`, "x")), /is not a field of this form/, name);
});

test("quotes a field name, truncated and with invisible characters escaped", async () => {
  const long = "n".repeat(7_000);
  for (const [head, wrong] of [
    [`name="${long}"; filename="a"`, `"${"n".repeat(64)}…" is sent as a file`],
    ['name="a is fine. b"; filename="a"', '"a is fine. b" is sent as a file'],
    ['name="mo\u202edel\u0007"; filename="a"', '"mo\\u202edel\\u0007" is sent as a file'],
    ['name="audio"; filename="a"', "audio is sent as a file"],
  ] as const) {
    assert.ok((await messageFor(part(head, "x"))).startsWith(wrong), head.slice(0, 60));
  }
  for (const [name, shown] of [
    [long, `"${"n".repeat(64)}…"`],
    ["\u202ex", '"\\u202ex"'],
    ["prompt", "prompt"],
  ] as const) {
    const message = await messageFor(part(`name="${name}"`, "x".repeat(70_000)));
    assert.ok(message.startsWith(`${shown} is over 65536 bytes`), message.slice(0, 100));
  }
  const message = await messageFor(part(`name="${"n".repeat(60_000)}"; filename="a"`, "x"));
  assert.ok(message.length < 400, "a name longer than the headers of a part");
});
