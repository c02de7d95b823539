import { parentPort, workerData } from "node:worker_threads";
import { type EncodedPiece, type Frame, SpeechFailedError, type SpeechModel } from "../core/speech-model.ts";
import { createGuard } from "./calls/native-gate.ts";
import {
  type ModelModule,
  type OpenMessage,
  type ThreadData,
  type ToHost,
  type ToThread,
  toWireError,
} from "./protocol.ts";
import { createBatchScheduler, createScheduler } from "./scheduler.ts";
import { WorkerUtterance } from "./worker-utterance.ts";

const { entry, create, isBatching, gate } = workerData as ThreadData;

const early: ToThread[] = [];
let receive = (message: ToThread): void => void early.push(message);
parentPort?.on("message", (message: ToThread) => receive(message));

try {
  const module = (await import(entry)) as ModelModule;
  const guard = createGuard(gate, () => endThread(1));
  serve(await module.createModel(create, guard));
} catch (thrown) {
  post({ kind: "unusable", message: toWireError(thrown).message });
  endThread(1);
}

function serve(model: SpeechModel): void {
  const utterances = new Map<number, WorkerUtterance>();
  const scheduler = isBatching ? createBatchScheduler() : createScheduler();

  const forget = (id: number): void => {
    const utterance = utterances.get(id);
    if (utterance === undefined) return;
    utterances.delete(id);
    scheduler.remove(utterance);
  };

  const open = (message: OpenMessage): void => {
    const { id } = message;
    const utterance = new WorkerUtterance(model, message, {
      onPull: () => post({ kind: "pull", id }),
      onFrames: (frames) => postFrames(id, frames),
      onEnd(report) {
        forget(id);
        post({ kind: "end", id, report });
      },
      onFail(thrown) {
        forget(id);
        post({ kind: "fail", id, error: toWireError(thrown) });
      },
      onRunnable: () => scheduler.wake(),
      now: () => performance.now(),
      takeWorkMs: () => scheduler.takeWorkMs(),
    });
    utterances.set(id, utterance);
    void utterance.analyseHistory().then(() => {
      if (utterances.get(id) === utterance) scheduler.add(utterance);
    });
  };

  const stop = (id: number, reason: unknown): void => {
    utterances.get(id)?.stop(reason);
    forget(id);
  };

  const close = async (): Promise<void> => {
    for (const id of [...utterances.keys()]) stop(id, new SpeechFailedError("the speech thread was closed"));
    await scheduler.stop();
    await model.close();
    endThread(0);
  };

  receive = (message) => {
    if (message.kind === "open") open(message);
    else if (message.kind === "text") utterances.get(message.id)?.deliver(message.item);
    else if (message.kind === "credit") utterances.get(message.id)?.grant(message.frames);
    else if (message.kind === "stop") stop(message.id, new SpeechFailedError("no listener is left"));
    else if (message.kind === "ping") scheduler.between(() => post({ kind: "pong" }));
    else if (message.kind === "close") void close();
  };
  post({ kind: "ready" });
  for (const message of early) receive(message);
}

/** In a thread, `exit` ends only that thread, whatever handles the engine has left; posted messages still arrive. */
function endThread(code: number): never {
  process.exit(code);
}

function postFrames(id: number, frames: readonly (Frame | EncodedPiece)[]): void {
  const buffers = frames.map((frame) => ("samples" in frame ? frame.samples : frame.bytes).buffer);
  post({ kind: "frames", id, frames }, buffers as ArrayBuffer[]);
}

function post(message: ToHost, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfer);
}
