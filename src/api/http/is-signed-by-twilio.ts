import { createHmac, timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";

/**
 * Returns whether the `X-Twilio-Signature` of a WebSocket's upgrade was made with one of these auth tokens.
 *
 * Twilio signs the URL alone: base64 of HMAC-SHA1. Like Twilio's own packages, this accepts the URL with its port and
 * without, and with a slash after its path and without, since Twilio is not consistent in either. The scheme is always
 * `wss`, the only one that Twilio connects by, even if a proxy forwards plain `ws`.
 */
export function isSignedByTwilio(
  { headers, host, url }: Pick<FastifyRequest, "headers" | "host" | "url">,
  tokens: readonly string[],
): boolean {
  const given = Buffer.from(`${headers["x-twilio-signature"]}`);
  const bare = host.replace(/:\d+$/, "");
  const hosts = [bare, bare === host ? `${host}:443` : host];
  const urls = [url, url.replace(/\/?(\?|$)/, "/$1")].flatMap((path) =>
    hosts.map((at) => `wss://${at}${path}`),
  );
  return tokens.some((token) =>
    urls.some((each) => {
      const made = Buffer.from(createHmac("sha1", token).update(each).digest("base64"));
      return made.length === given.length && timingSafeEqual(made, given);
    }),
  );
}
