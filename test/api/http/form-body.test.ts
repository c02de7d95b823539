import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import Fastify from "fastify";
import { readFormBodies, requireForm } from "../../../src/api/http/form-body.ts";
import fc from "../../properties.ts";
import { ScriptedRecogniser } from "../../recognition/scripted-recogniser.ts";
import { openRaw } from "./raw-socket.ts";
import { startTestServer, type TestServer } from "./start.ts";
import { PATH, WAV } from "./transcription-form.ts";

let server: TestServer;
let recogniser: ScriptedRecogniser;
before(async () => {
  recogniser = new ScriptedRecogniser();
  server = await startTestServer({ recogniser });
});
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

/** Posts bytes as they are, of a length that is not said, in pieces. */
async function chunked(bytes: Buffer, pieceBytes: number): Promise<string> {
  const { socket, received, over } = await openRaw(server);
  socket.write(
    `POST ${PATH} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-API-Key: ${server.key}\r\n` +
      `Content-Type: ${TYPE}\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const piece = bytes.subarray(at, at + pieceBytes);
    socket.write(`${piece.length.toString(16)}\r\n`);
    socket.write(piece);
    socket.write("\r\n");
  }
  socket.write("0\r\n\r\n");
  await over;
  return received();
}

test("a form of unknown length is taken in whatever pieces it comes, byte by byte too", async () => {
  recogniser.clips.length = 0;
  for (const pieceBytes of [1, 7, 1_000, 100_000]) {
    const file = pieceBytes === 1 ? WAV.slice(0, 44 + 200) : WAV;
    if (pieceBytes === 1) new DataView(file.buffer).setUint32(40, 200, true);
    assert.match(await chunked(whole(file), pieceBytes), /^HTTP\/1\.1 200 OK/, `${pieceBytes}`);
  }
  assert.deepEqual(
    recogniser.clips.map(({ samples }) => samples.length),
    [100, 8_000, 8_000, 8_000],
  );
  const [, first, ...others] = recogniser.clips;
  for (const { samples } of others) assert.deepEqual(samples, first?.samples, "the same file");
  const large = new Uint8Array(44 + 400_000);
  large.set(WAV.subarray(0, 44));
  new DataView(large.buffer).setUint32(40, 400_000, true);
  assert.match(await chunked(whole(large), 50_000), /^HTTP\/1\.1 200 OK/);
  assert.equal(recogniser.clips.at(-1)?.samples.length, 200_000);
});

test("a form that comes byte by byte without end is refused, and nothing is kept of its pieces", async () => {
  const large = new Uint8Array(44 + 40_000);
  large.set(WAV.subarray(0, 44));
  assert.match(
    await chunked(whole(large), 1),
    /^HTTP\/1\.1 400 [\s\S]*too many small chunks: send it in chunks of 64/,
  );
  assert.match(await chunked(whole(large), 100), /^HTTP\/1\.1 200 OK/);
});

test("whatever a form holds, it is answered, and by the table", async () => {
  const post = async (body: Uint8Array, type: string) => {
    const headers = { "X-API-Key": server.key, "Content-Type": type };
    const reply = await fetch(server.url + PATH, { method: "POST", headers, body: Buffer.from(body) });
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
        await post(from < to ? Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]) : bytes, TYPE);
      },
    ),
    { numRuns: 150 },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 300 }),
      fc.string({ maxLength: 80 }),
      async (body, boundary) => {
        const own = encodeURIComponent(boundary);
        await post(body, `multipart/form-data; boundary="${own}"`);
        await post(
          Buffer.concat([Buffer.from(`--${own}\r\n`), body]),
          `multipart/form-data; boundary="${own}"`,
        );
      },
    ),
    { numRuns: 60 },
  );
});

test("text fields may have so much together, and are refused as soon as that is over", async () => {
  const full = (name: string) => part(`name="${name}"`, "é".repeat(30_000));
  const post = async (...parts: Buffer[]) => {
    const headers = { "X-API-Key": server.key, "Content-Type": TYPE };
    const body = Buffer.concat([...parts, whole()]);
    return fetch(server.url + PATH, { method: "POST", headers, body });
  };
  const reply = await post(full("a"), full("b"), full("c"), full("d"), full("e"));
  assert.equal(reply.status, 422);
  const { error } = (await reply.json()) as { error: { message: string } };
  assert.equal(error.message, "the text fields are over 131072 bytes together: send less in them");
  const named = Array.from({ length: 20 }, (_, at) => part(`name="${at}${"n".repeat(7_000)}"`, ""));
  assert.match(await (await post(...named)).text(), /the text fields are over 131072 bytes together/);
});

test("the text of a form counts before it comes, and until the request ends", async () => {
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

test("names that mean something to JavaScript are fields that nobody knows", async () => {
  for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty", ""]) {
    const form = Buffer.concat([part(`name="${name}"`, "x"), whole()]);
    const headers = { "X-API-Key": server.key, "Content-Type": TYPE };
    const reply = await fetch(server.url + PATH, { method: "POST", headers, body: form });
    assert.equal(reply.status, 422, name);
    const { error } = (await reply.json()) as { error: { message: string } };
    assert.match(error.message, /is not a field of this form/, name);
  }
});

test("a name that is the client's own is told in quotes, cut short, and without what cannot be seen", async () => {
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
  assert.ok(message.length < 400, "one that is longer than a part's headers may be");
});

/** What is said of a form that begins with that part. */
async function messageFor(first: Buffer): Promise<string> {
  const headers = { "X-API-Key": server.key, "Content-Type": TYPE };
  const body = Buffer.concat([first, whole()]);
  const reply = await fetch(server.url + PATH, { method: "POST", headers, body });
  assert.equal(reply.status, 422);
  return ((await reply.json()) as { error: { message: string } }).error.message;
}
