import { availableParallelism } from "node:os";
import { FRAME_SAMPLES } from "../../src/audio/format.ts";
import type { Clip, Turn } from "../../src/core/conversation.ts";
import { EMBEDDED_VOICES } from "../../src/models/public-models.ts";
import { openEmbeddedVoice } from "../../src/server/voices/embedded-voice.ts";
import { harvardSentences, written } from "../harvard.ts";
import { followingScript, plainScript } from "../plain-script.ts";
import { readClip } from "../read-clip.ts";
import type { Reference } from "../references.ts";
import { speechOf } from "../speech-of.ts";
import { buzzIn } from "./buzz.ts";
import { clicksIn } from "./clicks.ts";
import { loudestIn } from "./thumps.ts";

/** What was found in the speech of a voice, or of the default voice after hearing a person. */
export interface Sounding {
  readonly name: string;
  readonly isFollowed: boolean;
  /** Frames that end in a click, in single sentences and in replies to others, and how many there were. */
  readonly clicks: number;
  readonly frames: number;
  /** How far each sentence's loudest moment is above the rest of it, in decibels. */
  readonly overDb: readonly number[];
  readonly buzz: number;
}

/**
 * Lets the embedded voice's people and the default voice after each person heard say Harvard sentences at temperature 0, with full stops,
 * exclamation marks and question marks in turn: each by itself, and four at a time after "Hi." in a conversation, with
 * text alone and with somebody else's audio.
 *
 * @param sentences how many, a multiple of four
 */
export async function soundingsOf(
  people: readonly Reference[],
  sentences: number,
): Promise<readonly Sounding[]> {
  const all = await harvardSentences();
  const texts = Array.from({ length: sentences }, (_, i) =>
    written(all[Math.floor((i * all.length) / sentences)]!).replace(".", MARKS[i % MARKS.length]!),
  );
  const clips = await Promise.all(people.map(({ clip }) => readClip(clip)));
  const voice = await openEmbeddedVoice({ threads: availableParallelism() });
  const say = async (text: string, speaker: string, clip: Clip | null, history: readonly Turn[] = []) => {
    const script = clip === null ? plainScript(text, speaker) : followingScript(text, clip);
    const { samples } = await speechOf(voice, { ...script, history: [...script.history, ...history] });
    return samples;
  };
  const sound = async (name: string, speaker: string, clip: Clip | null): Promise<Sounding> => {
    const alone = await Promise.all(texts.map((text) => say(text, speaker, clip)));
    const other = speaker === "0" ? "1" : "0";
    const replies = await Promise.all(
      texts.flatMap((_, at) => {
        if (at % 4 !== 0) return [];
        const text = `Hi. ${texts.slice(at, at + 4).join(" ")}`;
        // Every other conversation has somebody to be drawn to, in level and pace.
        const audio = at % 8 === 0 ? null : (clips[at % clips.length] ?? null);
        return [say(text, speaker, clip, [{ speaker: other, text: "Hello there.", audio }])];
      }),
    );
    const spoken = [...alone, ...replies].map(framesOf);
    return {
      name,
      isFollowed: clip !== null,
      clicks: spoken.reduce((sum, frames) => sum + clicksIn(frames), 0),
      frames: spoken.reduce((sum, frames) => sum + frames.length, 0),
      overDb: alone.map((samples) => loudestIn(samples).overDb),
      buzz: buzzIn(alone),
    };
  };
  try {
    const soundings: Sounding[] = [];
    for (const { id } of EMBEDDED_VOICES) soundings.push(await sound(id, id, null));
    for (const [index, { name }] of people.entries()) soundings.push(await sound(name, "0", clips[index]!));
    return soundings;
  } finally {
    await voice.close();
  }
}

function framesOf(samples: Float32Array): Float32Array[] {
  return Array.from({ length: Math.ceil(samples.length / FRAME_SAMPLES) }, (_, frame) =>
    samples.subarray(frame * FRAME_SAMPLES, (frame + 1) * FRAME_SAMPLES),
  );
}

const MARKS = [".", "!", "?"];
