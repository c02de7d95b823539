import type { FastifyInstance } from "fastify";
import type { TtsResponse } from "../../contract/replies.ts";
import { bodyOf } from "../body.ts";
import { audioPayload, collect } from "../collect.ts";
import type { HttpDeps } from "../deps.ts";
import { sendJsonAround } from "../send-whole.ts";

/** `POST /v1/tts`: a conversation of one turn, answered as one WAV. */
export function ttsRoute(app: FastifyInstance, deps: HttpDeps): void {
  app.post("/v1/tts", { config: { access: "token" } }, async (request, reply) => {
    const asked = await deps.requestReader.prepare("tts", bodyOf(request), request.tracked.caller);
    const { file, outcome } = await collect(deps, asked, request);
    const { prepared } = asked;
    const { text, usage, meta } = outcome;
    const model = prepared.model.card.id;
    const audio = audioPayload(prepared);
    // Audio last: what is put in its place is looked for from the end, past words that may hold anything.
    const body: TtsResponse = { request_id: request.id, model, text, usage, meta, audio };
    return sendJsonAround(reply, body, file);
  });
}
