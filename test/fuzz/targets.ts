import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { TOP } from "../architecture/top.ts";
import type { Fuzzer } from "./fuzzer.ts";

/** Fuzzers by name, loaded on demand. */
export const TARGETS: Readonly<Record<string, () => Promise<Fuzzer>>> = {
  ...Object.fromEntries(
    (["wav", "mp3", "flac", "ogg", "webm"] as const).map((kind) => [
      kind,
      async () => (await import("./recordings.ts")).recordingFuzz(kind),
    ]),
  ),
  ssml: async () => (await import("./ssml.ts")).ssmlFuzz,
  "long-input": async () => (await import("./long-input.ts")).longInputFuzz,
  manner: async () => (await import("./manner.ts")).mannerFuzz,
  spanish: async () => {
    const [{ languageFuzz, SPANISH_PIECES }, { SPANISH }] = await Promise.all([
      import("./language.ts"),
      import("../../src/text/languages/es/spanish.ts"),
    ]);
    return languageFuzz(SPANISH, SPANISH_PIECES);
  },
  italian: async () => {
    const [{ ITALIAN_PIECES, languageFuzz }, { loadItalian }] = await Promise.all([
      import("./language.ts"),
      import("../../src/text/languages/it/italian.ts"),
    ]);
    return languageFuzz(await loadItalian(), ITALIAN_PIECES);
  },
  script: async () => (await import("./script.ts")).scriptFuzz,
  "voice-form": async () => (await import("./voice-form.ts")).voiceFormFuzz,
  "voice-word": async () => (await import("./voice-word.ts")).voiceWordFuzz,
  "voice-list": async () => (await import("./voice-list.ts")).voiceListFuzz,
  wyoming: async () => (await import("./wyoming.ts")).wyomingFuzz,
  twilio: async () => (await import("./twilio.ts")).twilioFuzz,
  realtime: async () => (await import("./realtime.ts")).realtimeFuzz,
  "stream-input": async () => (await import("./stream-input.ts")).streamInputFuzz,
};

/** The folder of inputs that once found a fault. */
export function corpusFolder(target: string): string {
  return join(TOP, "test/fuzz/corpus", target);
}

/** The inputs of the corpus by file name. */
export function corpusOf(target: string): ReadonlyMap<string, Uint8Array> {
  const folder = corpusFolder(target);
  let names: string[] = [];
  try {
    names = readdirSync(folder).sort();
  } catch {
    // No fault was found yet.
  }
  return new Map(names.map((name) => [name, new Uint8Array(readFileSync(join(folder, name)))]));
}
