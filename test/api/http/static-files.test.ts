import assert from "node:assert/strict";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { after, before, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { startTestServer, type TestServer } from "./start.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer({ flags: { corsOrigins: "http://page.example" } });
});
after(() => server.stop());

/** Asks without what `fetch` adds and takes away by itself. */
async function ask(headers: Record<string, string>) {
  const [response] = (await once(get(`${server.url}/docs/rapidoc-min.js`, { headers }), "response")) as [
    IncomingMessage,
  ];
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece);
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(pieces) };
}

test("a page's file is sent compressed to whoever takes it so, and is the same file", async () => {
  const plain = await ask({});
  assert.equal(plain.headers["content-encoding"], undefined);
  for (const accepted of ["gzip", "deflate, gzip;q=0.5, br", "GZIP"]) {
    const packed = await ask({ "Accept-Encoding": accepted });
    assert.equal(packed.headers["content-encoding"], "gzip", accepted);
    assert.equal(packed.headers["content-type"], plain.headers["content-type"]);
    assert.ok(packed.body.length < plain.body.length / 3);
    assert.ok(gunzipSync(packed.body).equals(plain.body));
  }
  for (const refused of ["", "br", "gzip;q=0", "gzip; q=0.0, br"]) {
    assert.equal((await ask({ "Accept-Encoding": refused })).headers["content-encoding"], undefined, refused);
  }
});

test("what is kept of a file is told apart by its coding and by who asked", async () => {
  const [plain, packed] = [await ask({}), await ask({ "Accept-Encoding": "gzip" })];
  assert.notEqual(plain.headers.etag, packed.headers.etag);
  for (const { headers } of [plain, packed]) assert.equal(headers.vary, "Accept-Encoding, Origin");
  const again = { "If-None-Match": packed.headers.etag! };
  assert.equal((await ask({ ...again, "Accept-Encoding": "gzip" })).status, 304);
  assert.equal((await ask(again)).status, 200);
});
