import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Antiphon } from "../src/client/antiphon.ts";
import type { DialogueEvent, Word } from "../src/client/replies.ts";
import type { DialogueRequest } from "../src/client/requests.ts";
import { TOP } from "./top.ts";

/** A script of `bench/dialogues.jsonl`, with the right lines or the right refusal. */
export interface JudgedScript {
  readonly name: string;
  readonly script?: string;
  /** Sent as `lines`, instead of a script. */
  readonly asked?: DialogueRequest["lines"];
  readonly voices?: Readonly<Record<string, string>>;
  /** How many times the script and its lines are repeated. Absent: once. */
  readonly times?: number;
  /** Indices of the lines that more than one voice speaks. */
  readonly mixed?: readonly number[];
  /** Speaker and words of each line. */
  readonly lines?: readonly (readonly [speaker: string, words: string])[];
  /** Beginning of the message of the refusal. */
  readonly refused?: string;
}

export async function dialogueScripts(): Promise<readonly JudgedScript[]> {
  const rows = (await readFile(join(TOP, "bench", "dialogues.jsonl"), "utf8")).trim().split("\n");
  return rows.map((row) => JSON.parse(row) as JudgedScript);
}

/** A dialogue as it came. */
export interface SpokenDialogue {
  readonly started: Extract<DialogueEvent, { readonly type: "dialogue.started" }>;
  /** 24 kHz. */
  readonly samples: Int16Array;
  readonly words: readonly Word[];
}

/** Speaks a script over the event stream, at temperature 0. */
export async function speakScript(
  client: Antiphon,
  { script, asked, voices, times = 1 }: JudgedScript,
): Promise<SpokenDialogue> {
  const request = {
    ...(script === undefined ? { lines: asked! } : { script: script.repeat(times) }),
    ...(voices && { voices }),
    response_format: "pcm",
    params: { temperature: 0 },
  } as const;
  let started: SpokenDialogue["started"] | null = null;
  const audio: Buffer[] = [];
  const words: Word[] = [];
  for await (const event of client.dialogueStream(request)) {
    if (event.type === "dialogue.started") started = event;
    else words.push(...(event.words ?? []));
    if (event.type === "speech.audio.delta") audio.push(Buffer.from(event.audio, "base64"));
  }
  if (started === null) throw new Error("the stream has no dialogue.started");
  const bytes = new Uint8Array(Buffer.concat(audio));
  return { started, words, samples: new Int16Array(bytes.buffer, 0, bytes.length >> 1) };
}

/** Where a line sounds, in seconds. */
export interface LineSound {
  /** From the middle of the silence before to the middle of the silence after. */
  readonly cut: readonly [fromS: number, toS: number];
  /** Silence before the line. */
  readonly gapS: number;
  readonly firstSoundS: number;
  readonly words: readonly Word[];
}

/** Finds the lines in the sound: the longest silence around the place where the words change from one line to the next. */
export function soundsOfLines({ samples, words }: SpokenDialogue, lines: number): (LineSound | null)[] {
  const byLine = Array.from({ length: lines }, (_, line) => words.filter((word) => word.line === line));
  const loud = loudness(samples);
  const endS = loud.length * WINDOW_S;
  const silences = byLine.map((own, line): readonly [number, number] => {
    const [first] = own;
    const last = byLine[line - 1]?.at(-1);
    if (first === undefined) return [endS, endS];
    // Before the first line there is no sound, so a closure within its first word cannot be mistaken for its beginning.
    if (last === undefined) return [0, Math.max(0, loud.indexOf(1)) * WINDOW_S];
    return longestSilence(loud, middle(last), middle(first));
  });
  return byLine.map((own, line) => {
    if (own.length === 0) return null;
    const [fromS, toS] = silences[line]!;
    const [nextFromS, nextToS] = silences[line + 1] ?? [endS, endS];
    return {
      ...{
        cut: [(fromS + toS) / 2, (nextFromS + nextToS) / 2],
        gapS: toS - fromS,
        firstSoundS: toS,
        words: own,
      },
    };
  });
}

const RATE_HZ = 24_000;
const WINDOW_S = 0.005;
/** −50 dB of full scale: speech is 30 dB louder. */
const QUIET_RMS = 0.003 * 32_768;

/** Whether each window has sound. */
function loudness(samples: Int16Array): Uint8Array {
  const size = WINDOW_S * RATE_HZ;
  return Uint8Array.from({ length: Math.floor(samples.length / size) }, (_, window) => {
    let power = 0;
    for (let at = window * size; at < (window + 1) * size; at++) power += samples[at]! ** 2;
    return power / size > QUIET_RMS ** 2 ? 1 : 0;
  });
}

function longestSilence(loud: Uint8Array, fromS: number, toS: number): readonly [number, number] {
  let [from, to] = [Math.round(toS / WINDOW_S), Math.round(toS / WINDOW_S)];
  let begun = Math.round(fromS / WINDOW_S);
  for (let at = begun; at <= toS / WINDOW_S; at++) {
    if (loud[at] === 0) continue;
    if (at - begun > to - from) [from, to] = [begun, at];
    begun = at + 1;
  }
  return [from * WINDOW_S, to * WINDOW_S];
}

function middle({ start, end }: Word): number {
  return (start + end) / 2;
}
