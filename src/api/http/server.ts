import type { ServerResponse } from "node:http";
import fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyRequest } from "fastify";
import { beginServerSpan, NO_SPAN, type Span } from "../../core/span.ts";
import { recordEnd } from "../../requests/request-context.ts";
import { identifyCallers, requireAccess } from "./access.ts";
import { ConnectionTracker, type TrackedRequest } from "./connection-tracker.ts";
import {
  answerAndDiscardBody,
  answerMalformedRequests,
  asHttpError,
  envelopeFor,
  hasLargeUnreadBody,
  JSON_TYPE,
  mustDiscardBody,
  sendError,
} from "./errors.ts";
import { allowOrigins, answerPreflights, rateHeaders, requestIdFor } from "./headers.ts";
import type { HttpDeps } from "./http-deps.ts";
import { readJsonBodies } from "./request-body.ts";
import { audioTranscriptionRoutes } from "./routes/audio-transcriptions.ts";
import { audioVoicesRoutes } from "./routes/audio-voices.ts";
import { apiDocsRoutes, playgroundRoutes } from "./routes/pages.ts";
import { metricsRoute, openApiRoute, queryRoutes } from "./routes/queries.ts";
import { realtimeRoutes } from "./routes/realtime.ts";
import { audioSpeechRoutes, audioTelephonyRoute, replyRoutes, streamRoute } from "./routes/speech.ts";
import { answerUnknownRoutes, rememberPaths } from "./unknown-routes.ts";
import { registerWebSockets } from "./websocket/websocket-server.ts";

declare module "fastify" {
  interface FastifyRequest {
    tracked: TrackedRequest;
  }
  interface FastifyInstance {
    connections: ConnectionTracker;
  }
}

export function createHttpServer(deps: HttpDeps): FastifyInstance {
  const app = createBareServer(deps, deps.options.tls);
  replyRoutes(app, deps);
  streamRoute(app, deps);
  audioSpeechRoutes(app, deps);
  audioTelephonyRoute(app, deps);
  audioTranscriptionRoutes(app, deps);
  audioVoicesRoutes(app, deps);
  if (deps.realtime !== null) realtimeRoutes(app, deps, deps.realtime);
  queryRoutes(app, deps);
  openApiRoute(app);
  apiDocsRoutes(app);
  if (deps.options.serveMetrics) metricsRoute(app, deps);
  if (deps.options.playground !== null) playgroundRoutes(app, deps.options.playground);
  return app;
}

/** Creates a server for `/metrics` alone, to be bound to another address. */
export function createMetricsServer(deps: HttpDeps): FastifyInstance {
  const app = createBareServer(deps);
  metricsRoute(app, deps);
  return app;
}

/** Creates a server with what all routes share: ids, rate headers, error envelopes, request log. */
function createBareServer(deps: HttpDeps, tls: HttpDeps["options"]["tls"] = null): FastifyInstance {
  const { headersTimeoutMs, uploadTimeoutMs } = deps.options;
  const logger: FastifyBaseLogger = deps.logger;
  const connections = new ConnectionTracker({
    stallTimeoutMs: deps.options.stallTimeoutMs,
    isMemoryAwaited: () => deps.requestReader.hasQueuedBodies,
  });
  const http = {
    requireHostHeader: false,
    headersTimeout: Math.min(headersTimeoutMs, uploadTimeoutMs),
    connectionsCheckingInterval: Math.min(5_000, headersTimeoutMs),
  };
  const app = fastify({
    loggerInstance: logger,
    logController: new fastify.LogController({
      disableRequestLogging: true,
      requestIdLogLabel: "request_id",
    }),
    genReqId: (raw) => requestIdFor(raw.headers["x-request-id"]),
    requestIdHeader: false,
    bodyLimit: deps.options.bodyLimitBytes,
    // As long as all headers together, so that an unknown name of any length is an ordinary 404.
    routerOptions: { maxParamLength: 16 * 1024 },
    trustProxy: deps.options.trustProxy,
    return503OnClosing: false,
    forceCloseConnections: "idle",
    frameworkErrors: (error, request, reply) => {
      const failure = asHttpError(error);
      const tracked = track(request, reply.raw, deps, connections);
      tracked.fail(failure);
      const { status } = failure;
      const headers = {
        "X-Request-ID": request.id,
        ...rateHeaders(deps.tenancy.recallAnonymous(request.ip)),
        "Content-Type": JSON_TYPE,
      };
      const body = JSON.stringify(envelopeFor(failure, request));
      if (mustDiscardBody(request.raw, reply.raw)) answerAndDiscardBody(tracked, { status, headers, body });
      else reply.raw.writeHead(status, headers).end(body);
    },
    requestTimeout: uploadTimeoutMs,
    // The type of an HTTPS server has the same interface; the rest is typed for HTTP.
    ...(tls === null ? { http } : { https: { ...http, ...tls } as unknown as null }),
    keepAliveTimeout: 65_000,
  });
  // Registered before the hooks, because the plugin's own hook closes the sockets of refused upgrades.
  if (deps.realtime !== null) registerWebSockets(app);
  watchRequests(app, deps, connections);
  readJsonBodies(app, deps.requestReader);
  answerMalformedRequests(app, deps, connections);
  allowOrigins(app, deps.options.corsOrigins);
  requireAccess(app);
  identifyCallers(app, deps);
  const methodsOf = rememberPaths(app);
  answerPreflights(app, methodsOf);
  app.setErrorHandler(sendError);
  answerUnknownRoutes(app, methodsOf);
  return app;
}

/** Tracks every request to its end, and routes `Expect` requests like the others. */
function watchRequests(app: FastifyInstance, deps: HttpDeps, connections: ConnectionTracker): void {
  app.decorateRequest("tracked");
  app.addHook("onRequest", async (request, reply) => {
    // Nothing can be answered after a response that ends the connection.
    if (request.raw.socket.writableEnded) return reply.hijack();
    track(request, reply.raw, deps, connections);
    // An idle connection is cut when the port closes, possibly during a new request.
    if (deps.isStopping()) reply.raw.setHeader("Connection", "close");
  });
  app.addHook("onSend", async (request, reply) => {
    // Otherwise the unread body would have to be read before the next request.
    if (hasLargeUnreadBody(request.raw)) reply.header("Connection", "close");
  });
  for (const event of ["checkContinue", "checkExpectation"]) {
    app.server.on(event, (request, response) => app.server.emit("request", request, response));
  }
  app.decorate("connections", connections);
  app.addHook("onClose", async () => connections.close());
}

function track(
  request: FastifyRequest,
  response: ServerResponse,
  { metrics }: HttpDeps,
  connections: ConnectionTracker,
): TrackedRequest {
  request.tracked = connections.begin(request.raw, response, (context, ending) => {
    const route = request.is404 ? "none" : (request.routeOptions?.url ?? "none");
    const status = response.headersSent ? response.statusCode : context.rawStatus;
    const http = { method: request.method, status };
    recordEnd(request.log, metrics, { context, ending, route, http });
  });
  if (request.tracked.ending === null) request.tracked.span = beginRequestSpan(request);
  return request.tracked;
}

/** Begins the span of a request for speech or recognition; others have none. */
function beginRequestSpan({ method, id, headers, is404, routeOptions }: FastifyRequest): Span {
  if (is404 || routeOptions?.config?.access !== "token") return NO_SPAN;
  const route = routeOptions.url ?? "none";
  const facts = { "http.request.method": method, "http.route": route, "gen_ai.response.id": id };
  return beginServerSpan(`${method} ${route}`, facts, headers);
}
