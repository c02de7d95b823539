import type { FastifyReply } from "fastify";
import { sliced } from "./sliced.ts";

/** Answers with JSON that may be long. */
export function sendJson(reply: FastifyReply, value: object): FastifyReply {
  return sendBytes(reply, Buffer.from(JSON.stringify(value)), "application/json; charset=utf-8");
}

/** Answers with bytes that may be many. */
export function sendBytes(reply: FastifyReply, bytes: Buffer, mediaType: string): FastifyReply {
  return reply.headers({ "Content-Type": mediaType, "Content-Length": bytes.length }).send(sliced(bytes));
}
