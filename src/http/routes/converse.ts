import type { FastifyInstance } from "fastify";
import type { ConverseResponse } from "../../contract/replies.ts";
import { bodyOf } from "../body.ts";
import { audioPayload, collect } from "../collect.ts";
import type { HttpDeps } from "../deps.ts";
import { sendJsonAround } from "../send-whole.ts";

/** `POST /v1/converse`: completes the open turn, answered as one WAV. */
export function converseRoute(app: FastifyInstance, deps: HttpDeps): void {
  app.post("/v1/converse", { config: { access: "token" } }, async (request, reply) => {
    const asked = await deps.requestReader.prepare("converse", bodyOf(request), request.tracked.caller);
    const { file, outcome } = await collect(deps, asked, request);
    const { prepared } = asked;
    const { text, usage, meta } = outcome;
    const body: ConverseResponse = {
      request_id: request.id,
      model: prepared.model.card.id,
      usage,
      meta,
      // Last: what is put in the audio's place is looked for from the end, past words that may hold anything.
      reply: { speaker: prepared.conversation.open.speaker, text, audio: audioPayload(prepared) },
    };
    return sendJsonAround(reply, body, file);
  });
}
