import type { FastifyReply } from "fastify";
import { SAMPLE_RATE_HZ } from "../audio/format.ts";
import { encodeWav } from "../audio/wav-write.ts";
import type { AudioPayload } from "../contract/replies.ts";
import type { Prepared } from "../serving/prepare.ts";
import type { Outcome, SpeechService } from "../serving/service.ts";
import { goneSignal } from "./client-gone.ts";

/** Waits for a whole reply and puts it into one WAV; stops when the client leaves. */
export async function collect(
  service: SpeechService,
  prepared: Prepared,
  keyId: string,
  reply: FastifyReply,
): Promise<{ audio: AudioPayload; outcome: Outcome }> {
  const speech = service.converse(prepared, { keyId, signal: goneSignal(reply), takesAudioAsItComes: false });
  const frames: Int16Array[] = [];
  let step = await speech.next();
  while (!step.done) {
    frames.push(step.value);
    step = await speech.next();
  }
  const wav = encodeWav(frames, SAMPLE_RATE_HZ);
  const audio: AudioPayload = {
    sample_rate: SAMPLE_RATE_HZ,
    audio_quality: prepared.delivery.quality,
    data_b64: Buffer.from(wav.buffer, wav.byteOffset, wav.byteLength).toString("base64"),
    format: "wav",
  };
  return { audio, outcome: step.value };
}
