// The server, called with the key in the page or the secret of a talk link.
import { Antiphon, AntiphonError } from "./client/antiphon.js";
import { $, showError } from "./dom.js";

const PLAIN_WORDS = {
  200: "The reply was cut off.",
  400: "The server cannot speak this.",
  401: "The server does not accept this key.",
  422: "The request is not valid.",
  429: "This key has reached its limit. Try again in a moment.",
  502: "The server could not speak the reply.",
};

const keyNow = () => $("key").value.trim();

/** Whether the field holds a possible key. */
export const hasKey = () => /^[\x21-\x7e]+$/.test(keyNow());

/** Keeps the key in this tab across reloads. */
export const keepKey = () => hasKey() && sessionStorage.setItem("antiphon-key", keyNow());
export const keptKey = () => sessionStorage.getItem("antiphon-key") ?? "";

const SECRET = "antiphon-secret";

/** Takes the client secret of a talk link out of the address and keeps it in this tab. */
export function takeSecret() {
  const [, secret] = /^#secret=(ek_\w+)$/.exec(location.hash) ?? [];
  if (!secret) return false;
  sessionStorage.setItem(SECRET, secret);
  history.replaceState(null, "", location.pathname);
  return true;
}

/** Whether this tab has the secret of a link. */
export const hasSecret = () => sessionStorage.getItem(SECRET) !== null;

/** Returns the credential of a spoken conversation: the key, or the secret of a link. */
export function talkKey() {
  if (hasKey()) return keyNow();
  return sessionStorage.getItem(SECRET) ?? missing();
}

/** Returns the server, called with the key. Failures are shown at once, so calls are not retried. */
export const server = () => connection(requireKey());

/** Returns the key. Throws an error if there is none, and asks for it. */
export const requireKey = () => (hasKey() ? keyNow() : missing());

/** Returns the server for the calls that a talk link permits: information and samples of voices. */
export const linkedServer = () => connection(talkKey());

const connection = (apiKey) => new Antiphon({ baseUrl: "", apiKey, maxRetries: 0 });

/** Reports that the page is connected, and closes the menu. */
export function showConnected(words) {
  $("key-state").textContent = words;
  $("menu").classList.add("connected");
  $("menu").open = false;
}

function missing() {
  // As a row above the error, instead of a popover that hides it.
  $("menu").classList.remove("connected");
  $("menu").open = true;
  $("key").focus();
  throw new Error("Paste an API key first. The server prints one when it first starts.");
}

/** Shows a failure in plain words, in `place` if given. `refusal` replaces the words for 400, 404 and 422. */
export function fail(error, place, refusal) {
  if (!(error instanceof AntiphonError)) return showError(error, place);
  const { status, type, message: detail, requestId } = error;
  if (type === "timeout_error")
    return showError(new Error("The server did not answer within two minutes."), place);
  if (status === null) return showError(new Error("The server cannot be reached. Is it running?"), place);
  const own = status === 400 || status === 404 || status === 422 ? refusal : undefined;
  const plain = own ?? PLAIN_WORDS[status] ?? "The server failed.";
  showError(Object.assign(new Error(plain), { detail, requestId }), place);
}
