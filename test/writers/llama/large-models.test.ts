import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { WrittenPart } from "../../../src/core/writer.ts";
import { WriterError } from "../../../src/core/writer.ts";
import { type GgufWriterOptions, openGgufWriter } from "../../../src/writers/llama/gguf-writer.ts";
import { writerConformance } from "../conformance.ts";
import { dialogueOf, partsOf, replyOf } from "../dialogues.ts";
import { CHATML_TEMPLATE, type TinyModel, tinyGguf, tinyOptions } from "./tiny-gguf.ts";

const folder = mkdtempSync(join(tmpdir(), "antiphon-large-"));
after(() => rmSync(folder, { recursive: true }));

const RAIN = ["I", " like", " rain", ".", " It", " falls", " softly", "!"];
let files = 0;

function optionsFor(model: TinyModel | Buffer, options: Partial<GgufWriterOptions> = {}): GgufWriterOptions {
  const modelPath = join(folder, `${files++}.gguf`);
  writeFileSync(modelPath, Buffer.isBuffer(model) ? model : tinyGguf(model));
  return { ...tinyOptions(modelPath), ...options };
}

async function written(
  model: TinyModel,
  options: Partial<GgufWriterOptions> = {},
): Promise<readonly WrittenPart[]> {
  const writer = await openGgufWriter(optionsFor(model, options));
  try {
    return await partsOf(writer, dialogueOf("How is the weather?"));
  } finally {
    await writer.close();
  }
}

function texts(parts: readonly WrittenPart[]): string[] {
  return parts.map(({ text }) => text);
}

/** Why a file was refused: what clients are shown, and what it was. */
async function refusal(options: GgufWriterOptions): Promise<{ shown: string; inFull: string }> {
  const error = await openGgufWriter(options).then(
    async (writer) => {
      await writer.close();
      return null;
    },
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof WriterError, `${error}`);
  assert.ok(!error.message.includes(folder), "clients are shown no path");
  return { shown: error.message, inFull: String((error.cause as Error).message) };
}

describe("a reasoning model", () => {
  it("says nothing of what it thinks, and its sentences as if it had not", async () => {
    const script = ["<think>", " Hmm", ".", " Rain", "</think>", ...RAIN.filter((token) => token !== ".")];
    const [first] = await written({ script, chatTemplate: "" }, { template: "chatml" });
    assert.equal(first?.text, "I like rain It falls softly!");
    assert.equal(first?.tokens?.written, script.length);
  });

  it("that thinks and thinks falls silent at last, and can be asked again", async () => {
    const script = [
      "<think>",
      ...Array.from({ length: 300 }, (_, index) => ` w${index}`),
      "</think>",
      ...RAIN,
    ];
    assert.deepEqual(texts(await written({ script }, { template: "chatml" })), [""]);
  });

  it("whose thought is open before it begins to write is understood", async () => {
    const chatTemplate = `${CHATML_TEMPLATE.split("{% if enable")[0]}<think>\n{% endif %}`;
    const script = [" Hmm", "</think>", "I", " agree", "."];
    assert.deepEqual(texts(await written({ script, chatTemplate })), ["I agree."]);
  });

  it("whose template asks is told not to think", async () => {
    const forbidding = await written({ script: RAIN, chatTemplate: CHATML_TEMPLATE });
    const plain = await written({ script: RAIN }, { template: "chatml" });
    assert.deepEqual(texts(forbidding), ["I like rain.", "It falls softly!"]);
    // An opening tag, a closing one, and the four line ends around them.
    assert.equal(forbidding[0]!.tokens!.prompt - plain[0]!.tokens!.prompt, 6);
    const known = await written({ script: RAIN }, { template: "chatml-unthinking" });
    assert.equal(known[0]!.tokens!.prompt, forbidding[0]!.tokens!.prompt);
  });
});

describe("a file that cannot write", () => {
  it("of an unknown architecture is refused, and the architecture is named", async () => {
    const { shown, inFull } = await refusal(optionsFor({ script: RAIN, architecture: "abacus" }));
    assert.match(shown, /cannot be loaded: .* no language model that llama\.cpp knows/);
    assert.match(inFull, /its architecture “abacus”/);
  });

  for (const [what, chatTemplate] of [
    ["does not parse", "{% for x in %}{{"],
    ["calls what is not there", "{{ nothing(messages) }}"],
    ["refuses everything", "{{ raise_exception('never') }}"],
    ["asks whether to think and does not parse", "{{ enable_thinking"],
  ] as const) {
    it(`with a template that ${what} is refused`, async () => {
      const { shown } = await refusal(optionsFor({ script: RAIN, chatTemplate }));
      assert.equal(shown, "the chat template of the writer's file cannot be used: choose another file");
    });
  }

  for (const chatTemplate of [null, " \n"]) {
    it(`without a chat template is refused, by its name (${JSON.stringify(chatTemplate)})`, async () => {
      const options = optionsFor({ script: RAIN, chatTemplate });
      const { shown, inFull } = await refusal(options);
      assert.match(shown, /has no chat template: choose another file/);
      assert.match(inFull, /^\d+\.gguf has no tokenizer\.chat_template.*Instruct/);
      const writer = await openGgufWriter({ ...options, template: "chatml" });
      await writer.close();
    });
  }

  it("that is too large for the memory is refused before it is loaded, with both figures", async () => {
    const options = optionsFor({ script: RAIN }, { freeBytes: () => 5_000_000 });
    const { shown, inFull } = await refusal(options);
    assert.equal(shown, "there is too little memory for the writer's language model");
    assert.match(
      inFull,
      /context of 2 × 1024 tokens take \d+ MB of memory, and 5 MB are free: choose a smaller/,
    );
    const [, needed] = /take (\d+) MB/.exec(inFull) ?? [];
    assert.ok(Number(needed) > 5 && Number(needed) < 60, inFull);
  });

  it("that is no GGUF at all is refused as such where memory is looked at, too", async () => {
    const { shown } = await refusal(optionsFor(Buffer.from("Dear model"), { freeBytes: () => 1e9 }));
    assert.match(shown, /cannot be loaded: it is missing, damaged/);
  });
});

describe("threads and batches", () => {
  it("change nothing of what is written", async () => {
    let asked = 0;
    const options = { threads: 2, isQuiet: () => ++asked % 3 > 0 };
    assert.deepEqual(texts(await written({ script: RAIN }, options)), ["I like rain.", "It falls softly!"]);
  });

  it("let replies be written together", async () => {
    const writer = await openGgufWriter(optionsFor({ script: RAIN }, { isBatched: true, sequences: 4 }));
    try {
      const asked = Array.from({ length: 8 }, (_, index) =>
        dialogueOf(`Question ${"x".repeat(40 * index)}?`),
      );
      const replies = await Promise.all(asked.map((dialogue) => replyOf(writer, dialogue)));
      assert.deepEqual(new Set(replies), new Set(["I like rain. It falls softly!"]));
    } finally {
      await writer.close();
    }
  });
});

/** Both read as much as makes the reading of it slow. */
const LONG_READING = { contextTokens: 16_384, window: { maxChars: 15_000, stepChars: 5_000 } };

for (const [name, how] of [
  ["a GGUF file of one's own", { sequences: 4 }],
  ["a model whose replies are computed together", { isBatched: true, sequences: 3 }],
] as const) {
  const model = { script: RAIN, chatTemplate: CHATML_TEMPLATE };
  writerConformance(name, () => openGgufWriter(optionsFor(model, how)), {
    makeSlowReader: () =>
      openGgufWriter(optionsFor({ ...model, contextLength: 16_384 }, { ...how, ...LONG_READING })),
  });
}
