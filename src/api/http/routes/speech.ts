import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Encoding, PCM_RATES, pcmAt } from "../../../audio/encode/encoder.ts";
import { FRAME_SAMPLES, SAMPLE_RATE_HZ } from "../../../audio/format.ts";
import { isSentWhole } from "../../../contract/audio-speech.ts";
import type { DialogueStarted } from "../../../contract/dialogue.ts";
import { fieldError } from "../../../contract/errors.ts";
import type {
  AudioModelList,
  ConverseResponse,
  EndEvent,
  MetaEvent,
  TtsResponse,
} from "../../../contract/replies.ts";
import { cautionsHeader } from "../../../serving/prepare/read-markup.ts";
import type { ReadRequest } from "../../../serving/prepare/request-reader.ts";
import type { ResolvedRequest } from "../../../serving/prepare/resolve-request.ts";
import type { SpeechBody } from "../../../serving/prepare/resolve-speech.ts";
import type { ResolvedDialogue } from "../../../serving/prepare/resolved-dialogue.ts";
import type { SpeechOutcome } from "../../../serving/reply/speech-service.ts";
import type { HttpDeps } from "../http-deps.ts";
import { formatAudioEvent, formatEvent, SSE_HEADERS, SSE_KEEP_ALIVE } from "../paced-response.ts";
import { readRequestBody, requireBody } from "../request-body.ts";
import {
  audioPayload,
  bytesFormat,
  collectReply,
  eventsFormat,
  MEDIA_TYPES,
  type StreamFormat,
  sendFile,
  sendJsonWithAudio,
  setStopHeader,
  streamSpeech,
} from "../speech-reply.ts";

/** `POST /v1/tts` and `POST /v1/converse`, answered with one WAV in JSON. */
export function replyRoutes(app: FastifyInstance, deps: HttpDeps): void {
  for (const kind of ["tts", "converse"] as const)
    app.post(`/v1/${kind}`, { config: { access: "token" } }, async (request, reply) => {
      const asked = await readRequestBody(kind, deps.requestReader, request, reply);
      const { file, outcome } = await collectReply(deps, asked, request);
      setStopHeader(reply, outcome);
      const { speaker, model } = asked.prepared;
      const { text, usage, meta } = outcome;
      const about = { request_id: request.id, model: model.card.id, usage, meta };
      // The audio comes last: its placeholder is sought from the end, since earlier members may hold client text.
      const audio = audioPayload(asked.prepared);
      const body: TtsResponse | ConverseResponse =
        kind === "tts" ? { ...about, text, audio } : { ...about, reply: { speaker, text, audio } };
      return sendJsonWithAudio(reply, body, file);
    });
}

/** `POST /v1/converse/stream`: the reply as server-sent events, one for each frame. */
export function streamRoute(app: FastifyInstance, deps: HttpDeps): void {
  app.post("/v1/converse/stream", { config: { access: "token" } }, async (request, reply) => {
    const asked = await readRequestBody("converse", deps.requestReader, request, reply);
    await streamSpeech(deps, asked, request, reply, eventsOf(asked.prepared, request.id));
  });
}

function eventsOf(prepared: ResolvedRequest, requestId: string): StreamFormat {
  return {
    encoding: "pcm",
    isPlayed: true,
    headers: SSE_HEADERS,
    keepAlive: SSE_KEEP_ALIVE,
    opening: formatEvent({ event: "meta", data: metaOf(prepared, requestId) }),
    frame: formatAudioEvent,
    closing: (outcome) => formatEvent({ event: "end", data: endOf(prepared, outcome) }),
    failure: ({ type, message }) =>
      formatEvent({ event: "error", data: { type, message, request_id: requestId } }),
  };
}

function metaOf(prepared: ResolvedRequest, requestId: string): MetaEvent {
  return {
    request_id: requestId,
    model: prepared.model.card.id,
    speaker: prepared.speaker,
    sample_rate: SAMPLE_RATE_HZ,
    format: "pcm_s16le",
    frame_samples: FRAME_SAMPLES,
  };
}

function endOf(prepared: ResolvedRequest, outcome: SpeechOutcome): EndEvent {
  const { text, audioS, usage, meta } = outcome;
  return { text, speaker: prepared.speaker, audio_seconds: audioS, usage, meta };
}

/** Fits the longest text or script with every character escaped, and a thousand lines with instructions. */
const MAX_SPEECH_BODY_BYTES = 4 * 1024 * 1024;

export function audioSpeechRoutes(app: FastifyInstance, deps: HttpDeps): void {
  const bodyLimit = Math.min(MAX_SPEECH_BODY_BYTES, deps.options.bodyLimitBytes);
  const route = { bodyLimit, config: { access: "token" as const } };
  app.post("/v1/audio/speech", route, async (request, reply) => {
    const asked = await readRequestBody("speech", deps.requestReader, request, reply);
    return sendSpeech(deps, asked, request, reply);
  });

  app.post("/v1/audio/dialogue", route, async (request, reply) => {
    const asked = await readRequestBody("dialogue", deps.requestReader, request, reply);
    const started = dialogueStarted(asked.prepared.dialogue);
    reply.header("X-Antiphon-Voices", voicesHeader(started));
    return sendSpeech(deps, asked, request, reply, started);
  });

  const access = deps.options.keylessLists === "none" ? "key" : "open";
  app.get("/v1/audio/models", { config: { access } }, async (): Promise<AudioModelList> => {
    const cards = deps.cards();
    return { object: "list", data: cards, models: cards.map(({ id, display_name: name }) => ({ id, name })) };
  });
}

/** Sends speech as the request asks for it. @param started first event of a dialogue */
async function sendSpeech(
  deps: HttpDeps,
  asked: ReadRequest<SpeechBody>,
  request: FastifyRequest,
  reply: FastifyReply,
  started?: DialogueStarted,
): Promise<FastifyReply | undefined> {
  const { format, streamFormat, nearestSpeed, mannerHeader } = asked.prepared;
  if (nearestSpeed !== null) reply.header("X-Antiphon-Speed", `${nearestSpeed}`);
  const cautions = cautionsHeader(asked.prepared);
  if (cautions !== null) reply.header("X-Antiphon-Cautions", cautions);
  if (mannerHeader !== null) reply.header("X-Antiphon-Manner", mannerHeader);
  if (isSentWhole(format, streamFormat)) {
    const { file, outcome } = await collectReply(deps, asked, request, format);
    setStopHeader(reply, outcome);
    return sendFile(reply, file, MEDIA_TYPES[format]);
  }
  // Without `stream_format`, clients mostly save the file, or play it once it is complete.
  const isPlayed = streamFormat !== undefined;
  const form =
    streamFormat === "sse" ? eventsFormat(format, request.id, started) : bytesFormat(format, isPlayed);
  await streamSpeech(deps, asked, request, reply, form);
  return undefined;
}

function dialogueStarted({ speakers, lines }: ResolvedDialogue): DialogueStarted {
  return {
    type: "dialogue.started",
    speakers: speakers.map(({ name, voice, isChosen }) => ({ name, voice, is_chosen: isChosen })),
    lines: lines.map(({ speaker: index, offset, length, scene }) => {
      return { speaker: speakers[index]!.name, offset, length, scene };
    }),
  };
}

/** Formats who speaks with which voice: `Anna=Maya, Ben=Theo`, percent-encoded; as many as fit. */
function voicesHeader({ speakers }: DialogueStarted): string {
  const header = speakers
    .map(
      ({ name, voice }) =>
        `${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(voice.toWellFormed())}`,
    )
    .join(", ");
  if (header.length <= MAX_HEADER_CHARS) return header;
  return header.slice(0, Math.max(0, header.lastIndexOf(", ", MAX_HEADER_CHARS)));
}

/** Clients and proxies refuse long headers. */
const MAX_HEADER_CHARS = 4_000;

/** Supported sampling rates in Hz. */
export const TELEPHONY_RATES: readonly number[] = [...PCM_RATES, SAMPLE_RATE_HZ].sort((a, b) => a - b);

/**
 * `POST /v1/audio/telephony`: a voice for Vapi, which takes samples at the rate that it names, and for jambonz, which
 * takes an MP3, or samples at the query's `rate`. The query's `voice` takes precedence over the body's.
 */
export function audioTelephonyRoute(app: FastifyInstance, deps: HttpDeps): void {
  const bodyLimit = Math.min(MAX_SPEECH_BODY_BYTES, deps.options.bodyLimitBytes);
  app.post<{ Querystring: Readonly<Record<string, unknown>> }>(
    "/v1/audio/telephony",
    { bodyLimit, config: { access: "token" } },
    async (request, reply) => {
      const voice = singleParameter("voice", request.query.voice);
      const rate = singleParameter("rate", request.query.rate);
      const rateHz = rate === null ? null : Number(rate);
      if (rateHz !== null) requirePcmAt(rateHz, "rate");
      const asked = await deps.requestReader.read(
        "telephony",
        requireBody(request),
        request.tracked.caller,
        voice,
      );
      const [encoding, type] = telephonyFormat(asked.prepared.rateHz, rateHz);
      const cautions = cautionsHeader(asked.prepared);
      const headers = {
        "Content-Type": type,
        ...(cautions === null ? {} : { "X-Antiphon-Cautions": cautions }),
      };
      // Vapi plays the audio as it arrives; jambonz waits for the file.
      const isPlayed = asked.prepared.rateHz !== null;
      return streamSpeech(deps, asked, request, reply, {
        ...bytesFormat("pcm", isPlayed),
        encoding,
        headers,
      });
    },
  );
}

/**
 * Returns the encoding and media type of the reply.
 *
 * @param ownHz rate that the body asks for
 */
function telephonyFormat(ownHz: number | null, queryHz: number | null): [Encoding, string] {
  if (ownHz !== null) return [requirePcmAt(ownHz, "message.sampleRate"), "application/octet-stream"];
  if (queryHz === null) return ["mp3", "audio/mpeg"];
  return [requirePcmAt(queryHz, "rate"), `audio/l16;rate=${queryHz}`];
}

function requirePcmAt(rateHz: number, field: string): Encoding {
  const encoding = pcmAt(rateHz);
  if (encoding !== null) return encoding;
  throw fieldError(field, `must be one of ${TELEPHONY_RATES.join(", ")}`);
}

/** Returns a query parameter; throws a 400 if it is repeated. */
export function singleParameter(name: string, value: unknown): string | null {
  if (value === undefined || value === "") return null;
  if (typeof value === "string") return value;
  throw fieldError(name, "is in the query more than once: send it once");
}
