import type { FastifyReply } from "fastify";

/** The headers that hooks have given a reply, for a response that is written past it. */
export function headersOf(reply: FastifyReply): Record<string, string> {
  return Object.fromEntries(Object.entries(reply.getHeaders()).map(([name, value]) => [name, `${value}`]));
}
