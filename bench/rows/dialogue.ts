import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeWav } from "../../src/audio/encode-wav.ts";
import { SAMPLE_RATE_HZ } from "../../src/audio/format.ts";
import { Antiphon } from "../../src/client/antiphon.ts";
import { EMBEDDED_VOICES } from "../../src/models/public-models.ts";
import { harvardSentences, written } from "../harvard.ts";
import {
  dialogueScripts,
  type JudgedScript,
  type LineSound,
  type SpokenDialogue,
  soundsOfLines,
  speakScript,
} from "../judged-script.ts";
import type { LineProgram } from "../line-program.ts";
import { median, percentile } from "../load/percentile.ts";
import { type ServerProcess, startServerProcess } from "../load/server-process.ts";
import { cosine, type Quality, qualityOf, sentencesQuality } from "../quality.ts";
import type { Bench, Row } from "../row.ts";
import { startWhisper } from "../whisper.ts";
import { wordErrors } from "../word-errors.ts";

const MAX_WRONG = 0.06;
const GAP_S = [0.1, 1.2] as const;
/** Window of the meter of silence. */
const TOLERANCE_S = 0.005;
const MAX_TIME_OFF_S = 0.08;
const MAX_FIRST_AUDIO = 1.2;
const REFERENCE_SENTENCES = 12;
/** Harvard sentences, each spoken six times by either. */
const FIRST_AUDIO_LINES = 20;
/** In the script of 1,000 lines, every 25th line is compared with the words heard; all gaps and times are measured. */
const COMPARED_EVERY = 25;
const MAX_CLIP_S = 20;

/** Figures of all scripts. */
interface Found {
  readonly misread: string[];
  readonly wrongVoices: string[];
  voices: number;
  errors: number;
  words: number;
  readonly gapsS: number[];
  readonly timesOffS: number[];
}

/**
 * Each script with the right lines or the right refusal, over the event stream. Voices are compared with
 * twelve Harvard sentences of each. Silence is below −50 dB in windows of 5 ms; lines beside a written pause
 * are left out.
 */
export const dialogue: Row = {
  id: "dialogue",
  what: "30 scripts (`bench/dialogues.jsonl`) over `/v1/audio/dialogue` at temperature 0: scripts read wrongly; lines whose GE2E embedding is nearest to another voice of the script; words wrong, Whisper base; silence between speakers; the first word's time − the first sound; first audio ÷ that of `/v1/audio/speech`, interleaved",
  goal: `0; 0; ≤ ${MAX_WRONG}; ${GAP_S.join(" to ")} s; ≤ ${MAX_TIME_OFF_S * 1_000} ms; ≤ ${MAX_FIRST_AUDIO}`,
  isOnlyByName: true,
  async measure(bench) {
    const scripts = await dialogueScripts();
    const folder = await mkdtemp(join(tmpdir(), "antiphon-dialogue-"));
    const closing: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
    try {
      const meters = await bench.python.start("quality.py");
      closing.push(() => meters.close());
      const whisper = await startWhisper(bench.python);
      closing.push(() => whisper.close());
      // As fast as it is computed: 1,000 lines last three quarters of an hour.
      const config = join(folder, "config.json");
      await writeFile(config, JSON.stringify({ maxAheadS: 0 }));
      const server = await startServerProcess({ flags: ["--config", config] });
      closing.push(() => server.stop());
      const firstAudio = await firstAudioRatio(server, bench.isQuick ? 3 : FIRST_AUDIO_LINES);
      bench.note(firstAudio.shown);
      const listener: Listener = { meters, whisper, references: await references(bench, meters), folder };
      const found: Found = {
        ...{ misread: [], wrongVoices: [], voices: 0, errors: 0, words: 0, gapsS: [], timesOffS: [] },
      };
      const client = new Antiphon({ baseUrl: server.url, apiKey: server.key });
      for (const script of bench.isQuick ? scripts.filter(({ times }) => times === undefined) : scripts)
        await judge(client, script, listener, found, bench.note);
      return verdict(scripts.length, found, firstAudio);
    } finally {
      await Promise.all(closing.map((close) => close()));
    }
  },
};

interface Listener {
  readonly meters: LineProgram;
  readonly whisper: LineProgram;
  /** By the ids of voices. */
  readonly references: ReadonlyMap<string, Quality>;
  readonly folder: string;
}

async function references({ renderings }: Bench, meters: LineProgram): Promise<ReadonlyMap<string, Quality>> {
  const found = new Map<string, Quality>();
  for (const { id } of EMBEDDED_VOICES)
    found.set(
      id,
      await sentencesQuality(meters, await renderings.by(id, { name: "-reference" }, REFERENCE_SENTENCES)),
    );
  return found;
}

async function judge(
  client: Antiphon,
  script: JudgedScript,
  listener: Listener,
  found: Found,
  note: Bench["note"],
): Promise<void> {
  const misread = (how: string) => {
    found.misread.push(script.name);
    note(`${script.name}: ${how}`);
  };
  let spoken: SpokenDialogue;
  try {
    spoken = await speakScript(client, script);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (script.refused === undefined || !message.startsWith(`${script.refused}:`)) misread(message);
    return;
  }
  const right = Array.from({ length: script.times ?? 1 }, () => script.lines ?? []).flat();
  const names = spoken.started.lines.map(({ speaker }) => speaker);
  if (script.refused !== undefined) return misread("it was not refused");
  if (names.join("\n") !== right.map(([speaker]) => speaker).join("\n")) return misread(names.join(", "));
  const sounds = soundsOfLines(spoken, right.length);
  const hasPauses = script.script?.includes("[pause:") === true;
  const isCompared = (line: number) => script.times === undefined || line % COMPARED_EVERY === 0;
  for (const [line, sound] of sounds.entries()) {
    const [speaker, words] = right[line]!;
    if (sound === null) {
      misread(`line ${line} has no words: ${words}`);
      continue;
    }
    const offS = sound.words[0]!.start - sound.firstSoundS;
    found.timesOffS.push(offS);
    if (Math.abs(offS) > MAX_TIME_OFF_S)
      note(`${script.name}, line ${line}: "${sound.words[0]!.word}" is ${ms(offS)} off`);
    const previous = right[line - 1];
    if (previous !== undefined && previous[0] !== speaker && !hasPauses) {
      found.gapsS.push(sound.gapS);
      if (!isGap(sound.gapS)) note(`${script.name}, line ${line}: gap of ${sound.gapS.toFixed(3)} s`);
    }
    if (!isCompared(line) || script.mixed?.includes(line)) continue;
    const path = await writeCut(spoken, sound.cut, join(listener.folder, "line.wav"));
    const voice = await qualityOf(listener.meters, [[path]]);
    const nearest = nearestVoice(voice, spoken, listener.references);
    const own = voiceOf(spoken, speaker);
    found.voices++;
    if (nearest === own) continue;
    found.wrongVoices.push(`${script.name} ${line}`);
    const likeness = (id: string) => cosine(voice, listener.references.get(id)!).toFixed(2);
    note(
      `${script.name}, line ${line} (${(sound.cut[1] - sound.cut[0]).toFixed(1)} s, ${words}): ${own} is like ${nearest} ` +
        `(${likeness(own)}, ${likeness(nearest)})`,
    );
  }
  for (const [from, to] of clips(sounds)) {
    if (!isCompared(from)) continue;
    const cut = [sounds[from]!.cut[0], sounds[to - 1]!.cut[1]] as const;
    const path = await writeCut(spoken, cut, join(listener.folder, "lines.wav"));
    const said = right
      .slice(from, to)
      .map(([, words]) => words)
      .join(" ");
    const heard = (await listener.whisper.ask(path)) as string;
    const { errors, words } = wordErrors(said, heard);
    found.errors += errors;
    found.words += words;
    if (errors > 0) note(`${script.name}: ${errors} of ${words}: ${heard}`);
  }
}

/** Divides lines into clips of at most 20 s: first line, and the line after the last. */
function clips(sounds: readonly (LineSound | null)[]): (readonly [number, number])[] {
  const found: [number, number][] = [];
  for (const [line, sound] of sounds.entries()) {
    if (sound === null) continue;
    const open = found.at(-1);
    if (open !== undefined && open[1] === line && sound.cut[1] - sounds[open[0]]!.cut[0] <= MAX_CLIP_S)
      open[1] = line + 1;
    else found.push([line, line + 1]);
  }
  return found;
}

async function writeCut(
  { samples }: SpokenDialogue,
  [fromS, toS]: readonly [number, number],
  path: string,
): Promise<string> {
  const cut = samples.slice(Math.round(fromS * SAMPLE_RATE_HZ), Math.round(toS * SAMPLE_RATE_HZ));
  await writeFile(path, encodeWav(cut, SAMPLE_RATE_HZ));
  return path;
}

function voiceOf({ started }: SpokenDialogue, speaker: string): string {
  const { voice } = started.speakers.find(({ name }) => name === speaker)!;
  const found = EMBEDDED_VOICES.find(({ id, name }) => name === voice || id === voice);
  if (found === undefined) throw new Error(`${speaker} has the unknown voice ${voice}`);
  return found.id;
}

function nearestVoice(
  voice: Quality,
  spoken: SpokenDialogue,
  references: ReadonlyMap<string, Quality>,
): string {
  const ids = new Set(spoken.started.speakers.map(({ name }) => voiceOf(spoken, name)));
  return [...ids].reduce((best, id) =>
    cosine(voice, references.get(id)!) > cosine(voice, references.get(best)!) ? id : best,
  );
}

interface FirstAudio {
  readonly ratio: number;
  readonly shown: string;
}

/** Compares the time to the first audio of a dialogue with that of its first line alone, in turns. */
async function firstAudioRatio({ url, key }: ServerProcess, lines: number): Promise<FirstAudio> {
  const common = { response_format: "pcm", stream_format: "sse" };
  const took = async (path: string, body: object) => {
    const begunMs = performance.now();
    const reply = await fetch(`${url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ ...common, ...body }),
    });
    let text = "";
    let foundMs: number | null = null;
    for await (const chunk of reply.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (foundMs === null && text.includes("speech.audio.delta")) foundMs = performance.now() - begunMs;
    }
    if (foundMs === null) throw new Error(`no audio came: ${text.slice(0, 200)}`);
    return foundMs;
  };
  const alone: number[] = [];
  const within: number[] = [];
  const sentences = (await harvardSentences()).slice(0, lines).map(written);
  for (const [at, line] of [sentences[0]!, ...sentences].entries()) {
    const script = `Anna: ${line}\nBen: Thank you. It is good to be here.\nAnna: Let us begin.`;
    const speech = async () =>
      alone.push(await took("/v1/audio/speech", { model: "tts-1", voice: "maya", input: line }));
    const dialogue = async () =>
      within.push(await took("/v1/audio/dialogue", { script, voices: { Anna: "maya" } }));
    for (let pair = 0; pair < 6; pair++)
      for (const speak of pair % 2 === 0 ? [speech, dialogue] : [dialogue, speech]) await speak();
    // The first sentence is spoken once more, because the server was cold.
    if (at === 0) [alone.length, within.length] = [0, 0];
  }
  const ratio = median(within) / median(alone);
  const shown = `${ratio.toFixed(2)} (${median(within).toFixed(1)} ms ÷ ${median(alone).toFixed(1)} ms)`;
  return { ratio, shown };
}

function isGap(gapS: number): boolean {
  return gapS >= GAP_S[0] - TOLERANCE_S && gapS <= GAP_S[1] + TOLERANCE_S;
}

function verdict(scripts: number, found: Found, firstAudio: FirstAudio) {
  const { misread, wrongVoices, gapsS, timesOffS } = found;
  const wrong = found.errors / found.words;
  const off = timesOffS.map(Math.abs);
  const late = off.filter((value) => value > MAX_TIME_OFF_S).length;
  const badGaps = gapsS.filter((value) => !isGap(value)).length;
  return {
    measured:
      `${misread.length} of ${scripts}; ${wrongVoices.length} of ${found.voices}; ${wrong.toFixed(3)} (${found.errors} of ` +
      `${found.words}); ${Math.min(...gapsS).toFixed(2)} to ${Math.max(...gapsS).toFixed(2)} s, ${badGaps} of ${gapsS.length} ` +
      `outside; median ${ms(median(off))}, p95 ${ms(percentile(off, 0.95))}, most ${ms(Math.max(...off))}, ${late} of ` +
      `${off.length} over ${ms(MAX_TIME_OFF_S)}; ${firstAudio.shown}`,
    isMet:
      misread.length + wrongVoices.length + badGaps + late === 0 &&
      wrong <= MAX_WRONG &&
      firstAudio.ratio <= MAX_FIRST_AUDIO,
  };
}

function ms(seconds: number): string {
  return `${(1_000 * seconds).toFixed(0)} ms`;
}
