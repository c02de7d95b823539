import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { spokenTurn } from "../../../src/api/realtime/conversation-items.ts";
import { PreparedText } from "../../../src/api/realtime/prepared-text.ts";
import type { ResponseRequest } from "../../../src/api/realtime/session-events.ts";
import { defaultSettings } from "../../../src/api/realtime/session-settings.ts";
import { findModel, PUBLIC_MODELS } from "../../../src/models/public-models.ts";
import type { SpeechService } from "../../../src/serving/reply/speech-service.ts";
import { SessionDriver, VOICES } from "./session-driver.ts";

const NEVER = new AbortController().signal;
const settings = defaultSettings("svc-beta-v0.3", VOICES);
const requestFor = (text: string, changes: Partial<ResponseRequest["settings"]> = {}): ResponseRequest => ({
  responseId: "",
  items: [spokenTurn("", text)],
  settings: { ...settings, ...changes },
});

/** A writer whose texts are objects that note their release. */
function preparing({ writesAhead = true, begin = async () => {} } = {}) {
  const texts: { readonly said: string; isReleased: boolean; release(): void }[] = [];
  const signals: AbortSignal[] = [];
  const service: Pick<SpeechService, "beginText"> = {
    async beginText({ conversation }, _keyId, signal) {
      await begin();
      signal.throwIfAborted();
      signals.push(signal);
      const text = {
        said: conversation.history.at(-1)?.text ?? "",
        isReleased: false,
        release() {
          text.isReleased = true;
        },
      };
      texts.push(text);
      return text as never;
    },
  };
  const parts = { writesAhead, keyId: "key_a", model: null, signal: new AbortController().signal };
  const resolve = (id: string | null) => findModel(PUBLIC_MODELS, id);
  return {
    prepared: new PreparedText({ ...parts, service: service as SpeechService, resolve }),
    texts,
    signals,
  };
}

describe("PreparedText", () => {
  it("keeps the reply to the same words for the response that is asked for", async () => {
    const { prepared, texts } = preparing();
    await prepared.prepare(requestFor("Hello there."));
    await prepared.prepare(requestFor("Hello there."));
    assert.equal(texts.length, 1);
    assert.equal(prepared.take(requestFor("Hello there."), NEVER), texts[0]);
    assert.deepEqual([texts[0]!.said, texts[0]!.isReleased], ["Hello there.", false]);
    assert.equal(prepared.take(requestFor("Hello there."), NEVER), null);
  });

  it("discards the reply to other words, or under other instructions", async () => {
    const { prepared, texts } = preparing();
    await prepared.prepare(requestFor("Hello there."));
    await prepared.prepare(requestFor("Hello there. How are you?"));
    assert.equal(texts[0]!.isReleased, true);
    assert.equal(prepared.take(requestFor("Hello there."), NEVER), null);
    assert.equal(texts[1]!.isReleased, true);
    await prepared.prepare(requestFor("Hello there."));
    assert.equal(prepared.take(requestFor("Hello there.", { instructions: "Sing." }), NEVER), null);
    assert.equal(texts[2]!.isReleased, true);
    await prepared.prepare(requestFor("Hello there."));
    assert.equal(prepared.take(requestFor("Hello there.", { language: "es" }), NEVER), null);
    await prepared.prepare(requestFor("Hello there."));
    assert.equal(prepared.take(requestFor("Hello there.", { voice: "Anna" }), NEVER), null);
  });

  it("stops writing when the reply that took the text is cancelled", async () => {
    const { prepared, signals } = preparing();
    const reply = new AbortController();
    await prepared.prepare(requestFor("Hello there."));
    prepared.take(requestFor("Hello there."), reply.signal);
    prepared.discard();
    assert.equal(signals[0]!.aborted, false);
    reply.abort();
    assert.equal(signals[0]!.aborted, true);
  });

  it("writes nothing in advance with a language model, or for a reply in text", async () => {
    const model = preparing({ writesAhead: false });
    await model.prepared.prepare(requestFor("Hello there."));
    const { prepared, texts } = preparing();
    await prepared.prepare(requestFor("Hello there.", { modality: "text" }));
    assert.deepEqual([model.texts, texts], [[], []]);
  });

  it("abandons a reply that waits for its place when more is said, and outlives a failure", async () => {
    let go = () => {};
    const waiting = new Promise<void>((resolve) => {
      go = resolve;
    });
    const { prepared, texts } = preparing({ begin: () => waiting });
    const begun = prepared.prepare(requestFor("Hello there."));
    prepared.discard();
    go();
    await begun;
    assert.deepEqual(texts, []);
    assert.equal(prepared.take(requestFor("Hello there."), NEVER), null);
  });
});

describe("a pause that probably ends a turn", () => {
  const preparedIn = (driver: SessionDriver, text: string) => {
    driver.windows(20, 0.99);
    driver.windows(3, 0.01);
    return driver.transcript(text).filter(({ type }) => type === "prepare").length;
  };
  const semantic = { type: "semantic_vad" as const };

  it("has its reply prepared, and no event is sent", () => {
    const driver = new SessionDriver({ turnDetection: semantic });
    const before = driver.types.length;
    assert.equal(preparedIn(driver, "Did you sleep well?"), 1);
    assert.deepEqual(driver.types.slice(before), ["input_audio_buffer.speech_started"]);
  });

  it("has no reply prepared in an open clause, without replies, or in a transcription session", () => {
    assert.equal(preparedIn(new SessionDriver({ turnDetection: semantic }), "I would like to"), 0);
    const silent = { ...semantic, create_response: false };
    assert.equal(preparedIn(new SessionDriver({ turnDetection: silent }), "Did you sleep well?"), 0);
    const listening = new SessionDriver({ type: "transcription", turnDetection: semantic });
    assert.equal(preparedIn(listening, "Did you sleep well?"), 0);
  });
});
