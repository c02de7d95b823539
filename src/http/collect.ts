import type { FastifyRequest } from "fastify";
import { FRAME_S, SAMPLE_RATE_HZ } from "../audio/format.ts";
import { encodeWav } from "../audio/wav-write.ts";
import { ServiceError } from "../contract/errors.ts";
import type { AudioPayload } from "../contract/replies.ts";
import type { Holding } from "../serving/fair-share.ts";
import type { Prepared } from "../serving/prepare.ts";
import type { Outcome } from "../serving/service.ts";
import type { SpokenFrame } from "../serving/spoken-frame.ts";
import { requesterOf } from "./caller.ts";
import type { HttpDeps } from "./deps.ts";
import { BASE64 } from "./send-whole.ts";

/** A whole reply: one WAV, and how it went. */
export interface Collected {
  readonly wav: Uint8Array;
  readonly outcome: Outcome;
}

/**
 * Waits for a whole reply; stops when the client leaves, or with a 502 past the deadline. Its memory is counted from
 * before it is spoken until its client has taken it.
 */
export async function collect(
  { intake, replies, service, options }: HttpDeps,
  prepared: Prepared,
  request: FastifyRequest,
): Promise<Collected> {
  const { keyId, signal, keep } = requesterOf(request);
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(tooLate()), options.collectTimeoutMs);
  try {
    const holding = await replies.enter(keyId, expectedBytes(prepared), signal);
    keep(holding);
    const stop = AbortSignal.any([signal, late.signal]);
    const onHeard = () => intake.heard(prepared);
    const caller = { keyId, signal: stop, takesAudioAsItComes: false, onHeard };
    const { frames, outcome } = await gather(service.converse(prepared, caller), holding);
    const wav = encodeWav(frames, SAMPLE_RATE_HZ);
    holding.resize(wav.length);
    return { wav, outcome };
  } finally {
    clearTimeout(timer);
  }
}

/** How JSON carries a reply's WAV: `sendJsonAround` puts the bytes in. */
export function audioPayload({ delivery }: Prepared): AudioPayload {
  return {
    sample_rate: SAMPLE_RATE_HZ,
    audio_quality: delivery.quality,
    data_b64: BASE64,
    format: "wav",
  };
}

/** Speech is slower than this only where it is meant to be: seconds a character. */
const SLOW_CHARACTER_S = 0.09;

/** About as much as a reply will take; what it does take is known when it is there. */
function expectedBytes({ conversation, delivery }: Prepared): number {
  const { text } = conversation.open;
  const longestS = delivery.maxFrames * FRAME_S;
  const spokenS = text === null ? longestS : Math.min(longestS, 1 + SLOW_CHARACTER_S * text.length);
  return Math.ceil(spokenS * SAMPLE_RATE_HZ) * Int16Array.BYTES_PER_ELEMENT;
}

async function gather(speech: AsyncGenerator<SpokenFrame, Outcome, void>, holding: Holding) {
  const frames: Int16Array[] = [];
  let bytes = 0;
  let step = await speech.next();
  while (!step.done) {
    const { pcm } = step.value;
    frames.push(pcm);
    bytes += pcm.byteLength;
    if (bytes > holding.units) holding.resize(bytes);
    step = await speech.next();
  }
  return { frames, outcome: step.value };
}

function tooLate(): ServiceError {
  return new ServiceError(502, "the reply took too long: ask for a shorter one", { retryAfterMs: 1_000 });
}
