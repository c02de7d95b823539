/** How a writer's model is talked to. */
export interface PromptStyle {
  /**
   * How messages become a prompt: `own` is the template that the file carries; `chatml` ChatML; `chatml-unthinking`
   * ChatML with the thought of a reasoning model put in as done, as its own template does where it is told not to think.
   */
  readonly template: "own" | "chatml" | "chatml-unthinking";
  /** What the model is told before the conversation; `null` is what every model is told. */
  readonly instructions: string | null;
}

/** A language model on the hub that is known to suit, under a short name. */
export interface HubWriter extends PromptStyle {
  readonly name: string;
  readonly displayName: string;
  readonly repository: string;
  /** The file within the repository. */
  readonly path: string;
  /** SPDX identifier, as its maker states it. What the hub states when it is pulled is what has to be accepted. */
  readonly licence: string;
  /** Billions of parameters. */
  readonly parametersB: number;
  /**
   * How its replies were judged, as the server has it write them, beside those of the model that comes with Antiphon,
   * which has 0: more is better; `null` where nobody has judged them.
   */
  readonly rank: number | null;
  /** What others know of the file; absent where too few agree. */
  readonly known?: KnownFile;
}

/** A file of a commit as independent projects pin it. */
export interface KnownFile {
  /** The first digits of the commit. */
  readonly revision: string;
  readonly sizeBytes: number;
  /** The first and the last digits of the file's hash. */
  readonly sha256: readonly [first: string, last: string];
}

/** Small models say too much, and read out what they write: so they are shown what speech is. */
const SMALL_TALK =
  "You are talking with a friend, aloud. Reply in one or two short sentences, the way people speak. " +
  "Plain words only: no lists, no markdown, no emoji, no stage directions. If you do not know, say so.";

/** Larger ones keep to what they are told. */
const CONVERSATION =
  "You are having a spoken conversation. Reply in one to three short sentences, warmly and to the point, the way people " +
  "speak. Plain words only: no lists, no markdown, no emoji, no stage directions. Write numbers and units so that they " +
  "can be read aloud. You cannot see, search or do anything but talk. If you do not know something, say so.";

/** From the smallest to the largest, all under a permissive licence. */
export const HUB_WRITERS: readonly HubWriter[] = [
  {
    name: "smollm2-360m",
    displayName: "SmolLM2-360M-Instruct, 8-bit",
    repository: "HuggingFaceTB/SmolLM2-360M-Instruct-GGUF",
    path: "smollm2-360m-instruct-q8_0.gguf",
    licence: "Apache-2.0",
    parametersB: 0.36,
    rank: null,
    template: "chatml",
    instructions: SMALL_TALK,
  },
  {
    name: "qwen2.5-0.5b",
    displayName: "Qwen2.5-0.5B-Instruct, 4-bit",
    repository: "Qwen/Qwen2.5-0.5B-Instruct-GGUF",
    path: "qwen2.5-0.5b-instruct-q4_k_m.gguf",
    licence: "Apache-2.0",
    parametersB: 0.49,
    // By its sibling that was made for code.
    rank: -1,
    known: { revision: "9217f5db", sizeBytes: 491_400_032, sha256: ["74a4da8c", "d7a9db"] },
    template: "chatml",
    instructions: SMALL_TALK,
  },
  {
    name: "qwen3-0.6b",
    displayName: "Qwen3-0.6B, 8-bit",
    repository: "Qwen/Qwen3-0.6B-GGUF",
    path: "Qwen3-0.6B-Q8_0.gguf",
    licence: "Apache-2.0",
    parametersB: 0.6,
    rank: null,
    known: { revision: "23749fef", sizeBytes: 639_446_688, sha256: ["9465e63a", "3bb031"] },
    template: "chatml-unthinking",
    instructions: SMALL_TALK,
  },
  {
    name: "qwen2.5-1.5b",
    displayName: "Qwen2.5-1.5B-Instruct, 4-bit",
    repository: "Qwen/Qwen2.5-1.5B-Instruct-GGUF",
    path: "qwen2.5-1.5b-instruct-q4_k_m.gguf",
    licence: "Apache-2.0",
    parametersB: 1.54,
    // By its sibling that was made for code.
    rank: 1,
    known: { revision: "91cad511", sizeBytes: 1_117_320_736, sha256: ["6a1a2eb6", "e9407e"] },
    template: "chatml",
    instructions: CONVERSATION,
  },
  {
    name: "smollm2-1.7b",
    displayName: "SmolLM2-1.7B-Instruct, 4-bit",
    repository: "HuggingFaceTB/SmolLM2-1.7B-Instruct-GGUF",
    path: "smollm2-1.7b-instruct-q4_k_m.gguf",
    licence: "Apache-2.0",
    parametersB: 1.71,
    rank: null,
    template: "chatml",
    instructions: CONVERSATION,
  },
  {
    name: "qwen3-1.7b",
    displayName: "Qwen3-1.7B, 8-bit",
    repository: "Qwen/Qwen3-1.7B-GGUF",
    path: "Qwen3-1.7B-Q8_0.gguf",
    licence: "Apache-2.0",
    parametersB: 1.72,
    rank: null,
    template: "chatml-unthinking",
    instructions: CONVERSATION,
  },
  {
    name: "qwen3-4b",
    displayName: "Qwen3-4B, 4-bit",
    repository: "Qwen/Qwen3-4B-GGUF",
    path: "Qwen3-4B-Q4_K_M.gguf",
    licence: "Apache-2.0",
    parametersB: 4.02,
    rank: null,
    known: { revision: "bc640142", sizeBytes: 2_497_280_256, sha256: ["7485fe6f", "34fdf5"] },
    template: "chatml-unthinking",
    instructions: CONVERSATION,
  },
];

/** The known model of that name. */
export function findHubWriter(name: string): HubWriter | undefined {
  return HUB_WRITERS.find((writer) => writer.name === name);
}

/** The known model that lies there, whatever the capitals. */
export function hubWriterAt(repository: string, path: string): HubWriter | undefined {
  const place = `${repository}/${path}`.toLowerCase();
  return HUB_WRITERS.find((writer) => `${writer.repository}/${writer.path}`.toLowerCase() === place);
}

/** How a model is talked to of which nothing more is known. */
export const DEFAULT_PROMPT_STYLE: PromptStyle = { template: "own", instructions: null };
