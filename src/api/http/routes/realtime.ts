import type { FastifyInstance, FastifyRequest } from "fastify";
import type { WebSocket } from "ws";
import { quoted, ServiceError } from "../../../contract/errors.ts";
import { readJsonBody } from "../../../contract/json/read-json.ts";
import type { InboundEvent } from "../../../contract/realtime/client-events.ts";
import { ClientSecretRequest, SECRET_S, type SessionUpdate } from "../../../contract/realtime/session.ts";
import { parseClientSecretRequest } from "../../../contract/validate.ts";
import { serverFullError } from "../../../limits/capacity-errors.ts";
import { KeyBudgets } from "../../../limits/event-loop-budget.ts";
import { beginRequest } from "../../../requests/begin-request.ts";
import { toServiceError } from "../../../serving/service-errors.ts";
import { meterUsage } from "../../../serving/telemetry.ts";
import { openAiDialect } from "../../realtime/realtime-dialect.ts";
import { RealtimeError } from "../../realtime/realtime-error.ts";
import {
  defaultSettings,
  type SessionSettings,
  sessionPayload,
  updateSettings,
} from "../../realtime/session-settings.ts";
import { ConnectionSlots } from "../connection-tracker.ts";
import type { HttpDeps, RealtimeOptions, SessionOpening } from "../http-deps.ts";
import { requireBody } from "../request-body.ts";
import { RealtimeSocket } from "../websocket/realtime-socket.ts";
import { telephonyStreamRoute } from "./telephony-stream.ts";

/** Milliseconds between two checks for revoked keys. */
const REVOCATION_MS = 2_000;
/** Average use of a session, as a fraction of one place: of the detectors, and of the recogniser. */
const DETECTING_SHARE = 0.02;
const TRANSCRIBING_SHARE = 0.06;

interface Query {
  readonly model?: string;
  readonly intent?: string;
  readonly call_id?: string;
}

/**
 * `GET /v1/realtime`, which becomes a WebSocket, and `POST /v1/realtime/client_secrets`. What is refused is refused before
 * the upgrade, as on any other route.
 */
export function realtimeRoutes(app: FastifyInstance, deps: HttpDeps, realtime: RealtimeOptions): void {
  /** Sessions that are open, with the keys that pay for them. */
  const open = new Map<RealtimeSocket, string>();
  /** What connections that are about to have a session have asked for. */
  const asked = new WeakMap<FastifyRequest, Omit<SessionOpening, "dialect">>();
  /** Of connections that have a session, or are about to. */
  const places = new ConnectionSlots({
    maxTotal: realtime.maxSessions,
    maxPerHolder: realtime.maxSessionsPerKey,
    full: () =>
      new ServiceError(502, "the server has as many realtime sessions as it takes: retry in a moment", {
        retryAfterMs: 5_000,
      }),
    holderIsFull: () =>
      new ServiceError(
        429,
        `this key has ${realtime.maxSessionsPerKey} realtime sessions open, which is all it may have: close one`,
        { retryAfterMs: 5_000 },
      ),
  });

  const keyBudgets = new KeyBudgets();

  const admitSession = ({ tracked, raw }: FastifyRequest): void => {
    const { keyId } = tracked.caller;
    if (deps.isStopping())
      throw new ServiceError(502, "the server is shutting down: retry", { retryAfterMs: 1_000 });
    for (const [semaphore, share] of [
      [realtime.detectionSlots, DETECTING_SHARE],
      [realtime.transcriptionSlots, TRANSCRIBING_SHARE],
    ] as const)
      if (!semaphore.canSustain(keyId, share)) throw serverFullError(semaphore.what, 5_000);
    places.take(raw.socket, keyId, () => {
      deps.metrics.realtime.opened();
      return () => deps.metrics.realtime.closed();
    });
  };

  const openSession = (
    socket: WebSocket,
    request: FastifyRequest,
    { settings, model, apiKey, dialect }: SessionOpening,
  ): void => {
    const { keyId } = request.tracked.caller;
    const key = keyBudgets.open(keyId);
    const connection = new RealtimeSocket(socket, request, {
      deps: {
        ...realtime,
        service: deps.service,
        onFirstAudio: (seconds) => deps.metrics.realtime.answered(seconds),
        onFailure: (error) => request.log.warn({ cause: messageOf(error) }, "realtime session"),
      },
      settings,
      model,
      dialect,
      heartbeatMs: deps.options.heartbeatMs,
      idleTimeoutMs: realtime.idleTimeoutMs,
      maxSessionS: realtime.maxSessionS,
      keyBudget: key.budget,
      hasOtherKeys: () => keyBudgets.size > 1,
      receiving: realtime.receiving,
      onSlowed: () =>
        request.log.warn({ key_id: keyId }, "realtime session sends too many events: it is slowed"),
      meter: (inputAudioS) => meterTurns(deps, keyId, inputAudioS),
      begin: (what, signal) =>
        beginRequest(deps, {
          route: `realtime:${what}`,
          findKey: async () => {
            const key = await deps.tenancy.authenticate(apiKey);
            if (key !== null) return key;
            throw new ServiceError(
              401,
              "the API key of this session is not good any more: begin another session",
            );
          },
          speaks: what === "response",
          overRate: "this key is over its rate limit",
          signal,
        }),
    });
    open.set(connection, apiKey);
    socket.once("close", () => {
      open.delete(connection);
      key.close();
    });
  };

  // In a scope of its own: the plugin of WebSockets has to be there before.
  app.register(async (scope) => {
    scope.route<{ Querystring: Query }>({
      method: "GET",
      url: "/v1/realtime",
      config: { access: "token", speaks: false, takesSecrets: true },
      preHandler: async (request) => {
        // Who presents nothing was refused before.
        const { apiKey, session } = request.presented!;
        const own = await deps.customVoices.names(request.tracked.caller.keyId);
        asked.set(request, { apiKey, ...settingsFor(request.query, session, own, deps, realtime) });
        if (request.ws) admitSession(request);
      },
      handler: async (_request, reply) => {
        reply.code(426).header("Upgrade", "websocket").header("Connection", "Upgrade");
        return {
          error: {
            type: "invalid_request",
            message: "this is a WebSocket: connect with an Upgrade header",
            request_id: reply.request.id,
          },
        };
      },
      wsHandler: (socket: WebSocket, request) => {
        const dialect = openAiDialect(realtime.newId, (message) => readEvent(deps, request, message));
        openSession(socket, request, { ...asked.get(request)!, dialect });
      },
    });
    telephonyStreamRoute(scope, deps, realtime, {
      admit: admitSession,
      open: openSession,
      settingsFor: (model, update, own) =>
        settingsFor(model === undefined ? {} : { model }, update, own, deps, realtime),
    });
  });

  app.post(
    "/v1/realtime/client_secrets",
    { bodyLimit: 512 * 1024, config: { access: "token", speaks: false } },
    async (request) => {
      const { bytes } = requireBody(request);
      const body = parseClientSecretRequest(
        readJsonBody(bytes, ClientSecretRequest, { isNullAbsent: true }).value,
      );
      const { apiKey } = request.presented!;
      const seconds = body.expires_after?.seconds ?? SECRET_S.default;
      const update = body.session ?? {};
      const own = await deps.customVoices.names(request.tracked.caller.keyId);
      const { settings } = settingsFor({}, update, own, deps, realtime);
      const { value, expiresAt } = realtime.secrets.issue(apiKey, seconds, update);
      return {
        value,
        expires_at: expiresAt,
        session: sessionPayload(settings, realtime.newId("sess_"), deps.service.callsTools),
      };
    },
  );

  let isLooking = false;
  const watch = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    void endRevoked(open, deps.tenancy).finally(() => {
      isLooking = false;
    });
  }, REVOCATION_MS).unref();

  /** On shutdown each session finishes the reply that is being spoken, then closes with code 1001. */
  app.addHook("preClose", async () => {
    clearInterval(watch);
    // Not waited for: nobody new is to come in meanwhile. The server is closed once all connections are.
    for (const connection of open.keys()) connection.finish().catch((error) => app.log.error({ err: error }));
  });
}

/**
 * Settings by an address, and by a session that was asked for. Throws a 400 {@link ServiceError} that names what cannot be
 * had.
 *
 * @param own what recordings are called that the key may use as voices
 */
function settingsFor(
  { model: inQuery, intent, call_id }: Query,
  update: SessionUpdate,
  own: readonly string[],
  deps: HttpDeps,
  { resolve }: RealtimeOptions,
): { readonly settings: SessionSettings; readonly model: string | null } {
  if (call_id !== undefined)
    throw new ServiceError(400, "call_id is of WebRTC and SIP, which are not spoken here: leave it out", {
      param: "call_id",
    });
  const asked = inQuery || update.model;
  const model = asked === undefined || asked === "" || asked.startsWith("gpt-") ? null : asked;
  const resolved = resolve(model);
  if (resolved === undefined) {
    const message = `model ${quoted(asked ?? "")} is unknown: GET /v1/models lists the valid ids`;
    throw new ServiceError(400, message, { param: "model" });
  }
  const isTranscription = (update.type ?? intent) === "transcription";
  const settings: SessionSettings = {
    ...defaultSettings(asked || defaultModel(deps), { cast: resolved.card, own }),
    ...(isTranscription ? { type: "transcription", transcription: {} } : {}),
  };
  try {
    return { model, settings: updateSettings(settings, update, false) };
  } catch (error) {
    if (!(error instanceof RealtimeError)) throw error;
    throw new ServiceError(400, error.message, error.param === null ? {} : { param: error.param });
  }
}

/** Ends the sessions whose keys have been revoked. If the store fails, sessions stay open. */
async function endRevoked(
  open: ReadonlyMap<RealtimeSocket, string>,
  tenancy: HttpDeps["tenancy"],
): Promise<void> {
  const end = (apiKey: string): void => {
    for (const [connection, key] of open) if (key === apiKey) connection.revoke();
  };
  const looks = [...new Set(open.values())].map(async (apiKey) => {
    const key = await tenancy.authenticate(apiKey).catch(() => undefined);
    if (key === null) end(apiKey);
  });
  await Promise.all(looks);
}

/** Returns a fault if a large event cannot be read for lack of room. */
async function readEvent(
  { requestReader }: HttpDeps,
  { tracked }: FastifyRequest,
  message: Uint8Array,
): Promise<InboundEvent> {
  try {
    return await requestReader.readEvent(message, tracked.caller);
  } catch (error) {
    const fault = { type: "fault", code: "server_error", param: null, eventId: null } as const;
    return { ...fault, message: toServiceError(error).message };
  }
}

async function meterTurns({ tenancy, metrics }: HttpDeps, keyId: string, inputAudioS: number): Promise<void> {
  const usage = { input_chars: 0, input_audio_seconds: inputAudioS, output_audio_seconds: 0 };
  await meterUsage({ meter: (record) => tenancy.commit(record), ...metrics }, keyId, usage);
}

function defaultModel({ cards }: HttpDeps): string {
  return cards().find((card) => card.default)?.id ?? "";
}

/** What went wrong, without what anybody said. */
function messageOf(error: unknown): string {
  const { message, cause } = error as {
    readonly message?: string;
    readonly cause?: { readonly message?: string };
  };
  return cause?.message === undefined ? `${message}` : `${message} (${cause.message})`;
}
