import type { FastifyInstance, FastifyRequest } from "fastify";
import type { RawData, WebSocket } from "ws";
import { ServiceError } from "../../contract/errors.ts";
import type { SessionUpdate } from "../../contract/realtime/session.ts";
import {
  type CallParameters,
  parseTwilioMessage,
  parseTwilioStart,
  type TwilioStart,
} from "../../contract/realtime/twilio-messages.ts";
import { speakerNamed } from "../../contract/voices.ts";
import type { SessionSettings } from "../../realtime/session-settings.ts";
import { callSettings, TwilioDialect } from "../../realtime/twilio-dialect.ts";
import { admit } from "../../requests/admit.ts";
import { authenticate } from "../../requests/authenticate.ts";
import { asServiceError } from "../../serving/failures.ts";
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
  ): {
    readonly settings: SessionSettings;
    readonly model: string | null;
  };
}

/** A call says within this who pays for it. */
const START_MS = 10_000;
/** No message of a call's is larger, by far. */
const MAX_MESSAGE_BYTES = 64 * 1024;

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
  /** Calls that have not said who pays for them. */
  const waiting = new Set<WebSocket>();

  scope.route({
    method: "GET",
    url: "/v1/telephony/twilio",
    config: { access: "open" },
    preHandler: async (request) => {
      if (request.ws && (deps.isStopping() || waiting.size >= realtime.maxSessions)) {
        throw new ServiceError(502, "the server takes no more calls just now: retry in a moment", {
          retryAfterMs: 5_000,
        });
      }
    },
    handler: async (request, reply) => {
      reply.code(426).header("Upgrade", "websocket").header("Connection", "Upgrade");
      const message = "this is a WebSocket for Twilio's Media Streams: name it in a <Stream>";
      return { error: { type: "invalid_request", message, request_id: request.id } };
    },
    wsHandler: (socket: WebSocket, request) => {
      request.tracked.rawStatus = 101;
      request.raw.socket.prependOnceListener("close", () => request.tracked.answered());
      waiting.add(socket);
      const timer = setTimeout(() => socket.close(POLICY, "the stream did not start"), START_MS).unref();
      const early: RawData[] = [];
      const onMessage = (data: RawData): void => {
        early.push(data);
        if (early.length > 1) return;
        const start = startIn(socket, data);
        if (start === null) {
          early.length = 0;
          return;
        }
        socket.pause();
        void begin(start).then(
          () => {
            socket.off("message", onMessage);
            for (const each of early.slice(1)) socket.emit("message", each, false);
            socket.resume();
          },
          (error) => refuse(socket, asServiceError(error)),
        );
      };
      const begin = async (start: TwilioStart): Promise<void> => {
        const opening = await openingOf(start, request, deps, realtime, sessions);
        if (socket.readyState !== socket.OPEN) return;
        over();
        sessions.open(socket, request, opening);
      };
      const over = (): void => {
        clearTimeout(timer);
        waiting.delete(socket);
      };
      socket.on("message", onMessage);
      socket.on("error", () => socket.terminate());
      socket.once("close", over);
    },
  });

  scope.addHook("preClose", async () => {
    for (const socket of waiting) socket.close(GOING_AWAY, "the server is shutting down");
  });
}

/** What a stream that starts says of itself; `null` of any other message. Closes the socket of one that is not Twilio's. */
function startIn(socket: WebSocket, data: RawData): TwilioStart | null {
  try {
    const text = `${data}`;
    if (text.length > MAX_MESSAGE_BYTES) throw new Error("a message is too large");
    const message = parseTwilioMessage(text);
    return message?.event === "start" ? message.start : null;
  } catch (error) {
    socket.close(INVALID, (error as Error).message.slice(0, 100));
    return null;
  }
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
  const behind = presented === null ? null : realtime.secrets.behind(presented, Date.now() / 1_000);
  const key = await authenticate(deps.tenancy, behind?.apiKey ?? null, request.ip);
  request.tracked.keyId = key.keyId;
  await admit(key, deps, { speaks: false, overRate: "this key is over its rate limit" });
  const { settings, model } = sessions.settingsFor(asked, behind?.session ?? {});
  if (voice !== undefined) speakerNamed(voice, "voice");
  if (settings.tools.length > 0)
    throw new ServiceError(
      400,
      "nobody in a call carries functions out: make the client secret without tools",
    );
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

function refuse(socket: WebSocket, { status, message }: ServiceError): void {
  socket.resume();
  // A reason has at most 123 bytes.
  const reason = Buffer.from(message.replaceAll(/[^\x20-\x7e]/g, "?"))
    .subarray(0, 120)
    .toString();
  socket.close(status === 429 || status >= 500 ? TRY_LATER : POLICY, reason);
}
