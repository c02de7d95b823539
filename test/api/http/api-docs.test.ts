import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { TOP } from "../../architecture/top.ts";
import { inChromium, NEEDS_CHROMIUM } from "../../client/browser.ts";
import { until } from "../../waiting.ts";
import { startTestServer, type TestServer } from "./start.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.stop());

test("GET /docs is a page that may load and call its own server alone, and runs nothing that is inline", async () => {
  const reply = await server.get("/docs", {});
  assert.equal(reply.status, 200);
  assert.equal(reply.headers.get("content-type"), "text/html; charset=utf-8");
  const policy = reply.headers.get("content-security-policy") ?? "";
  for (const rule of [
    "default-src 'none'",
    "script-src 'self'",
    "connect-src 'self'",
    "frame-ancestors 'none'",
  ])
    assert.ok(policy.split("; ").includes(rule), rule);
  assert.doesNotMatch(policy, /https?:|\*|unsafe-eval/);
  const page = await reply.text();
  for (const [, path] of page.matchAll(/(?:src|spec-url)="([^"]+)"/g))
    assert.equal((await server.get(path!, {})).status, 200, path);
});

test("the page's script is the published one, with its licence beside it", async () => {
  const script = await (await server.get("/docs/rapidoc-min.js", {})).text();
  assert.match(script, /^\/\*! RapiDoc 9\.3\.8 /);
  assert.match(
    readFileSync(join(TOP, "api-docs/LICENSE"), "utf8"),
    /^MIT License\n\nCopyright \(c\) 2022 Mrinmoy/,
  );
});

test(
  "in a browser, the page shows every call and asks nobody but its own server",
  NEEDS_CHROMIUM,
  async () => {
    const paths = Object.keys((await (await server.get("/openapi.json", {})).json()).paths);
    await inChromium(`${server.url}/docs`, async ({ evaluate }) => {
      const shown = () => evaluate(`document.querySelector("rapi-doc").shadowRoot.textContent`);
      await until("the calls", async () => {
        const text = `${await shown()}`;
        return paths.every((path) => text.includes(path));
      });
      const asked = await evaluate(
        `performance.getEntriesByType("resource").map(({ name }) => name).join(" ")`,
      );
      const urls = `${asked}`.split(" ").filter((name) => !name.startsWith("data:"));
      assert.ok(urls.includes(`${server.url}/openapi.json`));
      assert.deepEqual([...new Set(urls.map((name) => new URL(name).origin))], [new URL(server.url).origin]);
    });
  },
);
