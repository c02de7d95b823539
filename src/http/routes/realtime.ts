import type { FastifyInstance, FastifyRequest } from "fastify";
import type { WebSocket } from "ws";
import { ServiceError } from "../../contract/errors.ts";
import { quoted } from "../../contract/quoted.ts";
import { parseClientSecretRequest } from "../../contract/validate.ts";
import { type ClientSecret, ClientSecrets } from "../../realtime/client-secrets.ts";
import { type Dialect, plainDialect } from "../../realtime/dialect.ts";
import type { RealtimeDeps } from "../../realtime/session-runner.ts";
import {
  defaultSettings,
  type SessionSettings,
  updated,
  wireSession,
} from "../../realtime/session-settings.ts";
import { beginRequest } from "../../requests/begin-request.ts";
import { bodyOf } from "../body.ts";
import type { HttpDeps } from "../deps.ts";
import { presentedKey } from "../headers.ts";
import { RealtimeSocket } from "../realtime-socket.ts";
import { telephonyStreamRoute } from "./telephony-stream.ts";

/** How realtime sessions are served. */
export interface RealtimeOptions extends Omit<RealtimeDeps, "service" | "onFailure"> {
  /** Sessions at a time, in all and of one key. */
  readonly maxSessions: number;
  readonly maxSessionsPerKey: number;
  /** A session in which the client has sent nothing for so long is closed, in milliseconds. */
  readonly idleTimeoutMs: number;
  /** No session lasts longer, in seconds. */
  readonly maxSessionS: number;
  readonly secrets: ClientSecrets;
}

/** Who a connection's session is for, and what it begins with. */
export interface SessionOpening {
  readonly apiKey: string;
  readonly settings: SessionSettings;
  readonly model: string | null;
  readonly dialect: Dialect;
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** Whether a client secret opens it, as well as a key. */
    takesSecrets?: boolean;
  }
}

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
  const open = new Set<RealtimeSocket>();
  const sessionsOf = (keyId: string): number => [...open].filter((socket) => socket.keyId === keyId).length;

  const admitSession = (keyId: string): void => {
    if (deps.isStopping())
      throw new ServiceError(502, "the server is shutting down: retry", { retryAfterMs: 1_000 });
    if (sessionsOf(keyId) >= realtime.maxSessionsPerKey) {
      throw new ServiceError(
        429,
        `this key has ${realtime.maxSessionsPerKey} realtime sessions open, which is all it may have: close one`,
        { retryAfterMs: 5_000 },
      );
    }
    if (open.size >= realtime.maxSessions) {
      throw new ServiceError(502, "the server has as many realtime sessions as it takes: retry in a moment", {
        retryAfterMs: 5_000,
      });
    }
  };

  const openSession = (
    socket: WebSocket,
    request: FastifyRequest,
    { apiKey, settings, model, dialect }: SessionOpening,
  ): void => {
    const connection = new RealtimeSocket(socket, request, {
      deps: {
        ...realtime,
        service: deps.service,
        onFailure: (error) => request.log.warn({ cause: messageOf(error) }, "realtime session"),
      },
      settings,
      model,
      dialect,
      heartbeatMs: deps.options.heartbeatMs,
      idleTimeoutMs: realtime.idleTimeoutMs,
      maxSessionS: realtime.maxSessionS,
      begin: (signal) =>
        beginRequest(deps, {
          route: "realtime:response",
          findKey: async () => {
            const key = await deps.tenancy.authenticate(apiKey);
            if (key !== null) return key;
            throw new ServiceError(
              401,
              "the API key of this session is not good any more: begin another session",
            );
          },
          speaks: true,
          overRate: "this key is over its rate limit",
          signal,
        }),
    });
    open.add(connection);
    socket.once("close", () => open.delete(connection));
  };

  // In a scope of its own: the plugin of WebSockets has to be there before.
  app.register(async (scope) => {
    scope.route<{ Querystring: Query }>({
      method: "GET",
      url: "/v1/realtime",
      config: { access: "token", speaks: false, takesSecrets: true },
      preHandler: async (request) => {
        settingsFor(request.query, deps, realtime);
        if (request.ws) admitSession(request.tracked.caller.keyId);
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
        const { settings, model } = settingsFor(request.query, deps, realtime);
        const secret = secretOf(request, realtime.secrets);
        openSession(socket, request, {
          apiKey: secret?.apiKey ?? presentedKey(request.headers) ?? "",
          settings: secret === null ? settings : updated(settings, secret.session, false),
          model,
          dialect: plainDialect(realtime.newId),
        });
      },
    });
    telephonyStreamRoute(scope, deps, realtime, {
      admit: admitSession,
      open: openSession,
      settingsFor: (model) => settingsFor(model === undefined ? {} : { model }, deps, realtime),
    });
  });

  app.post(
    "/v1/realtime/client_secrets",
    { bodyLimit: 512 * 1024, config: { access: "token", speaks: false } },
    async (request) => {
      const asked = parseClientSecretRequest(JSON.parse(Buffer.from(bodyOf(request).bytes).toString()));
      const apiKey = presentedKey(request.headers) ?? "";
      const seconds = asked.expires_after?.seconds ?? 600;
      const update = asked.session ?? {};
      const settings = updated(defaultSettings(update.model ?? defaultModel(deps)), update, false);
      const { value, expiresAt } = realtime.secrets.issue(apiKey, seconds, update, Date.now() / 1_000);
      return { value, expires_at: expiresAt, session: wireSession(settings, realtime.newId("sess_")) };
    },
  );

  /** Whoever is spoken to is spoken to the end of the sentence; then everybody is told to come back. */
  app.addHook("preClose", async () => {
    await Promise.all([...open].map((connection) => connection.finish()));
  });
}

/**
 * The key that a request presents, or that the client secret which it presents stands for; `null` where there is none.
 * What looks like a secret and is none any more is told as an unknown key.
 */
export function keyBehind(request: FastifyRequest, secrets: ClientSecrets | null): string | null {
  const takesSecrets = secrets !== null && request.routeOptions.config.takesSecrets === true;
  return (takesSecrets ? secretOf(request, secrets)?.apiKey : null) ?? presentedKey(request.headers);
}

function secretOf({ headers }: FastifyRequest, secrets: ClientSecrets): ClientSecret | null {
  const presented = presentedKey(headers);
  return presented !== null && ClientSecrets.isOne(presented)
    ? secrets.find(presented, Date.now() / 1_000)
    : null;
}

/** What a connection's address asks for. Throws a 400 {@link ServiceError} that names what cannot be had. */
function settingsFor(
  { model: asked, intent, call_id }: Query,
  deps: HttpDeps,
  { resolve }: RealtimeOptions,
): { readonly settings: SessionSettings; readonly model: string | null } {
  if (call_id !== undefined)
    throw new ServiceError(400, "call_id is of WebRTC and SIP, which are not spoken here: leave it out", {
      param: "call_id",
    });
  const model = asked === undefined || asked === "" || asked.startsWith("gpt-") ? null : asked;
  if (resolve(model) === undefined) {
    throw new ServiceError(
      400,
      `model ${quoted(asked ?? "")} is unknown: GET /v1/models lists the valid ids`,
      {
        param: "model",
      },
    );
  }
  const settings = defaultSettings(asked || defaultModel(deps));
  const isTranscription = intent === "transcription";
  return {
    model,
    settings: isTranscription ? { ...settings, type: "transcription", transcription: {} } : settings,
  };
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
