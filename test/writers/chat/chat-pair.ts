import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { inspect } from "node:util";
import { type Writer, WriterError } from "../../../src/core/writer.ts";
import { type ChatWriterOptions, openChatWriter } from "../../../src/writers/chat/chat-writer.ts";
import { dialogueOf, replyOf } from "../dialogues.ts";
import { ChatServer, UPSTREAM_SECRET } from "./chat-server.ts";

export const API_KEY = "sk-test-key-0123456789";

/** Opens a chat endpoint and a writer connected to it; both close after the test. */
export async function openPair(
  context: TestContext,
  options: Partial<ChatWriterOptions> = {},
): Promise<{ server: ChatServer; writer: Writer }> {
  const server = await ChatServer.open();
  const writer = openChatWriter({
    baseUrl: server.baseUrl,
    model: "test-model",
    apiKey: API_KEY,
    maxTokens: 160,
    firstTokenTimeoutMs: 10_000,
    totalTimeoutMs: 20_000,
    retryDelaysMs: [0, 0],
    ...options,
  });
  context.after(async () => {
    await writer.close();
    await server.close();
  });
  return { server, writer };
}

/** Asserts that the writer rejects with this message, which holds neither the key nor what the endpoint sent. */
export async function assertFails(writer: Writer, says: RegExp): Promise<WriterError> {
  const error = await replyOf(writer, dialogueOf("Hi.")).then(
    (reply) => assert.fail(`it wrote: ${reply}`),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof WriterError, inspect(error));
  assert.match(error.message, says);
  const shown = inspect(error, { depth: 10, showHidden: true }) + JSON.stringify(error);
  for (const secret of [API_KEY, UPSTREAM_SECRET])
    assert.ok(!shown.includes(secret), `${secret} is in ${shown}`);
  return error;
}
