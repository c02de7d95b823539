import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { WriterTool } from "../../../src/core/writer.ts";
import type { ChatStep } from "../../../src/writers/dialogue-messages.ts";
import { readCallTemplate } from "../../../src/writers/llama/call-template.ts";
import { openLlama } from "../../../src/writers/llama/llama-runtime.ts";
import { TOP } from "../../architecture/top.ts";
import { tinyGguf } from "./tiny-gguf.ts";

const GOLDEN = join(TOP, "test/golden/chat-templates");

interface Chat {
  readonly template: string;
  readonly what: string;
  readonly steps: readonly ChatStep[];
  readonly tools: readonly WriterTool[];
  readonly rendered: string;
}

const chats = JSON.parse(readFileSync(join(GOLDEN, "chats.json"), "utf8")) as readonly Chat[];

for (const template of new Set(chats.map((chat) => chat.template))) {
  test(`readCallTemplate renders ${template} as Python's Jinja does`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "antiphon-chat-templates-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const modelPath = join(folder, "tiny.gguf");
    const chatTemplate = readFileSync(join(GOLDEN, template), "utf8");
    writeFileSync(modelPath, tinyGguf({ script: ["Yes"], chatTemplate }));
    const runtime = await openLlama();
    const model = await runtime.llama.loadModel({ modelPath, gpuLayers: 0 });
    t.after(async () => {
      await model.dispose();
      await runtime.release();
    });
    const calling = await readCallTemplate(model);
    for (const { what, steps, tools, rendered } of chats.filter((chat) => chat.template === template)) {
      // A byte vocabulary detokenizes to the exact text.
      await t.test(what, () => assert.equal(model.detokenize(calling!.prompt(steps, tools), true), rendered));
    }
  });
}
