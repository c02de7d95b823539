import assert from "node:assert/strict";
import type { TestServer } from "./start.ts";

/** Posts a body that is refused as the client's own fault, with a message that says so. */
export async function assertRefused(
  server: TestServer,
  path: string,
  body: unknown,
  status: number,
  message: RegExp,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const response = await server.post(path, body, headers);
  const { error } = await response.json();
  assert.equal(response.status, status, `${JSON.stringify(body)?.slice(0, 200)} → ${error?.message}`);
  assert.equal(error.type, "invalid_request");
  assert.match(error.message, message);
  assert.equal(error.request_id, response.headers.get("x-request-id"));
}
