import type { FastifyInstance } from "fastify";
import type { ConverseResponse } from "../../contract/replies.ts";
import { bodyOf } from "../body.ts";
import { keyOf } from "../caller.ts";
import { collect } from "../collect.ts";
import type { HttpDeps } from "../deps.ts";

/** `POST /v1/converse`: completes the open turn, answered as one WAV. */
export function converseRoute(app: FastifyInstance, deps: HttpDeps): void {
  app.post(
    "/v1/converse",
    { config: { access: "token" } },
    async (request, reply): Promise<ConverseResponse> => {
      const prepared = await deps.preparer.prepare("converse", bodyOf(request));
      const { audio, outcome } = await collect(deps, prepared, keyOf(request).keyId, reply);
      const { text, usage, meta } = outcome;
      const { speaker } = prepared.conversation.open;
      return {
        request_id: request.id,
        model: prepared.model.card.id,
        reply: { speaker, text, audio },
        usage,
        meta,
      };
    },
  );
}
