import { availableParallelism } from "node:os";
import type { Script } from "../../src/core/script.ts";
import { openNeuralDetector } from "../../src/recognition/turn-detection/neural-detector.ts";
import { openEmbeddedVoice } from "../../src/server/voices/embedded-voice.ts";
import type { WorkerPool } from "../../src/workers/worker-pool.ts";
import { openChatWriter } from "../../src/writers/chat/chat-writer.ts";
import { startTestServer, type TestServer } from "../api/http/start.ts";
import { decode } from "../audio/encode/decoders.ts";
import { ScriptedRecogniser } from "../recognition/scripted-recogniser.ts";
import { ChatServer } from "../writers/chat/chat-server.ts";
import { answerTurn } from "./conversation.ts";

/** A complete server with the embedded voice that speaks a text the same way each time. */
export interface SteadyServer extends TestServer {
  readonly recogniser: ScriptedRecogniser;
  /** Writes the replies of conversations. */
  readonly chat: ChatServer;
  /** Returns the samples of a text: 24 kHz, or 8 kHz by the telephony route. */
  spoken(text: string, voice: string, rateHz: number): Promise<Float32Array>;
}

/** Starts the server with temperature 0 for every request. */
export async function startSteadyServer(): Promise<SteadyServer> {
  const pool = await openEmbeddedVoice({ threads: Math.min(4, availableParallelism()) });
  const recogniser = new ScriptedRecogniser();
  const chat = await ChatServer.open(answerTurn);
  const server = await startTestServer({
    checkpoints: [{ name: "heart", memoryBytes: 1, load: async () => steady(pool) }],
    wyoming: true,
    recogniser,
    detector: openNeuralDetector({ onFailure: console.error }),
    writer: openChatWriter({
      baseUrl: chat.baseUrl,
      model: "scripted",
      apiKey: null,
      maxTokens: 400,
      firstTokenTimeoutMs: 10_000,
      totalTimeoutMs: 60_000,
      retryDelaysMs: [],
    }),
  });
  const known = new Map<string, Promise<Float32Array>>();
  const ask = async (text: string, voice: string, rateHz: number): Promise<Float32Array> => {
    const reply =
      rateHz === 24_000
        ? await server.post("/v1/audio/speech", { input: text, voice, response_format: "pcm" })
        : await server.post(`/v1/audio/telephony?rate=${rateHz}`, { text, voice });
    if (!reply.ok) throw new Error(await reply.text());
    const { samples } = await decode("pcm", Buffer.from(await reply.arrayBuffer()));
    return samples;
  };
  return {
    ...server,
    recogniser,
    chat,
    async stop() {
      await server.stop();
      await chat.close();
    },
    spoken(text, voice, rateHz) {
      const id = JSON.stringify([text, voice, rateHz]);
      const found = known.get(id) ?? ask(text, voice, rateHz);
      known.set(id, found);
      return found;
    },
  };
}

function steady(pool: WorkerPool): WorkerPool {
  const settled = (script: Script): Script => ({
    ...script,
    delivery: { ...script.delivery, temperature: 0, acousticTemperature: 0 },
    seed: 0n,
  });
  return {
    ...pool,
    speak: (script, signal) => pool.speak(settled(script), signal),
    speakEncoded: (script, encoding, signal) => pool.speakEncoded(settled(script), encoding, signal),
  };
}
