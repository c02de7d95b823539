import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { type Writer, WriterError } from "../../../src/core/writer.ts";
import { type ChatWriterOptions, openChatWriter } from "../../../src/writers/chat/chat-writer.ts";
import { writerConformance } from "../conformance.ts";
import { dialogueOf, longHistory, partsOf, replyOf, said } from "../dialogues.ts";

const {
  INTEROP_CHAT_URL: baseUrl = "",
  INTEROP_CHAT_KEY: apiKey = null,
  INTEROP_CHAT_MODEL: model = "any",
} = process.env;

if (baseUrl === "") {
  test("a chat writer with a real server", {
    skip: "no server is named: node test/interop/llama/run.mjs MODEL.gguf starts one and sets INTEROP_CHAT_URL",
  });
} else {
  writerConformance("a chat writer with a real server", async () => open(), {
    broken: {
      "the route is wrong": async () => open({ baseUrl: `${baseUrl}/nothing/here` }),
      ...(apiKey !== null && { "the key is wrong": async () => open({ apiKey: "wrong" }) }),
    },
  });

  describe("a chat writer with a real server", () => {
    const writer = open();
    after(() => writer.close());

    for (const [label, history] of Object.entries({
      "a question": [said("0", "What is the capital of France?")],
      "a mood": [said("0", "I had a terrible day at work.")],
      "a follow-up": [
        said("0", "My dog is called Biscuit."),
        said("1", "Lovely!"),
        said("0", "What is his name?"),
      ],
      "an empty history": [],
    })) {
      test(`answers ${label}, and counts the tokens`, async (context) => {
        const parts = await partsOf(writer, dialogueOf(history));
        const tokens = parts.at(-1)?.tokens;
        assert.ok(tokens && tokens.prompt > 10 && tokens.written > 0, JSON.stringify(tokens));
        context.diagnostic(parts.map(({ text }) => text).join(" | "));
      });
    }

    test("ends a reply of maxTokens at a sentence or a word", async (context) => {
      const short = open({ maxTokens: 12 });
      context.after(() => short.close());
      const reply = await replyOf(short, dialogueOf("Tell me a long story about a dog."));
      assert.match(reply, /[.!?…]["”’')\]]*$/);
      context.diagnostic(reply);
    });

    test("halves a history until it fits the context", async () => {
      assert.notEqual(await replyOf(writer, dialogueOf(longHistory())), "");
    });

    test("names the setting for a wrong key and a wrong route", async (context) => {
      const cases: [Partial<ChatWriterOptions>, RegExp][] = [
        [{ baseUrl: `${baseUrl}/no` }, /404.*writer\.baseUrl/],
      ];
      if (apiKey !== null) cases.push([{ apiKey: "wrong" }, /401.*ANTIPHON_WRITER_API_KEY/]);
      for (const [options, says] of cases) {
        const wrong = open(options);
        context.after(() => wrong.close());
        await assert.rejects(
          replyOf(wrong, dialogueOf("Hi.")),
          (error) => error instanceof WriterError && says.test(error.message),
        );
      }
    });
  });
}

function open(options: Partial<ChatWriterOptions> = {}): Writer {
  return openChatWriter({
    baseUrl,
    model,
    apiKey,
    maxTokens: 80,
    firstTokenTimeoutMs: 60_000,
    totalTimeoutMs: 120_000,
    ...options,
  });
}
