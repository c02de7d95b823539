import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { Socket } from "node:net";
import { ConnectionSlots } from "../../src/api/http/connection-tracker.ts";
import { isSignedByTwilio } from "../../src/api/http/routes/telephony-stream.ts";
import type { DialectOutput } from "../../src/api/realtime/realtime-dialect.ts";
import { TwilioDialect } from "../../src/api/realtime/twilio-dialect.ts";
import { ServiceError } from "../../src/contract/errors.ts";
import { readClientEvent } from "../../src/contract/realtime/client-events.ts";
import { bentBytes } from "./bent-bytes.ts";
import { type Dice, diceOf } from "./dice.ts";
import type { Fuzzer, Random } from "./fuzzer.ts";

/**
 * Fuzzes Twilio's Media Streams: the session can read every event, no more silence is inserted than time passed, and errors
 * fit a WebSocket's reason. No corrupt signature is accepted, and a network without a connection always gets one.
 */
export const twilioFuzz: Fuzzer = {
  async run(random: Random): Promise<void> {
    const dice = { ...diceOf(random), random };
    let nowMs = 0;
    trySignature(dice);
    tryCrowd(dice);
    const twilio = new TwilioDialect("MZ1", nowMs);
    const sentMs = new Map<string, number>();
    let handed = 0;
    let payloads = 0;
    const check = ({ messages, events }: DialectOutput): void => {
      for (const text of messages) assert.equal(JSON.parse(text).streamSid, "MZ1");
      for (const told of events) {
        const text = JSON.stringify(told);
        const event = readClientEvent(Buffer.from(text));
        assert.ok(event.type !== "fault", `the session cannot read ${text.slice(0, 200)}`);
        if (event.type === "input_audio_buffer.append") handed += Buffer.from(event.audio, "base64").length;
        if (event.type === "conversation.item.truncate")
          assert.ok(event.audio_end_ms <= (sentMs.get(event.item_id) ?? 0), text);
      }
    };
    for (let step = 0; step < 60; step++) {
      nowMs += dice.upTo(60);
      if (random() < 0.3) {
        const event = sessionEvent(dice);
        if (event.type === "response.output_audio.delta") {
          const ms = Buffer.from(event.delta, "base64").length / 8;
          sentMs.set(event.item_id, (sentMs.get(event.item_id) ?? 0) + ms);
        }
        check(twilio.write(event));
        continue;
      }
      const [text, payloadBytes] = message(dice);
      let taken: DialectOutput | null;
      try {
        taken = twilio.read(Buffer.from(text), nowMs);
      } catch (error) {
        assert.ok(
          error instanceof Error && !(error instanceof TypeError || error instanceof RangeError),
          `${error}`,
        );
        assert.ok(Buffer.byteLength(error.message) <= 200, error.message);
        continue;
      }
      payloads += payloadBytes;
      if (taken !== null) check(taken);
    }
    // Corrupt text may become a longer payload, by at most its own length.
    assert.ok(handed <= payloads + 8 * (nowMs + 1_000), `${handed} bytes of ${payloads} in ${nowMs} ms`);
  },
  async close(): Promise<void> {},
};

type TwilioDice = Dice & { readonly random: Random };

function trySignature(dice: TwilioDice): void {
  const token = Buffer.from([dice.upTo(255), dice.upTo(255)]).toString("hex");
  const host = dice.one(["a.example", "a.example:443", "a.example:8443", "[::1]:80", "[::1]", ""]);
  const path = dice.one(["/", "/v1/telephony/twilio", "/a%20b", "//"]);
  const query = dice.one(["", "?", "?a=b", "?a=/?&b", "?key=ant_1"]);
  const made = (url: string, by = token) => createHmac("sha1", by).update(url).digest("base64");
  const isSigned = (signature: string | undefined) =>
    isSignedByTwilio({ headers: { "x-twilio-signature": signature }, host, url: path + query }, [token]);
  const good = made(`wss://${host}${path}${query}`);
  assert.ok(isSigned(good));
  assert.ok(isSigned(made(`wss://${host.replace(/:\d+$/, "")}${path.replace(/\/?$/, "/")}${query}`)));
  const bent = new TextDecoder().decode(bentBytes(Buffer.from(good), Buffer.from(good), dice.random));
  for (const wrong of [
    ...(bent === good ? [] : [bent]),
    made(`wss://${host}${path}x${query}`),
    made(`wss://b${host}${path}${query}`),
    made(`wss://${host}${path}${query}`, `${token}0`),
    good.slice(1),
    "",
    undefined,
  ])
    assert.ok(!isSigned(wrong), `${wrong} for wss://${host}${path}${query}`);
}

function tryCrowd(dice: TwilioDice): void {
  const [inAll, perHolder] = [1 + dice.upTo(12), 1 + dice.upTo(4)];
  const refused = () => new ServiceError(502, "full");
  const places = new ConnectionSlots({
    maxTotal: inAll,
    maxPerHolder: perHolder,
    full: refused,
    holderIsFull: refused,
  });
  const held: { readonly network: string; readonly leave: () => void }[] = [];
  const of = (network: string) => held.filter((each) => each.network === network).length;
  for (let step = 0; step < 60; step++) {
    if (dice.random() < 0.2) held[dice.upTo(held.length)]?.leave();
    const network = `${dice.upTo(20)}`;
    const [before, most] = [of(network), Math.max(0, ...held.map((each) => of(each.network)))];
    const call = { network, leave: () => {} };
    const hold = () => {
      held.push(call);
      return () => held.splice(held.indexOf(call), 1);
    };
    try {
      call.leave = places.take(new Socket(), network, hold, () => call.leave());
    } catch {
      assert.ok(before > 0 && (before >= perHolder || before >= most), `${network} has ${before} of ${most}`);
    }
    assert.ok(held.length <= inAll && of(network) <= perHolder);
  }
}

const ITEMS = ["item_a", "item_b", "item_c"];

function sessionEvent(dice: TwilioDice) {
  const item_id = dice.one(ITEMS);
  return dice.one([
    {
      type: "response.output_audio.delta",
      item_id,
      delta: Buffer.alloc(dice.upTo(2_000)).toString("base64"),
    },
    { type: "response.output_audio.done", item_id, delta: "" },
    { type: "input_audio_buffer.speech_started", item_id, delta: "" },
    { type: "response.done", response: { status: dice.one(["completed", "cancelled"]) }, item_id, delta: "" },
    { type: "error", item_id, delta: "" },
  ]);
}

const ODD: readonly unknown[] = [
  ...[null, true, -1, 1e308, 0.5, "", "x".repeat(300), [], {}, { toString: 1 }, "__proto__"],
];

/** A message, sometimes with odd fields or corrupt bytes, and the maximum bytes of its audio. */
function message(dice: TwilioDice): readonly [string, number] {
  const payload = Buffer.alloc(dice.upTo(400), dice.upTo(255)).toString("base64");
  const timestamp = dice.one<unknown>([
    `${dice.upTo(4_000)}`,
    dice.upTo(4_000),
    "9".repeat(15),
    "-5",
    undefined,
  ]);
  const fields = dice.one<Record<string, unknown>>([
    { event: "media", media: { track: dice.one(["inbound", "outbound", undefined]), timestamp, payload } },
    { event: "mark", mark: { name: `${dice.one(ITEMS)}/${dice.one([80, 160, 1e9, -1, "x"])}` } },
    { event: "dtmf", dtmf: { digit: dice.one(["1", "#", "*", "A", "10", ""]) } },
    { event: "connected" },
    { event: "start", start: {} },
    { event: "stop" },
    { event: dice.one(["clear", "toString", "__proto__", "new"]) },
  ]);
  if (dice.random() < 0.2) {
    const inner = Object.values(fields).find((value) => typeof value === "object") ?? fields;
    const names = Object.keys(inner as object);
    (inner as Record<string, unknown>)[dice.one([...names, "more"])] = dice.one(ODD);
  }
  const text = JSON.stringify(fields);
  if (dice.random() < 0.8) return [text, text.length];
  const bent = new TextDecoder().decode(bentBytes(Buffer.from(text), Buffer.from(payload), dice.random));
  return [bent, bent.length];
}
