import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { after, before, describe, it } from "node:test";
import pino from "pino";
import { ScriptedWriter } from "../../writers/scripted-writer.ts";
import { startTestServer, type TestServer } from "./start.ts";
import { readEvents } from "./wire.ts";

const CONVERSATION = [{ speaker: "0", text: "Have you got a table?" }, { speaker: "1" }];
const OWN_TEXT = [
  { speaker: "0", text: "Have you got a table?" },
  { speaker: "1", text: "At eight." },
];
const ANN = "You are Ann, at the desk of the Zanzibarbados Fork.";
const STILL = { temperature: 0 };

let log = "";
const sink = new Writable({
  write(chunk, _encoding, done) {
    log += String(chunk);
    done();
  },
});
const writer = new ScriptedWriter(["At eight.", "And at nine."], { readsInstructions: true });
let server: TestServer;
before(async () => {
  server = await startTestServer({ writer, logger: pino({ level: "trace" }, sink) });
});
after(() => server.stop());

async function converse(fields: object, conversation: readonly object[] = CONVERSATION) {
  const response = await server.post("/v1/converse", { conversation, params: STILL, ...fields });
  const body = await response.json();
  assert.equal(response.status, 200, JSON.stringify(body));
  return body;
}

async function refused(fields: object, status: number, message: RegExp): Promise<void> {
  for (const conversation of [CONVERSATION, OWN_TEXT]) {
    for (const path of ["/v1/converse", "/v1/converse/stream"]) {
      const reply = await server.post(path, { conversation, ...fields });
      const { error } = await reply.json();
      assert.equal(reply.status, status, path);
      assert.equal(error.type, "invalid_request");
      assert.match(error.message, message);
    }
  }
}

describe("instructions", () => {
  it("go to the writer as they are, from a conversation and from its stream", async () => {
    const { meta } = await converse({ instructions: ANN });
    assert.equal(writer.dialogues.at(-1)?.instructions, ANN);
    assert.equal(meta.writer.instructions, "read");
    const fields = { conversation: CONVERSATION, instructions: `${ANN} Be curt.` };
    const events = await readEvents(await server.post("/v1/converse/stream", fields));
    assert.equal(writer.dialogues.at(-1)?.instructions, `${ANN} Be curt.`);
    assert.equal(events.at(-1)?.data.meta.writer.instructions, "read");
  });

  it("are none where they are absent or blank", async () => {
    for (const fields of [{}, { instructions: "" }, { instructions: " \n\t" }]) {
      const { meta } = await converse(fields);
      assert.equal(meta.writer.instructions, null);
      assert.equal("instructions" in writer.dialogues.at(-1)!, false);
    }
  });

  it("are at most 2000 characters, and more is refused with 400 whether or not they would be read", async () => {
    await converse({ instructions: "𝒳".repeat(2_000) });
    for (const [chars, shown] of [
      [2_001, "2001"],
      [8_000, "8000"],
      [200_000, "\\d+"],
    ] as const)
      await refused(
        { instructions: "x".repeat(chars) },
        400,
        new RegExp(`^instructions has ${shown} characters, and at most 2000 are allowed`),
      );
    const { limits } = await (await server.get("/v1/info")).json();
    assert.equal(limits.max_instructions_chars, 2_000);
  });

  it("are text, and anything else is refused with 422", async () => {
    for (const instructions of [null, 7, ["Be curt."], { a: "b" }])
      await refused({ instructions }, 422, /^instructions must be a string$/);
  });

  it("are not billed, and change nothing about how the same words sound", async () => {
    const plain = await converse({});
    const told = await converse({ instructions: ANN });
    assert.deepEqual(told.usage, plain.usage);
    assert.deepEqual(told.reply, plain.reply);
  });

  it("do nothing where nothing is written", async () => {
    const before = writer.dialogues.length;
    const told = await converse({ instructions: ANN }, OWN_TEXT);
    assert.deepEqual(told.reply, (await converse({}, OWN_TEXT)).reply);
    assert.equal("writer" in told.meta, false);
    const speech = { text: "At eight.", instructions: "x".repeat(9_000) };
    assert.equal((await server.post("/v1/tts", speech)).status, 200, "a field that it does not know");
    assert.equal(writer.dialogues.length, before);
  });

  it("are said to be ignored by a writer that takes none, and where the gate answers", async () => {
    for (const [options, gate] of [
      [{}, null],
      [{ gate: "medical" }, "medical"],
    ] as const) {
      const other = await startTestServer({ writer: new ScriptedWriter(["I see."], options) });
      const body = { conversation: CONVERSATION, instructions: ANN };
      const { meta } = await (await other.post("/v1/converse", body)).json();
      assert.deepEqual([meta.writer.instructions, meta.writer.gate], ["ignored", gate]);
      await other.stop();
    }
  });

  it("are in no log, whatever became of the request", async () => {
    const path = "/v1/converse";
    await server.post(path, { conversation: CONVERSATION, instructions: ANN.repeat(60) });
    await server.post(path, { conversation: CONVERSATION, instructions: [ANN] });
    const failing = new ScriptedWriter([]);
    failing.fail(new Error("unforeseen"));
    const other = await startTestServer({ writer: failing, logger: pino({ level: "trace" }, sink) });
    const reply = await other.post(path, { conversation: CONVERSATION, instructions: ANN });
    assert.ok(reply.status >= 500);
    await other.stop();
    assert.match(log, /"route":"\/v1\/converse"/);
    assert.doesNotMatch(log, /Zanzibarbados/);
  });
});
