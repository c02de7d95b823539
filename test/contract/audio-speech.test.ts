import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { resolveModelName } from "../../src/contract/audio-speech.ts";
import fc from "../properties.ts";

const NAMES = ["tts-1", "tts-1-hd", "gpt-4o-mini-tts"];
const DATES = ["", "-1106", "-2024", "-2025-03-20", "-2025-12-15"];

describe("resolveModelName", () => {
  it("returns null for OpenAI's names, dated or not", () => {
    for (const name of NAMES)
      for (const date of DATES) assert.equal(resolveModelName(name + date), null, name + date);
  });

  it("returns any other name unchanged", () => {
    const tails = "-foo|-|-1|-11066|-202|-2025-03|-2025-3-20|-2025-03-20-1|-1106-hd|1106| |\n|-١١٠٦".split(
      "|",
    );
    const variants = (name: string) => [`x${name}`, ` ${name}`, `\n${name}`, name.toUpperCase()];
    const others = NAMES.flatMap((name) => [...tails.map((tail) => name + tail), ...variants(name)]);
    const near = "|tts|tts-|tts-2|tts-1-h|tts-10|gpt-4o-tts|gpt-4o-mini|svc-beta-v0.3".split("|");
    for (const name of [...others, ...near]) assert.equal(resolveModelName(name), name, JSON.stringify(name));
  });

  it("returns null for exactly these names among random ones", () => {
    const pieces = ["-", "1106", "2025", "03", "20", "x", "hd", "svc-beta-v0.3", "\n"];
    const piece = fc.constantFrom(...NAMES, ...pieces);
    const isDefault = (name: string) =>
      NAMES.some((known) => {
        if (!name.startsWith(known)) return false;
        const tail = name.slice(known.length).split("-");
        const digits = tail.map((part) => (/^\d+$/.test(part) ? part.length : 0)).join("-");
        return name === known || (tail[0] === "" && ["0-4", "0-4-2-2"].includes(digits));
      });
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 7 }), (chosen) => {
        const name = chosen.join("");
        assert.equal(resolveModelName(name), isDefault(name) ? null : name, JSON.stringify(name));
      }),
    );
  });
});
