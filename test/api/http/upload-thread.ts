import { parentPort, workerData } from "node:worker_threads";
import { OpenAI } from "openai";

/** The thread's `workerData`. */
export interface Upload {
  readonly apiKey: string;
  readonly baseURL: string;
  readonly fileBytes: number;
}

// In the server's own thread, a client would never still be sending when the reply arrives.
const { apiKey, baseURL, fileBytes } = workerData as Upload;
const openai = new OpenAI({ apiKey, baseURL, maxRetries: 0 });
const file = new File([new Uint8Array(fileBytes)], "a.wav");
const result = await openai.audio.transcriptions
  .create({ file, model: "whisper-1" })
  .catch((error: unknown) => (error instanceof OpenAI.APIError ? error.status : null) ?? `${error}`);
parentPort?.postMessage(result);
