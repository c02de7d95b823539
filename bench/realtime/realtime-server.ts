import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startHearingServer } from "../hearing/hearing-server.ts";
import type { ServerProcess } from "../load/server-process.ts";
import { startScriptedChat } from "./scripted-chat.ts";

/** A server that hears and writes by the embedded models. */
export async function withEmbeddedWriter<T>(work: (server: ServerProcess) => Promise<T>): Promise<T> {
  const server = await startHearingServer({ withWriter: true });
  try {
    return await work(server);
  } finally {
    await server.stop();
  }
}

/** A server that hears, and whose writer says this at once. */
export async function withScriptedWriter<T>(
  reply: string,
  work: (server: ServerProcess) => Promise<T>,
): Promise<T> {
  const chat = await startScriptedChat(reply);
  const folder = await mkdtemp(join(tmpdir(), "antiphon-realtime-"));
  try {
    const config = join(folder, "settings.json");
    const writer = { kind: "chat", baseUrl: chat.baseUrl, model: "scripted", gate: false };
    await writeFile(config, JSON.stringify({ writer }));
    const main = fileURLToPath(new URL("../../src/cli/main.js", import.meta.url));
    const args = [main, "serve", "--no-pull", "--config", config];
    const serve = { command: process.execPath, args, cwd: process.cwd(), isWrapper: false };
    const server = await startHearingServer({ serve });
    try {
      return await work(server);
    } finally {
      await server.stop();
    }
  } finally {
    await chat.close();
    await rm(folder, { recursive: true, force: true });
  }
}
