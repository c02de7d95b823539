import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { WriterError } from "../../src/core/writer.ts";
import { DeferredWriter } from "../../src/writers/deferred-writer.ts";
import { writerConformance } from "./conformance.ts";
import { dialogueOf, replyOf } from "./dialogues.ts";
import { type ScriptedOptions, ScriptedWriter } from "./scripted-writer.ts";

const SENTENCES = ["One moment.", "Here it is."];
const deferred = (options: ScriptedOptions = {}) => {
  const inner = new ScriptedWriter(SENTENCES, options);
  return { inner, writer: new DeferredWriter("deferred", async () => inner) };
};

writerConformance("a deferred writer", async () => deferred().writer, {
  async makePaced() {
    const { inner, writer } = deferred({ isStepwise: true });
    return { writer, step: () => inner.allow(), idle: () => inner.idle() };
  },
  makeSlowReader: async () => deferred({ isStepwise: true }).writer,
});

describe("DeferredWriter", () => {
  it("opens its writer once, and closes it", async () => {
    let opened = 0;
    const inner = new ScriptedWriter(["Hello."]);
    const writer = new DeferredWriter("deferred", async () => {
      opened++;
      return inner;
    });
    assert.equal(opened, 0);
    await Promise.all([writer.prepare(), ...[1, 2].map(() => replyOf(writer, dialogueOf("Hi.")))]);
    assert.equal(opened, 1);
    await writer.close();
    assert.ok(inner.isClosed);
  });

  it("tries again after a failed opening", async () => {
    let tries = 0;
    const writer = new DeferredWriter("deferred", async () => {
      tries++;
      if (tries === 1) throw new WriterError("the weights are missing");
      return new ScriptedWriter(["Here I am."]);
    });
    await assert.rejects(writer.prepare(), /missing/);
    assert.equal(await replyOf(writer, dialogueOf("Hi.")), "Here I am.");
    await writer.close();
  });

  it("aborts a waiting reply, and goes on opening", async () => {
    let open = (_writer: ScriptedWriter): void => {};
    const opening = new Promise<ScriptedWriter>((resolve) => (open = resolve));
    const writer = new DeferredWriter("deferred", () => opening);
    const stop = new AbortController();
    const waiting = writer.write(dialogueOf("Hi."), stop.signal)[Symbol.asyncIterator]().next();
    stop.abort(new Error("gone"));
    await assert.rejects(waiting, /gone/);
    open(new ScriptedWriter(["Late."]));
    assert.equal(await replyOf(writer, dialogueOf("Hi.")), "Late.");
    await writer.close();
  });
});
