import pino, { type Logger } from "pino";
import type { Buckets } from "../../../src/accounts/buckets.ts";
import type { Store } from "../../../src/accounts/store.ts";
import { type Tenancy, tenancyOn } from "../../../src/accounts/tenancy.ts";
import type { Recogniser } from "../../../src/core/recogniser.ts";
import type { VoiceSample } from "../../../src/core/script.ts";
import type { Writer } from "../../../src/core/writer.ts";
import type { CheckpointSlotOptions } from "../../../src/limits/checkpoint-slots.ts";
import type { LoadableCheckpoint } from "../../../src/models/checkpoint-cache.ts";
import type { PublicModel } from "../../../src/models/public-models.ts";
import type { NeuralDetector } from "../../../src/recognition/turn-detection/neural-detector.ts";
import { type RunningServer, type ServerParts, startServer } from "../../../src/server/start-server.ts";
import { loadSettings } from "../../../src/settings/load.ts";
import { memoryStore } from "../../accounts/memory-store.ts";
import { createToneModel, type ToneOptions } from "../../core/tone-model.ts";
import type { Reply } from "./wire.ts";

/** A whole server on a free port, over an engine that makes tones, with one key. */
export interface TestServer extends RunningServer {
  readonly key: string;
  readonly keyId: string;
  readonly tenancy: Tenancy;
  /** Makes another key, and the headers that present it. */
  another(): Promise<{ readonly key: string; readonly keyId: string; readonly auth: Record<string, string> }>;
  /** The value of a metric without labels, or of the line that begins so. */
  metric(name: string): Promise<number>;
  /** Utterances that have begun and are not over, whether they are computed just now or wait. */
  begun(): Promise<number>;
  /** POSTs JSON with the key, or with the headers given instead. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Reply>;
  get(path: string, headers?: Record<string, string>): Promise<Reply>;
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
  /** Beside the tones, or in their place where one has their name, heart. */
  readonly checkpoints?: readonly LoadableCheckpoint[];
  readonly models?: readonly PublicModel[];
  readonly checkpointSlots?: ReadonlyMap<string, CheckpointSlotOptions>;
  readonly writer?: Writer;
  readonly recogniser?: Recogniser;
  readonly canHear?: () => boolean;
  readonly serverVoices?: ReadonlyMap<string, VoiceSample>;
  readonly remoteVoices?: NonNullable<ServerParts["remoteVoices"]>;
  readonly detector?: NeuralDetector;
  readonly twilioAuthTokens?: readonly string[];
  /** Serves Wyoming's clients too, on a free port, by the server's one key. */
  readonly wyoming?: boolean;
}

export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { rpm = 100_000, burst = 100_000, tone = {}, store = memoryStore() } = options;
  // Streams are taken as fast as they are made, unless a test is about that.
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
    async begun() {
      const lines = await scraped();
      return valueIn(lines, "active_streams") + valueIn(lines, "paused_streams");
    },
    post: (path, body, headers) =>
      fetch(server.url + path, {
        method: "POST",
        headers: { ...auth, "Content-Type": "application/json", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    get: (path, headers = auth) => fetch(server.url + path, { headers }),
  };
}
