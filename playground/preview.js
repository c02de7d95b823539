// A voice alone, heard for a sentence.
import { Player } from "./client/player.js";
import { server } from "./server.js";

const SENTENCE = "Good to meet you. This is how I sound.";

/** What gives up the one that is heard, or is about to be. */
let leaving = new AbortController();

/**
 * Speaks the sentence with a voice, in the place of whoever is heard. Resolves when it was heard or given up; throws what
 * the server says.
 *
 * @param model its public id; empty for the default one
 */
export async function hearVoice(voice, model) {
  hush();
  leaving = new AbortController();
  const { signal } = leaving;
  const request = { input: SENTENCE, voice, response_format: "pcm", ...(model ? { model } : {}) };
  try {
    const file = await server().speech(request, { signal });
    const pcm = new Int16Array(await file.arrayBuffer());
    if (!signal.aborted) await playPcm(pcm, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Ends whatever is heard. */
export function hush() {
  leaving.abort();
}

/** Plays samples at 24 kHz, until they were heard or the signal ends it. */
export const playPcm = (pcm, signal) =>
  new Promise((resolve) => {
    const player = new Player({ onEnd: resolve });
    signal.addEventListener("abort", () => player.stop(), { once: true });
    player.add(pcm);
    player.complete();
  });
