import type { FastifyInstance } from "fastify";
import type { TtsResponse } from "../../contract/replies.ts";
import { bodyOf } from "../body.ts";
import { requesterOf } from "../caller.ts";
import { collect } from "../collect.ts";
import type { HttpDeps } from "../deps.ts";
import { sendJson } from "../send-json.ts";

/** `POST /v1/tts`: a conversation of one turn, answered as one WAV. */
export function ttsRoute(app: FastifyInstance, deps: HttpDeps): void {
  app.post("/v1/tts", { config: { access: "token" } }, async (request, reply) => {
    const prepared = await deps.intake.prepare("tts", bodyOf(request), requesterOf(request));
    const { audio, outcome } = await collect(deps, prepared, request);
    const { text, usage, meta } = outcome;
    const { id } = prepared.model.card;
    return sendJson(reply, {
      request_id: request.id,
      model: id,
      text,
      audio,
      usage,
      meta,
    } satisfies TtsResponse);
  });
}
