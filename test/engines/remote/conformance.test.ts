import { after } from "node:test";
import { startTestServer } from "../../api/http/start.ts";
import { speechModelConformance } from "../../core/speech-model-conformance.ts";
import { remoteModel } from "./remote-model.ts";

const antiphon = await startTestServer({ flags: { workers: "2" } });
after(() => antiphon.stop());
const { key: apiKey } = antiphon;
const urls = [`${antiphon.url}/v1`];

// A stream's request has no field for a seed.
speechModelConformance(
  "a model behind another Antiphon",
  async () => remoteModel({ kind: "antiphon", urls, apiKey, model: null }),
  ["takesSeeds"],
);

// OpenAI's API knows neither temperatures nor words.
for (const format of ["wav", "pcm"] as const) {
  speechModelConformance(
    `a model behind OpenAI's API, asked for ${format},`,
    async () => remoteModel({ kind: "openai", urls, apiKey, format }),
    ["repeats", "takesSeeds", "tellsWords"],
  );
}
