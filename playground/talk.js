// The conversation that is held by voice: the button, the microphone, what is said and what is heard.
import { Player, wakeSound } from "./client/player.js";
import { RealtimeConversation, refusalOf } from "./client/realtime.js";
import { $, h, showError } from "./dom.js";
import { openMicrophone, whyNoMicrophone } from "./microphone.js";
import { chooseModel, modelNow, watchModel } from "./model.js";
import { openPeople } from "./people.js";
import { hush } from "./preview.js";
import { fail, hasKey, keepKey, talkKey } from "./server.js";
import { clearThread, drawThread, drawTurn, keepSound, light, silenceAgain } from "./thread.js";
import { isSpeaker } from "./turns.js";
import { voicesOf, watchVoices } from "./voices.js";

const STATES = {
  connecting: "Connecting…",
  listening: "Listening",
  // Also in a pause that may or may not be the end: somebody thinks, and it waits.
  hearing: "Listening to you",
  thinking: "A moment…",
  speaking: "Antiphon is speaking",
  closed: "Press Talk, and speak",
};

/** What errors begin with that are about the voice of a session, or of one reply. */
const VOICE_FIELD = /^(?:session\.audio\.output\.)?voices?(?:\.\w+)?(?= )/;

const EXPIRED =
  "This link has expired. Paste an API key; or start the server with one in ANTIPHON_KEY, and it prints another link.";

/**
 * The conversation that goes on, or went on last; null before the first. Whatever takes its place closes it, so one that
 * is open is this one, and whoever has waited for another finds that one closed.
 */
let conversation = null;
/** Resolves when it is connected, or closed: it was refused, or another has taken its place. */
let connected = Promise.resolve();
/** The microphone that is open or asked for, and what closes it: `{ closing, isOpen }`; null where none is. */
let microphone = null;
/** The row of people, one of whom answers. */
let people = null;
/** Those that the server lists. */
let voices = [];
let isMuted = false;
/** How loud it is, 0 to 1. */
let level = 0;

const isOpen = () => conversation !== null && conversation.state !== "closed";

/** What the options ask the session to have. */
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

/** Begins a conversation in the place of the one before, after what was said in it. */
function connect() {
  const apiKey = talkKey();
  showError(null);
  silenceAgain();
  hush();
  conversation?.close();
  /** What a conversation tells that is none any more is passed over. */
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
  // With the voice, all else of the session was refused.
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
    $("talk-note").textContent = "The microphone was unplugged.";
  };
  try {
    await openMicrophone(hear, unplugged, mine.closing.signal);
    mine.isOpen = true;
  } catch (error) {
    if (microphone !== mine) return;
    microphone = null;
    $("talk-note").textContent = `${error.message} You can type meanwhile: the answer is spoken.`;
    $("typed").focus();
  }
  drawState();
}

/** Begins to talk: the microphone and the connection open beside each other. */
async function begin() {
  // Without a key nobody is asked for the microphone.
  talkKey();
  wakeSound();
  $("talk-note").textContent = "";
  people.settle();
  connect();
  await listen();
}

/** Ends it; what was said stays, and the next time goes on from there. */
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

/** Has the ring show how loud that is. */
function meter(pcm) {
  let sum = 0;
  for (const sample of pcm) sum += sample * sample;
  const loud = Math.min(1, Math.sqrt(sum / pcm.length) / 6_000);
  level = Math.max(loud, 0.8 * level);
  $("talk").style.setProperty("--level", level.toFixed(3));
}

async function type(event) {
  event.preventDefault();
  const field = $("typed");
  const text = field.value.trim();
  if (text === "") return;
  wakeSound();
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
  // Nobody has it: it can be sent again.
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
  const known = last === undefined ? "" : `answered after ${(last.latencyMs / 1_000).toFixed(2)} s`;
  $("latency").textContent = known;
}

/** What it waits for while nobody speaks. */
function listening() {
  if (microphone === null) return "Type something";
  if (!microphone.isOpen) return "Waiting for the microphone…";
  return isMuted ? "Muted" : STATES.listening;
}

/** The session without its voice: one that was heard stays until the next session. */
function withoutVoice() {
  const { audio, ...others } = sessionNow();
  const { voice, ...output } = audio.output;
  return { ...others, audio: { ...audio, output } };
}

/** Changes what the conversation has while it goes on. */
function change(event) {
  if (event.target === $("talk-model")) {
    chooseModel(event.target.value);
    return changeModel();
  }
  $("speed-shown").textContent = `${$("speed").valueAsNumber.toFixed(2)} ×`;
  if (isOpen()) conversation.update(withoutVoice());
}

/** Somebody else is to answer: in another session after the same turns, with the microphone that is open. */
function changeVoice() {
  if (!isOpen()) return;
  const { state, turns } = conversation;
  const last = turns.at(-1);
  try {
    connect();
    // What has no answer yet is answered there.
    if (state === "thinking" && last?.role === "user" && last.text !== "")
      conversation.send({ type: "response.create" });
  } catch (error) {
    showError(error);
  }
}

/** Another model is to speak, with one of its own voices. */
function changeModel() {
  const before = people.word();
  drawPeople();
  // Whoever has a voice that it does not have is told of the new one by the row.
  if (people.word() === before) changeVoice();
}

/** Shows who answers, and which models there are where there are several. */
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

/** Whether a voice may be heard alone; in a conversation the microphone would hear it, too. */
function mayHear() {
  if (isOpen()) return false;
  silenceAgain();
  return true;
}

/** Says whether the key or the link that the page has is good, without beginning anything. */
export async function checkLink() {
  const refusal = await refusalOf({ baseUrl: "", apiKey: talkKey() });
  if (refusal === null) $("key-state").textContent = "Connected by the link. To talk, no key is needed.";
  else if (refusal.status === 401) $("key-state").textContent = EXPIRED;
  else {
    $("key-state").textContent = "Not connected.";
    fail(refusal);
  }
}

/** Wires the conversation; `compose` is given its turns, to go on with them there. */
export function openTalk(compose) {
  people = openPeople($("talk-people"), { label: "Who answers", onChoose: changeVoice, mayHear });
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
  $("type-form").onsubmit = (event) => void type(event);
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
  if (why) $("talk-note").textContent = `${why} You can type meanwhile: the answer is spoken.`;
  drawState();
}

/** Whether somebody talks. */
export const isTalking = isOpen;
