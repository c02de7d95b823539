import { after } from "node:test";
import type { Writer } from "../../../src/core/writer.ts";
import { openChatWriter } from "../../../src/writers/chat/chat-writer.ts";
import { writerConformance } from "../conformance.ts";
import { answerWell, ChatServer, type Exchange } from "./chat-server.ts";

const servers: ChatServer[] = [];
after(() => Promise.all(servers.map((server) => server.close())));

writerConformance("a writer behind a chat endpoint", async () => writerOf(await open(answerWell)), {
  async makePaced() {
    const server = await open((exchange) => void exchange.begin());
    let step = 0;
    return {
      writer: writerOf(server),
      step: () => void server.asked(0).then((exchange) => exchange.say(`Number ${++step} comes. And`)),
      idle: () => server.idle(),
    };
  },
  makeSlowReader: async () => writerOf(await open(neverAnswer)),
  broken: {
    "nobody listens": async () => {
      const server = await open(answerWell);
      await server.close();
      return writerOf(server);
    },
    "the endpoint fails": async () => writerOf(await open((exchange) => exchange.refuse(500))),
    "the endpoint sends a page": async () =>
      writerOf(
        await open((exchange) => exchange.refuse(200, "<html>hello</html>", { "content-type": "text/html" })),
      ),
  },
});

async function open(usual: (exchange: Exchange) => void): Promise<ChatServer> {
  const server = await ChatServer.open(usual);
  servers.push(server);
  return server;
}

function neverAnswer(): void {}

function writerOf({ baseUrl }: ChatServer): Writer {
  return openChatWriter({
    baseUrl,
    model: "test-model",
    apiKey: null,
    maxTokens: 160,
    firstTokenTimeoutMs: 10_000,
    totalTimeoutMs: 20_000,
    retryDelaysMs: [0, 0],
  });
}
