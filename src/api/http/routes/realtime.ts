import type { FastifyInstance, FastifyRequest } from "fastify";
import type { WebSocket } from "ws";
import { readJsonBody } from "../../../contract/json/read-json.ts";
import type { InboundEvent } from "../../../contract/realtime/client-events.ts";
import { ClientSecretRequest, SECRET_S } from "../../../contract/realtime/session.ts";
import { parseClientSecretRequest } from "../../../contract/validate.ts";
import { toServiceError } from "../../../serving/service-errors.ts";
import { openAiDialect } from "../../realtime/realtime-dialect.ts";
import { sessionPayload } from "../../realtime/session-settings.ts";
import type { HttpDeps, RealtimeOptions, SessionOpening } from "../http-deps.ts";
import { requireBody } from "../request-body.ts";
import { RealtimeSessions, type SessionQuery, settingsFor } from "../websocket/realtime-sessions.ts";
import { waitingSlots } from "../websocket/unstarted-socket.ts";
import { trackUpgrade, upgradeRequired } from "../websocket/websocket-server.ts";
import { streamInputRoutes } from "./stream-input.ts";
import { telephonyStreamRoute } from "./telephony-stream.ts";

const MAX_SECRET_BODY_BYTES = 512 * 1024;

/**
 * `GET /v1/realtime` and the other WebSockets, and `POST /v1/realtime/client_secrets`.
 * Refusals come before the upgrade, as on any other route.
 */
export function realtimeRoutes(app: FastifyInstance, deps: HttpDeps, realtime: RealtimeOptions): void {
  const sessions = new RealtimeSessions(deps, realtime);
  // In a separate scope, which loads after the WebSocket plugin.
  app.register(async (scope) => {
    sessionRoute(scope, deps, realtime, sessions);
    const waiting = waitingSlots(scope, deps, realtime);
    telephonyStreamRoute(scope, deps, realtime, sessions, waiting);
    streamInputRoutes(scope, deps, realtime, sessions, waiting);
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
  scope.route<{ Querystring: SessionQuery }>({
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

/** Returns a fault if there is no memory to read a large event. */
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
