import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { TOP } from "../../../architecture/top.ts";
import { inChromium, NEEDS_CHROMIUM } from "../../../client/browser.ts";
import { until } from "../../../waiting.ts";
import { startTestServer, type TestServer } from "../start.ts";

describe("GET /docs", () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  test("restricts its page to its own server and to external scripts", async () => {
    const reply = await server.get("/docs", {});
    assert.equal(reply.status, 200);
    assert.equal(reply.headers.get("content-type"), "text/html; charset=utf-8");
    const policy = reply.headers.get("content-security-policy") ?? "";
    const self = ["script-src 'self'", "connect-src 'self'"];
    for (const rule of ["default-src 'none'", "frame-ancestors 'none'", ...self])
      assert.ok(policy.split("; ").includes(rule), rule);
    assert.doesNotMatch(policy, /https?:|\*|unsafe-eval/);
    const page = await reply.text();
    for (const [, path] of page.matchAll(/(?:src|spec-url)="([^"]+)"/g))
      assert.equal((await server.get(path!, {})).status, 200, path);
  });

  test("serves the published script with its licence", async () => {
    const script = await (await server.get("/docs/rapidoc-min.js", {})).text();
    assert.match(script, /^\/\*! RapiDoc 9\.3\.8 /);
    const licence = readFileSync(join(TOP, "api-docs/LICENSE"), "utf8");
    assert.match(licence, /^MIT License\n\nCopyright \(c\) 2022 Mrinmoy/);
  });

  test("shows every call in a browser without asking another server", NEEDS_CHROMIUM, async () => {
    const paths = Object.keys((await (await server.get("/openapi.json", {})).json()).paths);
    await inChromium(`${server.url}/docs`, async ({ evaluate }) => {
      const shown = () => evaluate(`document.querySelector("rapi-doc").shadowRoot.textContent`);
      await until("the calls", async () => {
        const text = `${await shown()}`;
        return paths.every((path) => text.includes(path));
      });
      await until("a label for every field", async () => {
        const counts = (await evaluate(`(() => {
          const trees = (root) => [root, ...[...root.querySelectorAll("*")].flatMap(({ shadowRoot }) => shadowRoot ? trees(shadowRoot) : [])];
          const fields = trees(document).flatMap((root) => [...root.querySelectorAll("input, select, textarea")]);
          return [fields.length, fields.filter(({ labels, ariaLabel }) => labels.length === 0 && !ariaLabel).length];
        })()`)) as [number, number];
        return counts[0] > 20 && counts[1] === 0;
      });
      const loaded = `performance.getEntriesByType("resource").map(({ name }) => name).join(" ")`;
      const names = `${await evaluate(loaded)}`.split(" ");
      const urls = names.filter((name) => !name.startsWith("data:"));
      assert.ok(urls.includes(`${server.url}/openapi.json`));
      assert.deepEqual([...new Set(urls.map((name) => new URL(name).origin))], [new URL(server.url).origin]);
    });
  });
});

describe("GET /documentation", () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  test("shows README.md and the pages that it links to, with their headings", NEEDS_CHROMIUM, async () => {
    assert.equal((await server.get("/documentation/package.json", {})).status, 404);
    await inChromium(`${server.url}/documentation`, async ({ evaluate }) => {
      const root = `document.querySelector("rapi-doc").shadowRoot`;
      const has = (selector: string) =>
        evaluate(`${root}?.querySelector(${JSON.stringify(selector)}) !== null`);
      await until(
        "a link to a page",
        () => has(`a[href="/documentation?page=voices.md"]`) as Promise<boolean>,
      );
      await evaluate(`location.href = "/documentation?page=voices.md"`);
      const isThere = async () =>
        /Voices of your own/.test(
          `${await evaluate(`${root}?.querySelector("nav")?.textContent`).catch(() => "")}`,
        );
      await until("the headings of the page", isThere);
    });
  });
});

describe("A static file", () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ flags: { corsOrigins: "http://page.example" } });
  });
  after(() => server.stop());

  /** Sends only the given headers, unlike `fetch`. */
  async function ask(headers: Record<string, string>) {
    const request = get(`${server.url}/docs/rapidoc-min.js`, { headers });
    const [response] = (await once(request, "response")) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) };
  }

  test("is compressed for clients that accept gzip", async () => {
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
      const { headers } = await ask({ "Accept-Encoding": refused });
      assert.equal(headers["content-encoding"], undefined, refused);
    }
  });

  test("has an ETag per encoding, and Vary", async () => {
    const [plain, packed] = [await ask({}), await ask({ "Accept-Encoding": "gzip" })];
    assert.notEqual(plain.headers.etag, packed.headers.etag);
    for (const { headers } of [plain, packed]) assert.equal(headers.vary, "Accept-Encoding, Origin");
    const again = { "If-None-Match": packed.headers.etag! };
    assert.equal((await ask({ ...again, "Accept-Encoding": "gzip" })).status, 304);
    assert.equal((await ask(again)).status, 200);
  });
});
