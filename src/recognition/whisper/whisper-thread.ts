import { workerData } from "node:worker_threads";
import { answerCalls } from "../../workers/calls/answer-calls.ts";
import { findWhisper, RecogniserFilesError } from "./description.ts";
import { openNetworks } from "./networks.ts";
import { type WindowRequest, WindowTranscriber, type WindowTranscript } from "./window-transcriber.ts";

export interface WhisperThreadData {
  /** Folder written by `convertWhisper`. */
  readonly folder: string;
}

/** Shared flag that is not 0 once the answer is no longer needed. */
export type StopCell = Int32Array;

interface WhisperOperations {
  /** Loads the networks once. */
  open(): Promise<WhisperInfo>;
  transcribe(request: WindowRequest, stop: StopCell): Promise<WindowTranscript>;
}

export interface WhisperInfo {
  readonly name: string;
  /** Whisper's names; empty if English only. */
  readonly languages: readonly string[];
}

/** An error as a plain object: cloning would lose its class. */
export interface WhisperThreadError {
  readonly message: string;
  /** Whether the recogniser's files are missing or damaged. */
  readonly isOfFiles: boolean;
}

/** A separate thread, because onnxruntime blocks the one it computes in. */
const { folder } = workerData as WhisperThreadData;

interface LoadedWhisper {
  readonly listener: WindowTranscriber;
  readonly about: WhisperInfo;
}

let opening: Promise<LoadedWhisper> | null = null;

const operations: WhisperOperations = {
  open: async () => (await opened()).about,
  async transcribe(request, stop) {
    const { listener } = await opened();
    return await listener.transcribe(request, () => {
      if (Atomics.load(stop, 0) !== 0) throw new Error("No caller is waiting any more.");
    });
  },
};

answerCalls({ ...operations }, (thrown): WhisperThreadError => {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { message, isOfFiles: thrown instanceof RecogniserFilesError };
});

function opened(): Promise<LoadedWhisper> {
  opening ??= open().catch((error: unknown) => {
    opening = null;
    throw error;
  });
  return opening;
}

async function open(): Promise<LoadedWhisper> {
  const files = await findWhisper(folder);
  const { name, special } = files.description;
  const listener = new WindowTranscriber(await openNetworks(files));
  return { listener, about: { name, languages: Object.keys(special.languages) } };
}
