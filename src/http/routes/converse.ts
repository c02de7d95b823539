import type { FastifyInstance } from "fastify";
import type { ConverseResponse } from "../../contract/replies.ts";
import { parseConverseRequest } from "../../contract/validate.ts";
import { prepareConverse } from "../../serving/prepare.ts";
import { keyOf } from "../caller.ts";
import { collect } from "../collect.ts";
import type { HttpDeps } from "../deps.ts";

/** `POST /v1/converse`: completes the open turn, answered as one WAV. */
export function converseRoute(app: FastifyInstance, deps: HttpDeps): void {
  app.post(
    "/v1/converse",
    { config: { access: "token" } },
    async (request, reply): Promise<ConverseResponse> => {
      const prepared = prepareConverse(parseConverseRequest(request.body), deps.resolve);
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
