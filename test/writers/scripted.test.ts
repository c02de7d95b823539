import { WriterError } from "../../src/core/writer.ts";
import { writerConformance } from "./conformance.ts";
import { ScriptedWriter } from "./scripted-writer.ts";

const SENTENCES = ["That sounds good.", "Shall we go?", "I am ready."];

writerConformance("a scripted writer", async () => new ScriptedWriter(SENTENCES), {
  async makePaced() {
    const writer = new ScriptedWriter(SENTENCES, { isStepwise: true });
    return { writer, step: () => writer.allow(), idle: () => writer.idle() };
  },
  makeSlowReader: async () => new ScriptedWriter(SENTENCES, { isStepwise: true }),
  broken: {
    "it is told to": async () => {
      const writer = new ScriptedWriter(SENTENCES);
      writer.fail(new WriterError("told to"));
      return writer;
    },
  },
});
