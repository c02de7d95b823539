import type { Turn } from "../../src/core/conversation.ts";
import type { Dialogue, Writer, WrittenPart } from "../../src/core/writer.ts";

export function said(speaker: string, text: string): Turn {
  return { speaker, text, audio: null };
}

/** Alternating turns, speaker `"0"` first. */
export function byTurns(texts: readonly (string | null)[]): Turn[] {
  return texts.map((text, n) => ({ speaker: n % 2 === 0 ? "0" : "1", text, audio: null }));
}

/** A turn with audio alone. */
export function heard(speaker: string): Turn {
  return {
    speaker,
    text: null,
    audio: { samples: new Float32Array(240), sampleRateHz: 24_000, durationS: 0.01, digest: "a clip" },
  };
}

/** A dialogue in which speaker 1 answers. */
export function dialogueOf(history: string | readonly Turn[], fields: Partial<Dialogue> = {}): Dialogue {
  return {
    history: typeof history === "string" ? [said("0", history)] : history,
    speaker: "1",
    temperature: 0,
    topK: null,
    seed: 1n,
    ...fields,
  };
}

export function longHistory(): Turn[] {
  return Array.from({ length: 64 }, (_, index) => {
    const words = `Turn ${index}: and then we went on to the next town and looked at the old houses. `;
    return said(String((index + 1) % 2), words.repeat(Math.ceil(8_000 / words.length)).slice(0, 8_000));
  });
}

export async function partsOf(writer: Writer, dialogue: Dialogue, signal = never()): Promise<WrittenPart[]> {
  const parts: WrittenPart[] = [];
  for await (const part of writer.write(dialogue, signal)) parts.push(part);
  return parts;
}

export async function replyOf(writer: Writer, dialogue: Dialogue, signal = never()): Promise<string> {
  const parts = await partsOf(writer, dialogue, signal);
  return parts.flatMap(({ text }) => (text === "" ? [] : text)).join(" ");
}

export function never(): AbortSignal {
  return new AbortController().signal;
}
