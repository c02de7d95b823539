// The conversation that is held by voice: the button, the microphone, what is said and what is heard.
import { Player, wakeSound } from "./client/player.js";
import { RealtimeConversation, refusalOf } from "./client/realtime.js";
import { $, showError } from "./dom.js";
import { openMicrophone, whyNoMicrophone } from "./microphone.js";
import { fail, keepKey, talkKey } from "./server.js";
import { clearThread, drawThread, drawTurn, keepSound, light, silenceAgain } from "./thread.js";

const STATES = {
  connecting: "Connecting…",
  listening: "Listening",
  hearing: "You are speaking",
  thinking: "A moment…",
  speaking: "Antiphon is speaking",
  closed: "Press Talk, and speak",
};

/** The conversation that goes on, or went on last; null before the first. */
let conversation = null;
let closeMicrophone = null;
let isMuted = false;
/** How loud it is, 0 to 1. */
let level = 0;

const isOpen = () => conversation !== null && conversation.state !== "closed";

/** What the options ask the session to have. */
function sessionNow() {
  const detection = { type: "semantic_vad", eagerness: $("eagerness").value };
  return {
    instructions: $("instructions").value,
    audio: {
      input: { turn_detection: { ...detection, interrupt_response: $("interrupts").checked } },
      output: { voice: $("voice").value, speed: $("speed").valueAsNumber },
    },
  };
}

/** Connects, after what was said before if anything was. Says whether it did. */
async function connect() {
  const apiKey = talkKey();
  showError(null);
  silenceAgain();
  const mine = new RealtimeConversation({
    baseUrl: "",
    apiKey,
    session: sessionNow(),
    history: conversation?.turns ?? [],
    openPlayer: (events) => new Player(events),
    onState: () => conversation === mine && drawState(),
    onTurn: (turn) => {
      if (conversation !== mine) return;
      if (turn === null) drawThread(mine.turns);
      else drawTurn(turn);
      drawState();
    },
    onPosition: light,
    onAudio: (turn, pcm) => {
      keepSound(turn, pcm);
      meter(pcm);
    },
    onError: (error) => conversation === mine && failed(error),
  });
  conversation = mine;
  drawState();
  try {
    await mine.connect();
    keepKey();
    return true;
  } catch (error) {
    if (conversation === mine) fail(error);
    return false;
  } finally {
    drawState();
  }
}

function failed(error) {
  const said = error.message.replace(/^./, (letter) => letter.toUpperCase());
  showError(new Error(`${said}${/[.?!]$/.test(said) ? "" : "."}`));
  if (!isOpen()) leave();
}

/** Begins to talk: the microphone and the connection open beside each other. */
async function begin() {
  // Without a key nobody is asked for the microphone.
  talkKey();
  wakeSound();
  $("talk-note").textContent = "";
  const connecting = connect();
  const mine = conversation;
  let close = null;
  try {
    close = await openMicrophone(hear, () => {
      leave();
      $("talk-note").textContent = "The microphone was unplugged.";
    });
  } catch (error) {
    $("talk-note").textContent = `${error.message} You can type meanwhile: the answer is spoken.`;
  }
  if (!(await connecting) || conversation !== mine || !isOpen()) {
    close?.();
    return;
  }
  closeMicrophone = close;
  drawState();
  if (close === null) $("typed").focus();
}

/** Ends it; what was said stays, and the next time goes on from there. */
export function leave() {
  closeMicrophone?.();
  closeMicrophone = null;
  isMuted = false;
  level = 0;
  conversation?.close();
  if (conversation !== null) drawThread(conversation.turns);
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
  const text = $("typed").value.trim();
  if (text === "") return;
  wakeSound();
  if (!isOpen() && !(await connect())) return;
  $("typed").value = "";
  conversation.say(text);
}

function drawState() {
  const state = conversation?.state ?? "closed";
  const isBegun = (conversation?.turns.length ?? 0) > 0;
  const view = $("talk-view");
  view.dataset.state = state;
  view.classList.toggle("begun", isBegun || isOpen());
  const isListening = state === "listening" && closeMicrophone === null;
  $("talk-state").textContent = isListening
    ? "Type something"
    : isMuted && state === "listening"
      ? "Muted"
      : STATES[state];
  $("talk-label").textContent = closeMicrophone === null ? "Talk" : "End";
  $("talk").setAttribute("aria-pressed", closeMicrophone !== null);
  $("mute").hidden = closeMicrophone === null;
  $("mute").setAttribute("aria-pressed", isMuted);
  $("quiet").hidden = state !== "speaking";
  for (const id of ["compose", "forget"]) $(id).hidden = !isBegun;
  const last = conversation?.turns.findLast(({ latencyMs }) => latencyMs !== null);
  const known = last === undefined ? "" : `answered after ${(last.latencyMs / 1_000).toFixed(2)} s`;
  $("latency").textContent = known;
}

/** Changes what the conversation has while it goes on; a voice that was heard stays until the next. */
function change(event) {
  $("speed-shown").textContent = `${$("speed").valueAsNumber.toFixed(2)} ×`;
  if (!isOpen()) return;
  const { audio, ...others } = sessionNow();
  const { voice, ...output } = audio.output;
  conversation.update({ ...others, audio: { ...audio, output } });
  if (event.target === $("voice")) void again();
}

/** Another session after the same turns, with the microphone that is open. */
async function again() {
  conversation.close();
  drawThread(conversation.turns);
  if (!(await connect())) leave();
}

/** Says whether the key or the link that the page has is good, without beginning anything. */
export async function checkLink() {
  const refusal = await refusalOf({ baseUrl: "", apiKey: talkKey() });
  $("key-state").textContent =
    refusal === null
      ? "Connected by the link. To talk, no key is needed."
      : "This link is good no longer. Start the server again for another, or paste an API key.";
}

/** Wires the conversation; `compose` is given its turns, to go on with them there. */
export function openTalk(compose) {
  $("talk").onclick = () => {
    if (closeMicrophone === null) void begin().catch(showError);
    else leave();
  };
  $("mute").onclick = () => {
    isMuted = !isMuted;
    drawState();
  };
  $("quiet").onclick = () => conversation.interrupt();
  $("type-form").onsubmit = (event) => void type(event).catch(showError);
  $("talk-options").onchange = change;
  $("speed").oninput = () => {
    $("speed-shown").textContent = `${$("speed").valueAsNumber.toFixed(2)} ×`;
  };
  $("compose").onclick = () => {
    const own = $("voice").value;
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
