import type { FastifyInstance } from "fastify";
import type { HttpDeps } from "../deps.ts";
import { openApiDocument } from "../openapi.ts";

/** `GET /openapi.json`: the service described to machines. */
export function openApiRoute(app: FastifyInstance): void {
  const document = openApiDocument();
  app.get("/openapi.json", async () => document);
}

/** `GET /metrics`, as Prometheus reads it. */
export function metricsRoute(app: FastifyInstance, deps: HttpDeps): void {
  app.get("/metrics", async (_request, reply) => {
    const { text, contentType } = await deps.metrics.render();
    reply.header("Content-Type", contentType);
    return text;
  });
}
