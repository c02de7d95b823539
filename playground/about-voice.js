// Sentences about voices.

const SEXES = { female: "woman", male: "man" };

/** Faults of a recording (`cautions`) and their remedies. */
const CAUTIONS = {
  short: "The recording is short. Record 5 to 12 s of whole sentences.",
  noise: "The recording is noisy. Record in a quieter room or closer to the microphone.",
  clipping: "The recording is clipped. Record it with less gain.",
  "not one voice": "Several people speak in the recording. Record one person.",
  "unlike speech": "Level and pitch hardly change, as in music. Record speech only.",
  "narrow band": "The recording has no treble, as over a telephone, so the voice has none either.",
  long: "The recording is long. Only its beginning was kept.",
};

/** Describes a voice in a sentence or two. */
export function aboutVoice({ description, sex, seconds, owner }) {
  // A model's "A man of about 40, American, rather deep: calm." is shown without its middle.
  const shown = owner === "model" ? description.replace(/,[^:]*:/, ":") : description;
  const about = shown.trim() || `Your voice, from a recording of ${seconds.toFixed(1)} s.`;
  const person = SEXES[sex];
  // Most descriptions include it.
  return person && !about.toLowerCase().includes(person) ? `A ${person}. ${about}` : about;
}

/** Lists the other names of a voice; empty if there are none. */
export function otherNames({ name, aliases }) {
  const others = aliases.filter((alias) => alias.toLowerCase() !== name.toLowerCase());
  return others.length === 0 ? "" : `Other names: ${others.join(", ")}`;
}

/** Lists the faults of a recording in the server's words; empty if there are none. */
export const cautionsIn = ({ cautions = [] }) =>
  cautions.length === 0 ? "" : `Caution: ${cautions.join(", ")}`;

/** Explains the faults of a recording, each in a sentence. Unknown ones are returned as they are. */
export const cautionsOf = ({ cautions = [] }) =>
  cautions.map((caution) => (Object.hasOwn(CAUTIONS, caution) ? CAUTIONS[caution] : `${caution}.`));

/** Says how closely the embedded voice follows a recording, from its `trust` of 0 to 1. */
export function closeness(trust) {
  const how = trust >= 0.9 ? "closely" : trust >= 0.5 ? "partly" : "loosely";
  return `The embedded voice follows it ${how} (${Math.round(100 * trust)} %).`;
}
