import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import pino from "pino";
import { startTestServer, type TestServer } from "../api/http/start.ts";
import { TOP } from "../architecture/top.ts";
import { until } from "../waiting.ts";

const FOLDER = join(TOP, "playground");

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.stop());

const get = (path: string, headers: Record<string, string> = {}) => server.get(path, headers);

test("serves the page and its files without a key, each with its type", async () => {
  const types = { html: "text/html; charset=utf-8", js: "text/javascript; charset=utf-8" };
  const others = { css: "text/css; charset=utf-8", svg: "image/svg+xml" };
  for (const name of readdirSync(FOLDER)) {
    const reply = await get(name === "index.html" ? "/" : `/playground/${name}`);
    assert.equal(reply.status, 200, name);
    const kind = name.split(".").at(-1) as keyof typeof types & keyof typeof others;
    assert.equal(reply.headers.get("content-type"), { ...types, ...others }[kind], name);
    assert.equal(reply.headers.get("x-content-type-options"), "nosniff");
    assert.match(reply.headers.get("x-request-id") ?? "", /^req_/);
    assert.ok(reply.headers.get("x-ratelimit-limit"));
    assert.equal(await reply.text(), readFileSync(join(FOLDER, name), "utf8"));
  }
  assert.equal((await get("/playground/client/antiphon.d.ts")).status, 404);
});

test("serves the modules that the page imports and no others", async () => {
  const reached = new Set(["/playground/app.js"]);
  for (const path of reached) {
    const reply = await get(path);
    assert.equal(reply.status, 200, path);
    assert.equal(reply.headers.get("content-type"), "text/javascript; charset=utf-8", path);
    // Imports without a dot are Node's alone.
    for (const [, target] of (await reply.text()).matchAll(/(?:from|import\()\s?"(\.[^"]+)"/g))
      reached.add(new URL(target!, `http://page${path}`).pathname);
  }
  for (const name of [
    "captions/captions.js",
    "audio/encode/flac.js",
    "audio/encode/linear-prediction.js",
    "libopus.js",
  ])
    assert.ok(reached.has(`/playground/${name}`), name);
  for (const name of ["decode-wav.js", "encode/open-encoder.js", "recordings/decode-recording.js"])
    assert.equal((await get(`/playground/audio/${name}`)).status, 404, name);
  const wasm = await get("/playground/lame.wasm");
  assert.equal(wasm.headers.get("content-type"), "application/wasm");
});

test("loads at most 60 KiB, compressed, before anything is pressed", async () => {
  const page = await (await get("/")).text();
  const loaded = new Set(["/", ...[...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, path]) => path!)]);
  let bytes = 0;
  for (const path of loaded) {
    const text = await (await get(path)).text();
    bytes += gzipSync(text).length;
    if (!path.endsWith(".js")) continue;
    for (const [, target] of text.matchAll(/from\s?"(\.[^"]+)"/g))
      loaded.add(new URL(target!, `http://page${path}`).pathname);
  }
  assert.ok(!loaded.has("/playground/new-voice.js"), "dialogs are loaded when they are asked for");
  assert.ok(bytes <= 60 * 1_024, `${bytes} bytes`);
});

test("revalidates the page on every load", async () => {
  const first = await get("/");
  assert.equal(first.headers.get("cache-control"), "no-cache");
  const etag = first.headers.get("etag") ?? "";
  const again = await get("/", { "If-None-Match": etag });
  assert.equal(again.status, 304);
  assert.equal(await again.text(), "");
  assert.equal((await get("/", { "If-None-Match": '"another"' })).status, 200);
});

test("has a content security policy for its own server, and nothing inline", async () => {
  const reply = await get("/");
  const policy = Object.fromEntries(
    (reply.headers.get("content-security-policy") ?? "").split("; ").map((rule) => rule.split(/ (.*)/, 2)),
  );
  assert.equal(policy["default-src"], "'none'");
  for (const kind of ["style-src", "connect-src", "img-src"]) assert.equal(policy[kind], "'self'");
  assert.equal(policy["script-src"], "'self' 'wasm-unsafe-eval'");
  for (const kind of ["base-uri", "form-action", "frame-ancestors"]) assert.equal(policy[kind], "'none'");
  const page = await reply.text();
  assert.doesNotMatch(page, /<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=|javascript:/i);
});

test("links and imports only what is served", async () => {
  const page = await (await get("/")).text();
  const linked = [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, path]) => path!);
  assert.ok(linked.length >= 3);
  for (const path of linked) assert.equal((await get(path)).status, 200, path);
  for (const name of readdirSync(FOLDER).filter((file) => /\.(?:js|css)$/.test(file))) {
    const source = readFileSync(join(FOLDER, name), "utf8").replace('"http://www.w3.org/2000/svg"', "");
    assert.doesNotMatch(source, /https?:\/\/|\beval\(|innerHTML|@import|\burl\(/, name);
  }
});

test("has a label for every control and every element that scripts look for", async () => {
  const page = await (await get("/")).text();
  const ids = new Set([...page.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id!));
  const labelled = new Set([...page.matchAll(/<label for="([^"]+)"/g)].map(([, id]) => id!));
  for (const [control, id] of page.matchAll(/<(?:input|select|textarea)\b[^>]*\sid="([^"]+)"/g)) {
    assert.ok(labelled.has(id!), control);
  }
  for (const name of readdirSync(FOLDER).filter((file) => file.endsWith(".js"))) {
    for (const [, id] of readFileSync(join(FOLDER, name), "utf8").matchAll(/\$\("([\w-]+)"\)/g)) {
      assert.ok(ids.has(id!), `${name} looks for #${id}`);
    }
  }
});

test("is left out of the request log", async () => {
  const routes: string[] = [];
  const write = (line: string) => void routes.push(JSON.parse(line).route);
  const own = await startTestServer({ logger: pino({ level: "info" }, { write }) });
  try {
    for (const path of ["/", "/playground/app.js", "/docs", "/health"]) await (await own.get(path)).text();
    await until("the last line", () => routes.includes("/health"));
    assert.deepEqual(
      routes.filter((route) => route !== undefined),
      ["/health"],
    );
  } finally {
    await own.stop();
  }
});

test("is not served when it is disabled", async () => {
  const own = await startTestServer({ flags: { "playground.enabled": "false" } });
  try {
    for (const path of ["/", "/playground/app.js"]) {
      const reply = await own.get(path, {});
      assert.equal(reply.status, 404, path);
      assert.equal((await reply.json()).error.type, "not_found");
    }
  } finally {
    await own.stop();
  }
});
