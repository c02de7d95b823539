import type { TestContext } from "node:test";
import pino, { type Logger } from "pino";
import type { Buckets } from "../../../src/accounts/buckets.ts";
import type { Store } from "../../../src/accounts/store.ts";
import { type Tenancy, tenancyOn } from "../../../src/accounts/tenancy.ts";
import type { Recogniser } from "../../../src/core/recogniser.ts";
import type { Script, VoiceSample } from "../../../src/core/script.ts";
import type { Writer } from "../../../src/core/writer.ts";
import type { CheckpointSlotOptions } from "../../../src/limits/checkpoint-slots.ts";
import type { LoadableCheckpoint } from "../../../src/models/checkpoint-cache.ts";
import type { PublicModel } from "../../../src/models/public-models.ts";
import type { NeuralDetector } from "../../../src/recognition/turn-detection/neural-detector.ts";
import { type RunningServer, type ServerParts, startServer } from "../../../src/server/start-server.ts";
import { loadSettings } from "../../../src/settings/load.ts";
import { memoryStore } from "../../accounts/memory-store.ts";
import { createToneModel, type ToneOptions } from "../../core/tone-model.ts";
import { until } from "../../waiting.ts";
import type { Reply } from "./wire.ts";

/** A server on a free port with one key, whose engine makes tones. */
export interface TestServer extends RunningServer {
  readonly key: string;
  readonly keyId: string;
  readonly tenancy: Tenancy;
  /** Creates another key and its headers. */
  another(): Promise<{ readonly key: string; readonly keyId: string; readonly auth: Record<string, string> }>;
  /** The value of the metric's line that begins with `name`. */
  metric(name: string): Promise<number>;
  /** Waits until a metric has a value. */
  metricIs(name: string, value: number): Promise<void>;
  /** Active and paused utterances. */
  begun(): Promise<number>;
  /** POSTs JSON with the key, or with the headers given instead. */
  post(path: string, body: unknown, headers?: Record<string, string>, signal?: AbortSignal): Promise<Reply>;
  get(path: string, headers?: Record<string, string>): Promise<Reply>;
  /** The reply of `GET /v1/usage`, for the server's key or the one in the headers. */
  usage(headers?: Record<string, string>): ReturnType<Reply["json"]>;
}

export interface TestServerOptions {
  readonly flags?: Record<string, string | boolean>;
  readonly rpm?: number;
  readonly burst?: number;
  readonly tone?: ToneOptions;
  readonly store?: Store;
  readonly isStoreShared?: boolean;
  readonly buckets?: Buckets;
  readonly logger?: Logger;
  readonly canSpeak?: () => boolean;
  /** Added to the tones; one named `heart` replaces them. */
  readonly checkpoints?: readonly LoadableCheckpoint[];
  readonly models?: readonly PublicModel[];
  readonly checkpointSlots?: ReadonlyMap<string, CheckpointSlotOptions>;
  readonly writer?: Writer;
  readonly recogniser?: Recogniser;
  readonly canHear?: () => Promise<boolean>;
  readonly serverVoices?: ReadonlyMap<string, VoiceSample>;
  readonly remoteVoices?: NonNullable<ServerParts["remoteVoices"]>;
  readonly detector?: NeuralDetector;
  readonly twilioAuthTokens?: readonly string[];
  /** Also serves the Wyoming protocol on a free port, with the server's key. */
  readonly wyoming?: boolean;
}

export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { rpm = 100_000, burst = 100_000, tone = {}, store = memoryStore() } = options;
  // No pacing by default.
  const flags = { port: "0", workers: "1", dataDir: "unused", maxAheadS: "0", ...options.flags };
  const settings = loadSettings({ flags });
  const anonymous = { rpm: settings.anonymousRpm, burst: settings.anonymousBurst };
  const { buckets } = options;
  const tenancy = tenancyOn(store, {
    anonymous,
    isStoreShared: options.isStoreShared === true,
    ...(buckets === undefined ? {} : { buckets }),
  });
  const { key, record } = await tenancy.createKey({ label: "test", rpm, burst });
  const heart: LoadableCheckpoint = { name: "heart", memoryBytes: 1, load: () => createToneModel(tone) };
  const server = await startServer({
    settings,
    tenancy,
    ...(options.models === undefined ? {} : { models: options.models }),
    checkpoints: [heart, ...(options.checkpoints ?? [])],
    ...(options.checkpointSlots === undefined ? {} : { checkpointSlots: options.checkpointSlots }),
    backend: { name: "tone", kind: "test" },
    writer: options.writer ?? null,
    recogniser: options.recogniser ?? null,
    ...(options.detector === undefined ? {} : { detector: options.detector }),
    ...(options.serverVoices === undefined ? {} : { serverVoices: options.serverVoices }),
    ...(options.remoteVoices === undefined ? {} : { remoteVoices: options.remoteVoices }),
    ...(options.canHear === undefined ? {} : { canHear: options.canHear }),
    wyoming: options.wyoming === true ? { host: "127.0.0.1", port: 0, apiKey: key } : null,
    twilioAuthTokens: options.twilioAuthTokens ?? [],
    ...(options.canSpeak === undefined ? {} : { canSpeak: options.canSpeak }),
    logger: options.logger ?? pino({ level: "silent" }),
  });
  const auth = { Authorization: `Bearer ${key}` };
  const scraped = async () => (await (await fetch(`${server.url}/metrics`)).text()).split("\n");
  const valueIn = (lines: readonly string[], name: string) => {
    const line = lines.find((each) => each.startsWith(`antiphon_${name} `));
    return Number(line?.slice(line.lastIndexOf(" ")));
  };
  return {
    ...server,
    key,
    keyId: record.keyId,
    tenancy,
    async another() {
      const other = await tenancy.createKey({ label: "another", rpm, burst });
      const header = { Authorization: `Bearer ${other.key}` };
      return { key: other.key, keyId: other.record.keyId, auth: header };
    },
    metric: async (name) => valueIn(await scraped(), name),
    metricIs: (name, value) =>
      until(`${name} ${value}`, async () => valueIn(await scraped(), name) === value),
    async begun() {
      const lines = await scraped();
      return valueIn(lines, "active_streams") + valueIn(lines, "paused_streams");
    },
    post: (path, body, headers, signal) =>
      fetch(server.url + path, {
        method: "POST",
        signal: signal ?? null,
        headers: { ...auth, "Content-Type": "application/json", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    get: (path, headers = auth) => fetch(server.url + path, { headers }),
    usage: async (headers = auth) => ((await fetch(`${server.url}/v1/usage`, { headers })) as Reply).json(),
  };
}

/** Starts a server that stops after the test. */
export async function startForTest(t: TestContext, options: TestServerOptions = {}): Promise<TestServer> {
  const server = await startTestServer(options);
  t.after(() => server.stop());
  return server;
}

/** Holds frames back until `open` is called. @param isHeld by the frame's index; every frame by default */
export function frameGate(isHeld: (index: number) => boolean = () => true) {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, tone: { beforeFrame: (index: number) => (isHeld(index) ? opened : undefined) } };
}

/** A checkpoint of tones in place of the embedded voice. @param scripts collects every script that it speaks */
export function recordingTones(scripts: Script[]): LoadableCheckpoint {
  return {
    name: "heart",
    memoryBytes: 1,
    async load() {
      const tone = await createToneModel();
      return {
        speak(script, signal) {
          scripts.push(script);
          return tone.speak(script, signal);
        },
        close: () => tone.close(),
      };
    },
  };
}
