import type { FastifyInstance } from "fastify";
import type { HttpDeps } from "../deps.ts";
import { openApiDocument } from "../openapi.ts";

/** What describes the service to machines: its metrics and its OpenAPI document. */
export function documentRoutes(app: FastifyInstance, deps: HttpDeps): void {
  const document = openApiDocument();
  app.get("/openapi.json", async () => document);

  if (!deps.options.serveMetrics) return;
  app.get("/metrics", async (_request, reply) => {
    const { text, contentType } = await deps.metrics.render();
    reply.header("Content-Type", contentType);
    return text;
  });
}
