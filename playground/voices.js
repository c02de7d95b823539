// The voices that the server lists: its models' and the key's own.
import { Antiphon } from "./client/antiphon.js";
import { hasKey, server } from "./server.js";

const watching = [];
let last = null;
let asked = 0;

/** Calls `onList` with every list of voices (`GET /v1/audio/voices`), the default model's first. */
export function watchVoices(onList) {
  watching.push(onList);
  if (last !== null) onList(last);
}

/** Requests the list, with the key if there is one. If it throws, the list stays as it was. */
export async function listVoices() {
  const mine = ++asked;
  // Most servers list voices without a key.
  const antiphon = hasKey() ? server() : new Antiphon({ baseUrl: "", apiKey: "", maxRetries: 0 });
  const list = await antiphon.voices();
  if (mine !== asked) return;
  last = list;
  for (const tell of watching) tell(list);
}

/** Returns the voices of a model (default: the server's), each with `isMixed`: whether it can be mixed. */
export function voicesOf(list, model) {
  const spoken = model || list[0]?.models[0];
  const voices = list.filter(({ models }) => models.includes(spoken));
  return voices.map((voice) => ({ ...voice, isMixed: voice.mixes.includes(spoken) }));
}
