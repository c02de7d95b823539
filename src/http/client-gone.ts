import type { FastifyReply } from "fastify";
import { ClientGoneError } from "./client-gone-error.ts";

/** Aborts when the client goes away before its response is complete. */
export function watchClient(reply: FastifyReply): AbortController {
  const controller = new AbortController();
  const onClose = () => {
    // Node 20 aborts a request's own signal even after a complete response, so it is not used here.
    if (!reply.raw.writableFinished)
      controller.abort(new ClientGoneError("the client closed the connection"));
  };
  if (reply.raw.closed || reply.raw.destroyed) onClose();
  else reply.raw.once("close", onClose);
  return controller;
}
