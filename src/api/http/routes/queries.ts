import type { FastifyInstance } from "fastify";
import { resolveModelName } from "../../../contract/audio-speech.ts";
import { fieldError, quoted, ServiceError } from "../../../contract/errors.ts";
import type { Health, ModelEntry, ModelList, UsageSummary } from "../../../contract/replies.ts";
import type { HttpDeps } from "../http-deps.ts";
import { openApiDocument } from "../openapi/openapi-document.ts";

/** Models, info, usage of the calling key, liveness and readiness. */
export function queryRoutes(app: FastifyInstance, deps: HttpDeps): void {
  const access = deps.options.keylessLists === "all" ? "open" : "key";
  app.get(
    "/v1/models",
    { config: { access } },
    async (): Promise<ModelList> => ({ object: "list", data: deps.cards() }),
  );

  app.get<{ Params: { id: string } }>(
    "/v1/models/:id",
    { config: { access } },
    async ({ params }): Promise<ModelEntry> => {
      const id = resolveModelName(params.id);
      const card = deps.cards().find((each) => (id === null ? each.default : each.id === id));
      if (card !== undefined) return card;
      throw fieldError("model", `${quoted(params.id)} is unknown: GET /v1/models lists the valid ids`, 404);
    },
  );

  // A page opened by a talk link checks its secret here.
  app.get("/v1/info", { config: { access: "key", takesSecrets: true } }, async () => deps.info);

  app.get("/v1/usage", { config: { access: "key" } }, async (request): Promise<UsageSummary> => {
    const { keyId } = request.tracked.caller;
    const totals = await deps.tenancy.usage(keyId);
    return {
      key_id: keyId,
      requests: totals.requests,
      input_chars: totals.inputChars,
      input_audio_seconds: totals.inputAudioS,
      output_audio_seconds: totals.outputAudioS,
      last_request_ts: totals.lastRequestTsS,
    };
  });

  app.get("/health", { config: { access: "open" } }, async (): Promise<Health> => {
    return health(deps);
  });

  // Load balancers check the status, not the body.
  app.get("/ready", { config: { access: "open" } }, async (): Promise<Health> => {
    const status = health(deps);
    if (status.ready) return status;
    throw new ServiceError(502, "the server takes no requests just now: retry in a moment", {
      retryAfterMs: 1_000,
    });
  });
}

function health({ info, isReady }: HttpDeps): Health {
  const ready = isReady();
  return { backend: info.backend.name, ready, status: ready ? "ok" : "unavailable" };
}

export function openApiRoute(app: FastifyInstance): void {
  const document = openApiDocument();
  app.get("/openapi.json", { config: { access: "open" } }, async () => document);
}

export function metricsRoute(app: FastifyInstance, deps: HttpDeps): void {
  app.get("/metrics", { config: { access: "open" } }, async (_request, reply) => {
    const { text, contentType } = await deps.metrics.render();
    reply.header("Content-Type", contentType);
    return text;
  });
}
