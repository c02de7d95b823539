import type { FastifyInstance, FastifyRequest } from "fastify";
import { ServiceError } from "../contract/errors.ts";

/** Makes JSON the only body there is, and leaves it as bytes; everything else is a 422 that says so. */
export function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>(
    /^application\/json(?:\s*;|\s*$)/i,
    { parseAs: "buffer" },
    async (_request: unknown, body: Buffer) => body,
  );
  app.addContentTypeParser("*", (_request, _payload, done) => {
    done(new ServiceError(422, "the body must be JSON: send it with Content-Type: application/json"));
  });
}

/** The bytes of a request's body; a request without one is a 422. */
export function bodyOf(request: FastifyRequest): Uint8Array {
  if (request.body instanceof Uint8Array) return request.body;
  throw new ServiceError(422, "the body is missing: send a JSON object with Content-Type: application/json");
}
