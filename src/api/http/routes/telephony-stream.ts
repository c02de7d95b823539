import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { WebSocket } from "ws";
import { addressGroup } from "../../../accounts/address-group.ts";
import type { BucketReading, Key } from "../../../accounts/tenancy.ts";
import { quoted, ServiceError } from "../../../contract/errors.ts";
import {
  MAX_CALL_MESSAGE_BYTES,
  parseTwilioMessage,
  parseTwilioStart,
  type TwilioStart,
} from "../../../contract/realtime/twilio-messages.ts";
import { admit, authenticate } from "../../../requests/begin-request.ts";
import { checkVoice } from "../../../serving/prepare/choose-voice.ts";
import type { ResolvedCredential } from "../../realtime/client-secrets.ts";
import { callSettings, TwilioDialect } from "../../realtime/twilio-dialect.ts";
import { ConnectionSlots } from "../connection-tracker.ts";
import { rateHeaders } from "../headers.ts";
import type { HttpDeps, RealtimeOptions, SessionOpening } from "../http-deps.ts";
import { type RealtimeSessions, settingsFor } from "../websocket/realtime-sessions.ts";
import { UnstartedSocket } from "../websocket/unstarted-socket.ts";
import {
  CLOSE_CODES,
  closingOf,
  limitMessages,
  trackUpgrade,
  upgradeRequired,
} from "../websocket/websocket-server.ts";

type Payer = ResolvedCredential & { readonly key: Key };

export interface WaitingCall {
  /** The valid key of its URL; `null` without one. */
  readonly payer: Payer | null;
  readonly startMs: number;
  end(status: number, reason: string): void;
  /** Frees its slot. */
  leave(): void;
}

/** Slots of connections that have not started, or shown a key. */
export interface WaitingSlots {
  /** Those that wait, by the requests that they began with. */
  readonly calls: Map<IncomingMessage, WaitingCall>;
  /** Gives a connection a slot. Throws a {@link ServiceError} if there is none. */
  readonly admit: (request: FastifyRequest, payer: Payer | null, isSigned?: boolean) => WaitingCall;
}

/** Milliseconds in which a stream must start; Twilio's do within some 0.1 s. */
const START_MS = 10_000;
const UNPROVEN_START_MS = 3_000;
/**
 * Unproven streams that may wait to start. A network that holds one slot loses it only if more networks than this
 * compete.
 */
const MAX_UNPROVEN = 64;
/** Streams of one key, or of one network, that may wait to start. */
const MAX_WAITING_EACH = 8;

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
  { calls: waiting, admit: admitWaiting }: WaitingSlots,
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

  scope.addHook("preClose", async () => {
    for (const { end } of waiting.values()) end(CLOSE_CODES.goingAway, "the server is shutting down");
  });
}

/** Creates the slots, and limits the messages of what waits in them. */
export function waitingSlots(
  scope: FastifyInstance,
  deps: HttpDeps,
  { maxSessions }: RealtimeOptions,
): WaitingSlots {
  const calls: WaitingSlots["calls"] = new Map();
  limitMessages(scope, MAX_CALL_MESSAGE_BYTES, (raw) => calls.has(raw));
  const full = () =>
    new ServiceError(502, "the server takes no more calls just now: retry in a moment", {
      retryAfterMs: 5_000,
    });
  const holderIsFull = () => {
    const message = `${MAX_WAITING_EACH} streams of this key or network have not started, the maximum: start or close one`;
    return new ServiceError(429, message, { retryAfterMs: 5_000 });
  };
  const slotsFor = (maxTotal: number) =>
    new ConnectionSlots({ maxTotal, maxPerHolder: MAX_WAITING_EACH, full, holderIsFull });
  const [proven, unproven] = [slotsFor(maxSessions), slotsFor(MAX_UNPROVEN)];
  const admit: WaitingSlots["admit"] = ({ raw, ip }, payer, isSigned = false) => {
    if (deps.isStopping()) throw full();
    const isProven = payer !== null || isSigned;
    const call: WaitingCall = {
      payer,
      startMs: isProven ? START_MS : UNPROVEN_START_MS,
      end: () => {
        call.leave();
        raw.socket.destroy();
      },
      leave: () => {},
    };
    const onTaken = () => {
      calls.set(raw, call);
      return () => calls.delete(raw);
    };
    const evict = () =>
      call.end(CLOSE_CODES.tryLater, "the stream had not started, and others needed its place");
    const holder = payer?.key.keyId ?? addressGroup(ip, 3);
    call.leave = (isProven ? proven : unproven).take(raw.socket, holder, onTaken, evict);
    return call;
  };
  return { calls, admit };
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
