// The voices that the server lists: those of its models, and those of the key's own.
import { Antiphon } from "./client/antiphon.js";
import { hasKey, server } from "./server.js";

const watching = [];
let asked = 0;

/** Has `onList` called with every list that comes: voices as `GET /v1/audio/voices` tells them, the default model's first. */
export function watchVoices(onList) {
  watching.push(onList);
}

/** Asks for the list, with the key where there is one. Throws what asking throws; then the list stays as it was. */
export async function listVoices() {
  const mine = ++asked;
  // Most servers tell it without a key, too: whoever came by a link has none.
  const antiphon = hasKey() ? server() : new Antiphon({ baseUrl: "", apiKey: "", maxRetries: 0 });
  const list = await antiphon.voices();
  if (mine === asked) for (const tell of watching) tell(list);
}

/** Those that a model speaks with, and whether it mixes each, `isMixed`; without a model, the default one. */
export function voicesOf(list, model) {
  const spoken = model || list[0]?.models[0];
  const voices = list.filter(({ models }) => models.includes(spoken));
  return voices.map((voice) => ({ ...voice, isMixed: voice.mixes.includes(spoken) }));
}
