// A voice of one's own is made of a recording: what is needed for it, and what the recording is worth.
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
  waiting: "Listening for what is said…",
  understood: "Understood from the recording: correct it where it is wrong.",
  unknown: "No words were made out: write them, or leave this empty, and the server listens itself.",
  long: (keptS) =>
    `Of more than ${keptS} s only the beginning is kept, and the server listens itself to what is said in it.`,
};

/**
 * Asks what a voice of a clip, `{ durationS, wav }`, is to be called and who agrees, and makes it.
 *
 * @param said what is said in it, as far as that is known
 * @param hear told the clip and a signal, answers what is said
 * @param choose told the id of the voice that was made, where it is to be used at once
 * @param keptS seconds of a recording that the server keeps
 */
export function openNewVoice(clip, said, { hear, choose, keptS }) {
  const leaving = new AbortController();
  const { signal } = leaving;
  const all = new Int16Array(clip.wav.buffer, clip.wav.byteOffset + WAV_HEADER_BYTES);
  // By one more than it keeps it knows that there was more.
  const pcm = all.subarray(0, (keptS + 1) * SAMPLE_RATE_HZ);
  const isLong = clip.durationS > keptS;

  const name = field("name", "Name", h("input", { required: true, autocomplete: "off" }));
  const words = field("ref_text", "What is said in it", h("textarea", { rows: 2 }));
  const consent = field(
    "consent",
    "Who agrees to this",
    h("textarea", { rows: 2, required: true }),
    "Required: make no voice of somebody who has not agreed. The statement is kept with the voice.",
  );
  consent.control.placeholder = "Anna agreed to this use of her voice on 1 December.";
  const about = field("description", "Description, if there is more to say", h("input"));
  const fields = [name, words, consent, about];
  const problem = problemLine();
  const state = h("p", { className: "hint", role: "status" });
  const go = h("button", { type: "submit", className: "primary" }, "Make the voice");
  const cancel = h("button", { type: "button", onclick: () => dialog.close() }, "Cancel");
  const play = h("button", { type: "button" }, "Hear the recording");
  let playing = null;
  play.onclick = async () => {
    if (playing !== null) return playing.abort();
    playing = new AbortController();
    play.textContent = "Stop";
    await playPcm(pcm, AbortSignal.any([playing.signal, signal]));
    play.textContent = "Hear the recording";
    playing = null;
  };
  const form = h("form", {}, h("p", {}, play), ...fields.map(({ element }) => element));
  form.append(problem, state, h("div", { className: "row ends" }, cancel, go));
  form.onsubmit = (event) => {
    event.preventDefault();
    void make();
  };
  const dialog = openDialog("Make a voice of this recording", [form], () => leaving.abort());
  name.control.focus();
  words.control.value = isLong ? "" : said.trim();
  if (isLong) words.note.textContent = HEARD.long(keptS);
  else if (words.control.value === "") void suggest();

  /** Fills in what is said, unless somebody has written it by then. */
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
    state.textContent = "The server listens to it…";
    const given = fields.map(({ control }) => [control.name, control.value.trim()]);
    const filled = Object.fromEntries(given.filter(([, value]) => value !== ""));
    try {
      const voice = await server().createVoice({ ...filled, audio_sample: encodeWav([pcm]) }, { signal });
      // What was made is told also where the list does not come.
      await listVoices().catch(fail);
      if (!signal.aborted) dialog.replaceChildren(...made(voice));
      dialog.querySelector("h2")?.focus();
    } catch (error) {
      if (!signal.aborted) refused(error);
    }
    state.textContent = "";
    go.disabled = false;
  }

  /** Says why there is no voice, beside the field that the server names where it names one. */
  function refused(error) {
    const wrong = fields.find(({ control }) => error.message.startsWith(`${control.name} `));
    fail(error, wrong?.problem ?? problem, "No voice was made.");
    wrong?.control.setAttribute("aria-invalid", true);
    wrong?.control.focus();
  }

  /** What the recording is worth. */
  function made(voice) {
    const cautions = cautionsOf(voice);
    const close = () => dialog.close();
    const use = () => {
      close();
      choose(voice.id);
    };
    const text =
      voice.ref_text === null ? "What is said in it is not known." : `Heard in it: “${voice.ref_text}”`;
    return [
      h("h2", { id: "dialog-title", tabIndex: -1, dir: "auto" }, `${voice.name} can speak now`),
      h("p", {}, `${voice.seconds.toFixed(1)} s were kept. ${closeness(voice.trust)}`),
      cautions.length === 0
        ? h("p", {}, "Nothing speaks against the recording.")
        : h("ul", { className: "cautions" }, ...cautions.map((caution) => h("li", {}, caution))),
      h("p", { className: "hint", dir: "auto" }, text),
      h(
        "div",
        { className: "row ends" },
        h("button", { type: "button", onclick: close }, "Close"),
        h("button", { type: "button", className: "primary", onclick: use }, "Choose and hear it"),
      ),
    ];
  }
}

/** A labelled field of the form, with room beneath it for what there is to say of it. */
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
