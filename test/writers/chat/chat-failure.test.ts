import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openChatWriter } from "../../../src/writers/chat/chat-writer.ts";
import { dialogueOf, longHistory, replyOf } from "../dialogues.ts";
import { API_KEY, assertFails, openPair } from "./chat-pair.ts";
import { type Answer, type ChatBody, ChatServer, type Exchange, UPSTREAM_SECRET } from "./chat-server.ts";

describe("a chat writer", () => {
  for (const [status, message] of [
    [400, /refused the request \(400\): check writer\.model and writer\.maxTokens/],
    [401, /refused the key \(401\): check ANTIPHON_WRITER_API_KEY or writer\.apiKeyFile/],
    [402, /refused the request \(402\)/],
    [403, /\(403\): check ANTIPHON_WRITER_API_KEY or writer\.apiKeyFile, and writer\.model/],
    [404, /\(404\): check writer\.baseUrl, which usually ends in \/v1, and writer\.model/],
    [422, /refused the request \(422\)/],
  ] as const)
    it(`does not retry ${status}, and names the settings to check`, async (context) => {
      const { server, writer } = await openPair(context);
      server.next((exchange) => exchange.refuse(status));
      const error = await assertFails(writer, message);
      assert.equal(error.retryAfterMs, null);
      assert.equal(server.exchanges.length, 1);
    });

  for (const status of [301, 302, 307, 308])
    it(`does not follow a redirect ${status}`, async (context) => {
      const other = await ChatServer.open();
      context.after(() => other.close());
      const { server, writer } = await openPair(context);
      server.next((exchange) =>
        exchange.refuse(status, "", { location: `${other.baseUrl}/chat/completions` }),
      );
      const error = await assertFails(writer, new RegExp(`redirects \\(${status}\\).*writer\\.baseUrl`));
      assert.ok(!error.message.includes(other.baseUrl));
      assert.equal(server.exchanges.length, 1);
      assert.equal(other.exchanges.length, 0);
    });

  const passing: Record<string, Answer> = {
    429: (exchange) => exchange.refuse(429),
    500: (exchange) => exchange.refuse(500, `<html>${UPSTREAM_SECRET}</html>`),
    503: (exchange) => exchange.refuse(503),
    "a reset": (exchange) => exchange.cut(),
    "a reset after the headers": (exchange) => void exchange.begin().response.destroy(),
  };
  for (const [what, answer] of Object.entries(passing))
    it(`retries twice after ${what} before the first word`, async (context) => {
      const { server, writer } = await openPair(context);
      server.next(answer, answer);
      assert.match(await replyOf(writer, dialogueOf("Hi.")), /^You said Hi\./);
      assert.equal(server.exchanges.length, 3);

      server.next(answer, answer, answer);
      const error = await assertFails(writer, /retry/);
      assert.ok(error.retryAfterMs !== null && error.retryAfterMs >= 1_000, `${error.retryAfterMs}`);
      assert.equal(server.exchanges.length, 6);
      await server.idle();
    });

  it("waits for the endpoint's Retry-After, and passes a longer one on", async (context) => {
    const { server, writer } = await openPair(context, { retryDelaysMs: [60_000, 60_000] });
    server.next(
      (exchange) => exchange.refuse(429, {}, { "retry-after-ms": "1" }),
      (exchange) => exchange.refuse(503, {}, { "retry-after": "0" }),
    );
    assert.match(await replyOf(writer, dialogueOf("Hi.")), /You said/);
    assert.equal(server.exchanges.length, 3);

    server.next((exchange) => exchange.refuse(429, {}, { "retry-after": "17" }));
    const error = await assertFails(writer, /busy or its quota is used up \(429\)/);
    assert.equal(error.retryAfterMs, 17_000, "longer than the reply may take to begin: not waited for");
    assert.equal(server.exchanges.length, 4);
  });

  const complaints: {
    what: string;
    refuses: (body: ChatBody) => string | null;
    mended: (body: ChatBody) => boolean;
  }[] = [
    {
      what: "max_tokens",
      refuses: ({ max_tokens }) =>
        max_tokens === undefined
          ? null
          : "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
      mended: (body) => body.max_completion_tokens === 160 && body.max_tokens === undefined,
    },
    {
      what: "temperature",
      refuses: ({ temperature }) =>
        temperature === undefined ? null : "Unsupported value: 'temperature' 0 is not 1.",
      mended: (body) => body.temperature === undefined,
    },
    {
      what: "stream_options",
      refuses: ({ stream_options }) =>
        stream_options === undefined ? null : "stream_options: extra inputs not permitted",
      mended: (body) => body.stream_options === undefined,
    },
    {
      what: "the system role",
      refuses: ({ messages }) => (messages[0]?.role === "system" ? "System role not supported" : null),
      mended: ({ messages }) =>
        messages[0]?.role === "user" && /heard, not read[\s\S]*\n\nHi\.$/.test(messages[0].content),
    },
  ];
  const shapes: Record<string, (message: string) => unknown> = {
    "an error object": (message) => ({ error: { message, type: "invalid_request_error" } }),
    "a string": (error) => ({ error }),
    detail: (msg) => ({ detail: [{ loc: ["body"], msg }] }),
    "plain text": (message) => message,
  };

  for (const { what, refuses, mended } of complaints)
    it(`retries without ${what} where the endpoint refuses it, and remembers`, async (context) => {
      const { server, writer } = await openPair(context);
      const choosy = (exchange: Exchange): void => {
        const complaint = refuses(exchange.body);
        if (complaint !== null) exchange.refuse(400, { error: { message: complaint } });
        else exchange.begin().say("Fine.").finish();
      };
      server.next(choosy, choosy, choosy);
      for (const expected of [
        [false, true],
        [false, true, true],
      ]) {
        assert.equal(await replyOf(writer, dialogueOf("Hi.")), "Fine.");
        assert.deepEqual(
          server.exchanges.map(({ body }) => mended(body)),
          expected,
        );
      }
    });

  for (const [shape, wrapped] of Object.entries(shapes))
    it(`reads a refusal that is ${shape}, with 400 and with 422`, async (context) => {
      for (const status of [400, 422]) {
        const { server, writer } = await openPair(context);
        server.next((exchange) => exchange.refuse(status, wrapped("max_tokens is unknown")));
        assert.match(await replyOf(writer, dialogueOf("Hi.")), /You said/);
        assert.equal(server.exchanges[1]?.body.max_completion_tokens, 160);
      }
    });

  it("gives up after four tries, and remembers nothing that did not help", async (context) => {
    const { server, writer } = await openPair(context);
    const refuse = (exchange: Exchange): void =>
      exchange.refuse(400, {
        error: { message: `max_tokens max_completion_tokens temperature stream_options ${UPSTREAM_SECRET}` },
      });
    server.next(refuse, refuse, refuse, refuse);
    await assertFails(writer, /check writer\.model and writer\.maxTokens/);
    assert.equal(server.exchanges.length, 4);
    await server.idle();
    assert.match(await replyOf(writer, dialogueOf("Hi.")), /You said/);
    const { max_tokens, temperature, stream_options } = server.exchanges[4]!.body;
    assert.ok(max_tokens === 160 && temperature === 0 && stream_options);
  });

  it("drops one refused temperature, and still sends others", async (context) => {
    const { server, writer } = await openPair(context);
    server.next((exchange) => exchange.refuse(400, { error: { message: "temperature must be in [0, 1]" } }));
    for (const temperature of [1.5, 0.5, 1.5]) await replyOf(writer, dialogueOf("Hi.", { temperature }));
    assert.deepEqual(
      server.exchanges.map(({ body }) => body.temperature),
      [1.5, undefined, 0.5, undefined],
    );
  });

  it("halves a history that is too long until it fits, and remembers", async (context) => {
    const { server, writer } = await openPair(context);
    const small = (exchange: Exchange): void => {
      const chars = exchange.body.messages.reduce((sum, { content }) => sum + content.length, 0);
      if (chars < 4_000) exchange.begin().say("Fine.").finish();
      else
        exchange.refuse(400, {
          error: {
            message: "max_tokens too large: the context length is 1024 tokens",
            type: "exceed_context_size_error",
          },
        });
    };
    server.next(...Array.from({ length: 6 }, () => small));
    assert.equal(await replyOf(writer, dialogueOf(longHistory())), "Fine.");
    const tries = server.exchanges.length;
    assert.ok(tries >= 3 && tries <= 5, `${tries} tries`);
    assert.match(server.exchanges.at(-1)!.body.messages.at(-1)!.content, /old houses|next town/);
    assert.equal(await replyOf(writer, dialogueOf(longHistory())), "Fine.");
    assert.equal(server.exchanges.length, tries + 1);
  });

  it("fails where even the shortest history is too long", async (context) => {
    const { server, writer } = await openPair(context);
    server.next((exchange) => exchange.refuse(413, { error: { message: "context window exceeded" } }));
    await assertFails(writer, /refused the request \(413\)/);
  });

  it("reports an unreachable host and an unknown name", async (context) => {
    const gone = await ChatServer.open();
    await gone.close();
    const { writer } = await openPair(context, { baseUrl: gone.baseUrl });
    const error = await assertFails(
      writer,
      /reached \(ECONNREFUSED\): check that it runs and writer\.baseUrl/,
    );
    assert.ok(error.retryAfterMs !== null);
    const { writer: lost } = await openPair(context, { baseUrl: "http://nowhere.invalid/v1" });
    await assertFails(lost, /cannot be reached \((?:ENOTFOUND|EAI_AGAIN)\)/);
  });

  it("reports a server that speaks TLS or no HTTP", async (context) => {
    const { server, writer } = await openPair(context);
    const { writer: secure } = await openPair(context, {
      baseUrl: server.baseUrl.replace("http:", "https:"),
    });
    await assertFails(secure, /endpoint (?:cannot be reached|broke off)/);
    // Some versions of Node report a broken connection, which is retried, others a broken answer.
    const greet = (exchange: Exchange) => void exchange.response.socket?.end("SSH-2.0-OpenSSH\r\n");
    server.next(greet, greet, greet);
    await assertFails(writer, /endpoint (?:cannot be reached|broke off)/);
  });

  it("rejects a malformed base URL, or one with a password, without quoting it", () => {
    for (const baseUrl of [
      "",
      "localhost:8080/v1",
      "ftp://host/v1",
      "not one",
      `http://ann:${API_KEY}@host/v1`,
    ]) {
      const options = { model: "m", apiKey: null, maxTokens: 1, firstTokenTimeoutMs: 1, totalTimeoutMs: 1 };
      assert.throws(
        () => openChatWriter({ ...options, baseUrl }),
        (error: Error) => /writer\.baseUrl/.test(error.message) && !error.message.includes(API_KEY),
      );
    }
  });
});
