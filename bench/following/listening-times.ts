import type { Clip } from "../../src/core/conversation.ts";
import type { Script } from "../../src/core/script.ts";
import type { SpeechModel } from "../../src/core/speech-model.ts";
import { createParametricModel } from "../../src/engines/embedded/model.ts";
import { embeddedCheckpoint } from "../../src/models/installed-checkpoint.ts";
import { median } from "../load/percentile.ts";
import { TEN_WORDS } from "../load/service-speed.ts";
import { followingScript, plainScript } from "../plain-script.ts";

/** What listening costs in one thread, in milliseconds. */
export interface ListeningTimes {
  /** How much later the first frame comes, for each clip that is heard for the first time. */
  readonly newClips: readonly number[];
  /** Median time to look up a clip that is known. */
  readonly known: number;
}

/** @param clips the first is heard before anything is timed: some of what it takes is computed once for all clips */
export async function listeningTimes(clips: readonly Clip[]): Promise<ListeningTimes> {
  const voice = await createParametricModel({ voiceDir: embeddedCheckpoint.dir });
  try {
    const [warmUp, ...others] = clips;
    if (warmUp === undefined) throw new RangeError("There is no clip to listen to.");
    const newClips: number[] = [];
    for (const [index, clip] of clips.entries()) {
      const text = TEN_WORDS[index % TEN_WORDS.length]!;
      const listening = await firstFrameMs(voice, followingScript(text, clip));
      const without = await firstFrameMs(voice, plainScript(text, "0"));
      if (clip !== warmUp) newClips.push(listening - without);
    }
    const known: number[] = [];
    for (let round = 0; round < LOOK_UPS; round++) {
      const script = followingScript(TEN_WORDS[0]!, others[round % others.length] ?? warmUp);
      const begunMs = performance.now();
      await voice.analyseHistory?.(script, new AbortController().signal);
      known.push(performance.now() - begunMs);
    }
    return { newClips, known: median(known) };
  } finally {
    await voice.close();
  }
}

const LOOK_UPS = 200;

async function firstFrameMs(voice: SpeechModel, script: Script): Promise<number> {
  const begunMs = performance.now();
  const speech = voice.speak(script, new AbortController().signal);
  await speech.next();
  const tookMs = performance.now() - begunMs;
  await speech.return({ stop: "length", spoken: "" });
  return tookMs;
}
