// The dialog that makes a voice from a recording.
import { cautionsOf, closeness } from "./about-voice.js";
import { encodeWav } from "./client/antiphon.js";
import { SAMPLE_RATE_HZ } from "./client/player.js";
import { openDialog } from "./dialog.js";
import { h, problemLine, showError } from "./dom.js";
import { playPcm } from "./preview.js";
import { fail, server } from "./server.js";
import { listVoices } from "./voices.js";

const WAV_HEADER_BYTES = 44;

const HEARD = {
  waiting: "Transcribing…",
  understood: "Transcribed from the recording. Correct it if it is wrong.",
  unknown:
    "No words were recognised. Write them, or leave this empty: the server then transcribes the recording.",
  long: (keptS) => `Only the first ${keptS} s are kept. The server transcribes them.`,
};

/**
 * Opens a dialog that makes a voice from a clip, `{ durationS, wav }`.
 *
 * @param said the transcript as far as it is known
 * @param hear called with the clip and a signal; resolves to the transcript
 * @param choose called with the new voice's id if it is to be used at once
 * @param keptS seconds of a recording that the server keeps
 */
export function openNewVoice(clip, said, { hear, choose, keptS }) {
  const leaving = new AbortController();
  const { signal } = leaving;
  const all = new Int16Array(clip.wav.buffer, clip.wav.byteOffset + WAV_HEADER_BYTES);
  // One second more shows the server that the recording is longer.
  const pcm = all.subarray(0, (keptS + 1) * SAMPLE_RATE_HZ);
  const isLong = clip.durationS > keptS;

  const name = field("name", "Name", h("input", { required: true, autocomplete: "off" }));
  const words = field("ref_text", "Transcript", h("textarea", { rows: 2 }));
  const consent = field(
    "consent",
    "Consent",
    h("textarea", { rows: 2, required: true }),
    "Required. Say who agreed and when. The server keeps this with the voice.",
  );
  consent.control.placeholder = "Anna agreed to this use of her voice on 1 December.";
  const about = field("description", "Description (optional)", h("input"));
  const fields = [name, words, consent, about];
  const problem = problemLine();
  const state = h("p", { className: "hint", role: "status" });
  const go = h("button", { type: "submit", className: "primary" }, "Make the voice");
  const cancel = h("button", { type: "button", onclick: () => dialog.close() }, "Cancel");
  const play = h("button", { type: "button" }, "Play the recording");
  let playing = null;
  play.onclick = async () => {
    if (playing !== null) return playing.abort();
    playing = new AbortController();
    play.textContent = "Stop";
    await playPcm(pcm, AbortSignal.any([playing.signal, signal]));
    play.textContent = "Play the recording";
    playing = null;
  };
  const form = h("form", {}, h("p", {}, play), ...fields.map(({ element }) => element));
  form.append(problem, state, h("div", { className: "row ends" }, cancel, go));
  form.onsubmit = (event) => {
    event.preventDefault();
    void make();
  };
  const dialog = openDialog("Make a voice from this recording", [form], () => leaving.abort());
  name.control.focus();
  words.control.value = isLong ? "" : said.trim();
  if (isLong) words.note.textContent = HEARD.long(keptS);
  else if (words.control.value === "") void suggest();

  /** Fills in the transcript, unless the user has written one by then. */
  async function suggest() {
    words.note.textContent = HEARD.waiting;
    const text = await hear(clip, signal).catch(() => "");
    if (words.control.value !== "") words.note.textContent = "";
    else {
      words.control.value = text.trim();
      words.note.textContent = text.trim() === "" ? HEARD.unknown : HEARD.understood;
    }
  }

  async function make() {
    for (const each of [problem, ...fields.map((one) => one.problem)]) showError(null, each);
    for (const { control } of fields) control.removeAttribute("aria-invalid");
    go.disabled = true;
    state.textContent = "The server examines the recording…";
    const given = fields.map(({ control }) => [control.name, control.value.trim()]);
    const filled = Object.fromEntries(given.filter(([, value]) => value !== ""));
    try {
      const voice = await server().createVoice({ ...filled, audio_sample: encodeWav([pcm]) }, { signal });
      // The voice exists even if the list fails.
      await listVoices().catch(fail);
      if (!signal.aborted) dialog.replaceChildren(...made(voice));
      dialog.querySelector("h2")?.focus();
    } catch (error) {
      if (!signal.aborted) refused(error);
    }
    state.textContent = "";
    go.disabled = false;
  }

  /** Shows why no voice was made, next to the field that the server names, if any. */
  function refused(error) {
    const wrong = fields.find(({ control }) => error.message.startsWith(`${control.name} `));
    fail(error, wrong?.problem ?? problem, "No voice was made.");
    wrong?.control.setAttribute("aria-invalid", true);
    wrong?.control.focus();
  }

  /** Describes the new voice and its recording. */
  function made(voice) {
    const cautions = cautionsOf(voice);
    const close = () => dialog.close();
    const use = () => {
      close();
      choose(voice.id);
    };
    const text = voice.ref_text === null ? "The transcript is unknown." : `Transcript: “${voice.ref_text}”`;
    return [
      h("h2", { id: "dialog-title", tabIndex: -1, dir: "auto" }, `${voice.name} is ready`),
      h("p", {}, `The server kept ${voice.seconds.toFixed(1)} s. ${closeness(voice.trust)}`),
      cautions.length === 0
        ? h("p", {}, "The recording is good.")
        : h("ul", { className: "cautions" }, ...cautions.map((caution) => h("li", {}, caution))),
      h("p", { className: "hint", dir: "auto" }, text),
      h(
        "div",
        { className: "row ends" },
        h("button", { type: "button", onclick: close }, "Close"),
        h("button", { type: "button", className: "primary", onclick: use }, "Use this voice"),
      ),
    ];
  }
}

/** Returns a labelled field of the form with a note and a problem beneath it. */
function field(name, label, control, hint = "") {
  const id = `new-voice-${name}`;
  Object.assign(control, { id, name });
  const note = h("p", { className: "hint", id: `${id}-note`, role: "status" }, hint);
  const problem = problemLine();
  problem.id = `${id}-problem`;
  control.setAttribute("aria-describedby", `${note.id} ${problem.id}`);
  const element = h(
    "div",
    { className: "field" },
    h("label", { htmlFor: id }, label),
    control,
    note,
    problem,
  );
  return { element, control, note, problem };
}
