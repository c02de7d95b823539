import { AudioSpeechRequest } from "../../contract/audio-speech.ts";
import { DialogueRequest } from "../../contract/dialogue.ts";
import { IgnoredFields, readJsonBody } from "../../contract/json/read-json.ts";
import { MAX_SPEECH_CHARS, MAX_SPEECH_FRAMES } from "../../contract/limits.ts";
import { ConverseRequest, TtsRequest, VendorRequest, VoiceRequest } from "../../contract/requests.ts";
import {
  parseAudioSpeechRequest,
  parseConverseRequest,
  parseDialogueRequest,
  parseTelephonyRequest,
  parseTtsRequest,
} from "../../contract/validate.ts";
import { looksLikeSsml } from "../../text/ssml/parse-markup.ts";
import { telephoneLanguage } from "./choose-language.ts";
import { type DialogueBody, resolveDialogue } from "./resolve-dialogue.ts";
import { type ResolvedRequest, type ResolveModel, resolveConverse, resolveTts } from "./resolve-request.ts";
import { resolveSpeech, SILENCE_S, type SpeechBody } from "./resolve-speech.ts";

export interface RequestByKind {
  readonly tts: ResolvedRequest;
  readonly converse: ResolvedRequest;
  readonly speech: SpeechBody;
  readonly dialogue: DialogueBody;
  readonly telephony: TelephonyBody;
}

export type RequestKind = keyof RequestByKind;

/**
 * Parses a body into a request that has been checked in full. Throws a 422 or 400 `ServiceError`.
 *
 * @param voice from the query of `telephony`
 */
export function parseBody<P extends RequestKind>(
  purpose: P,
  body: Uint8Array,
  resolve: ResolveModel,
  voice: string | null = null,
): RequestByKind[P] {
  const unread = new IgnoredFields();
  const { value, textOf } = readJsonBody(body, SCHEMAS[purpose], {
    // Telephony platforms send many fields of their own, and read no headers.
    ...(purpose === "telephony" ? {} : { unread }),
    isNullAbsent: purpose === "speech" || purpose === "dialogue" || purpose === "telephony",
  });
  const resolveKind: { [Q in RequestKind]: () => RequestByKind[Q] } = {
    tts: () => resolveTts(parseTtsRequest(value), resolve),
    converse: () => resolveConverse(parseConverseRequest(value), resolve, textOf),
    speech: () => resolveSpeech(parseAudioSpeechRequest(value), resolve),
    dialogue: () => resolveDialogue(parseDialogueRequest(value), resolve),
    telephony: () => resolveTelephony(parseTelephonyRequest(value), resolve, voice),
  };
  const prepared = resolveKind[purpose]();
  const ignored = unread.headerValue();
  return ignored === null ? prepared : { ...prepared, unread: ignored };
}

const SCHEMAS = {
  tts: TtsRequest,
  converse: ConverseRequest,
  speech: AudioSpeechRequest,
  dialogue: DialogueRequest,
  telephony: { anyOf: [VoiceRequest, VendorRequest] },
} satisfies Record<RequestKind, object>;

/** Request of a telephony platform. */
interface TelephonyBody extends ResolvedRequest {
  /** Wanted sample rate in Hz; `null` if the answer's content type states it. */
  readonly rateHz: number | null;
}

/**
 * Resolves a request of Vapi or jambonz. Throws a 400 `ServiceError` that names the field.
 *
 * @param voice takes precedence over the request's own
 */
function resolveTelephony(
  asked: VoiceRequest | VendorRequest,
  resolve: ResolveModel,
  voice: string | null,
): TelephonyBody {
  const isVapi = "message" in asked;
  const said = isVapi ? { text: asked.message.text } : textOf(asked);
  const own = isVapi ? asked.message.voiceId : asked.voice;
  const voiceField = isVapi && voice === null ? "message.voiceId" : "voice";
  const spoken = voice ?? own ?? undefined;
  const card = resolve(null)?.card;
  const isFree = !isVapi && spoken === undefined && card !== undefined;
  const language = isFree ? telephoneLanguage(asked.language, "0", card) : undefined;
  const named = {
    ...(spoken === undefined ? {} : { voice: spoken }),
    ...(language === undefined ? {} : { language }),
  };
  const prepared = resolveTts({ ...said, ...named }, resolve, {
    fields: { text: isVapi ? "message.text" : "text", voice: voiceField, maxChars: MAX_SPEECH_CHARS },
    maxFrames: MAX_SPEECH_FRAMES,
    silenceS: SILENCE_S,
  });
  return { ...prepared, rateHz: isVapi ? asked.message.sampleRate : null };
}

/** jambonz sends SSML with or without its root element. */
function textOf({ text, type }: VendorRequest): Pick<TtsRequest, "text" | "input_type"> {
  if (type !== "ssml") return { text };
  return { text: looksLikeSsml(text) ? text : `<speak>${text}</speak>`, input_type: "ssml" };
}
