// The conversation in the page's fragment, which browsers do not send: turns as `speaker=text`, in order, then `model`
// and parameters. Keys and sounds are never in it.
import { MAX_TEXT_CHARS, MAX_TURNS } from "./conversation.js";

/** Maximum length of a fragment. */
export const MAX_ADDRESS_CHARS = 16_000;

/** Returns the fragment; null if it would be too long. */
export function toAddress({ turns, model, params }) {
  const fields = turns.map(({ speaker, text }) => [speaker, text]);
  if (model) fields.push(["model", model]);
  for (const [name, value] of Object.entries(params)) fields.push([name, value]);
  const address = `${new URLSearchParams(fields)}`;
  return address.length > MAX_ADDRESS_CHARS ? null : address;
}

/** Parses a fragment. Throws an error that says what is wrong. Show the result only as text. */
export function fromAddress(address) {
  if (address.length > MAX_ADDRESS_CHARS)
    throw new Error(`it is longer than ${MAX_ADDRESS_CHARS} characters`);
  const turns = [];
  const params = {};
  let model = null;
  for (const [name, value] of new URLSearchParams(address)) {
    if (`${name}${value}`.includes("\uFFFD")) throw new Error("it is damaged: part of it is not text");
    if (/^\d{1,2}$/.test(name)) turns.push({ speaker: name, text: value });
    else if (name === "model" && /^[\w.:-]{1,64}$/.test(value)) model = value;
    else if (/^[a-z][a-z_]{2,30}$/.test(name) && /^[\w.]{1,20}$/.test(value)) params[name] = value;
    else throw new Error("part of it is neither a turn nor a model nor a parameter");
  }
  if (turns.length === 0) throw new Error("it has no turn");
  if (turns.length > MAX_TURNS) throw new Error(`it has more than ${MAX_TURNS} turns`);
  if (turns.some(({ text }) => Array.from(text).length > MAX_TEXT_CHARS))
    throw new Error(`one of its turns has more than ${MAX_TEXT_CHARS} characters`);
  return { turns, model, params };
}
