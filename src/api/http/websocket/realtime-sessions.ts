import type { FastifyRequest } from "fastify";
import type { WebSocket } from "ws";
import { isRecogniserNamed } from "../../../contract/audio-transcriptions.ts";
import { fieldError, quoted, ServiceError } from "../../../contract/errors.ts";
import type { SessionUpdate } from "../../../contract/realtime/session.ts";
import { serverFullError } from "../../../limits/capacity-errors.ts";
import { KeyBudgets } from "../../../limits/event-loop-budget.ts";
import { beginRequest } from "../../../requests/begin-request.ts";
import type { RequestContext } from "../../../requests/request-context.ts";
import { meterUsage } from "../../../serving/telemetry.ts";
import type { SessionRequest } from "../../realtime/realtime-dialect.ts";
import { RealtimeError } from "../../realtime/realtime-error.ts";
import { SessionRunner } from "../../realtime/session-runner.ts";
import { defaultSettings, type SessionSettings, updateSettings } from "../../realtime/session-settings.ts";
import { ConnectionSlots } from "../connection-tracker.ts";
import type { HttpDeps, RealtimeOptions, SessionOpening } from "../http-deps.ts";
import { type ChargedEvent, RealtimeSocket, type RealtimeSocketOptions } from "./realtime-socket.ts";

export interface SessionQuery {
  readonly model?: string;
  readonly intent?: string;
  readonly call_id?: string;
}

/** Milliseconds between two checks for revoked keys. */
const REVOCATION_MS = 2_000;
/** Average use of a session, as a fraction of one slot: of the detectors, and of the recogniser. */
const DETECTING_SHARE = 0.02;
const TRANSCRIBING_SHARE = 0.06;

/** The open realtime sessions: admits connections, ends sessions whose keys were revoked, and closes all on shutdown. */
export class RealtimeSessions {
  readonly #deps: HttpDeps;
  readonly #realtime: RealtimeOptions;
  /** Open sessions with the keys that pay for them. */
  readonly #open = new Map<Pick<RealtimeSocket<never>, "finish" | "revoke">, string>();
  /** Slots of connections that have a session, or are about to. */
  readonly #slots: ConnectionSlots;
  readonly #keyBudgets = new KeyBudgets();
  readonly #watch: NodeJS.Timeout;
  #isChecking = false;

  constructor(deps: HttpDeps, realtime: RealtimeOptions) {
    this.#deps = deps;
    this.#realtime = realtime;
    const { maxSessions, maxSessionsPerKey } = realtime;
    this.#slots = new ConnectionSlots({
      maxTotal: maxSessions,
      maxPerHolder: maxSessionsPerKey,
      full: () =>
        new ServiceError(502, "the server has as many realtime sessions as it takes: retry in a moment", {
          retryAfterMs: 5_000,
        }),
      holderIsFull: () =>
        new ServiceError(
          429,
          `this key has ${maxSessionsPerKey} realtime sessions open, which is all it may have: close one`,
          { retryAfterMs: 5_000 },
        ),
    });
    this.#watch = setInterval(() => void this.#endRevoked(), REVOCATION_MS).unref();
  }

  /**
   * Gives an authenticated connection a slot. Throws a {@link ServiceError} if there is none.
   *
   * @param options `takesAudio`: whether the session detects and transcribes turns
   */
  admit({ tracked, raw }: FastifyRequest, { takesAudio = true } = {}): void {
    const { keyId } = tracked.caller;
    const { detectionSlots, transcriptionSlots } = this.#realtime;
    if (this.#deps.isStopping())
      throw new ServiceError(502, "the server is shutting down: retry", { retryAfterMs: 1_000 });
    if (takesAudio && !detectionSlots.canSustain(keyId, DETECTING_SHARE))
      throw serverFullError(detectionSlots.what, 5_000);
    if (takesAudio && !transcriptionSlots.canSustain(keyId, TRANSCRIBING_SHARE))
      throw serverFullError(transcriptionSlots.what, 5_000);
    const { metrics } = this.#deps;
    this.#slots.take(raw.socket, keyId, () => {
      metrics.realtime.opened();
      return () => metrics.realtime.closed();
    });
  }

  open(
    socket: WebSocket,
    request: FastifyRequest,
    { settings, model, apiKey, dialect }: SessionOpening,
  ): void {
    const { service, metrics } = this.#deps;
    const { keyId } = request.tracked.caller;
    const deps = {
      ...this.#realtime,
      service,
      onFirstAudio: (seconds: number) => metrics.realtime.answered(seconds),
      onFailure: failureLog(request),
    };
    const meter = (inputAudioS: number) => meterTurns(this.#deps, keyId, inputAudioS);
    const hasOtherKeys = () => this.#keyBudgets.size > 1;
    this.openSocket(socket, request, apiKey, {
      dialect,
      open: (connection) => new SessionRunner(deps, { ...connection, settings, model, meter, hasOtherKeys }),
    });
  }

  /** Opens a session of any kind on an admitted connection. */
  openSocket<E extends ChargedEvent>(
    socket: WebSocket,
    request: FastifyRequest,
    apiKey: string,
    kind: Pick<RealtimeSocketOptions<E>, "dialect" | "open"> & { readonly idleTimeoutMs?: number },
  ): void {
    const { idleTimeoutMs, maxSessionS, receiving, eventLoopShare } = this.#realtime;
    const { keyId } = request.tracked.caller;
    const key = this.#keyBudgets.open(keyId);
    const connection = new RealtimeSocket<E>(socket, request, {
      deps: { eventLoopShare, onFailure: failureLog(request) },
      heartbeatMs: this.#deps.options.heartbeatMs,
      idleTimeoutMs,
      maxSessionS,
      keyBudget: key.budget,
      receiving,
      onSlowed: () =>
        request.log.warn({ key_id: keyId }, "realtime session sends too many events: it is slowed"),
      begin: (what, signal) => this.#begin(what, apiKey, signal),
      ...kind,
    });
    this.#open.set(connection, apiKey);
    socket.once("close", () => {
      this.#open.delete(connection);
      key.close();
    });
  }

  /** Lets each session finish the reply that is being spoken, then closes it with code 1001. Does not wait for them. */
  close(): void {
    clearInterval(this.#watch);
    for (const connection of this.#open.keys())
      connection.finish().catch((error) => this.#deps.logger.error({ err: error }));
  }

  #begin(what: SessionRequest, apiKey: string, signal: AbortSignal): Promise<RequestContext> {
    return beginRequest(this.#deps, {
      route: `realtime:${what}`,
      findKey: async () => {
        const key = await this.#deps.tenancy.authenticate(apiKey);
        if (key !== null) return key;
        throw new ServiceError(
          401,
          "the API key of this session is not good any more: begin another session",
        );
      },
      speaks: what !== "transcription",
      overRate: "this key is over its rate limit",
      signal,
    });
  }

  /** Ends the sessions whose keys have been revoked. If the store fails, sessions stay open. */
  async #endRevoked(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    const checks = [...new Set(this.#open.values())].map(async (apiKey) => {
      const key = await this.#deps.tenancy.authenticate(apiKey).catch(() => undefined);
      if (key !== null) return;
      for (const [connection, payer] of this.#open) if (payer === apiKey) connection.revoke();
    });
    await Promise.all(checks);
    this.#isChecking = false;
  }
}

function failureLog({ log }: FastifyRequest): (error: unknown) => void {
  return (error) => log.warn({ cause: messageOf(error) }, "realtime session");
}

async function meterTurns({ tenancy, metrics }: HttpDeps, keyId: string, inputAudioS: number): Promise<void> {
  const usage = { input_chars: 0, input_audio_seconds: inputAudioS, output_audio_seconds: 0 };
  await meterUsage({ meter: (record) => tenancy.commit(record), ...metrics }, keyId, usage);
}

/** Returns the message and cause of an error, without anything that a client said. */
function messageOf(error: unknown): string {
  const { message, cause } = error as {
    readonly message?: string;
    readonly cause?: { readonly message?: string };
  };
  return cause?.message === undefined ? `${message}` : `${message} (${cause.message})`;
}

/**
 * Returns the settings of a new session. Throws a 400 {@link ServiceError} that names what is not available.
 *
 * @param own names of the key's own voices
 */
export function settingsFor(
  { model: inQuery, intent, call_id }: SessionQuery,
  update: SessionUpdate,
  own: readonly string[],
  deps: HttpDeps,
  { resolve }: RealtimeOptions,
): { readonly settings: SessionSettings; readonly model: string | null } {
  if (call_id !== undefined)
    throw fieldError("call_id", "belongs to WebRTC and SIP, which are not supported: leave it out");
  const asked = inQuery || update.model || "";
  const isTranscription = (update.type ?? intent) === "transcription";
  const isRecogniser = isTranscription && isRecogniserNamed(asked, deps.transcriptions.recogniserName);
  const model = asked === "" || asked.startsWith("gpt-") || isRecogniser ? null : asked;
  const resolved = resolve(model);
  if (resolved === undefined) {
    const message = `model ${quoted(asked)} is unknown: GET /v1/models lists the valid ids`;
    throw new ServiceError(400, message, { param: "model" });
  }
  const defaultId = deps.cards().find((card) => card.default)?.id ?? "";
  const settings: SessionSettings = {
    ...defaultSettings(asked || defaultId, { cast: resolved.card, own }),
    ...(isTranscription ? { type: "transcription", transcription: {} } : {}),
  };
  try {
    return { model, settings: updateSettings(settings, update, false) };
  } catch (error) {
    if (!(error instanceof RealtimeError)) throw error;
    throw new ServiceError(400, error.message, error.param === null ? {} : { param: error.param });
  }
}
