import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type { Script } from "../../src/core/script.ts";
import { addVoice, voiceWav } from "../api/http/forms.ts";
import { recordingTones, startTestServer, type TestServer } from "../api/http/start.ts";
import { NEEDS_CHROMIUM } from "../client/browser.ts";
import { ScriptedRecogniser, segmentOf } from "../recognition/scripted-recogniser.ts";
import { until } from "../waiting.ts";
import { connect, inPlayground, type Playground } from "./playground.ts";

const SAID = "I am out walking.";

const scripts: Script[] = [];
const recogniser = new ScriptedRecogniser();
let server: TestServer;
before(async () => {
  server = await startTestServer({ checkpoints: [recordingTones(scripts)], recogniser });
});
after(() => server.stop());
beforeEach(async () => {
  recogniser.release();
  recogniser.hear([segmentOf(SAID, 0)]);
  for (const { keyId, voiceId } of await server.tenancy.voices.listVoices())
    await server.tenancy.voices.removeVoice(keyId, voiceId);
  scripts.splice(0);
});

const voices = () => server.tenancy.voices.listVoices();
const field = (name: string) => `#new-voice-${name}`;
const written = ({ evaluate }: Playground, name: string) =>
  evaluate(`document.querySelector("${field(name)}").value`);

/** Gives the first turn a recording and opens the dialog. The transcript is held back. */
async function inDialog(
  wav: Uint8Array,
  use: (page: Playground) => Promise<void>,
  { said = "", script = "" } = {},
): Promise<void> {
  recogniser.hold();
  await inPlayground(
    server,
    `#${new URLSearchParams([
      ["0", said],
      ["1", "Yes."],
    ])}`,
    async (page) => {
      await connect(page, server);
      await page.evaluate(script);
      await page.evaluate(`{
      const bytes = Uint8Array.from(atob("${Buffer.from(wav).toString("base64")}"), (c) => c.charCodeAt(0));
      const given = new DataTransfer();
      given.items.add(new File([bytes], "anna.wav"));
      const input = document.querySelector(".turn input[type=file]");
      input.files = given.files;
      input.dispatchEvent(new Event("change"));
    }`);
      await page.says(".turn .audio", /^♪ anna\.wav/);
      await page.evaluate(
        `document.querySelector(".turn [aria-label$='make a voice from this recording']").focus()`,
      );
      await page.press("Enter");
      await page.is(`document.querySelector("dialog")?.open === true`);
      await use(page);
      recogniser.release();
    },
  );
}

async function make(page: Playground, given: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(given)) await page.write(field(name), value);
  await page.evaluate(`document.querySelector("dialog form").requestSubmit()`);
}

const it = (title: string, ...dialog: Parameters<typeof inDialog>) =>
  test(title, NEEDS_CHROMIUM, () => inDialog(...dialog));

it(
  "makes a voice of a turn's recording, with its transcript and cautions, and plays it",
  voiceWav({ roomDb: -34 }),
  async (page) => {
    assert.equal(await page.evaluate("document.activeElement.id"), "new-voice-name");
    recogniser.release();
    await page.is(`document.querySelector("${field("ref_text")}").value === "${SAID}"`);
    await page.says(`${field("ref_text")}-note`, /^Transcribed from the recording/);
    await make(page, { name: "Anna", consent: "Anna agreed.", description: "A friend." });
    await page.says("dialog h2", /^Anna is ready$/);
    assert.match(
      await page.text("dialog"),
      /^Anna is readyThe server kept 3\.0 s\. The embedded voice follows it /,
    );
    assert.match(await page.text("dialog .cautions"), /The recording has no treble/);
    const [voice] = await voices();
    assert.deepEqual(
      [voice?.name, voice?.consent, voice?.refText, voice?.description],
      ["Anna", "Anna agreed.", SAID, "A friend."],
    );
    await page.click("dialog .primary");
    await until("Anna to speak", () => scripts.length === 1);
    const [part] = scripts[0]?.voice ?? [];
    assert.ok(part !== undefined && "sample" in part && part.sample.text === SAID);
    await page.is(`document.querySelector("#cast [aria-pressed=true]").value === "${voice?.voiceId}"`);
    const answers = await page.evaluate(
      `document.querySelector('#talk-people [value="${voice?.voiceId}"]') !== null`,
    );
    assert.ok(answers, "it may answer whoever talks, too");
    assert.equal(await page.evaluate(`document.querySelector("dialog")`), null);
  },
);

test("shows an error at its field and keeps the others", NEEDS_CHROMIUM, async () => {
  await addVoice(server);
  await inDialog(voiceWav(), async (page) => {
    recogniser.release();
    await page.is(`document.querySelector("${field("ref_text")}").value !== ""`);
    await make(page, { name: "Anna" });
    assert.equal((await voices()).length, 1, "without consent nothing is sent");
    await page.is(`document.querySelector("${field("consent")}:invalid") !== null`);
    await make(page, { consent: "no" });
    await page.says(`${field("consent")}-problem`, /^No voice was made\.Consent says no: /);
    assert.equal(await page.evaluate("document.activeElement.id"), "new-voice-consent");
    await make(page, { consent: "She agrees." });
    await page.says(`${field("name")}-problem`, /^No voice was made\.Name "Anna" is that of another voice/);
    assert.equal(await page.get(`${field("consent")}-problem`, "hidden"), true);
    assert.equal(await page.get(field("name"), "ariaInvalid"), "true");
    assert.deepEqual(
      [await written(page, "consent"), await written(page, "ref_text")],
      ["She agrees.", SAID],
    );
    await make(page, { name: "Anna 2" });
    await page.says("dialog h2", /^Anna 2 is ready$/);
    assert.equal((await voices()).length, 2);
  });
});

it("keeps typed words when the transcript arrives", voiceWav(), async (page) => {
  await page.says(`${field("ref_text")}-note`, /^Transcribing/);
  await page.write(field("ref_text"), "Mine.");
  recogniser.release();
  await page.says(`${field("ref_text")}-note`, /^$/);
  assert.equal(await written(page, "ref_text"), "Mine.");
});

test("refuses a recording without a voice, and takes the words of the turn", NEEDS_CHROMIUM, async () => {
  const silence = voiceWav();
  silence.fill(0, 44);
  await inDialog(
    silence,
    async (page) => {
      assert.equal(await written(page, "ref_text"), "My words.");
      await make(page, { name: "Nobody", consent: "Nobody agrees." });
      await page.says("dialog form > .error", /^No voice was made\..*contains no speech: send 5 to 12 s/);
      assert.equal(await written(page, "name"), "Nobody");
      assert.deepEqual(await voices(), []);
      await page.press("Escape");
      await page.is(`document.querySelector("dialog") === null`);
      assert.match((await page.evaluate("document.activeElement.title")) as string, /make a voice/);
    },
    { said: "My words." },
  );
});

it("sends only the beginning of a long recording, and says so", voiceWav({ durationS: 40 }), async (page) => {
  recogniser.release();
  await page.says(`${field("ref_text")}-note`, /^Only the first 30 s are kept/);
  await page.evaluate(`{
        const ask = window.fetch;
        window.fetch = (url, options) => { if (options.body instanceof FormData) window.sent = options.body.get("audio_sample").size; return ask(url, options); };
      }`);
  await make(page, { name: "Long", consent: "She agrees." });
  await page.says("dialog h2", /^Long is ready$/);
  assert.equal(await page.evaluate("sent"), 44 + 31 * 48_000);
  assert.match(
    await page.text("dialog"),
    /kept 30\.0 s.*The recording is long\. Only its beginning was kept/,
  );
});

test("takes its limits from the server", NEEDS_CHROMIUM, async () => {
  const script = `{
      const ask = window.fetch;
      window.fetch = async (url, options) => {
        const answer = await ask(url, options);
        if (!/v1\\/info$/.test(url)) return answer;
        const info = await answer.json();
        info.limits.kept_voice_seconds = 2;
        return Response.json(info);
      };
    }`;
  await inDialog(
    voiceWav(),
    async (page) => {
      await page.says(`${field("ref_text")}-note`, /^Only the first 2 s are kept/);
      await make(page, { name: "x".repeat(65), consent: "She agrees." });
      await page.says(
        `${field("name")}-problem`,
        /^No voice was made\.Name has 65 characters, and at most 64/,
      );
      assert.equal(await written(page, "name"), "x".repeat(65));
    },
    { script },
  );
});
