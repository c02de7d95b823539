import { createHmac, timingSafeEqual } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { WebSocket } from "ws";
import type { BucketReading } from "../../../accounts/tenancy.ts";
import { quoted, ServiceError } from "../../../contract/errors.ts";
import {
  parseTwilioMessage,
  parseTwilioStart,
  type TwilioStart,
} from "../../../contract/realtime/twilio-messages.ts";
import { admit, authenticate } from "../../../requests/begin-request.ts";
import { checkVoice } from "../../../serving/prepare/choose-voice.ts";
import { callSettings, TwilioDialect } from "../../realtime/twilio-dialect.ts";
import { rateHeaders } from "../headers.ts";
import type { HttpDeps, RealtimeOptions, SessionOpening } from "../http-deps.ts";
import { type RealtimeSessions, settingsFor } from "../websocket/realtime-sessions.ts";
import { type Payer, UnstartedSocket, type WaitingSlots } from "../websocket/unstarted-socket.ts";
import { closingOf, trackUpgrade, upgradeRequired } from "../websocket/websocket-server.ts";

/**
 * `GET /v1/telephony/twilio`: a telephone call by Twilio's Media Streams. Twilio sends no custom headers, so the key,
 * or a client secret, is a parameter of the stream, and refusals close the socket. A stream proves itself before it
 * may wait for its start: by Twilio's signature, if its auth token is known, or by a key in its URL. Unproven streams
 * have a separate pool, in which a network with many slots gives up its oldest.
 *
 * @param scope has the WebSocket plugin
 */
export function telephonyStreamRoute(
  scope: FastifyInstance,
  deps: HttpDeps,
  realtime: RealtimeOptions,
  sessions: RealtimeSessions,
  { sockets: waiting, admit: admitWaiting }: WaitingSlots,
): void {
  const { twilioAuthTokens: tokens } = realtime;

  scope.route<{ Querystring: { readonly key?: string | readonly string[] } }>({
    method: "GET",
    url: "/v1/telephony/twilio",
    config: { access: "open" },
    preHandler: async (request, reply) => {
      if (!request.ws) return;
      const onReading = (reading: BucketReading) => reply.headers(rateHeaders(reading));
      if (tokens.length > 0 && !isSignedByTwilio(request, tokens))
        await authenticate(deps.tenancy, null, request.ip, { missing: unsigned(request), onReading });
      const { key } = request.query;
      const payer = key === undefined ? null : await payerOf(`${key}`, request, deps, realtime, onReading);
      admitWaiting(request, payer, tokens.length > 0);
    },
    handler: upgradeRequired("this is a WebSocket for Twilio's Media Streams: name it in a <Stream>"),
    wsHandler: (socket: WebSocket, request) => {
      trackUpgrade(request);
      const call = waiting.get(request.raw);
      const unstarted = new UnstartedSocket<TwilioStart>(socket, request.raw.socket, {
        startMs: call?.startMs ?? 0,
        read: (bytes) => {
          const message = parseTwilioMessage(bytes);
          if (message?.event === "stop") return message.event;
          return message?.event === "start" ? message.start : null;
        },
        begin: async (start) => {
          const opening = await openingOf(start, call?.payer ?? null, request, deps, realtime, sessions);
          return () => sessions.open(socket, request, opening);
        },
        onFailure: (error) => closingOf(error, request),
        onOver: () => call?.leave(),
      });
      if (call !== undefined) call.end = (status, reason) => unstarted.end(status, reason);
    },
  });
}

/** Returns the error message for a call without a valid signature; omits the query, which may hold a key. */
function unsigned({ host, routeOptions }: FastifyRequest): string {
  const address = quoted(`wss://${host}${routeOptions.url}`);
  return `X-Twilio-Signature is missing or not that of ${address}: use the auth token of the account that calls, and have proxies pass the public Host on`;
}

/** Authenticates the key or client secret of a call. */
async function payerOf(
  presented: string | null,
  request: FastifyRequest,
  { tenancy }: HttpDeps,
  { secrets }: RealtimeOptions,
  onReading: (reading: BucketReading) => void,
): Promise<Payer> {
  const found = secrets.resolve(presented ?? "");
  const key = await authenticate(tenancy, presented === null ? null : found.apiKey, request.ip, {
    missing: "the API key is missing: send it as the stream's parameter key",
    onReading,
  });
  request.tracked.keyId = key.keyId;
  return { ...found, key };
}

async function openingOf(
  start: TwilioStart,
  fromUrl: Payer | null,
  request: FastifyRequest,
  deps: HttpDeps,
  realtime: RealtimeOptions,
  sessions: RealtimeSessions,
): Promise<SessionOpening> {
  const parameters = parseTwilioStart(start);
  const { key: presented, model: asked, voice } = parameters;
  const { key, apiKey, session } =
    presented === undefined && fromUrl !== null
      ? fromUrl
      : await payerOf(presented ?? null, request, deps, realtime, () => {});
  await admit(key, deps, { speaks: false, overRate: "this key is over its rate limit" });
  const own = await deps.customVoices.names(key.keyId);
  const { settings, model } = settingsFor(
    asked === undefined ? {} : { model: asked },
    session,
    own,
    deps,
    realtime,
  );
  if (voice !== undefined) checkVoice(voice, "voice", settings.voices.cast, own);
  if (settings.tools.length > 0)
    throw new ServiceError(
      400,
      "a telephone call cannot run functions: create the client secret without tools",
    );
  if (settings.type === "transcription" || settings.modality === "text")
    throw new ServiceError(400, "a call is spoken: make the client secret for a session that has audio");
  sessions.admit(request);
  return {
    apiKey,
    settings: callSettings(settings, parameters),
    model,
    dialect: new TwilioDialect(start.streamSid, performance.now()),
  };
}

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
