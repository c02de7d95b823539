// What there is to say of a voice, in plain words.

const SEXES = { female: "woman", male: "man" };

/** What was found in a recording (`cautions`), and what helps. */
const CAUTIONS = {
  short: "There is little speech in it: 5 to 12 s of whole sentences are best.",
  noise: "There is noise in it: a quieter room or a closer microphone helps.",
  clipping: "It is too loud, and cut flat at its peaks: record it with less gain.",
  "not one voice": "Several people speak in it: let one speak at a time.",
  "unlike speech": "Its level or pitch hardly moves, as in music or tones: record speech alone.",
  "narrow band": "It has no treble, as over a telephone: what was not recorded is not followed.",
  long: "It is longer than what is kept of one: only its beginning is.",
};

/** Who it is, in a sentence or two. */
export function aboutVoice({ description, sex, seconds }) {
  const about = description.trim() || `By a recording of ${seconds.toFixed(1)} s.`;
  const person = SEXES[sex];
  // Most descriptions say it themselves.
  return person && !about.toLowerCase().includes(person) ? `A ${person}. ${about}` : about;
}

/** What else it is called: other names for the same voice; empty where there are none. */
export function otherNames({ name, aliases }) {
  const others = aliases.filter((alias) => alias.toLowerCase() !== name.toLowerCase());
  return others.length === 0 ? "" : `Also called ${others.join(", ")}`;
}

/** What speaks against the recording of a voice in few words, as the server has them; empty where nothing does. */
export const cautionsIn = ({ cautions = [] }) =>
  cautions.length === 0 ? "" : `Caution: ${cautions.join(", ")}`;

/** What speaks against the recording of a voice, a sentence each; a caution that is not known here as it is. */
export const cautionsOf = ({ cautions = [] }) =>
  cautions.map((caution) => (Object.hasOwn(CAUTIONS, caution) ? CAUTIONS[caution] : `${caution}.`));

/** How closely the embedded voice follows a recording, by its `trust` of 0 to 1. */
export function closeness(trust) {
  const how = trust >= 0.9 ? "closely" : trust >= 0.5 ? "in part" : "hardly";
  return `The embedded voice follows it ${how} (${Math.round(100 * trust)} %).`;
}
