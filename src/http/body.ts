import type { FastifyInstance } from "fastify";
import { ServiceError } from "../contract/errors.ts";

/** Makes JSON the only body there is; everything else is a 422 that says so. */
export function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>(
    /^application\/json(?:\s*;|\s*$)/i,
    { parseAs: "buffer" },
    async (_request: unknown, body: Buffer) => parseJson(body),
  );
  app.addContentTypeParser("*", (_request, _payload, done) => {
    done(new ServiceError(422, "the body must be JSON: send it with Content-Type: application/json"));
  });
}

function parseJson(body: Buffer): unknown {
  if (body.length === 0) throw new ServiceError(422, "the body is empty: send a JSON object");
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    throw new ServiceError(422, "the body is not valid UTF-8");
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ServiceError(422, `the body is not valid JSON: ${where(error)}`);
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The parser's complaint without the quoted piece of the body: messages go to logs, and bodies must not. */
function where(error: unknown): string {
  const position = /position (\d+)/.exec(error instanceof Error ? error.message : "")?.[1];
  return position === undefined
    ? "it ends too early or has a stray character"
    : `look at position ${position}`;
}
