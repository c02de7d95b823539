import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type { Script } from "../../src/core/script.ts";
import { memoryStore } from "../accounts/memory-store.ts";
import { addVoice, deleteVoice } from "../api/http/forms.ts";
import { recordingTones, startTestServer, type TestServer } from "../api/http/start.ts";
import { NEEDS_CHROMIUM } from "../client/browser.ts";
import { until } from "../waiting.ts";
import { castOfThree } from "./cast-of-three.ts";
import { connect, inPlayground, type Playground } from "./playground.ts";

const scripts: Script[] = [];
/** Two servers with one store: with a model that can mix, and with one that cannot. */
let server: TestServer;
let plain: TestServer;
before(async () => {
  const store = memoryStore();
  const start = (mixes: boolean) =>
    startTestServer({ store, models: castOfThree({ mixes }), checkpoints: [recordingTones(scripts)] });
  server = await start(true);
  plain = await start(false);
});
after(async () => {
  await plain.stop();
  await server.stop();
});
beforeEach(async () => {
  for (const { keyId, voiceId } of await server.tenancy.voices.listVoices())
    await server.tenancy.voices.removeVoice(keyId, voiceId);
  scripts.splice(0);
});

const person = (id: string) => `#cast .person[value="${id}"]`;
const problem = "#cast > .error";
const isShown = (selector: string) => `!document.querySelector("${selector}").hidden`;

/** Returns the value, `aria-pressed` and the texts of each voice of a row. */
async function row({ evaluate }: Playground, root = "#cast"): Promise<readonly (readonly string[])[]> {
  const each = `(person) =>
    [person.value, person.ariaPressed, ...[...person.lastChild.children].map(({ textContent }) => textContent), person.title]`;
  return (await evaluate(`[...document.querySelectorAll("${root} .person")].map(${each})`)) as string[][];
}

/** Waits for a number of requests to speak and returns the last one. */
async function spoken(count: number): Promise<Script> {
  await until(`${count} sentences`, () => scripts.length === count);
  return scripts.at(-1)!;
}

async function inPeople(on: TestServer, use: (page: Playground) => Promise<void>): Promise<void> {
  await inPlayground(on, "", async (page) => {
    await connect(page, on);
    await page.evaluate(`document.querySelector("#code").open = true`);
    await page.says("#program", /^curl/);
    await use(page);
  });
}

const it = (title: string, use: (page: Playground) => Promise<void>) =>
  test(title, NEEDS_CHROMIUM, () => inPeople(server, use));

it("lists each voice once with all its names, by language", async (page) => {
  const headings = `[...document.querySelectorAll("#cast .language")].map(({ textContent }) => textContent)`;
  assert.deepEqual(await page.evaluate(headings), ["Spanish"]);
  const automatic = "The voice of the speaker's earlier recordings, or else the speaker's usual voice.";
  assert.deepEqual(await row(page), [
    ["", "true", "Automatic", automatic, automatic],
    [
      "0",
      "false",
      "Speaker 0",
      "A woman. Speaks up.",
      "Speaks up. Other names: alloy, coral, marin, nova, sage, shimmer",
    ],
    ["1", "false", "Speaker 1", "A man. Speaks up.", "Speaks up. Other names: ash, cedar, echo, onyx"],
    ["dora", "false", "Dora", "A woman. Speaks up.", "Speaks up. Other names: ballad, fable, verse"],
  ]);
  assert.equal((await row(page, "#talk-people")).length, 3, "a talk needs a voice");
  assert.deepEqual(
    (await row(page, "#talk-people")).map(([id, isPressed]) => [id, isPressed]),
    [
      ["0", "true"],
      ["1", "false"],
      ["dora", "false"],
    ],
  );
});

it("shows a different portrait for each voice, and the same one each time", async (page) => {
  const drawn = `import("/playground/face.js").then(({ drawFace }) => [0, 1].map(() =>
    Array.from({ length: 40 }, (_, at) => drawFace({ id: "" + at, sex: at % 2 ? "male" : "female" }).svg.innerHTML)))`;
  const [once, again] = (await page.evaluate(drawn)) as string[][];
  assert.equal(new Set(once).size, 40);
  assert.deepEqual(again, once);
});

it("selects and plays a pressed voice, and silences it when pressed again", async (page) => {
  await page.click(person("dora"));
  assert.deepEqual((await spoken(1)).voice, [{ weight: 1, id: "dora" }]);
  await page.says("#program", /"voices": \{\s*"\d": "dora"\s*\}/);
  assert.equal(await page.count("#cast [aria-pressed=true]"), 1);
  await page.is(`document.querySelector('${person("dora")}').ariaPressed === "true"`);
  await page.is(`document.querySelector('${person("dora")}').dataset.sounds !== undefined`);
  await page.click(person("dora"));
  await page.is(`document.querySelector('${person("dora")}').dataset.sounds === undefined`);
  await page.click(person("1"));
  assert.equal((await spoken(2)).speaker, "1");
  await page.click(person(""));
  await page.is(`document.querySelector('${person("1")}').dataset.sounds === undefined`);
  await page.says("#program", /^(?!.*"voices")/s);
  assert.equal(scripts.length, 2, "nothing is played");
  assert.equal(await page.evaluate(isShown(problem)), false);
});

it("has one tab stop for all voices, and Enter selects and plays", async (page) => {
  const focused = () => page.evaluate("document.activeElement.value");
  assert.equal(await page.count("#cast .people [tabindex='0']"), 1);
  await page.evaluate(`document.querySelector('${person("")}').focus()`);
  for (const [key, id] of [
    ["ArrowRight", "0"],
    ["ArrowRight", "0"],
    ["End", "dora"],
    ["ArrowRight", "dora"],
    ["ArrowLeft", "dora"],
    ["ArrowLeft", "1"],
    ["ArrowLeft", "1"],
  ] as const) {
    await page.press(key);
    assert.equal(await focused(), id, key);
  }
  assert.equal(scripts.length, 0, "moving selects no voice");
  await page.press("Enter");
  assert.equal((await spoken(1)).speaker, "1");
  assert.equal(await focused(), "1");
  await page.press("Tab");
  assert.equal(await page.evaluate("document.activeElement.textContent"), "Mix with another voice");
});

it("mixes a second voice by a slider, plays the mix and requests it", async (page) => {
  assert.equal(await page.get("#cast .mix", "hidden"), true, "of nobody");
  await page.click(person("0"));
  await spoken(1);
  await page.write("#cast-second", "dora");
  assert.deepEqual((await spoken(2)).voice, [
    { weight: 0.5, id: "0" },
    { weight: 0.5, id: "dora" },
  ]);
  await page.write("#cast-share", "25");
  assert.deepEqual((await spoken(3)).voice, [
    { weight: 0.75, id: "0" },
    { weight: 0.25, id: "dora" },
  ]);
  await page.says("#program", /"voices": \{\s*"\d": "0\(75\)\+dora\(25\)"\s*\}/);
  assert.equal(await page.text("#cast .mix output"), "25 % Dora");
  assert.equal(await page.get("#cast-share", "ariaValueText"), "25 % Dora");
  assert.equal(await page.text("#cast .mix code"), "0(75)+dora(25)");
  assert.equal(await page.evaluate(`document.querySelector('${person("dora")}').className`), "person mixed");
  await page.write("#cast-share", "0");
  await page.says("#program", /"voices": \{\s*"\d": "0"\s*\}/);
  assert.equal((await spoken(4)).speaker, "0");
});

test("offers no mix with a model that cannot mix", NEEDS_CHROMIUM, () =>
  inPeople(plain, async (page) => {
    await page.click(person("1"));
    await spoken(1);
    assert.equal(await page.get("#cast .mix", "hidden"), true);
    assert.equal(await page.count("#cast-second option"), 1);
  }),
);

test("shows a custom voice's name as text and deletes it after confirmation", NEEDS_CHROMIUM, async () => {
  const name = `<img src=x onerror="window.hacked=1">`.replaceAll('"', "'");
  const { id } = await (await addVoice(server, { name, description: "<b>Bold</b>" })).json();
  const { id: other } = await (await addVoice(server, { name: "Ben", ref_text: undefined })).json();
  await inPeople(server, async (page) => {
    const [, , , , own] = await row(page);
    assert.deepEqual(own?.slice(0, 4), [id, "false", name, "<b>Bold</b>"]);
    await page.click(person(id));
    await spoken(1);
    await page.says("#cast", /The embedded voice follows it closely \(\d+ %\)\./);
    const remove = `${person(id)} ~ .remove`;
    await page.evaluate(`document.querySelector('${remove}').focus()`);
    await page.press("Enter");
    await page.says("dialog", /and its recording will be deleted permanently/);
    await page.press("Escape");
    await page.is(`document.querySelector("dialog") === null`);
    assert.equal((await server.tenancy.voices.listVoices()).length, 2);
    await page.click(remove);
    await page.is(`document.querySelector("dialog .alarming") !== null`);
    await page.click("dialog .alarming");
    await page.is(
      `document.querySelector('${person(id)}') === null && document.querySelector("dialog") === null`,
    );
    const [left, ...more] = await server.tenancy.voices.listVoices();
    assert.deepEqual([left!.voiceId, more], [other, []]);
    await page.is(`document.activeElement.value === ""`);
    await page.says("#program", /^(?!.*"voices")/s);
    // Another client deletes the other one first.
    await deleteVoice(server, other);
    await page.click(`${person(other)} ~ .remove`);
    await page.is(`document.querySelector("dialog .alarming") !== null`);
    await page.click("dialog .alarming");
    await page.says("dialog .error", /^The voice was not deleted\.This key has no voice "voice_/);
    await page.is(`document.querySelector('${person(other)}') === null`);
    await page.click("dialog button");
    assert.equal(await page.evaluate("window.hacked"), undefined);
    assert.equal(await page.count("main img, main b"), 0);
  });
});

test("reports a deleted voice when it is pressed, and keeps everything else", NEEDS_CHROMIUM, async () => {
  const { id } = await (await addVoice(server)).json();
  await inPeople(server, async (page) => {
    await page.write(".turn.open textarea", "My own words.");
    await deleteVoice(server, id);
    await page.click(person(id));
    await page.says(problem, /^The server cannot speak with this voice\.Voice "voice_.*" is unknown: /);
    assert.equal(await page.get(".turn.open textarea", "value"), "My own words.");
    await connect(page, server);
    await page.is(`document.querySelector('${person("")}').ariaPressed === "true"`);
  });
});
