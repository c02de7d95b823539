import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { itemText } from "../../../src/api/realtime/conversation-items.ts";
import type { SessionEffect } from "../../../src/api/realtime/session-events.ts";
import { effectIn, errorIn, SessionDriver, typesIn } from "./session-driver.ts";

const SEMANTIC = { turnDetection: { type: "semantic_vad" as const } };
const COMMITTED = "input_audio_buffer.committed";
const CREATED = "response.created";

/** A session with server detection in which the user has spoken for 20 windows. */
function speaking(settings = {}): SessionDriver {
  const driver = new SessionDriver(settings);
  driver.windows(20, 0.99);
  return driver;
}

/** A session with semantic detection that asks the judge about a pause. */
function judging(eagerness: "low" | "medium" | "high" = "medium") {
  const driver = speaking({ turnDetection: { ...SEMANTIC.turnDetection, eagerness } });
  const { revision } = effectIn(driver.windows(6, 0.01), "judge");
  return {
    driver,
    verdict: (finished: number, of = revision) => driver.step({ type: "verdict", revision: of, finished }),
  };
}

const transcribesIn = (effects: readonly SessionEffect[]) =>
  effects.filter(({ type }) => type === "transcribe").length;
const stopsIn = ({ sent }: SessionDriver) =>
  sent.filter(({ type }) => type.endsWith("speech_stopped")).map(({ audio_end_ms }) => audio_end_ms);

describe("a user's turn", () => {
  it("sends its events in the order that clients rely on", () => {
    const driver = new SessionDriver();
    driver.userTurn("Hello.");
    assert.deepEqual(driver.types.slice(1), [
      "input_audio_buffer.speech_started",
      "input_audio_buffer.speech_stopped",
      COMMITTED,
      "conversation.item.added",
      "conversation.item.done",
      CREATED,
    ]);
    const [started, stopped] = driver.sent.slice(1, 3);
    assert.equal(started!.audio_start_ms, 0, "includes the padding before the speech");
    assert.equal(stopped!.audio_end_ms, 640);
    assert.equal(started!.item_id, stopped!.item_id);
  });

  it("does not begin with less than 96 ms of speech", () => {
    const driver = new SessionDriver();
    driver.windows(2, 0.99);
    driver.windows(30, 0.01);
    assert.deepEqual(driver.types, ["session.created"]);
  });

  it("continues after a short pause and is transcribed again", () => {
    const driver = new SessionDriver();
    driver.windows(10, 0.99);
    driver.windows(5, 0.01);
    driver.transcript("I want");
    driver.windows(10, 0.99);
    const effects = driver.windows(16, 0.01);
    assert.equal(transcribesIn(effects), 1);
    assert.ok(!typesIn(effects).includes(CREATED), "a reply before the transcript");
    assert.deepEqual(typesIn(driver.transcript("I want a pizza.")), [CREATED]);
    assert.equal(itemText(driver.session.items[0]!), "I want a pizza.");
  });

  it("is transcribed in its last pause and answered as soon as it ends", () => {
    const driver = speaking();
    driver.windows(5, 0.01);
    driver.transcript("Hello.");
    assert.ok(typesIn(driver.windows(15, 0.01)).includes(CREATED));
  });

  /** Windows of silence that end it, after those before the judge is asked; `undefined` beyond 5 s. */
  function endsAfter(text: string | null, finished: number, eagerness?: "low" | "high"): number | undefined {
    const { driver, verdict } = judging(eagerness);
    const heard = text === null ? [] : driver.transcript(text);
    if (typesIn([...heard, ...verdict(finished)]).includes(COMMITTED)) return 6;
    for (let window = 7; window < 156; window += 1)
      if (typesIn(driver.windows(1, 0.01)).includes(COMMITTED)) return window;
    return undefined;
  }

  for (const [text, medium, low, high] of [
    ["Did you sleep well?", 7, 25, 6],
    ["I would like a pizza.", 9, 32, 6],
    ["Good morning.", 19, 47, 6],
    ["I would like a, um,", 47, 94, 25],
    ["I would like to.", 47, 94, 25],
    ["I would like...", 47, 94, 25],
    [null, 47, 94, 25],
  ] as const)
    it(`ends after a silence that its words decide, if it is judged finished and reads: ${text}`, () => {
      assert.deepEqual(
        [endsAfter(text, 0.9), endsAfter(text, 0.9, "low"), endsAfter(text, 0.9, "high")],
        [medium, low, high],
      );
    });

  it("ends after a short silence if it answers a question", () => {
    const { driver, verdict } = judging();
    driver.client({
      type: "conversation.item.create",
      item: { type: "message", role: "assistant", content: [{ type: "output_text", text: "With olives?" }] },
    } as never);
    driver.transcript("Yes, please.");
    verdict(0.9);
    driver.windows(2, 0.01);
    assert.ok(typesIn(driver.windows(1, 0.01)).includes(COMMITTED));
  });

  it("ends when its words are known, if they are known later than the silence is long", () => {
    const { driver, verdict } = judging();
    verdict(0.9);
    driver.windows(20, 0.01);
    const types = typesIn(driver.transcript("I would like a pizza."));
    assert.deepEqual(types.slice(0, 2), ["input_audio_buffer.speech_stopped", COMMITTED]);
    assert.ok(types.includes(CREATED));
  });

  it("goes on as one item if speech resumes before the silence is long enough, and no event is sent", () => {
    const { driver, verdict } = judging();
    driver.transcript("I would like a pizza.");
    const before = driver.types.length;
    verdict(0.9);
    driver.windows(2, 0.01);
    driver.windows(20, 0.99);
    driver.windows(6, 0.01);
    assert.equal(driver.types.length, before);
    driver.transcript("I would like a pizza. With olives, please.");
    verdict(0.9, effectIn(driver.effects, "judge").revision);
    assert.ok(typesIn(driver.windows(3, 0.01)).includes(COMMITTED));
    assert.equal(
      driver.session.items.filter((item) => item.type === "message" && item.role === "user").length,
      1,
    );
  });

  it("ignores a stale or an unsure verdict and ends with a long silence", () => {
    const { driver, verdict } = judging();
    driver.windows(5, 0.99);
    driver.windows(3, 0.01);
    assert.deepEqual(verdict(1), []);
    const { revision } = effectIn(driver.windows(3, 0.01), "judge");
    assert.deepEqual(verdict(0.4, revision), []);
    assert.ok(typesIn(driver.windows(125, 0.01)).includes(COMMITTED));
  });

  for (const [text, isSentence] of [
    ["I slept very well.", true],
    ['He said "No."', true],
    ["I would like", false],
    ["I would like...", false],
    ["Well,", false],
    [null, false],
  ] as const) {
    it(`${isSentence ? "ends" : "continues"} after 1.5 s of silence if it sounds unfinished and reads: ${text}`, () => {
      const { driver, verdict } = judging();
      driver.transcript(text);
      verdict(0.1);
      assert.deepEqual(typesIn(driver.windows(40, 0.01)), []);
      assert.equal(typesIn(driver.windows(1, 0.01)).includes(COMMITTED), isSentence);
    });
  }

  it("is deleted without a transcript or a reply if no words were recognised", () => {
    for (const settings of [{}, { transcription: {} }]) {
      const driver = new SessionDriver(settings);
      driver.userTurn("");
      assert.equal(driver.types.at(-1), "conversation.item.deleted");
      assert.deepEqual(driver.session.items, []);
      assert.ok(!driver.types.some((type) => type.includes("transcription")));
    }
  });

  it("ends with silence even with a threshold of 0", () => {
    const driver = speaking({ turnDetection: { type: "server_vad", threshold: 0 } });
    driver.windows(20, 0.001);
    assert.ok(driver.types.includes(COMMITTED));
  });

  it("is transcribed in a language given by its code or its name", () => {
    const driver = new SessionDriver();
    const languageAfter = (language: string) => {
      driver.update({ audio: { input: { transcription: { model: "whisper-1", language } } } });
      return driver.session.settings.transcription?.language;
    };
    assert.equal(languageAfter("English"), "en");
    assert.equal(languageAfter("pt-BR"), "pt");
    assert.equal(languageAfter("klingon"), "pt");
    assert.equal(errorIn(driver.effects.slice(-1)).param, "session.audio.input.transcription.language");
    assert.equal(languageAfter(""), undefined);
  });

  it("is sent in deltas while it is spoken in a transcription session only", () => {
    for (const type of ["transcription", "realtime"] as const) {
      const driver = speaking({ type, transcription: {} });
      for (const stable of ["", "We went,", "we went to"])
        driver.step({ type: "partial_transcript", from: 0, text: "", stable });
      driver.windows(20, 0.01);
      driver.transcript("We went to the sea.");
      const deltas = driver.sent.flatMap(({ delta }) => delta ?? []);
      const whole = type === "realtime" ? ["We went to the sea."] : ["We went,", " to", " the sea."];
      assert.deepEqual(deltas, whole);
      assert.equal(driver.sent.findLast(({ transcript }) => transcript)?.transcript, "We went to the sea.");
    }
  });

  it("gets no more deltas once a word that was sent is corrected", () => {
    const driver = speaking({ type: "transcription" });
    for (const stable of ["We won", "We went to"])
      driver.step({ type: "partial_transcript", from: 0, text: "", stable });
    driver.windows(20, 0.01);
    driver.transcript("We went to the sea.");
    assert.deepEqual(
      driver.sent.flatMap(({ delta }) => delta ?? []),
      ["We won"],
    );
  });

  it("reports a failed transcription to a client that asked for transcripts", () => {
    const driver = speaking({ transcription: {} });
    driver.windows(20, 0.01);
    const [failed] = typesIn(driver.transcript(null));
    assert.equal(failed, "conversation.item.input_audio_transcription.failed");
  });

  for (const settings of [{}, { transcription: {} }]) {
    it(`is transcribed again at its end if that failed in a pause, with ${JSON.stringify(settings)}`, () => {
      const driver = speaking(settings);
      driver.windows(5, 0.01);
      driver.transcript(null);
      assert.equal(transcribesIn(driver.windows(15, 0.01)), 1);
      assert.ok(typesIn(driver.transcript("Hello.")).includes(CREATED));
    });
  }

  it("sends its transcript if the session asks for one", () => {
    const driver = new SessionDriver({ transcription: { model: "whisper-1" } });
    driver.userTurn("Hello.");
    const completed = driver.sent.find(({ type }) => type.endsWith("transcription.completed"));
    assert.equal(completed?.transcript, "Hello.");
    assert.deepEqual(completed?.usage, { type: "duration", seconds: 1 });
  });

  it("ends when the client commits it if turn detection is off", () => {
    const driver = new SessionDriver({ turnDetection: null });
    assert.deepEqual(driver.windows(20, 0.99), []);
    assert.equal(typesIn(driver.commit())[0], COMMITTED);
    assert.deepEqual(typesIn(driver.transcript("Hello.")), []);
    assert.deepEqual(typesIn(driver.respond()), [CREATED]);
    const empty = errorIn(driver.client({ type: "input_audio_buffer.commit", event_id: "e7" }));
    assert.deepEqual([empty.code, empty.event_id], ["input_audio_buffer_commit_empty", "e7"]);
  });
});

const timerIn = (effects: readonly SessionEffect[]) => {
  const timer = effects.findLast(({ type }) => type === "set_timer");
  return timer?.type === "set_timer" ? timer.atMs : null;
};

/** Lets time pass and fires the session's timer whenever it is due. */
function pass(driver: SessionDriver, ms: number): readonly SessionEffect[] {
  const untilMs = driver.nowMs + ms;
  const all: SessionEffect[] = [];
  let atMs = timerIn(driver.effects);
  while (atMs !== null && atMs <= untilMs) {
    driver.nowMs = Math.max(driver.nowMs, atMs);
    const effects = driver.wake();
    all.push(...effects);
    // A timer fires once.
    atMs = timerIn(effects);
  }
  driver.nowMs = untilMs;
  return all;
}

describe("a client that stops sending audio", () => {
  it("ends its turn after 750 ms", () => {
    const driver = speaking();
    assert.deepEqual(typesIn(pass(driver, 700)), []);
    assert.ok(typesIn(pass(driver, 100)).includes(COMMITTED));
    assert.deepEqual(stopsIn(driver), [640]);
  });

  it("keeps its turn open while the server is behind with its audio", () => {
    const driver = speaking();
    driver.nowMs += 5_000;
    assert.deepEqual(typesIn(driver.step({ type: "timer", isBehind: true })), []);
    driver.windows(20, 0.99);
    driver.windows(16, 0.01);
    assert.deepEqual(stopsIn(driver), [40 * 32]);
  });

  it("ends its turn even if it appends empty audio", () => {
    const driver = speaking();
    for (let ms = 0; ms < 800; ms += 100) {
      driver.client({ type: "input_audio_buffer.append", audio: "" });
      pass(driver, 100);
    }
    assert.ok(driver.types.includes(COMMITTED));
  });

  it("ends an unfinished turn after the long silence", () => {
    const driver = speaking(SEMANTIC);
    driver.windows(20, 0.99);
    effectIn(pass(driver, 800), "judge");
    assert.ok(!typesIn(pass(driver, 3_000)).includes(COMMITTED));
    assert.ok(typesIn(pass(driver, 400)).includes(COMMITTED));
  });

  it("continues its turn where it left off", () => {
    const driver = speaking(SEMANTIC);
    driver.windows(20, 0.99);
    pass(driver, 1_000);
    driver.windows(10, 0.99);
    driver.windows(126, 0.01);
    assert.deepEqual(stopsIn(driver), [50 * 32]);
  });

  it("sets no timer while it is silent", () => {
    const driver = new SessionDriver();
    driver.windows(20, 0.01);
    assert.deepEqual(pass(driver, 60_000), []);
  });
});

describe("a long silence", () => {
  it("restarts the detector every 5 s, but not while the probability is unclear", () => {
    const driver = new SessionDriver();
    const count = (effects: readonly SessionEffect[]) =>
      effects.filter(({ type }) => type === "refresh_detector").length;
    assert.equal(count(driver.windows(1_560, 0.01)), 10);
    assert.equal(count(driver.windows(1_560, 0.3)), 0);
  });

  it("is forgotten except for the padding of the next turn", () => {
    const driver = new SessionDriver();
    driver.windows(1_000, 0.01);
    const { before } = effectIn(driver.effects, "forget_audio");
    assert.ok(before > 900 * 512 && before <= 1_000 * 512 - 300 * 16);
  });
});

/** The committed turn: its metered seconds, and the samples transcribed. */
function committedIn(effects: readonly SessionEffect[]) {
  const [committed, transcribe] = [effectIn(effects, "turn_committed"), effectIn(effects, "transcribe")];
  assert.equal(committed.revision, transcribe.revision);
  return [committed.seconds, transcribe.from, transcribe.to] as const;
}

describe("a committed turn", () => {
  it("is metered from its own beginning, not from the end of the turn before", () => {
    const driver = new SessionDriver();
    driver.windows(200, 0.01);
    driver.userTurn("Hello.");
    const { seconds } = effectIn(driver.effects, "turn_committed");
    assert.ok(Math.abs(seconds - (0.64 + 0.3)) < 0.001);
  });

  it("has only the part of a long silence that was kept", () => {
    const driver = new SessionDriver();
    driver.windows(9_375, 0.01);
    const { before } = effectIn(driver.effects, "forget_audio");
    const [seconds, from, to] = committedIn(driver.commit());
    assert.ok(seconds >= 0.62 && seconds < 0.62 + 32 * 0.032, `${seconds} s`);
    assert.deepEqual([from, to], [before, driver.appended]);
  });

  it("has the newest two minutes if the client commits later", () => {
    const driver = new SessionDriver({ turnDetection: null });
    driver.windows(5_000, 0.99);
    const { appended } = driver;
    assert.deepEqual(committedIn(driver.commit()), [120, appended - 120 * 16_000, appended]);
    driver.windows(10, 0.99);
    assert.equal(committedIn(driver.commit())[0], 0.32);
  });
});

describe("a reply that waits for the next turn", () => {
  for (const event of [
    { type: "input_audio_buffer.clear" as const },
    {
      type: "session.update" as const,
      session: { type: "realtime" as const, audio: { input: { turn_detection: null } } },
    },
  ])
    it(`begins once that turn is dropped by ${event.type}`, () => {
      const driver = speaking(SEMANTIC);
      driver.windows(20, 0.01);
      driver.commit();
      driver.windows(20, 0.99);
      driver.transcript("Hello there.");
      assert.equal(driver.types.includes(CREATED), false);
      const effects = driver.client(event);
      effectIn(effects, "respond");
      assert.equal(typesIn(effects).at(-1), CREATED);
      assert.equal(typesIn(effects).filter((type) => type === CREATED).length, 1);
    });
});
