import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import {
  freeEstimates,
  freeVocabularyCopy,
  type LlamaModel,
  type LlamaRuntime,
  LOAD_OPTIONS,
  openLlama,
} from "../../../src/writers/llama/llama-runtime.ts";
import { tinyGguf } from "./tiny-gguf.ts";

describe("a loaded llama model", () => {
  const folder = mkdtempSync(join(tmpdir(), "antiphon-spare-"));
  let runtime: LlamaRuntime;
  let model: LlamaModel;
  before(async () => {
    const modelPath = join(folder, "tiny.gguf");
    writeFileSync(modelPath, tinyGguf({ script: ["I", " like", " rain", "."] }));
    runtime = await openLlama();
    model = await runtime.llama.loadModel({ modelPath, ...LOAD_OPTIONS });
  });
  after(async () => {
    await model.dispose();
    await runtime.release();
    rmSync(folder, { recursive: true });
  });

  test("is not loaded again for estimates, and still makes a context", async () => {
    const { _simulationSession: session } = model.fileInsights as unknown as {
      _simulationSession: { disposed: boolean };
    };
    assert.equal(session.disposed, false);
    await freeEstimates(model);
    assert.equal(session.disposed, true);
    const context = await model.createContext({ contextSize: 256, batchSize: 32, threads: 1 });
    assert.equal(context.totalSequences, 1);
    await context.dispose();
  });

  test("keeps only llama.cpp's copy of the vocabulary", () => {
    const tokens = model.tokenize("I like rain.");
    assert.ok(model.fileInfo.metadata.tokenizer.ggml.tokens.length > 256);
    freeVocabularyCopy(model);
    assert.equal(model.fileInfo.metadata.tokenizer.ggml.tokens.length, 0);
    assert.deepEqual(model.tokenize("I like rain."), tokens);
    assert.equal(model.detokenize(tokens), "I like rain.");
  });
});
