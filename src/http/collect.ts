import type { FastifyRequest } from "fastify";
import { SAMPLE_RATE_HZ } from "../audio/format.ts";
import { encodeWav } from "../audio/wav-write.ts";
import { ServiceError } from "../contract/errors.ts";
import type { AudioPayload } from "../contract/replies.ts";
import type { Prepared } from "../serving/prepare.ts";
import type { Outcome } from "../serving/service.ts";
import { requesterOf } from "./caller.ts";
import type { HttpDeps } from "./deps.ts";
import { base64Of } from "./sse.ts";

/** A whole reply as JSON carries it; see {@link collectWav}. */
export async function collect(
  deps: HttpDeps,
  prepared: Prepared,
  request: FastifyRequest,
): Promise<{ audio: AudioPayload; outcome: Outcome }> {
  const { wav, outcome } = await collectWav(deps, prepared, request);
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
  request: FastifyRequest,
): Promise<{ wav: Uint8Array; outcome: Outcome }> {
  const { keyId, signal } = requesterOf(request);
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(tooLate()), deps.options.collectTimeoutMs);
  try {
    const stop = AbortSignal.any([signal, late.signal]);
    const caller = { keyId, signal: stop, takesAudioAsItComes: false };
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
