import type { FastifyReply } from "fastify";
import { SAMPLE_RATE_HZ } from "../audio/format.ts";
import { encodeWav } from "../audio/wav-write.ts";
import { ServiceError } from "../contract/errors.ts";
import type { AudioPayload } from "../contract/replies.ts";
import type { Prepared } from "../serving/prepare.ts";
import type { Outcome } from "../serving/service.ts";
import { watchClient } from "./client-gone.ts";
import type { HttpDeps } from "./deps.ts";
import { base64Of } from "./sse.ts";

/** A whole reply as JSON carries it; see {@link collectWav}. */
export async function collect(
  deps: HttpDeps,
  prepared: Prepared,
  keyId: string,
  reply: FastifyReply,
): Promise<{ audio: AudioPayload; outcome: Outcome }> {
  const { wav, outcome } = await collectWav(deps, prepared, keyId, reply);
  const audio: AudioPayload = {
    sample_rate: SAMPLE_RATE_HZ,
    audio_quality: prepared.delivery.quality,
    data_b64: base64Of(wav),
    format: "wav",
  };
  return { audio, outcome };
}

/** Waits for a whole reply and puts it into one WAV; stops when the client leaves, or with a 502 past the deadline. */
export async function collectWav(
  deps: HttpDeps,
  prepared: Prepared,
  keyId: string,
  reply: FastifyReply,
): Promise<{ wav: Uint8Array; outcome: Outcome }> {
  const client = watchClient(reply);
  const timer = setTimeout(() => client.abort(tooLate()), deps.options.collectTimeoutMs);
  try {
    const caller = { keyId, signal: client.signal, takesAudioAsItComes: false };
    const { frames, outcome } = await gather(deps.service.converse(prepared, caller));
    return { wav: encodeWav(frames, SAMPLE_RATE_HZ), outcome };
  } finally {
    clearTimeout(timer);
  }
}

async function gather(speech: AsyncGenerator<Int16Array, Outcome, void>) {
  const frames: Int16Array[] = [];
  let step = await speech.next();
  while (!step.done) {
    frames.push(step.value);
    step = await speech.next();
  }
  return { frames, outcome: step.value };
}

function tooLate(): ServiceError {
  return new ServiceError(502, "the reply took too long: ask for a shorter one", { retryAfterMs: 1_000 });
}
