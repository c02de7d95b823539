import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { type AddressInfo, createServer as listenTo } from "node:net";
import { after, describe, it } from "node:test";
import { DEFAULT_WRITER, findCheckpoint } from "../../src/catalogue/checkpoints.ts";
import { fixManifest } from "../../src/catalogue/folder-records.ts";
import { hubManifest } from "../../src/catalogue/hub/hub-manifest.ts";
import { findHubWriter } from "../../src/catalogue/hub-writers.ts";
import { checkpointDir, checkpointFile } from "../../src/catalogue/installed-checkpoint.ts";
import { keepSpeed } from "../../src/catalogue/writer-speed.ts";
import { loadSettings } from "../../src/settings/load.ts";
import { betterWriter, type Neighbour } from "../../src/terminal/better-writer.ts";
import { temporaryFolder } from "../e2e/folders.ts";

const ends: (() => void)[] = [];
after(() => {
  for (const end of ends) end();
});

/** A neighbour that answers so, and what it was asked. */
async function neighbour(listener: RequestListener, ownedBy?: string) {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    listener(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  ends.push(() => server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  const known: Neighbour = { name: "Ollama", port, ...(ownedBy !== undefined && { ownedBy }) };
  return { known, asked, port };
}

const listing = (...models: readonly object[]) => JSON.stringify({ object: "list", data: models });

async function offered(
  neighbours: readonly Neighbour[],
  {
    flags = {},
    dataDir = temporaryFolder(),
    ownPort = 1,
    memoryBytes = 8e9,
  }: { flags?: Record<string, string>; dataDir?: string; ownPort?: number; memoryBytes?: number } = {},
) {
  const settings = loadSettings({ env: {}, flags: { dataDir, ...flags } });
  const { signal } = new AbortController();
  return betterWriter(settings, { ownPort, signal, neighbours, memoryBytes });
}

const PULL =
  /^Replies are simple\. npx antiphon models pull qwen2\.5-1\.5b fetches [^\n]* \(1\.1 GB, Apache-2\.0\); then ANTIPHON_WRITER_CHECKPOINT=qwen2\.5-1\.5b npx antiphon serve$/;

describe("what else could write", () => {
  it("is a neighbour's model that chats, by the command that takes it, asked once and without a key", async () => {
    const body = listing({ id: "nomic-embed-text:latest" }, { id: "qwen3:4b" });
    const { known, asked, port } = await neighbour((_, response) => response.end(body));
    assert.equal(
      await offered([known]),
      `Replies are simple. Ollama runs here; to have its qwen3:4b write: ANTIPHON_WRITER_KIND=chat ` +
        `ANTIPHON_WRITER_BASE_URL=http://127.0.0.1:${port}/v1 ANTIPHON_WRITER_MODEL=qwen3:4b npx antiphon serve`,
    );
    assert.deepEqual(
      asked.map(({ method, url, headers }) => [method, url, headers.authorization]),
      [["GET", "/v1/models", undefined]],
    );
  });

  it("is not the server itself, nor somebody else at a port that many use", async () => {
    const any = await neighbour(
      (_, response) => response.end(listing({ id: "tts-1", owned_by: "openai" })),
      "llamacpp",
    );
    assert.match((await offered([any.known])) ?? "", PULL);
    assert.equal(any.asked.length, 1);
    await offered([any.known], { ownPort: any.port });
    assert.equal(any.asked.length, 1, "it did not ask itself");
    const own = { id: "gemma.gguf", owned_by: "llamacpp" };
    const llama = await neighbour((_, response) => response.end(listing(own)), "llamacpp");
    assert.match((await offered([llama.known])) ?? "", /gemma\.gguf write/);
  });

  it("is the known model that is best where no neighbour answers as it should", async () => {
    const other = await neighbour((_, response) => response.end(listing({ id: "stolen" })));
    const bad: readonly RequestListener[] = [
      (_, response) => response.end("nonsense"),
      (_, response) => response.end("null"),
      (_, response) =>
        response.end(listing({ id: 7 }, { id: "a\u001b[2J; rm -rf" }, { id: "x".repeat(500) })),
      (_, response) => response.end('{"data": {}}'),
      (_, response) => response.end("x".repeat(1 << 20)),
      (_, response) => response.writeHead(500).end(listing({ id: "qwen3:4b" })),
      (_, response) =>
        response.writeHead(302, { location: `http://127.0.0.1:${other.port}/v1/models` }).end(),
      (request) => request.socket.destroy(),
      () => {},
      (_, response) => void response.writeHead(200).write('{"data": ['),
    ];
    const neighbours = await Promise.all(bad.map((listener) => neighbour(listener)));
    const mute = listenTo(() => {}).listen(0, "127.0.0.1");
    await once(mute, "listening");
    ends.push(() => mute.close());
    const ports = [(mute.address() as AddressInfo).port, 1];
    const all = [...neighbours.map(({ known }) => known), ...ports.map((port) => ({ name: "Mute", port }))];
    assert.match((await offered(all)) ?? "", PULL);
    assert.equal(other.asked.length, 0, "no redirect was followed");
  });

  it("is told with the time to its first words by what was measured here of another model, or of itself", async () => {
    const dataDir = temporaryFolder();
    const small = findCheckpoint(DEFAULT_WRITER)!;
    mkdirSync(checkpointDir(small, dataDir), { recursive: true });
    await keepSpeed(small, dataDir, 0, { readTokensPerS: 1_000, writeTokensPerS: 150 });
    assert.match(
      (await offered([], { dataDir })) ?? "",
      /models pull .*, first words after about 2\.1 s here; then/,
    );
    const { repository, path, known } = findHubWriter("qwen2.5-1.5b")!;
    const file = { path, sizeBytes: known!.sizeBytes, sha256: "0".repeat(64) };
    const manifest = hubManifest(
      { repository, revision: "a".repeat(40), licence: null, licenceLink: null } as Parameters<
        typeof hubManifest
      >[0],
      file as Parameters<typeof hubManifest>[1],
    );
    await fixManifest(manifest, dataDir);
    writeFileSync(checkpointFile(manifest, dataDir), "");
    truncateSync(checkpointFile(manifest, dataDir), known!.sizeBytes);
    await keepSpeed(manifest, dataDir, 0, { readTokensPerS: 400, writeTokensPerS: 30 });
    assert.match(
      (await offered([], { dataDir })) ?? "",
      /^Replies are simple\. .* is installed, first words after about 1\.0 s here; to have it write: ANTIPHON_WRITER_CHECKPOINT=/,
    );
  });

  it("is nothing where another model writes, nobody does, or there is too little memory", async () => {
    const { known, asked } = await neighbour((_, response) => response.end(listing({ id: "qwen3:4b" })));
    for (const flags of [
      { "writer.kind": "none" },
      { "writer.kind": "chat", "writer.model": "x", "writer.baseUrl": "http://127.0.0.1:1/v1" },
      { "writer.checkpoint": "auto" },
    ]) {
      assert.equal(await offered([known], { flags }), null);
    }
    assert.equal(asked.length, 0);
    assert.equal(await offered([], { memoryBytes: 2e9 }), null);
  });

  it("is waited for no longer than the server runs", async () => {
    const { known } = await neighbour(() => {});
    const settings = loadSettings({ env: {}, flags: { dataDir: temporaryFolder() } });
    const line = await betterWriter(settings, {
      ownPort: 1,
      signal: AbortSignal.abort(),
      neighbours: [known],
    });
    assert.match(line ?? "", PULL);
  });
});
