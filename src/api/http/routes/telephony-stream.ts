import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { RawData, WebSocket } from "ws";
import { addressGroup } from "../../../accounts/address-group.ts";
import type { BucketReading, Key } from "../../../accounts/tenancy.ts";
import { quoted, ServiceError } from "../../../contract/errors.ts";
import type { SessionUpdate } from "../../../contract/realtime/session.ts";
import {
  MAX_CALL_MESSAGE_BYTES,
  parseTwilioMessage,
  parseTwilioStart,
  type TwilioMessage,
  type TwilioStart,
} from "../../../contract/realtime/twilio-messages.ts";
import { admit, authenticate } from "../../../requests/begin-request.ts";
import { checkVoice } from "../../../serving/prepare/choose-voice.ts";
import { toServiceError } from "../../../serving/service-errors.ts";
import type { ResolvedCredential } from "../../realtime/client-secrets.ts";
import type { SessionSettings } from "../../realtime/session-settings.ts";
import { callSettings, TwilioDialect } from "../../realtime/twilio-dialect.ts";
import { ConnectionSlots } from "../connection-tracker.ts";
import { rateHeaders } from "../headers.ts";
import type { HttpDeps, RealtimeOptions, SessionOpening } from "../http-deps.ts";
import { CLOSE_CODES, closeReason } from "../websocket/close-codes.ts";

/** What calls have in common with other sessions. */
export interface Sessions {
  /** Gives the connection of a request, whose key is known, its place. Throws a {@link ServiceError} where there is none. */
  admit(request: FastifyRequest): void;
  open(socket: WebSocket, request: FastifyRequest, opening: SessionOpening): void;
  /** Throws a {@link ServiceError} where what is asked for cannot be had. */
  settingsFor(
    model: string | undefined,
    update: SessionUpdate,
    customVoices: readonly string[],
  ): {
    readonly settings: SessionSettings;
    readonly model: string | null;
  };
}

/** The key that pays for a call. */
type Payer = ResolvedCredential & { readonly key: Key };

/** A call whose stream has not started. */
interface Waiting {
  /** The key of its URL, which was good; `null` where it has none. */
  readonly payer: Payer | null;
  readonly startMs: number;
  /** Closes its socket. */
  end(status: number, reason: string): void;
  /** Frees its place. */
  leave(): void;
}

/** Milliseconds in which a stream must start; Twilio's do within some 0.1 s. */
const START_MS = 10_000;
const UNPROVEN_START_MS = 3_000;
/** Unproven streams that may wait to start. A network that holds one place loses it only if more networks than this compete. */
const MAX_UNPROVEN = 64;
/** Frames, and their bytes, that may come before a stream starts: Twilio sends one message of 60 bytes. */
const MAX_EARLY_FRAMES = 64;
const MAX_EARLY_BYTES = 16 * 1024;
/** Streams of one key, or of one network, that may wait to start. */
const MAX_WAITING_EACH = 8;

/**
 * `GET /v1/telephony/twilio`: a telephone call by Twilio's Media Streams. Twilio sends no headers of ours, so the key, or a
 * client secret, is a parameter of the stream, and a refusal is how the socket is closed.
 *
 * A stream proves itself before it is given a place to wait for its start: by Twilio's signature, if its auth token is
 * known, or by a key in its URL. Unproven streams have a separate pool, in which a network with many places gives up its oldest.
 *
 * @param scope has the plugin of WebSockets
 */
export function telephonyStreamRoute(
  scope: FastifyInstance,
  deps: HttpDeps,
  realtime: RealtimeOptions,
  sessions: Sessions,
): void {
  /** Calls whose streams have not started, by the requests that they began with. */
  const waiting = new Map<IncomingMessage, Waiting>();
  limitMessages(scope, (raw) => waiting.has(raw));

  const full = () =>
    new ServiceError(502, "the server takes no more calls just now: retry in a moment", {
      retryAfterMs: 5_000,
    });
  const holderIsFull = () => {
    const message = `${MAX_WAITING_EACH} streams of this key or network have not started, the maximum: start or close one`;
    return new ServiceError(429, message, { retryAfterMs: 5_000 });
  };
  const placesFor = (inAll: number) =>
    new ConnectionSlots({ maxTotal: inAll, maxPerHolder: MAX_WAITING_EACH, full, holderIsFull });
  const [proven, unproven] = [placesFor(realtime.maxSessions), placesFor(MAX_UNPROVEN)];

  const admitWaiting = ({ raw, ip }: FastifyRequest, payer: Payer | null): void => {
    if (deps.isStopping()) throw full();
    const isProven = payer !== null || realtime.twilioAuthTokens.length > 0;
    const call: Waiting = {
      payer,
      startMs: isProven ? START_MS : UNPROVEN_START_MS,
      end: () => {
        call.leave();
        raw.socket.destroy();
      },
      leave: () => {},
    };
    const hold = () => {
      waiting.set(raw, call);
      return () => waiting.delete(raw);
    };
    const giveWay = () =>
      call.end(CLOSE_CODES.tryLater, "the stream had not started, and others needed its place");
    const holder = payer?.key.keyId ?? addressGroup(ip, 3);
    call.leave = (isProven ? proven : unproven).take(raw.socket, holder, hold, giveWay);
  };

  scope.route<{ Querystring: { readonly key?: string | readonly string[] } }>({
    method: "GET",
    url: "/v1/telephony/twilio",
    config: { access: "open" },
    preHandler: async (request, reply) => {
      if (!request.ws) return;
      const onReading = (reading: BucketReading) => reply.headers(rateHeaders(reading));
      const { twilioAuthTokens: tokens } = realtime;
      if (tokens.length > 0 && !isSignedByTwilio(request, tokens))
        await authenticate(deps.tenancy, null, request.ip, { missing: unsigned(request), onReading });
      const { key } = request.query;
      const payer = key === undefined ? null : await payerOf(`${key}`, request, deps, realtime, onReading);
      admitWaiting(request, payer);
    },
    handler: async (request, reply) => {
      reply.code(426).header("Upgrade", "websocket").header("Connection", "Upgrade");
      const message = "this is a WebSocket for Twilio's Media Streams: name it in a <Stream>";
      return { error: { type: "invalid_request", message, request_id: request.id } };
    },
    wsHandler: (socket: WebSocket, request) => {
      const { raw } = request;
      const call = waiting.get(raw);
      request.tracked.rawStatus = 101;
      raw.socket.prependOnceListener("close", () => request.tracked.answered());
      const early: RawData[] = [];
      const startBytes = raw.socket.bytesRead;
      let frames = 0;
      let hasStarted = false;
      const endIf = (isTooMuch: boolean): void => {
        if (isTooMuch && !hasStarted) end(CLOSE_CODES.policy, "the stream sent too much before its start");
      };
      const onFrame = (): void => {
        frames += 1;
        endIf(frames > MAX_EARLY_FRAMES);
      };
      // After `ws` has read them: they may have held the start.
      const onBytes = (): void => endIf(raw.socket.bytesRead - startBytes > MAX_EARLY_BYTES);
      const onMessage = (data: RawData): void => {
        early.push(data);
        if (early.length > 1) return;
        onFrame();
        if (socket.readyState !== socket.OPEN) return;
        let message: TwilioMessage | null;
        try {
          message = parseTwilioMessage(data as Buffer);
        } catch (error) {
          end(CLOSE_CODES.invalid, (error as Error).message);
          return;
        }
        if (message?.event === "stop") end(CLOSE_CODES.normal, "");
        else if (message?.event === "start") start(message.start);
        else early.length = 0;
      };
      const start = (said: TwilioStart): void => {
        clearTimeout(timer);
        hasStarted = true;
        socket.pause();
        begin(said).catch((error) => end(...closingOf(toServiceError(error))));
      };
      const begin = async (said: TwilioStart): Promise<void> => {
        const opening = await openingOf(said, call?.payer ?? null, request, deps, realtime, sessions);
        if (socket.readyState !== socket.OPEN) return;
        over();
        sessions.open(socket, request, opening);
        for (const each of early.splice(0).slice(1)) socket.emit("message", each, false);
        socket.resume();
      };
      /** Stops waiting: frees the place and ignores further frames. */
      const over = (): void => {
        clearTimeout(timer);
        call?.leave();
        socket.off("message", onMessage).off("ping", onFrame).off("pong", onFrame);
        raw.socket.off("data", onBytes);
      };
      const end = (status: number, reason: string): void => {
        over();
        early.length = 0;
        // A paused socket would never see the client's close frame.
        socket.resume();
        socket.close(status, closeReason(reason));
      };
      const timer = setTimeout(
        () => end(CLOSE_CODES.policy, "the stream did not start"),
        call?.startMs ?? 0,
      ).unref();
      if (call !== undefined) call.end = end;
      socket.on("message", onMessage).on("ping", onFrame).on("pong", onFrame);
      raw.socket.on("data", onBytes);
      // On a protocol error `ws` closes the socket itself.
      socket.once("error", over);
      socket.once("close", over);
    },
  });

  scope.addHook("preClose", async () => {
    for (const { end } of waiting.values()) end(CLOSE_CODES.goingAway, "the server is shutting down");
  });
}

/**
 * Limits messages of calls to 64 KiB. The plugin has one server of `ws` for all routes, which reads its limit at each upgrade,
 * right after `headers`.
 */
function limitMessages(
  { websocketServer: server }: FastifyInstance,
  isCall: (request: IncomingMessage) => boolean,
): void {
  const others = server.options.maxPayload;
  server.on("headers", (_headers, request) => {
    server.options.maxPayload = isCall(request) ? MAX_CALL_MESSAGE_BYTES : others;
  });
}

/** Returns the error message for a call without a valid signature; omits the query, which may hold a key. */
function unsigned({ host, routeOptions }: FastifyRequest): string {
  const address = quoted(`wss://${host}${routeOptions.url}`);
  return `X-Twilio-Signature is missing or not that of ${address}: use the auth token of the account that calls, and have proxies pass the public Host on`;
}

/** Authenticates the key or client secret of a call. Rejects with a {@link ServiceError}. */
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
  sessions: Sessions,
): Promise<SessionOpening> {
  const parameters = parseTwilioStart(start);
  const { key: presented, model: asked, voice } = parameters;
  const { key, apiKey, session } =
    presented === undefined && fromUrl !== null
      ? fromUrl
      : await payerOf(presented ?? null, request, deps, realtime, () => {});
  await admit(key, deps, { speaks: false, overRate: "this key is over its rate limit" });
  const own = await deps.customVoices.names(key.keyId);
  const { settings, model } = sessions.settingsFor(asked, session, own);
  if (voice !== undefined) checkVoice(voice, "voice", settings.voices.cast, own);
  if (settings.tools.length > 0)
    throw new ServiceError(
      400,
      "nobody in a call carries functions out: make the client secret without tools",
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

function closingOf({ status, message }: ServiceError): [status: number, reason: string] {
  return [status === 429 || status >= 500 ? CLOSE_CODES.tryLater : CLOSE_CODES.policy, message];
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
