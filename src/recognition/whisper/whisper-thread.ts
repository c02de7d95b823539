import { workerData } from "node:worker_threads";
import { answerCalls } from "../../workers/calls/answer-calls.ts";
import { findWhisper, RecogniserFilesError } from "./description.ts";
import { openNetworks } from "./networks.ts";
import { type WindowRequest, WindowTranscriber, type WindowTranscript } from "./window-transcriber.ts";

/** What the thread is told when it starts. */
export interface WhisperThreadData {
  /** Holds what `convertWhisper` wrote. */
  readonly folder: string;
}

/** A cell in shared memory that is not 0 once nobody waits for the answer any more. */
export type StopCell = Int32Array;

/** What the thread answers. */
interface WhisperOperations {
  /** Loads the networks, if they are not loaded. */
  open(): Promise<WhisperInfo>;
  transcribe(request: WindowRequest, stop: StopCell): Promise<WindowTranscript>;
}

export interface WhisperInfo {
  readonly name: string;
  /** As Whisper names them; empty where it knows English alone. */
  readonly languages: readonly string[];
}

/** An error as its parts, since a clone would lose its class. */
export interface WhisperThreadError {
  readonly message: string;
  /** Whether the recogniser's files are at fault. */
  readonly isOfFiles: boolean;
}

/** A thread that hears; onnxruntime blocks the one that it computes in. */
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
      if (Atomics.load(stop, 0) !== 0) throw new Error("Nobody waits for it any more.");
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
