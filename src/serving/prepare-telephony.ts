import { MAX_SPEECH_FRAMES } from "../contract/limits.ts";
import type { VendorRequest, VoiceRequest } from "../contract/telephony.ts";
import { speakerNamed, VOICES } from "../contract/voices.ts";
import { type Prepared, prepareTts, type ResolveModel } from "./prepare.ts";
import { SILENCE_S } from "./prepare-speech.ts";

/** What a telephony platform asks to have spoken. */
export interface PreparedCall extends Prepared {
  /** The rate of the samples that it wants, in Hz; `null` where it takes what its answer's type says. */
  readonly rateHz: number | null;
}

/**
 * A request of Vapi's or of jambonz's as one of ours. Throws a 400 `ServiceError` that names the field.
 *
 * @param voice comes before the one that the request has
 */
export function prepareTelephony(
  asked: VoiceRequest | VendorRequest,
  resolve: ResolveModel,
  voice: string | null,
): PreparedCall {
  const isVapi = "message" in asked;
  const said = isVapi ? asked.message.text : wordsOf(asked);
  const own = isVapi ? asked.message.voiceId : asked.voice;
  const voiceField = isVapi && voice === null ? "message.voiceId" : "voice";
  const speaker = speakerNamed(voice ?? own ?? VOICES[0]!.id, voiceField);
  const prepared = prepareTts({ text: said, speaker }, resolve, {
    fields: { text: isVapi ? "message.text" : "text", speaker: voiceField },
    maxFrames: MAX_SPEECH_FRAMES,
    silenceS: SILENCE_S,
  });
  return { ...prepared, rateHz: isVapi ? asked.message.sampleRate : null };
}

function wordsOf({ text, type }: VendorRequest): string {
  return type === "ssml" ? text.replaceAll(/<[^<>]*>/g, " ") : text;
}
