// The server, asked with the key that is in the page.
import { Antiphon, AntiphonError } from "./client/antiphon.js";
import { $, showError } from "./dom.js";

const PLAIN_WORDS = {
  200: "The reply broke off.",
  400: "The server cannot speak this as it is.",
  401: "The key was not accepted.",
  422: "The request is not as the server wants it.",
  429: "This key asks too often.",
  502: "The reply could not be spoken.",
};

const keyNow = () => $("key").value.trim();

/** Whether there is anything that may be a key. */
export const hasKey = () => /^[\x21-\x7e]+$/.test(keyNow());

/** Keeps the key in this tab, and finds it there when the page is loaded again. */
export const keepKey = () => hasKey() && sessionStorage.setItem("antiphon-key", keyNow());
export const keptKey = () => sessionStorage.getItem("antiphon-key") ?? "";

const SECRET = "antiphon-secret";

/** Takes the client secret out of the address, which a link of the server's may have, and keeps it in this tab. */
export function takeSecret() {
  const [, secret] = /^#secret=(ek_\w+)$/.exec(location.hash) ?? [];
  if (!secret) return false;
  sessionStorage.setItem(SECRET, secret);
  history.replaceState(null, "", location.pathname);
  return true;
}

/** Whether a link has brought a secret into this tab. */
export const hasSecret = () => sessionStorage.getItem(SECRET) !== null;

/** What opens a spoken conversation: the key that is there, or what a link has brought. */
export function talkKey() {
  if (hasKey()) return keyNow();
  return sessionStorage.getItem(SECRET) ?? missing();
}

/** The server, by the key that is there now. A failure is shown at once, so nothing is asked for again. */
export function server() {
  if (hasKey()) return new Antiphon({ baseUrl: "", apiKey: keyNow(), maxRetries: 0 });
  return missing();
}

function missing() {
  $("key").focus();
  throw new Error("Paste an API key first: the server printed one at its first start.");
}

/** Shows a failure in plain words, in a place of its own where it has one; `refusal` says what is refused by a 4xx there. */
export function fail(error, place, refusal) {
  if (!(error instanceof AntiphonError)) return showError(error, place);
  const { status, type, message: detail, requestId } = error;
  if (type === "timeout_error")
    return showError(new Error("The server has not answered for two minutes."), place);
  if (status === null) return showError(new Error("The server cannot be reached. Is it running?"), place);
  const own = status === 400 || status === 404 || status === 422 ? refusal : undefined;
  const plain = own ?? PLAIN_WORDS[status] ?? "Something went wrong in the server.";
  showError(Object.assign(new Error(plain), { detail, requestId }), place);
}
