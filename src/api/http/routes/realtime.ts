import type { FastifyInstance, FastifyRequest } from "fastify";
import type { WebSocket } from "ws";
import { quoted, ServiceError } from "../../../contract/errors.ts";
import { readJsonBody } from "../../../contract/json/read-json.ts";
import type { InboundEvent } from "../../../contract/realtime/client-events.ts";
import { ClientSecretRequest, SECRET_S, type SessionUpdate } from "../../../contract/realtime/session.ts";
import { parseClientSecretRequest } from "../../../contract/validate.ts";
import { toServiceError } from "../../../serving/service-errors.ts";
import { openAiDialect } from "../../realtime/realtime-dialect.ts";
import { RealtimeError } from "../../realtime/realtime-error.ts";
import {
  defaultSettings,
  type SessionSettings,
  sessionPayload,
  updateSettings,
} from "../../realtime/session-settings.ts";
import type { HttpDeps, RealtimeOptions, SessionOpening } from "../http-deps.ts";
import { requireBody } from "../request-body.ts";
import { RealtimeSessions } from "../websocket/realtime-sessions.ts";
import { trackUpgrade, upgradeRequired } from "../websocket/websocket-server.ts";
import { telephonyStreamRoute } from "./telephony-stream.ts";

interface Query {
  readonly model?: string;
  readonly intent?: string;
  readonly call_id?: string;
}

const MAX_SECRET_BODY_BYTES = 512 * 1024;

/**
 * `GET /v1/realtime`, which becomes a WebSocket, `GET /v1/telephony/twilio`, and `POST /v1/realtime/client_secrets`.
 * Refusals come before the upgrade, as on any other route.
 */
export function realtimeRoutes(app: FastifyInstance, deps: HttpDeps, realtime: RealtimeOptions): void {
  const sessions = new RealtimeSessions(deps, realtime);
  // In a scope of its own: the WebSocket plugin has to be registered before.
  app.register(async (scope) => {
    sessionRoute(scope, deps, realtime, sessions);
    telephonyStreamRoute(scope, deps, realtime, sessions);
  });
  clientSecretsRoute(app, deps, realtime);
  app.addHook("preClose", async () => sessions.close());
}

function sessionRoute(
  scope: FastifyInstance,
  deps: HttpDeps,
  realtime: RealtimeOptions,
  sessions: RealtimeSessions,
): void {
  const openings = new WeakMap<FastifyRequest, Omit<SessionOpening, "dialect">>();
  scope.route<{ Querystring: Query }>({
    method: "GET",
    url: "/v1/realtime",
    config: { access: "token", speaks: false, takesSecrets: true },
    preHandler: async (request) => {
      // Requests without a key were refused before.
      const { apiKey, session } = request.presented!;
      const own = await deps.customVoices.names(request.tracked.caller.keyId);
      openings.set(request, { apiKey, ...settingsFor(request.query, session, own, deps, realtime) });
      if (request.ws) sessions.admit(request);
    },
    handler: upgradeRequired("this is a WebSocket: connect with an Upgrade header"),
    wsHandler: (socket: WebSocket, request) => {
      trackUpgrade(request);
      const dialect = openAiDialect(realtime.newId, (message) => readEvent(deps, request, message));
      sessions.open(socket, request, { ...openings.get(request)!, dialect });
    },
  });
}

function clientSecretsRoute(app: FastifyInstance, deps: HttpDeps, realtime: RealtimeOptions): void {
  const options = { bodyLimit: MAX_SECRET_BODY_BYTES, config: { access: "token", speaks: false } } as const;
  app.post("/v1/realtime/client_secrets", options, async (request) => {
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
  });
}

/**
 * Settings by an address, and by a session that was asked for. Throws a 400 {@link ServiceError} that names what cannot be
 * had.
 *
 * @param own what recordings are called that the key may use as voices
 */
export function settingsFor(
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

function defaultModel({ cards }: HttpDeps): string {
  return cards().find((card) => card.default)?.id ?? "";
}
