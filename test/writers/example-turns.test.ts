import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { afterExamples, exampleTurns } from "../../src/writers/llama/example-turns.ts";
import { openGgufWriter } from "../../src/writers/llama/gguf-writer.ts";
import { dialogueOf, longHistory, partsOf } from "./dialogues.ts";
import { tinyGguf, tinyOptions } from "./tiny-gguf.ts";

const folder = mkdtempSync(join(tmpdir(), "antiphon-examples-"));
after(() => rmSync(folder, { recursive: true }));
const modelPath = join(folder, "tiny.gguf");
writeFileSync(modelPath, tinyGguf({ script: ["I", " like", " rain", "."] }));

describe("example turns", () => {
  it("come before a conversation with a model of one to three billion parameters, without names or numbers", () => {
    const turns = exampleTurns(1.54e9);
    assert.deepEqual(
      turns.map(({ role }) => role),
      [0, 1, 2, 3].flatMap(() => ["user", "assistant"]),
    );
    const words = turns.flatMap(({ content }) => content.split(/(?<=[.?!]) /).map((one) => one.slice(1)));
    for (const text of words) assert.doesNotMatch(text, /\d|\b(?!I\b)\p{Lu}/u);
    for (const size of [null, 0.5e9, 0.99e9, 4e9]) assert.deepEqual(exampleTurns(size), []);
  });

  it("stand behind the system's message, or first where there is none", () => {
    const [one, hi] = [
      { role: "user", content: "One." },
      { role: "user", content: "Hi." },
    ] as const;
    const system = { role: "system", content: "Be kind." } as const;
    assert.deepEqual(afterExamples([one], [system, hi]), [system, one, hi]);
    assert.deepEqual(afterExamples([one], [hi]), [one, hi]);
  });

  it("are read before a conversation and take nothing from it, until there is no room for both", async () => {
    const readOf = async (examples: typeof exampleTurns, history = dialogueOf("Hi.")) => {
      const writer = await openGgufWriter({ ...tinyOptions(modelPath), contextTokens: 2_048, examples });
      try {
        return (await partsOf(writer, history))[0]!.tokens!.prompt;
      } finally {
        await writer.close();
      }
    };
    const all = () => exampleTurns(2e9);
    const none = () => [];
    const taken = (await readOf(all)) - (await readOf(none));
    assert.ok(taken > 300, `${taken} bytes, of which each is a token here`);
    const long = dialogueOf(longHistory());
    assert.equal((await readOf(all, long)) - (await readOf(none, long)), taken);
  });

  it("have been read, with what else every prompt begins with, once a model is open", async (context) => {
    if (availableParallelism() < 2) return context.skip("with one core nobody is asked whether it is quiet");
    let steps = 0;
    const isQuiet = () => {
      steps++;
      return false;
    };
    const options = { ...tinyOptions(modelPath), contextTokens: 2_048, threads: 2, isQuiet };
    const examples = () => exampleTurns(2e9);
    const writer = await openGgufWriter({ ...options, examples });
    const begun = steps;
    const [{ tokens } = { tokens: null }] = await partsOf(writer, dialogueOf("Hi."));
    await writer.close();
    const pieces = Math.ceil(tokens!.prompt / 32);
    assert.ok(begun >= pieces - 2, `${begun} of ${pieces} pieces`);
    assert.ok(
      steps - begun - tokens!.written <= pieces - begun + 1,
      `${steps} steps, ${tokens!.written} of writing`,
    );
  });

  it("do not come before a tiny model", async () => {
    const writer = await openGgufWriter(tinyOptions(modelPath));
    assert.ok(writer.parameters! > 100_000 && writer.parameters! < 1e7, `${writer.parameters}`);
    await writer.close();
  });
});
