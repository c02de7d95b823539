import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { type AddressInfo, createServer as listenTo } from "node:net";
import { after, describe, it } from "node:test";
import { type ModelServer, repliesLine } from "../../src/cli/replies-line.ts";
import { loadSettings } from "../../src/settings/load.ts";
import { temporaryFolder } from "../e2e/folders.ts";

const ends: (() => void)[] = [];
after(() => {
  for (const end of ends) end();
});

async function modelServer(listener: RequestListener, ownedBy?: string) {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    listener(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  ends.push(() => server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  const known: ModelServer = { name: "Ollama", port, ...(ownedBy !== undefined && { ownedBy }) };
  return { known, asked, port };
}

const listing = (...models: readonly object[]) => JSON.stringify({ object: "list", data: models });

async function offered(
  servers: readonly ModelServer[],
  { flags = {}, ownPort = 1 }: { flags?: Record<string, string>; ownPort?: number } = {},
) {
  const settings = loadSettings({ env: {}, flags: { dataDir: temporaryFolder(), ...flags } });
  return repliesLine(settings, ownPort, new AbortController().signal, servers);
}

const PULL =
  "Replies are small talk. For a language model (1.8 GB): npx antiphon models pull qwen3-1.7b && " +
  "ANTIPHON_WRITER_CHECKPOINT=qwen3-1.7b npx antiphon serve";

describe("the suggested writer", () => {
  it("is a model server's chat model, asked once and without a key", async () => {
    const body = listing({ id: "nomic-embed-text:latest" }, { id: "qwen3:4b" });
    const { known, asked, port } = await modelServer((_, response) => response.end(body));
    assert.equal(
      await offered([known]),
      `Replies are small talk. Ollama runs here; to have its qwen3:4b write: ANTIPHON_WRITER_KIND=chat ` +
        `ANTIPHON_WRITER_BASE_URL=http://127.0.0.1:${port}/v1 ANTIPHON_WRITER_MODEL=qwen3:4b npx antiphon serve`,
    );
    assert.deepEqual(
      asked.map(({ method, url, headers }) => [method, url, headers.authorization]),
      [["GET", "/v1/models", undefined]],
    );
  });

  it("is neither the server itself nor an unrelated program", async () => {
    const any = await modelServer(
      (_, response) => response.end(listing({ id: "tts-1", owned_by: "openai" })),
      "llamacpp",
    );
    assert.equal(await offered([any.known]), PULL);
    assert.equal(any.asked.length, 1);
    await offered([any.known], { ownPort: any.port });
    assert.equal(any.asked.length, 1, "it did not ask itself");
    const own = { id: "gemma.gguf", owned_by: "llamacpp" };
    const llama = await modelServer((_, response) => response.end(listing(own)), "llamacpp");
    assert.match(await offered([llama.known]), /gemma\.gguf write/);
  });

  it("is the first model of the list if no model server answers properly", async () => {
    const other = await modelServer((_, response) => response.end(listing({ id: "stolen" })));
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
    const servers = await Promise.all(bad.map((listener) => modelServer(listener)));
    const mute = listenTo(() => {}).listen(0, "127.0.0.1");
    await once(mute, "listening");
    ends.push(() => mute.close());
    const ports = [(mute.address() as AddressInfo).port, 1];
    const all = [...servers.map(({ known }) => known), ...ports.map((port) => ({ name: "Mute", port }))];
    assert.equal(await offered(all), PULL);
    assert.equal(other.asked.length, 0, "no redirect was followed");
  });

  it("is not looked for if the settings choose a writer or none", async () => {
    const { known, asked } = await modelServer((_, response) => response.end(listing({ id: "qwen3:4b" })));
    for (const [flags, line] of [
      [{ "writer.kind": "none" }, "Nothing writes replies: writer.kind is none."],
      [{ "writer.kind": "chat", "writer.model": "x" }, "Replies are written by x."],
      [{ "writer.kind": "gguf", "writer.path": "/y.gguf" }, "Replies are written by /y.gguf."],
      [{ "writer.checkpoint": "qwen3-1.7b" }, "Replies are written by qwen3-1.7b."],
    ] as const)
      assert.equal(await offered([known], { flags }), line);
    assert.equal(asked.length, 0);
  });

  it("is not waited for after the server stops", async () => {
    const { known } = await modelServer(() => {});
    const settings = loadSettings({ env: {}, flags: { dataDir: temporaryFolder() } });
    assert.equal(await repliesLine(settings, 1, AbortSignal.abort(), [known]), PULL);
  });
});
