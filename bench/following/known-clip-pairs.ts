import { availableParallelism } from "node:os";
import { encodeWav } from "../../src/audio/encode-wav.ts";
import { toPcm16 } from "../../src/audio/pcm.ts";
import type { Clip } from "../../src/core/conversation.ts";
import { firstAudioMs } from "../first-audio-ms.ts";
import { LoadClient } from "../load/load-client.ts";
import { runLoad } from "../load/load-job.ts";
import { startServerProcess } from "../load/server-process.ts";
import { converseBody, TEN_WORDS, tenWords } from "../load/service-speed.ts";

/** Request to first audio of the same words, in milliseconds. */
export interface KnownClipPair {
  /** After a turn with a clip that the server has heard before, and that the request carries all the same. */
  readonly after: number;
  readonly without: number;
}

/** Asks a server of its own, one request after the other; who goes first of a pair alternates. */
export async function knownClipPairs(clip: Clip, pairs: number): Promise<readonly KnownClipPair[]> {
  const server = await startServerProcess();
  const job = tenWords(server, 1);
  const client = new LoadClient(job);
  const wav = Buffer.from(encodeWav(toPcm16(clip.samples), clip.sampleRateHz)).toString("base64");
  const askedMs = async (body: string) =>
    firstAudioMs([await client.request(body, new AbortController().signal)]).p50;
  try {
    // Every thread of the server is to know the clip.
    const threads = 2 * availableParallelism();
    const bodies = TEN_WORDS.map((text) => bodyAfter(wav, text));
    firstAudioMs(await runLoad({ ...job, bodies, clients: threads, requests: 4 * threads }));
    const found: KnownClipPair[] = [];
    for (let pair = 0; pair < pairs + WARM_UP_PAIRS; pair++) {
      const text = TEN_WORDS[pair % TEN_WORDS.length]!;
      const [plain, following] = [converseBody(text), bodyAfter(wav, text)];
      const first = await askedMs(pair % 2 === 0 ? following : plain);
      const second = await askedMs(pair % 2 === 0 ? plain : following);
      if (pair < WARM_UP_PAIRS) continue;
      found.push(pair % 2 === 0 ? { after: first, without: second } : { after: second, without: first });
    }
    return found;
  } finally {
    client.close();
    await server.stop();
  }
}

const WARM_UP_PAIRS = 4;

function bodyAfter(wav: string, text: string): string {
  return JSON.stringify({
    conversation: [
      { speaker: "0", audio_wav_b64: wav },
      { speaker: "0", text },
    ],
  });
}
