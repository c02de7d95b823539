import type { FastifyInstance } from "fastify";
import type { ConverseResponse, TtsResponse } from "../../contract/replies.ts";
import { bodyOf } from "../body.ts";
import type { HttpDeps } from "../deps.ts";
import { audioPayload, collect, sendJsonAround } from "../whole-reply.ts";

/** `POST /v1/tts`, a conversation of one turn, and `POST /v1/converse`, which completes the open turn: answered as one WAV. */
export function replyRoutes(app: FastifyInstance, deps: HttpDeps): void {
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

  app.post("/v1/converse", { config: { access: "token" } }, async (request, reply) => {
    const asked = await deps.requestReader.prepare("converse", bodyOf(request), request.tracked.caller);
    const { file, outcome } = await collect(deps, asked, request);
    const { prepared } = asked;
    const { text, usage, meta } = outcome;
    const model = prepared.model.card.id;
    // Its audio last, as above.
    const answer = { speaker: prepared.conversation.open.speaker, text, audio: audioPayload(prepared) };
    const body: ConverseResponse = { request_id: request.id, model, usage, meta, reply: answer };
    return sendJsonAround(reply, body, file);
  });
}
