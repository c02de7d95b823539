import { recogniserConformance } from "./conformance.ts";
import { ToneRecogniser, toneSpeech } from "./tone-recogniser.ts";

recogniserConformance("a recogniser of tones", async () => new ToneRecogniser(), {
  lacks: ["takesDrafts"],
  speech: async () => toneSpeech(),
});

recogniserConformance(
  "a recogniser of tones that cannot translate",
  async () => new ToneRecogniser({ canTranslate: false }),
  { lacks: ["takesDrafts"], speech: async () => toneSpeech() },
);
