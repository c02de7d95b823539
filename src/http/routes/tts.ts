import type { FastifyInstance } from "fastify";
import type { TtsResponse } from "../../contract/replies.ts";
import { bodyOf } from "../body.ts";
import { keyOf } from "../caller.ts";
import { collect } from "../collect.ts";
import type { HttpDeps } from "../deps.ts";

/** `POST /v1/tts`: a conversation of one turn, answered as one WAV. */
export function ttsRoute(app: FastifyInstance, deps: HttpDeps): void {
  app.post("/v1/tts", { config: { access: "token" } }, async (request, reply): Promise<TtsResponse> => {
    const prepared = await deps.preparer.prepare("tts", bodyOf(request));
    const { audio, outcome } = await collect(deps, prepared, keyOf(request).keyId, reply);
    const { text, usage, meta } = outcome;
    return { request_id: request.id, model: prepared.model.card.id, text, audio, usage, meta };
  });
}
