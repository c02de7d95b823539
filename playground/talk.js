// The spoken conversation: the Talk button, the microphone and the turns.
import { Player, wakeSound } from "./client/player.js";
import { RealtimeConversation } from "./client/realtime.js";
import { $, h, showError } from "./dom.js";
import { openMicrophone, whyNoMicrophone } from "./microphone.js";
import { chooseModel, modelNow, watchModel } from "./model.js";
import { openPeople } from "./people.js";
import { hush } from "./preview.js";
import { fail, hasKey, keepKey, linkedServer, showConnected, talkKey } from "./server.js";
import { clearThread, drawThread, drawTurn, keepSound, light, silenceAgain } from "./thread.js";
import { isSpeaker } from "./turns.js";
import { voicesOf, watchVoices } from "./voices.js";

/** Messages to try without a microphone. */
const STARTERS = ["I just passed my driving test!", "What is seventeen times twelve?", "Tell me a joke."];

const STATES = {
  connecting: "Connecting…",
  listening: "Listening",
  // Also in a pause that may or may not end the turn.
  hearing: "Listening to you",
  thinking: "A moment…",
  speaking: "Antiphon is speaking",
  closed: "Press Talk and speak",
};

/** Matches the start of errors about the voice of a session or reply. */
const VOICE_FIELD = /^(?:session\.audio\.output\.)?voices?(?:\.\w+)?(?= )/;

const TYPE = "You can also type: Antiphon answers aloud.";
const EXPIRED =
  "This link has expired. Paste an API key, or restart the server with ANTIPHON_KEY set: it prints a new link.";

/**
 * The current or last conversation; null before the first. A new one closes it, so at most this one is open.
 */
let conversation = null;
/** Resolves when it is connected, refused or replaced. */
let connected = Promise.resolve();
/** The microphone that is open or requested: `{ closing, isOpen }`; null if none. */
let microphone = null;
/** The grid of voices, one of which answers. */
let people = null;
/** The voices that the server lists. */
let voices = [];
let isMuted = false;
/** Level of the sound, 0 to 1. */
let level = 0;

const isOpen = () => conversation !== null && conversation.state !== "closed";

/** Returns the session that the options describe. */
function sessionNow() {
  const detection = { type: "semantic_vad", eagerness: $("eagerness").value };
  const voice = people.word();
  return {
    instructions: $("instructions").value,
    audio: {
      input: { turn_detection: { ...detection, interrupt_response: $("interrupts").checked } },
      output: { ...(voice === "" ? {} : { voice }), speed: $("speed").valueAsNumber },
    },
  };
}

/** Begins a conversation that continues the one before. */
function connect() {
  const apiKey = talkKey();
  showError(null);
  silenceAgain();
  hush();
  conversation?.close();
  /** Ignores events of a conversation that was replaced. */
  const ifMine =
    (act) =>
    (...told) =>
      conversation === mine && act(...told);
  const mine = new RealtimeConversation({
    baseUrl: "",
    apiKey,
    model: $("talk-model").value || null,
    session: sessionNow(),
    history: conversation?.turns ?? [],
    openPlayer: (events) => new Player(events),
    onState: ifMine(drawState),
    onTurn: ifMine((turn) => {
      if (turn === null) drawThread(mine.turns);
      else drawTurn(turn);
      drawState();
    }),
    onPosition: ifMine(light),
    onAudio: ifMine((turn, pcm) => {
      keepSound(turn, pcm);
      meter(pcm);
    }),
    onError: ifMine(failed),
  });
  conversation = mine;
  const refused = ifMine((error) => {
    leave();
    if (error.status === 401 && !hasKey()) showError(new Error(EXPIRED));
    else fail(error);
  });
  connected = mine.connect().then(keepKey, refused);
  drawState();
}

function failed(error) {
  const said = error.message
    .replace(VOICE_FIELD, "the voice")
    .replace(/^./, (letter) => letter.toUpperCase());
  const told = new Error(`${said}${/[.?!]$/.test(said) ? "" : "."}`);
  if (!isOpen()) leave();
  if (!VOICE_FIELD.test(error.message)) return showError(told);
  // The whole session was refused because of its voice.
  if (isOpen()) conversation.update(withoutVoice());
  $("talk-options").open = true;
  people.refuse(told);
}

/** Opens the microphone, unless `leave` closes it before. */
async function listen() {
  const mine = { closing: new AbortController(), isOpen: false };
  microphone = mine;
  drawState();
  const unplugged = () => {
    leave();
    $("talk-note").textContent = "The microphone was disconnected.";
  };
  try {
    await openMicrophone(hear, unplugged, mine.closing.signal);
    mine.isOpen = true;
  } catch (error) {
    if (microphone !== mine) return;
    microphone = null;
    $("talk-note").textContent = `${error.message} ${TYPE}`;
    $("typed").focus();
  }
  drawState();
}

/** Begins to talk: opens the microphone and the connection at the same time. */
async function begin() {
  // Throws without a key, before the browser asks for the microphone.
  talkKey();
  wakeSound();
  $("talk-note").textContent = "";
  people.settle();
  connect();
  await listen();
}

/** Ends the conversation. The next one continues after its turns. */
export function leave() {
  microphone?.closing.abort();
  microphone = null;
  isMuted = false;
  level = 0;
  conversation?.close();
  drawState();
}

function hear(pcm) {
  if (isMuted) pcm.fill(0);
  conversation.hear(pcm);
  if (conversation.state !== "speaking") meter(pcm);
}

/** Shows the level as a ring around the button. */
function meter(pcm) {
  let sum = 0;
  for (const sample of pcm) sum += sample * sample;
  const loud = Math.min(1, Math.sqrt(sum / pcm.length) / 6_000);
  level = Math.max(loud, 0.8 * level);
  $("talk").style.setProperty("--level", level.toFixed(3));
}

/** Sends a message in writing. */
async function say(text) {
  wakeSound();
  const field = $("typed");
  field.value = "";
  try {
    if (!isOpen()) {
      people.settle();
      connect();
    }
    const mine = conversation;
    await connected;
    if (mine.state !== "closed") return mine.say(text);
  } catch (error) {
    showError(error);
  }
  // It was not sent: keep it for another try.
  field.value ||= text;
}

function drawState() {
  const state = conversation?.state ?? "closed";
  const isBegun = (conversation?.turns.length ?? 0) > 0;
  const view = $("talk-view");
  view.dataset.state = state;
  view.classList.toggle("begun", isBegun || isOpen());
  $("talk-state").textContent = state === "listening" ? listening() : STATES[state];
  $("talk-label").textContent = microphone === null ? "Talk" : "End";
  $("talk").setAttribute("aria-pressed", microphone !== null);
  $("mute").hidden = microphone?.isOpen !== true;
  $("mute").setAttribute("aria-pressed", isMuted);
  $("quiet").hidden = state !== "speaking";
  for (const id of ["compose", "forget"]) $(id).hidden = !isBegun;
  const last = conversation?.turns.findLast(({ latencyMs }) => latencyMs !== null);
  const known = last === undefined ? "" : `answered in ${(last.latencyMs / 1_000).toFixed(2)} s`;
  $("latency").textContent = known;
}

/** Returns the status line of a silence. */
function listening() {
  if (microphone === null) return "Type something";
  if (!microphone.isOpen) return "Waiting for the microphone…";
  return isMuted ? "Muted" : STATES.listening;
}

/** Returns the session without its voice, which cannot change once it has spoken. */
function withoutVoice() {
  const { audio, ...others } = sessionNow();
  const { voice, ...output } = audio.output;
  return { ...others, audio: { ...audio, output } };
}

/** Applies a changed option to the running conversation. */
function change(event) {
  if (event.target === $("talk-model")) {
    chooseModel(event.target.value);
    return changeModel();
  }
  $("speed-shown").textContent = `${$("speed").valueAsNumber.toFixed(2)} ×`;
  if (isOpen()) conversation.update(withoutVoice());
}

/** Answers with another voice, in a new session after the same turns. The microphone stays open. */
function changeVoice() {
  if (!isOpen()) return;
  const { state, turns } = conversation;
  const last = turns.at(-1);
  try {
    connect();
    // The last turn is still unanswered.
    if (state === "thinking" && last?.role === "user" && last.text !== "")
      conversation.send({ type: "response.create" });
  } catch (error) {
    showError(error);
  }
}

/** Speaks with another model and one of its voices. */
function changeModel() {
  const before = people.word();
  drawPeople();
  // Otherwise the grid has reported the new voice.
  if (people.word() === before) changeVoice();
}

/** Shows the voices of the chosen model. */
function drawPeople() {
  const model = $("talk-model").value;
  people.offer(voicesOf(voices, model), model);
}

function offerModels() {
  const models = [...new Set(voices.flatMap(({ models: speakWithIt }) => speakWithIt))];
  const select = $("talk-model");
  select.replaceChildren(...models.map((id) => h("option", { value: id }, id)));
  if (models.includes(modelNow())) select.value = modelNow();
  select.hidden = select.previousElementSibling.hidden = models.length < 2;
}

/** Returns whether a sample may play: in a conversation, the microphone would pick it up. */
function mayHear() {
  if (isOpen()) return false;
  silenceAgain();
  return true;
}

/** Checks the key or the secret of a link, and reports the result. */
export async function checkLink() {
  try {
    await linkedServer().info();
    showConnected("Connected by a talk link. Dialogue and Compose need an API key.");
  } catch (error) {
    $("menu").open = true;
    $("key-state").textContent = error.status === 401 ? EXPIRED : "Not connected.";
    if (error.status !== 401) fail(error);
  }
}

/** Wires the conversation. `compose` receives its turns to continue in Compose. */
export function openTalk(compose) {
  people = openPeople($("talk-people"), { label: "Voice of the answers", onChoose: changeVoice, mayHear });
  watchVoices((list) => {
    voices = list;
    offerModels();
    drawPeople();
  });
  watchModel((id) => {
    const select = $("talk-model");
    if (select.value === id || ![...select.options].some(({ value }) => value === id)) return;
    select.value = id;
    changeModel();
  });
  $("talk").onclick = () => {
    if (microphone === null) void begin().catch(showError);
    else leave();
  };
  $("mute").onclick = () => {
    isMuted = !isMuted;
    drawState();
  };
  $("quiet").onclick = () => conversation.interrupt();
  $("type-form").onsubmit = (event) => {
    event.preventDefault();
    const text = $("typed").value.trim();
    if (text !== "") void say(text);
  };
  $("starters").append(
    ...STARTERS.map((text) => h("button", { type: "button", onclick: () => void say(text) }, text)),
  );
  $("talk-options").onchange = change;
  $("speed").oninput = () => {
    $("speed-shown").textContent = `${$("speed").valueAsNumber.toFixed(2)} ×`;
  };
  $("compose").onclick = () => {
    const own = isSpeaker(people.word()) ? people.word() : "0";
    const other = own === "0" ? "1" : "0";
    const turns = conversation.turns.map(({ role, text }) => ({
      speaker: role === "user" ? other : own,
      text,
    }));
    leave();
    compose(turns);
  };
  $("forget").onclick = () => {
    leave();
    conversation = null;
    clearThread();
    drawState();
  };
  const why = whyNoMicrophone();
  if (why) $("talk-note").textContent = `${why} ${TYPE}`;
  drawState();
}
