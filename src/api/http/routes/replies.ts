import type { FastifyInstance } from "fastify";
import { FRAME_SAMPLES, SAMPLE_RATE_HZ } from "../../../audio/format.ts";
import type { EndEvent, MetaEvent } from "../../../contract/events.ts";
import type { ConverseResponse, TtsResponse } from "../../../contract/replies.ts";
import type { Prepared } from "../../../serving/prepare/prepare.ts";
import type { Outcome } from "../../../serving/reply/speech-service.ts";
import { preparedFrom } from "../body.ts";
import type { HttpDeps } from "../deps.ts";
import { formatAudioEvent, formatEvent, SSE_HEADERS, SSE_KEEP_ALIVE } from "../sse.ts";
import { type StreamForm, streamSpeech } from "../stream-speech.ts";
import { audioPayload, collect, sendJsonAround, tellCut } from "../whole-reply.ts";

/** `POST /v1/tts`, a conversation of one turn, and `POST /v1/converse`, which completes the open turn: answered as one WAV. */
export function replyRoutes(app: FastifyInstance, deps: HttpDeps): void {
  app.post("/v1/tts", { config: { access: "token" } }, async (request, reply) => {
    const asked = await preparedFrom("tts", deps.requestReader, request, reply);
    const { file, outcome } = await collect(deps, asked, request);
    tellCut(reply, outcome);
    const { prepared } = asked;
    const { text, usage, meta } = outcome;
    const model = prepared.model.card.id;
    const audio = audioPayload(prepared);
    // Audio last: what is put in its place is looked for from the end, past words that may hold anything.
    const body: TtsResponse = { request_id: request.id, model, text, usage, meta, audio };
    return sendJsonAround(reply, body, file);
  });

  app.post("/v1/converse", { config: { access: "token" } }, async (request, reply) => {
    const asked = await preparedFrom("converse", deps.requestReader, request, reply);
    const { file, outcome } = await collect(deps, asked, request);
    tellCut(reply, outcome);
    const { prepared } = asked;
    const { text, usage, meta } = outcome;
    const model = prepared.model.card.id;
    // Its audio last, as above.
    const answer = { speaker: prepared.conversation.open.speaker, text, audio: audioPayload(prepared) };
    const body: ConverseResponse = { request_id: request.id, model, usage, meta, reply: answer };
    return sendJsonAround(reply, body, file);
  });
}

/** `POST /v1/converse/stream`: the same reply, a server-sent event a frame. */
export function streamRoute(app: FastifyInstance, deps: HttpDeps): void {
  app.post("/v1/converse/stream", { config: { access: "token" } }, async (request, reply) => {
    const asked = await preparedFrom("converse", deps.requestReader, request, reply);
    await streamSpeech(deps, asked, request, reply, eventsOf(asked.prepared, request.id));
  });
}

function eventsOf(prepared: Prepared, requestId: string): StreamForm {
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

function metaOf(prepared: Prepared, requestId: string): MetaEvent {
  return {
    request_id: requestId,
    model: prepared.model.card.id,
    speaker: prepared.conversation.open.speaker,
    sample_rate: SAMPLE_RATE_HZ,
    format: "pcm_s16le",
    frame_samples: FRAME_SAMPLES,
  };
}

function endOf(prepared: Prepared, outcome: Outcome): EndEvent {
  const { text, audioS, usage, meta } = outcome;
  return { text, speaker: prepared.conversation.open.speaker, audio_seconds: audioS, usage, meta };
}
