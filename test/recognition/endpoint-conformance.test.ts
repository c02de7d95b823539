import { after } from "node:test";
import type { Recogniser } from "../../src/core/recogniser.ts";
import { openEndpointRecogniser } from "../../src/recognition/endpoint-recogniser.ts";
import { startTestServer } from "../api/http/start.ts";
import { recogniserConformance } from "./conformance.ts";
import { ToneRecogniser, toneSpeech } from "./tone-recogniser.ts";
import { type Answer, json, refusal, TranscriptionServer } from "./transcription-server.ts";

const antiphon = await startTestServer({ recogniser: new ToneRecogniser() });
const wrongServers: TranscriptionServer[] = [];
after(async () => {
  await Promise.all([antiphon.stop(), ...wrongServers.map((server) => server.close())]);
});

function behind(baseUrl: string, apiKey: string, totalTimeoutMs: number): Recogniser {
  return openEndpointRecogniser({ baseUrl, model: "whisper-1", apiKey, totalTimeoutMs, retryDelaysMs: [1] });
}

/** A recogniser behind an endpoint that always answers so. */
async function wrong(answer: Answer, totalTimeoutMs = 20_000): Promise<Recogniser> {
  const server = await TranscriptionServer.open();
  wrongServers.push(server);
  server.answers(answer);
  return behind(server.baseUrl, "key", totalTimeoutMs);
}

recogniserConformance(
  "a recogniser behind an endpoint, another Antiphon,",
  async () => behind(`${antiphon.url}/v1`, antiphon.key, 60_000),
  {
    // OpenAI's API has no field for a draft, answers in one piece, and says how likely speech is of segments alone.
    lacks: ["takesDrafts", "weighsSilence"],
    speech: async () => toneSpeech(),
    broken: {
      "a key that is refused": async () => behind(`${antiphon.url}/v1`, "ant_wrong", 20_000),
      "an endpoint that fails": () => wrong(refusal(500)),
      "an endpoint that refuses": () => wrong(refusal(400, "no such thing")),
      "a page instead of a transcript": () => wrong(json("<html>")),
      "a connection that breaks off": () => wrong(({ request }) => request.socket.destroy()),
      "an answer that is cut off": () =>
        wrong(({ response }) => {
          response.writeHead(200, { "content-length": 100 }).write('{"text":', () => response.destroy());
        }),
      "an answer that never comes": () => wrong(() => {}, 100),
    },
  },
);
