import type { FastifyInstance, FastifyRequest } from "fastify";
import type { WebSocket } from "ws";
import { type Encoding, pcmAt } from "../../../audio/encode/encoder.ts";
import { resolveModelName } from "../../../contract/audio-speech.ts";
import { MAX_SPEECH_FRAMES } from "../../../contract/limits.ts";
import type { StreamInputQuery } from "../../../contract/realtime/stream-input.ts";
import { parseStreamInputQuery } from "../../../contract/validate.ts";
import { authenticate } from "../../../requests/begin-request.ts";
import { checkVoice } from "../../../serving/prepare/choose-voice.ts";
import { resolveTts } from "../../../serving/prepare/resolve-request.ts";
import {
  readStreamInput,
  StreamInput,
  type StreamInputOptions,
  streamInputDialect,
} from "../../realtime/stream-input.ts";
import { rateHeaders } from "../headers.ts";
import type { HttpDeps, RealtimeOptions } from "../http-deps.ts";
import type { RealtimeSessions } from "../websocket/realtime-sessions.ts";
import { UnstartedSocket, type WaitingSlots } from "../websocket/unstarted-socket.ts";
import { closingOf, trackUpgrade, upgradeRequired } from "../websocket/websocket-server.ts";

interface StreamRoute {
  readonly Params: { readonly voice: string };
  readonly Querystring: object;
}

/**
 * `GET /v1/text-to-speech/{voice}/stream-input` and `multi-stream-input`: ElevenLabs' WebSockets, which take a text while
 * it is written. The key is in a header, or in the first message. Other refusals come before the upgrade.
 *
 * @param scope has the WebSocket plugin
 */
export function streamInputRoutes(
  scope: FastifyInstance,
  deps: HttpDeps,
  { resolve }: RealtimeOptions,
  sessions: RealtimeSessions,
  waiting: WaitingSlots,
): void {
  const openings = new WeakMap<FastifyRequest, StreamInputOptions>();
  /** Gives a connection whose key is known a slot. */
  const admit = async (
    request: FastifyRequest<StreamRoute>,
    apiKey: string | null,
    options?: Parameters<typeof authenticate>[3],
  ): Promise<void> => {
    const { keyId } = await authenticate(deps.tenancy, apiKey, request.ip, options);
    request.tracked.keyId = keyId;
    const { card } = openings.get(request)!.prepared.model;
    checkVoice(request.params.voice, "voice", card, await deps.customVoices.names(keyId));
    sessions.admit(request, { takesAudio: false });
  };
  const open = (socket: WebSocket, request: FastifyRequest, apiKey: string): void => {
    const options = openings.get(request)!;
    sessions.openSocket(socket, request, apiKey, {
      dialect: streamInputDialect,
      idleTimeoutMs: options.inactivityMs,
      open: (connection) => new StreamInput(options, connection),
    });
  };
  for (const kind of ["stream-input", "multi-stream-input"] as const)
    scope.route<StreamRoute>({
      method: "GET",
      url: `/v1/text-to-speech/:voice/${kind}`,
      config: { access: "open" },
      preHandler: async (request, reply) => {
        const query = parseStreamInputQuery(request.query);
        if (!request.ws) return;
        const { params, presented } = request;
        openings.set(request, {
          ...optionsOf(query, kind === "multi-stream-input"),
          service: deps.service,
          prepared: resolveTts(ttsRequestOf(params.voice, query), resolve, {
            fields: { text: "text", voice: "voice", language: "language_code" },
            maxFrames: MAX_SPEECH_FRAMES,
          }),
        });
        if (presented === null) waiting.admit(request, null);
        else
          await admit(request, presented.apiKey, {
            onReading: (reading) => reply.headers(rateHeaders(reading)),
          });
      },
      handler: upgradeRequired("this is a WebSocket: connect with an Upgrade header"),
      wsHandler: (socket: WebSocket, request) => {
        trackUpgrade(request);
        if (request.presented !== null) return open(socket, request, request.presented.apiKey);
        const slot = waiting.sockets.get(request.raw);
        const unstarted = new UnstartedSocket(socket, request.raw.socket, {
          startMs: slot?.startMs ?? 0,
          read: (bytes) => ({ bytes, key: readStreamInput(bytes).xi_api_key ?? null }),
          begin: async ({ bytes, key }) => {
            await admit(request, key, { missing: "the API key is missing: send the header xi-api-key" });
            return () => {
              open(socket, request, key!);
              socket.emit("message", bytes, false);
            };
          },
          onFailure: (error) => closingOf(error, request),
          onOver: () => slot?.leave(),
        });
        if (slot !== undefined) slot.end = (status, reason) => unstarted.end(status, reason);
      },
    });
}

function ttsRequestOf(voice: string, { model_id, language_code: language }: StreamInputQuery) {
  const model = resolveModelName(model_id);
  return { voice, ...(language === undefined ? {} : { language }), ...(model === null ? {} : { model }) };
}

function optionsOf(query: StreamInputQuery, isMulti: boolean) {
  const { inactivity_timeout: seconds = "20", output_format: format = "mp3_44100_128" } = query;
  return {
    isMulti,
    inactivityMs: 1_000 * Number(seconds),
    encoding: encodingOf(format),
    isAuto: query.auto_mode === "true",
    // LiveKit's plugin, which asks for it, reads them so; Pipecat's reads the others.
    countsFromStart: isMulti && query.sync_alignment === "true",
  };
}

const ENCODINGS: Record<string, Encoding> = { mp3: "mp3", opus: "opus", ulaw: "mulaw", alaw: "alaw" };

function encodingOf(format: string): Encoding {
  const [codec, rateHz] = format.split("_");
  if (codec === "pcm") return pcmAt(Number(rateHz))!;
  return ENCODINGS[codec!]!;
}
