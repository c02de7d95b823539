import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { inspect } from "node:util";
import { dialogueOf, replyOf } from "../dialogues.ts";
import { API_KEY, openPair } from "./chat-pair.ts";

/** What goes to the console, from before there is a client, which may keep the console's functions. */
const lines: unknown[] = [];
for (const method of ["debug", "log", "info", "warn", "error"] as const)
  mock.method(console, method, (...args: unknown[]) => void lines.push(args));

test("the key is in the Authorization header and nowhere else", async (context) => {
  const { server, writer } = await openPair(context);
  await replyOf(writer, dialogueOf("Hi."));
  const [exchange] = server.exchanges;
  assert.equal(exchange?.request.headers.authorization, `Bearer ${API_KEY}`);
  const { authorization: _, ...others } = exchange?.request.headers ?? {};
  assert.ok(!JSON.stringify([others, exchange?.body, exchange?.request.url]).includes(API_KEY));
});

test("without a key no Authorization is sent, whatever the environment holds", async (context) => {
  const variables = {
    OPENAI_API_KEY: API_KEY,
    OPENAI_ORG_ID: "org",
    OPENAI_PROJECT_ID: "p",
    OPENAI_LOG: "debug",
  };
  const before = { ...process.env };
  Object.assign(process.env, variables);
  context.after(() => {
    for (const name of Object.keys(variables)) delete process.env[name];
    Object.assign(process.env, before);
  });
  const { server, writer } = await openPair(context, { apiKey: null });
  await replyOf(writer, dialogueOf("Hi."));
  const headers = server.exchanges[0]?.request.headers ?? {};
  assert.equal(headers.authorization, undefined);
  assert.deepEqual(
    Object.keys(headers).filter((name) => /openai|stainless/.test(name)),
    [],
  );
  assert.equal(headers["user-agent"], "antiphon");
});

test("the writer shows nothing of its key", async (context) => {
  const { writer } = await openPair(context);
  await replyOf(writer, dialogueOf("Hi."));
  const shown = inspect(writer, { depth: 20, showHidden: true, getters: true }) + JSON.stringify(writer);
  assert.ok(!shown.includes(API_KEY), shown);
});

test("nothing is logged, neither when it goes well nor when it fails", async (context) => {
  lines.length = 0;
  const { server, writer } = await openPair(context);
  server.next(
    (exchange) => exchange.begin().say("Fine.").finish(),
    (exchange) => void exchange.begin().raw("data: rubbish\n\n").response.end(),
    (exchange) => exchange.refuse(401),
  );
  await replyOf(writer, dialogueOf("Hi."));
  for (let i = 0; i < 2; i++) await assert.rejects(replyOf(writer, dialogueOf("Hi.")));
  assert.deepEqual(lines, []);
});
