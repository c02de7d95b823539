// Plays a sample of a voice.
import { Player, SAMPLE_RATE_HZ } from "./client/player.js";
import { linkedServer } from "./server.js";

/** Ends the sample that plays or is requested. */
let leaving = new AbortController();

/**
 * Plays a sample of a voice or mix and ends the one before it. Resolves when it was played or ended; throws the server's
 * error.
 *
 * @param model its public id; empty for the default one
 */
export async function hearVoice(voice, model) {
  hush();
  leaving = new AbortController();
  const { signal } = leaving;
  try {
    const file = await linkedServer().voiceSample(voice, model, { signal });
    const decoder = new OfflineAudioContext(1, 1, SAMPLE_RATE_HZ);
    const samples = (await decoder.decodeAudioData(await file.arrayBuffer())).getChannelData(0);
    const pcm = Int16Array.from(samples, (x) => 32_767 * Math.max(-1, Math.min(1, x)));
    if (!signal.aborted) await playPcm(pcm, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Ends the sample. */
export function hush() {
  leaving.abort();
}

/** Plays samples at 24 kHz. Resolves at their end or when the signal aborts. */
export const playPcm = (pcm, signal) =>
  new Promise((resolve) => {
    const player = new Player({ onEnd: resolve });
    signal.addEventListener("abort", () => player.stop(), { once: true });
    player.add(pcm);
    player.complete();
  });
