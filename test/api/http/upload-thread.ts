import { parentPort, workerData } from "node:worker_threads";
import { OpenAI } from "openai";

/** What the thread is given. */
export interface Upload {
  readonly apiKey: string;
  readonly baseURL: string;
  readonly fileBytes: number;
}

// A thread of its own: in the server's, a client is never in the middle of sending when it is answered.
const { apiKey, baseURL, fileBytes } = workerData as Upload;
const openai = new OpenAI({ apiKey, baseURL, maxRetries: 0 });
const file = new File([new Uint8Array(fileBytes)], "a.wav");
const told = await openai.audio.transcriptions
  .create({ file, model: "whisper-1" })
  .catch((error: unknown) => (error instanceof OpenAI.APIError ? error.status : null) ?? `${error}`);
parentPort?.postMessage(told);
