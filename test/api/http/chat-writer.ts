import { openChatWriter } from "../../../src/writers/chat/chat-writer.ts";
import { speakableWriter } from "../../../src/writers/speakable/speakable.ts";
import type { ChatServer } from "../../writers/chat/chat-server.ts";

/** A writer whose model is the chat endpoint, with generous timeouts. */
export function writerAt({ baseUrl }: ChatServer) {
  const model = openChatWriter({
    baseUrl,
    model: "test-model",
    apiKey: null,
    maxTokens: 160,
    firstTokenTimeoutMs: 20_000,
    totalTimeoutMs: 20_000,
  });
  return speakableWriter(model);
}
