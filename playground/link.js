// The page's address, which holds the written conversation.
import { fromAddress, toAddress } from "./address.js";
import { conversation, setTurns, turns } from "./conversation.js";
import { choose, chosen } from "./delivery.js";
import { $, copyText, showError } from "./dom.js";
import { drawTurns } from "./turns.js";

/** The address that was last read or written. */
let written = "";
let writing = 0;

/** Returns the address of the conversation; only the path if it is too long. */
function addressNow() {
  const address = toAddress({ turns, ...chosen() });
  return address === null ? location.pathname : `#${address}`;
}

/** Shows the conversation of the address; without one, `start`. An unreadable address changes nothing. */
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

/** Reports parts of the address that the server does not accept. */
export function tellRefused(names) {
  if (names.length > 0) left(`this server does not accept its ${names.join(", ")}`);
}

const left = (why) =>
  showError(Object.assign(new Error("Part of the address was ignored."), { detail: why }));

/** Updates the address after a moment: browsers limit how often it may change. */
export function followAddress() {
  clearTimeout(writing);
  writing = setTimeout(writeAddress, 300);
}

/** Writes the address: replaces it, or adds one to the history (`pushState`). */
export function writeAddress(write = "replaceState") {
  clearTimeout(writing);
  if (addressNow() === written) return;
  written = addressNow();
  history[write](null, "", written);
}

/** Copies a link. */
export async function share() {
  written = addressNow();
  history.replaceState(null, "", written);
  if (!written.startsWith("#")) return showError(new Error("This conversation is too long for a link."));
  const hasSound = conversation().some((turn) => turn.audio_wav_b64);
  await copyText($("share"), location.href, hasSound ? "Copied without recordings" : "Copied");
}
