import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { RawData, WebSocket } from "ws";
import { ServiceError } from "../../contract/errors.ts";
import type { SessionUpdate } from "../../contract/realtime/session.ts";
import {
  type CallParameters,
  MAX_CALL_MESSAGE_BYTES,
  parseTwilioMessage,
  parseTwilioStart,
  type TwilioMessage,
  type TwilioStart,
} from "../../contract/realtime/twilio-messages.ts";
import type { SessionSettings } from "../../realtime/session-settings.ts";
import { callSettings, TwilioDialect } from "../../realtime/twilio-dialect.ts";
import { admit } from "../../requests/admit.ts";
import { authenticate } from "../../requests/authenticate.ts";
import { checkVoice } from "../../serving/choose-voice.ts";
import { asServiceError } from "../../serving/failures.ts";
import { addressGroup } from "../../tenancy/address-group.ts";
import { ConnectionPlaces } from "../connection-places.ts";
import type { HttpDeps } from "../deps.ts";
import type { RealtimeOptions, SessionOpening } from "../realtime-options.ts";

/** What calls have in common with other sessions. */
export interface Sessions {
  /** Gives the connection of a request, whose key is known, its place. Throws a {@link ServiceError} where there is none. */
  admit(request: FastifyRequest): void;
  open(socket: WebSocket, request: FastifyRequest, opening: SessionOpening): void;
  /** Throws a {@link ServiceError} where what is asked for cannot be had. */
  settingsFor(
    model: string | undefined,
    update: SessionUpdate,
    ownVoices: readonly string[],
  ): {
    readonly settings: SessionSettings;
    readonly model: string | null;
  };
}

/** A call that has not said who pays for it. */
interface Waiting {
  /** Closes its socket, where it has one. */
  end(status: number, reason: string): void;
  /** It waits no longer. */
  leave(): void;
}

/** A call says within this who pays for it. */
const START_MS = 10_000;
/** Calls of one address that may be waiting: Twilio's start within some 0.1 s. */
const MAX_WAITING_PER_ADDRESS = 8;

const NORMAL = 1_000;
const GOING_AWAY = 1_001;
const INVALID = 1_007;
const POLICY = 1_008;
const TRY_LATER = 1_013;

/**
 * `GET /v1/telephony/twilio`: a telephone call by Twilio's Media Streams. Twilio sends no headers of ours, so the key, or a
 * client secret, is a parameter of the stream, and a refusal is how the socket is closed.
 *
 * @param scope has the plugin of WebSockets
 */
export function telephonyStreamRoute(
  scope: FastifyInstance,
  deps: HttpDeps,
  realtime: RealtimeOptions,
  sessions: Sessions,
): void {
  /** Calls that have not said who pays for them, by the requests that they began with. */
  const waiting = new Map<IncomingMessage, Waiting>();
  limitMessages(scope, (raw) => waiting.has(raw));

  const full = () =>
    new ServiceError(502, "the server takes no more calls just now: retry in a moment", {
      retryAfterMs: 5_000,
    });
  const places = new ConnectionPlaces({
    inAll: realtime.maxSessions,
    perHolder: MAX_WAITING_PER_ADDRESS,
    full,
    holderIsFull: () => {
      const message = `${MAX_WAITING_PER_ADDRESS} calls of this address have not started their streams, which is all that may: start or close one`;
      return new ServiceError(429, message, { retryAfterMs: 5_000 });
    },
  });

  const admitWaiting = ({ raw, ip }: FastifyRequest): void => {
    if (deps.isStopping()) throw full();
    const call: Waiting = { end: () => {}, leave: () => {} };
    call.leave = places.take(raw.socket, addressGroup(ip), () => {
      waiting.set(raw, call);
      return () => waiting.delete(raw);
    });
  };

  scope.route({
    method: "GET",
    url: "/v1/telephony/twilio",
    config: { access: "open" },
    preHandler: async (request) => {
      if (request.ws) admitWaiting(request);
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
      const onMessage = (data: RawData): void => {
        early.push(data);
        if (early.length > 1) return;
        let message: TwilioMessage | null;
        try {
          message = parseTwilioMessage(data as Buffer);
        } catch (error) {
          end(INVALID, (error as Error).message.slice(0, 100));
          return;
        }
        if (message?.event === "stop") end(NORMAL, "");
        else if (message?.event === "start") start(message.start);
        else early.length = 0;
      };
      const start = (said: TwilioStart): void => {
        socket.pause();
        begin(said).catch((error) => end(...closingOf(asServiceError(error))));
      };
      const begin = async (said: TwilioStart): Promise<void> => {
        const opening = await openingOf(said, request, deps, realtime, sessions);
        if (socket.readyState !== socket.OPEN) return;
        over();
        sessions.open(socket, request, opening);
        for (const each of early.splice(0).slice(1)) socket.emit("message", each, false);
        socket.resume();
      };
      /** It waits no longer, and nothing that it still sends is kept. */
      const over = (): void => {
        clearTimeout(timer);
        call?.leave();
        socket.off("message", onMessage);
      };
      const end = (status: number, reason: string): void => {
        over();
        early.length = 0;
        // A close could not be seen.
        socket.resume();
        socket.close(status, reason);
      };
      const timer = setTimeout(() => end(POLICY, "the stream did not start"), START_MS).unref();
      if (call !== undefined) call.end = end;
      socket.on("message", onMessage);
      // The server of WebSockets closes one whose frames are none.
      socket.once("error", over);
      socket.once("close", over);
    },
  });

  scope.addHook("preClose", async () => {
    for (const { end } of waiting.values()) end(GOING_AWAY, "the server is shutting down");
  });
}

/**
 * Has a smaller limit for the messages of calls, from before anybody knows who they are: none that is larger is ever in
 * memory. The plugin has one server of `ws` for all routes, and that reads its limit at each upgrade, right after it has
 * emitted `headers`.
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

async function openingOf(
  start: TwilioStart,
  request: FastifyRequest,
  deps: HttpDeps,
  realtime: RealtimeOptions,
  sessions: Sessions,
): Promise<SessionOpening> {
  const parameters = parametersOf(start);
  const { key: presented = null, model: asked, voice } = parameters;
  const behind = presented === null ? null : realtime.secrets.behind(presented);
  const key = await authenticate(deps.tenancy, behind?.apiKey ?? null, request.ip, {
    sentAs: "the stream's parameter key",
  });
  request.tracked.keyId = key.keyId;
  await admit(key, deps, { speaks: false, overRate: "this key is over its rate limit" });
  const own = await deps.ownVoices.names(key.keyId);
  const { settings, model } = sessions.settingsFor(asked, behind?.session ?? {}, own);
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
    apiKey: behind?.apiKey ?? "",
    settings: callSettings(settings, parameters),
    model,
    dialect: new TwilioDialect(start.streamSid, performance.now()),
  };
}

function parametersOf(start: TwilioStart): CallParameters {
  try {
    return parseTwilioStart(start);
  } catch (error) {
    throw new ServiceError(400, (error as Error).message);
  }
}

/** How a call that is refused is told why. */
function closingOf({ status, message }: ServiceError): [status: number, reason: string] {
  // A reason has at most 123 bytes.
  const reason = Buffer.from(message.replaceAll(/[^\x20-\x7e]/g, "?"))
    .subarray(0, 120)
    .toString();
  return [status === 429 || status >= 500 ? TRY_LATER : POLICY, reason];
}
