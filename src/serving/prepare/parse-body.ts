import {
  AudioSpeechRequest,
  clampSpeed,
  isSentWhole,
  resolveFormat,
  resolveModelName,
  type SpeechFormat,
} from "../../contract/audio-speech.ts";
import { IgnoredFields, readJsonBody } from "../../contract/json/read-json.ts";
import { MAX_SPEECH_CHARS, MAX_SPEECH_FRAMES, MAX_WHOLE_SPEECH_FRAMES } from "../../contract/limits.ts";
import { ConverseRequest, TtsRequest, VendorRequest, VoiceRequest } from "../../contract/requests.ts";
import {
  parseAudioSpeechRequest,
  parseConverseRequest,
  parseTelephonyRequest,
  parseTtsRequest,
} from "../../contract/validate.ts";
import { looksLikeSsml } from "../../text/ssml/parse-markup.ts";
import { mannerHeader, readManner } from "./read-manner.ts";
import { type ResolvedRequest, type ResolveModel, resolveConverse, resolveTts } from "./resolve-request.ts";

export interface RequestByKind {
  readonly tts: ResolvedRequest;
  readonly converse: ResolvedRequest;
  readonly speech: SpeechBody;
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
    isNullAbsent: purpose === "speech" || purpose === "telephony",
  });
  const resolveKind: { [Q in RequestKind]: () => RequestByKind[Q] } = {
    tts: () => resolveTts(parseTtsRequest(value), resolve),
    converse: () => resolveConverse(parseConverseRequest(value), resolve, textOf),
    speech: () => resolveSpeech(parseAudioSpeechRequest(value), resolve),
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
  telephony: { anyOf: [VoiceRequest, VendorRequest] },
} satisfies Record<RequestKind, object>;

/** Text-to-speech request of OpenAI's clients, and the form of its answer. */
interface SpeechBody extends ResolvedRequest {
  readonly format: SpeechFormat;
  /** Absent: the format's default. */
  readonly streamFormat: AudioSpeechRequest["stream_format"];
  /** Actual speed, if it differs from the requested one; else `null`. */
  readonly nearestSpeed: number | null;
  /** Report on its instructions how to speak; `null` if it has none. */
  readonly mannerHeader: string | null;
}

/** Silence for an input without words, which clients send that send sentence by sentence. */
const SILENCE_S = 0.2;

/** Resolves a request of OpenAI's API. Throws a 400 {@link ServiceError} that names the field. */
function resolveSpeech(asked: AudioSpeechRequest, resolve: ResolveModel): SpeechBody {
  const { input, model, voice, speed = 1, lexicon, visemes, stream_format: streamFormat, input_type } = asked;
  const format = resolveFormat(asked);
  const rate = clampSpeed(speed);
  const manner = readManner(asked.instructions);
  const extras = {
    ...(voice === undefined ? {} : { voice }),
    ...(lexicon === undefined ? {} : { lexicon }),
    ...(visemes === undefined ? {} : { visemes }),
    ...(input_type === undefined ? {} : { input_type }),
  };
  const request = { text: input, model: resolveModelName(model), ...extras };
  const prepared = resolveTts(request, resolve, {
    fields: { text: "input", voice: "voice", maxChars: MAX_SPEECH_CHARS },
    maxFrames: isSentWhole(format, streamFormat) ? MAX_WHOLE_SPEECH_FRAMES : MAX_SPEECH_FRAMES,
    preset: rate === 1 ? {} : { rate },
    ...(manner === null ? {} : { manner: manner.asked }),
    silenceS: SILENCE_S,
  });
  const nearestSpeed = rate === speed ? null : rate;
  const { takes } = prepared.model.card;
  return {
    ...prepared,
    format,
    streamFormat,
    nearestSpeed,
    mannerHeader: manner && mannerHeader(manner, takes.manner),
  };
}

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
  const prepared = resolveTts({ ...said, ...(spoken === undefined ? {} : { voice: spoken }) }, resolve, {
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
