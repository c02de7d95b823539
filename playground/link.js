// The page's address: what it asks for, and how it follows what is edited.
import { fromAddress, toAddress } from "./address.js";
import { conversation, setTurns, turns } from "./conversation.js";
import { choose, chosen } from "./delivery.js";
import { $, copyText, showError } from "./dom.js";
import { drawTurns } from "./turns.js";

/** The address of what was read from it, or written into it. */
let written = "";
let writing = 0;

/** The address of what is there now; without the conversation where that is too long. */
function addressNow() {
  const address = toAddress({ turns, ...chosen() });
  return address === null ? location.pathname : `#${address}`;
}

/** Takes the conversation of the address; without one, `start`. What cannot be read changes nothing. */
export function readAddress(start) {
  showError(null);
  try {
    const address = location.hash.slice(1);
    const { turns: given, ...delivery } = address ? fromAddress(address) : { turns: start, params: {} };
    setTurns(given);
    tellRefused(choose(delivery));
    drawTurns();
  } catch (error) {
    left(error.message);
  }
  written = addressNow();
}

/** Tells what the address asks for and the server does not take. */
export function tellRefused(names) {
  if (names.length > 0) left(`this server does not take its ${names.join(", ")}`);
}

const left = (why) =>
  showError(Object.assign(new Error("What the address asks for was left out."), { detail: why }));

/** Has the address follow, in a moment: browsers count how often it changes. */
export function followAddress() {
  clearTimeout(writing);
  writing = setTimeout(writeAddress, 300);
}

/** Writes the address, in the place of the one that is there or as one that Back leads away from. */
export function writeAddress(write = "replaceState") {
  clearTimeout(writing);
  if (addressNow() === written) return;
  written = addressNow();
  history[write](null, "", written);
}

/** Puts a link into the clipboard. */
export async function share() {
  written = addressNow();
  history.replaceState(null, "", written);
  if (!written.startsWith("#")) return showError(new Error("This conversation is too long for a link."));
  const hasSound = conversation().some((turn) => turn.audio_wav_b64);
  await copyText($("share"), location.href, hasSound ? "Copied, without the sound" : "Copied");
}
