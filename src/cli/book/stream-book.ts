import { once } from "node:events";
import { wavHeader } from "../../audio/encode-wav.ts";
import { SAMPLE_RATE_HZ } from "../../audio/format.ts";
import { joinedBytes } from "../../audio/joined.ts";
import type { Script } from "../../core/script.ts";
import type { SpeechModel } from "../../core/speech-model.ts";
import { seedOf, speakPassages } from "../../serving/reply/speak-passages.ts";
import type { Passage } from "../../text/sentences/passages.ts";
import type { CommandIo } from "../terminal/command-io.ts";
import { BookProgress } from "./book-progress.ts";

interface BookSpeech {
  readonly passages: AsyncIterable<Passage>;
  readonly model: SpeechModel;
  readonly signal: AbortSignal;
  /** UTF-16 units of the text; null where it comes from a pipe. */
  readonly totalChars: number | null;
  /** Of those, how many are spoken; null where that is not known. */
  readonly spokenChars: number | null;
  script(text: string, seed: bigint): Promise<Script>;
}

/** Plays a long text on a terminal, a passage at a time; elsewhere writes it to standard output, a WAV whose length is left open. */
export async function streamOrPlay(
  { passages, model, signal, totalChars, spokenChars, script }: BookSpeech,
  { stdout, stderr }: CommandIo,
): Promise<void> {
  const isPlayed = stdout.isTTY === true;
  const { play } = await import("../terminal/play.ts");
  let pieces: Uint8Array[] = [];
  /** What plays while the next passage is made. */
  let playing: Promise<void> = Promise.resolve();
  let bytes = 0;
  if (!isPlayed) stdout.write(wavHeader(null, SAMPLE_RATE_HZ));
  const progress = new BookProgress(stderr, { totalChars, spokenChars });
  const speech = speakPassages(passages, {
    model,
    signal,
    script: (passage, index) => script(passage.text, seedOf(passage, index)),
  });
  let chapter: string | null = null;
  try {
    progress.begin(0, 0);
    for await (const spoken of speech) {
      if (spoken.kind === "sound") {
        bytes += spoken.pcm.length;
        if (isPlayed) pieces.push(spoken.pcm);
        else if (!stdout.write(spoken.pcm)) await once(stdout, "drain", { signal });
      } else if (spoken.kind === "end") {
        chapter = spoken.passage.chapter ?? chapter;
        progress.show(spoken.passage.readChars, bytes / 2 / SAMPLE_RATE_HZ, chapter);
        if (!isPlayed) continue;
        await playing;
        const pcm = joinedBytes(pieces);
        pieces = [];
        playing = play(joinedBytes([wavHeader(pcm.length, SAMPLE_RATE_HZ), pcm]));
        // Thrown before the next passage is played.
        playing.catch(() => {});
      }
    }
    await playing;
  } finally {
    progress.end();
  }
}
