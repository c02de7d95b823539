import { createHash } from "node:crypto";
import { setImmediate as turn } from "node:timers/promises";
import { SAMPLE_RATE_HZ } from "../../audio/format.ts";
import { joinSamples } from "../../audio/pcm.ts";
import { MIN_NEW_TOKENS } from "../../contract/limits.ts";
import type { Clip } from "../../core/conversation.ts";
import { spokenText } from "../../core/marked-text.ts";
import type { Script } from "../../core/script.ts";
import {
  type Frame,
  NothingToSpeakError,
  type SpeechModel,
  type SpeechReport,
  type SpokenWord,
} from "../../core/speech-model.ts";
import { buildScript } from "../prepare/build-script.ts";
import type { ResolvedRequest } from "../prepare/resolve-request.ts";
import type { DialogueLine, ResolvedDialogue } from "../prepare/resolved-dialogue.ts";
import { FrameJoiner } from "./frame-joiner.ts";

/** A resolved request for a dialogue, with the recordings of its custom voices. */
export type DialogueScript = ResolvedRequest & { readonly dialogue: ResolvedDialogue };

/**
 * Speaks a dialogue as one utterance: each line is a turn of a conversation whose history are the lines before it. A line
 * that the voice cannot pronounce is a pause. Ends early, with `length`, at the limit of frames.
 *
 * @param base script of the whole, for what all lines share
 */
export async function* speakDialogue(
  model: SpeechModel,
  prepared: DialogueScript,
  base: Pick<Script, "keyId" | "traceHeaders" | "preset">,
  signal: AbortSignal,
): AsyncGenerator<Frame, SpeechReport, void> {
  const { dialogue, delivery } = prepared;
  const joiner = new FrameJoiner();
  const sounds = new Map<number, Clip>();
  let isSpoken = false;
  for (const [index, line] of dialogue.lines.entries()) {
    const maxFrames = Math.min(dialogue.maxLineFrames, delivery.maxFrames - joiner.frames);
    if (maxFrames < MIN_NEW_TOKENS) {
      yield* joiner.end();
      return { stop: "length", spoken: textBefore(line, prepared) };
    }
    if (index > 0) joiner.beginPart(line.gapS);
    const sound: Float32Array[] | null = prepared.model.reads === undefined ? null : [];
    const speech = model.speak(lineScript(prepared, base, index, maxFrames, sounds), signal);
    const report = yield* speakLine(speech, joiner, sound, wordIn(prepared, index));
    isSpoken ||= report !== null;
    if (sound !== null && sound.length > 0 && sound.length <= MAX_SOUND_FRAMES)
      sounds.set(index, clipOf(sound));
    sounds.delete(index - MAX_TURNS);
    if (report?.stop !== "length") continue;
    yield* joiner.end();
    return { stop: "length", spoken: textBefore(line, prepared) + report.spoken };
  }
  if (!isSpoken) throw new NothingToSpeakError("the dialogue holds nothing that these voices can pronounce");
  yield* joiner.end();
  return { stop: "finished", spoken: prepared.conversation.open.text ?? "" };
}

/** Speaks a part of an utterance. Returns `null` if the voice cannot pronounce anything in it. */
export async function* speakLine(
  speech: ReturnType<SpeechModel["speak"]>,
  joiner: FrameJoiner,
  sound: Float32Array[] | null,
  placed: (word: SpokenWord) => SpokenWord,
): AsyncGenerator<Frame, SpeechReport | null, void> {
  let isOver = false;
  try {
    for (;;) {
      const step = await speech.next();
      isOver = step.done === true;
      if (step.done) return step.value;
      const { samples, words } = step.value;
      if (sound !== null && sound.length <= MAX_SOUND_FRAMES) sound.push(samples.slice());
      const frame = words === undefined ? step.value : { ...step.value, words: words.map(placed) };
      for (const joined of joiner.push(frame)) {
        yield joined;
        // It is encoded in this thread, where other requests must have their turn.
        await turn();
      }
    }
  } catch (error) {
    if (!(error instanceof NothingToSpeakError)) throw error;
    isOver = true;
    yield* joiner.push({ samples: new Float32Array(PAUSE_S * SAMPLE_RATE_HZ) });
    return null;
  } finally {
    if (!isOver) await speech.return({ stop: "length", spoken: "" });
  }
}

const PAUSE_S = 0.5;
/** The sound of a longer line (30 s) is not kept: models read no more of a turn, and it would fill the memory. */
const MAX_SOUND_FRAMES = 375;

function clipOf(sound: readonly Float32Array[]): Clip {
  const samples = joinSamples(sound);
  const digest = createHash("sha256").update(new Uint8Array(samples.buffer)).digest("base64");
  return { samples, sampleRateHz: SAMPLE_RATE_HZ, durationS: samples.length / SAMPLE_RATE_HZ, digest };
}

/**
 * Builds the script of a line, as of the open turn of a conversation.
 *
 * @param sounds of the last lines by their index, for a model that continues from sound
 */
export function lineScript(
  { textVoices, ...prepared }: DialogueScript,
  base: Pick<Script, "keyId" | "traceHeaders" | "preset">,
  index: number,
  maxFrames: number,
  sounds: ReadonlyMap<number, Clip> = new Map(),
): Script {
  const { lines, speakers } = prepared.dialogue;
  const { text, piece, manner, speaker } = lines[index]!;
  const { voice } = speakers[speaker]!.choice;
  const from = Math.max(0, index - MAX_TURNS);
  const history = lines.slice(from, index).map((line, at) => {
    const audio = sounds.get(from + at) ?? null;
    return { speaker: roleOf(prepared, line.speaker), text: spokenText(line.piece).trim(), audio };
  });
  // A model that follows no marks has no voices in its texts.
  const isPlain = typeof piece === "string" || textVoices === undefined;
  const named = isPlain ? [] : piece.runs.flatMap((run) => run.voice ?? []);
  const voicesInText = named.map((name) => [name, textVoices![name]!] as const);
  const marked = typeof piece === "string" ? {} : { marked: piece };
  const turn = {
    ...prepared,
    conversation: { history, open: { speaker: roleOf(prepared, speaker), text, ...marked } },
    seed: BigInt.asUintN(64, prepared.seed + BigInt(index) * SEED_STEP),
    delivery: { ...prepared.delivery, maxFrames },
    ...(voice === undefined ? {} : { voice }),
    ...(manner === undefined ? {} : { manner }),
    ...(named.length === 0 ? {} : { textVoices: Object.fromEntries(voicesInText) }),
  };
  return buildScript(turn, base.preset, null, base.keyId, base.traceHeaders);
}

/** The 64-bit fraction of the golden ratio, whose multiples are far apart. */
const SEED_STEP = 0x9e3779b97f4a7c15n;

/** Returns the label of a speaker: that of its voice, or one that no voice has. */
function roleOf({ dialogue, model }: Pick<DialogueScript, "dialogue" | "model">, speaker: number): string {
  return dialogue.speakers[speaker]!.choice.speaker ?? `${model.card.speakers.length + speaker}`;
}

function wordIn({ dialogue }: DialogueScript, index: number): (word: SpokenWord) => SpokenWord {
  const { offset, speaker } = dialogue.lines[index]!;
  const { name } = dialogue.speakers[speaker]!;
  return (word) => ({ ...word, offset: word.offset + offset, speaker: name, line: index });
}

function textBefore({ offset }: DialogueLine, { conversation }: DialogueScript): string {
  return Array.from(conversation.open.text ?? "")
    .slice(0, offset)
    .join("");
}

/** A turn has little effect on what is said much later, and a model's context is bounded. */
const MAX_TURNS = 8;
