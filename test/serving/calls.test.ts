import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { pausesS, spokenText, type TextPiece, writtenText } from "../../src/core/marked-text.ts";
import { type ToolCall, type Writer, WriterError, type WrittenPart } from "../../src/core/writer.ts";
import { findModel, PUBLIC_MODELS } from "../../src/models/public-models.ts";
import { type ResolvedRequest, resolveConverse } from "../../src/serving/prepare/resolve-request.ts";
import type { SpeechService } from "../../src/serving/reply/speech-service.ts";
import { within } from "../waiting.ts";
import { ScriptedWriter } from "../writers/scripted-writer.ts";
import { caller, collect, Engine, serviceOver, settle } from "./service-over.ts";

const AUTHORED = resolveConverse({ conversation: [{ text: "Hi." }, { speaker: "1" }] }, (id) =>
  findModel(PUBLIC_MODELS, id),
);
const CLOCK: ToolCall = { callId: "call_1", name: "clock", arguments: "{}" };
const WEATHER: ToolCall = { callId: "call_2", name: "weather", arguments: "{}" };
const TOKENS = { prompt: 30, written: 12 };

/** Writes text and tool calls; the last part carries the token counts. */
function writerOf(...parts: readonly (string | ToolCall | Error)[]): Writer {
  return {
    name: "calling",
    callsTools: true,
    async *write() {
      for (const [n, part] of parts.entries()) {
        if (part instanceof Error) throw part;
        const rest = { tokens: n === parts.length - 1 ? TOKENS : null, gate: null };
        const passage: WrittenPart =
          typeof part === "string" ? { text: part, ...rest } : { text: "", call: part, ...rest };
        yield passage;
      }
    },
    close: async () => {},
  };
}

/** An engine that speaks one frame per sentence. */
class Reader extends Engine {
  readonly pieces: TextPiece[] = [];

  override model() {
    const engine = this;
    return {
      async *speak(script: { readonly text: AsyncIterable<TextPiece> }) {
        let spoken = "";
        for await (const text of script.text) {
          engine.pieces.push(text);
          spoken += writtenText(text);
          engine.given++;
          yield { samples: new Float32Array(1_920) };
        }
        return { stop: "finished" as const, spoken };
      },
      close: async () => {},
    };
  }
}

describe("a spoken reply with tool calls", () => {
  it("reports each call and the characters spoken before it", async () => {
    const { service, metered } = serviceOver({
      engine: new Reader(),
      writer: writerOf("Well, 😀.", CLOCK, "And?", WEATHER),
    });
    const calls: [string, number][] = [];
    const request = { ...caller(), onCall: ({ name }: ToolCall, at: number) => void calls.push([name, at]) };
    const { outcome } = await collect(service.speak(AUTHORED, request));
    assert.equal(outcome.text, "Well, 😀. And?");
    assert.deepEqual(calls, [
      ["clock", 8],
      ["weather", 13],
    ]);
    assert.deepEqual(outcome.tokens, TOKENS);
    assert.equal(metered.length, 1);
  });

  it("turns a written pause into silence and speaks an invalid one as text", async () => {
    const engine = new Reader();
    const writer = writerOf("Wait [pause:1s] and see.", "<speak>[pause:9h]</speak> Yes.");
    const { service } = serviceOver({ engine, writer });
    const { outcome } = await collect(service.speak(AUTHORED, caller()));
    assert.equal(outcome.text, "Wait [pause:1s] and see. <speak>[pause:9h]</speak> Yes.");
    assert.deepEqual(engine.pieces.map(spokenText), ["Wait  and see.", " <speak>[pause:9h]</speak> Yes."]);
    assert.deepEqual(engine.pieces.map(pausesS), [1, 0]);
  });

  it("with calls only leases no model and is metered once", async () => {
    const engine = new Engine();
    const lease = () => assert.fail("a model was leased");
    const { service, metered } = serviceOver({ engine, lease, writer: writerOf(CLOCK, WEATHER) });
    const calls: ToolCall[] = [];
    const request = { ...caller(), onCall: (call: ToolCall) => void calls.push(call) };
    const { frames, outcome } = await collect(service.speak(AUTHORED, request));
    assert.deepEqual([frames, outcome.frames, outcome.text, outcome.meta.stop], [0, 0, "", "finished"]);
    assert.deepEqual(calls, [CLOCK, WEATHER]);
    assert.deepEqual(outcome.tokens, TOKENS);
    assert.deepEqual(
      metered.map(({ inputChars, outputAudioS }) => [inputChars, outputAudioS]),
      [[3, 0]],
    );
    assert.equal(service.queued + service.active + service.paused, 0);
  });

  it("fails if nothing is written, or if the writer fails after a call", async () => {
    for (const parts of [[], [CLOCK, new WriterError("broken")]]) {
      const { service, metered } = serviceOver({ writer: writerOf(...parts) });
      await assert.rejects(collect(service.speak(AUTHORED, caller())), { status: 502 });
      assert.equal(metered.length, 0);
    }
  });
});

describe("a text-only reply", () => {
  async function written(
    service: SpeechService,
    prepared: ResolvedRequest = AUTHORED,
    signal = caller().signal,
  ) {
    const sentences: string[] = [];
    const writing = service.write(prepared, { ...caller(), signal });
    for (;;) {
      const step = await writing.next();
      if (step.done) return { sentences, reply: step.value };
      sentences.push(step.value);
    }
  }

  it("is streamed by sentence, leases no model and is metered once", async () => {
    const lease = () => assert.fail("a model was leased");
    const { service, metered } = serviceOver({ lease, writer: writerOf("One.", "Two.") });
    const { sentences, reply } = await written(service);
    assert.deepEqual(sentences, ["One.", " Two."]);
    assert.deepEqual(reply, { text: "One. Two.", stop: "finished", tokens: TOKENS });
    assert.deepEqual(
      metered.map(({ inputChars, inputAudioS, outputAudioS }) => [inputChars, inputAudioS, outputAudioS]),
      [[3, 0, 0]],
    );
  });

  it("stops at its limit: the writer's token count, or four characters per token", async () => {
    const counted = serviceOver({ writer: new ScriptedWriter(["One two.", "Three four.", "Five."]) });
    const reply = await written(counted.service, { ...AUTHORED, maxTokens: 3 });
    assert.deepEqual(reply.sentences, ["One two.", " Three four."]);
    assert.equal(reply.reply.stop, "length");
    const uncounted = serviceOver({ writer: writerOf("One two three.", "Four.", "Five.") });
    assert.deepEqual((await written(uncounted.service, { ...AUTHORED, maxTokens: 2 })).reply, {
      text: "One two",
      stop: "length",
      tokens: null,
    });
    const full = serviceOver({ writer: writerOf("One.", "Two.") });
    assert.equal((await written(full.service, { ...AUTHORED, maxTokens: 12 })).reply.stop, "length");
    for (const { metered } of [counted, uncounted, full]) assert.equal(metered.length, 1);
  });

  it("waits for a writing slot and releases it", async () => {
    const writer = new ScriptedWriter(["One."], { isStepwise: true });
    const writing = { total: 1, perKey: 1, what: "turns", queueDepth: 2, keyQueueDepth: 2, waitMs: 60_000 };
    const { service, metered } = serviceOver({ writer, writing, options: { loadTimeoutMs: 60_000 } });
    const both = [written(service), written(service)];
    await writer.asked(1);
    await settle();
    assert.equal(writer.dialogues.length, 1);
    writer.allow();
    await writer.asked(2);
    writer.allow();
    await within("both replies", Promise.all(both));
    assert.equal(metered.length, 2);
  });

  it("is metered and stopped when its client disconnects midway", async () => {
    const writer = new ScriptedWriter(["One.", "Two."], { isStepwise: true });
    const { service, metered } = serviceOver({ writer, options: { loadTimeoutMs: 60_000 } });
    const leaving = new AbortController();
    let reported = 0;
    const onMetered = () => reported++;
    const writing = service.write(AUTHORED, { ...caller(), signal: leaving.signal, onMetered });
    writer.allow();
    assert.equal((await writing.next()).value, "One.");
    const gone = new Error("gone");
    leaving.abort(gone);
    await assert.rejects(writing.next(), gone);
    await writer.idle();
    assert.deepEqual([metered.length, reported], [1, 1]);
  });

  it("is not metered if the writer fails or does not exist", async () => {
    const failing = serviceOver({ writer: writerOf(new WriterError("broken")) });
    await assert.rejects(written(failing.service), { status: 502, message: "broken" });
    const none = serviceOver();
    await assert.rejects(written(none.service), { status: 502 });
    assert.equal(none.service.callsTools, false);
    assert.equal(failing.metered.length + none.metered.length, 0);
  });

  it("is finished on shutdown, and new ones are refused", async () => {
    const writer = new ScriptedWriter(["One."], { isStepwise: true });
    const { service } = serviceOver({ writer, options: { loadTimeoutMs: 60_000 } });
    const reply = written(service);
    await writer.asked(1);
    const drained = service.drain(60_000);
    await assert.rejects(written(service), { status: 502 });
    writer.allow();
    assert.equal((await reply).reply.text, "One.");
    await within("the service to drain", drained);
  });
});
