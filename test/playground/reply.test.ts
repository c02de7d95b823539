import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createParametricModel } from "../../src/engines/embedded/model.ts";
import { startTestServer, type TestServer } from "../api/http/start.ts";
import { NEEDS_CHROMIUM } from "../client/browser.ts";
import { tables, VOICE_DIR } from "../engines/embedded/voice.ts";
import { until } from "../waiting.ts";
import { connect, inPlayground, type Playground, speak } from "./playground.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.stop());

const TEXT = "(Kettle) boiling, steaming “quietly” tonight.";
const WORDS = ["Kettle", "boiling", "steaming", "quietly", "tonight"];
/** Seconds. The test engine speaks for 60 ms per character. */
const STARTS = WORDS.map((word) => 0.06 * TEXT.indexOf(word));
const LENGTH_S = 0.06 * TEXT.length;

interface Shown {
  readonly lit: string | null;
  readonly said: string[];
  readonly place: number;
  readonly spoken: string;
  readonly clock: string;
}

async function shown({ evaluate }: Playground): Promise<Shown> {
  return JSON.parse(
    `${await evaluate(`JSON.stringify({
      lit: document.querySelector("#words [aria-current]")?.firstChild.data ?? null,
      said: [...document.querySelectorAll("#words .said")].map((word) => word.firstChild.data),
      place: document.querySelector("#place").valueAsNumber,
      spoken: document.querySelector("#place").ariaValueText,
      clock: document.querySelector("#clock").textContent,
    })`)}`,
  );
}

const move = ({ evaluate }: Playground, seconds: number) =>
  evaluate(`{
    const place = document.querySelector("#place");
    place.value = ${seconds};
    for (const name of ["input", "change"]) place.dispatchEvent(new Event(name));
  }`);

async function inReply(use: (page: Playground) => Promise<void>): Promise<void> {
  await inPlayground(server, `#1=${encodeURIComponent(TEXT)}`, async (page) => {
    await connect(page, server);
    await page.evaluate(`{
      window.seen = [];
      const place = document.querySelector("#place");
      new MutationObserver((changes) => {
        for (const { target } of changes)
          if (target.ariaCurrent === "true") seen.push([target.firstChild.data, place.valueAsNumber]);
      }).observe(document.querySelector("#words"), { subtree: true, attributeFilter: ["aria-current"] });
    }`);
    await speak(page);
    await use(page);
  });
}

const it = (title: string, use: (page: Playground) => Promise<void>) =>
  test(title, NEEDS_CHROMIUM, () => inReply(use));

it("highlights words in order while they are played", async (page) => {
  // The button says so before the reply begins, too.
  await page.says("#clock", new RegExp(`^${LENGTH_S.toFixed(1)} of`));
  await page.says("#play", /^Play$/);
  const seen = (await page.evaluate("seen")) as [string, number][];
  assert.ok(seen.length > 0);
  const order = seen.map(([word]) => WORDS.indexOf(word));
  assert.deepEqual(
    order,
    [...new Set(order)].sort((a, b) => a - b),
  );
  for (const [word, place] of seen) {
    const index = WORDS.indexOf(word);
    // The place is told in tenths of a second.
    assert.ok(place >= STARTS[index]! - 0.051, `${word} at ${place}`);
    assert.ok(place <= (STARTS[index + 1] ?? LENGTH_S) + 0.051, `${word} at ${place}`);
  }
  const { lit, said, clock } = await shown(page);
  assert.deepEqual(
    [lit, said, clock],
    [null, WORDS, `${LENGTH_S.toFixed(1)} of ${LENGTH_S.toFixed(1)} seconds`],
  );
});

it("seeks the reply and its words by the scrubber, by keyboard too", async (page) => {
  await page.click("#stop");
  for (const [index, word] of WORDS.entries()) {
    const at = Math.ceil(10 * STARTS[index]!) / 10;
    await move(page, at);
    const { lit, said, place, spoken, clock } = await shown(page);
    assert.deepEqual([lit, said, place], [word, WORDS.slice(0, index + 1), at]);
    assert.equal(spoken, `${at.toFixed(1)} of ${LENGTH_S.toFixed(1)} seconds`);
    assert.equal(clock, spoken);
  }
  await move(page, 0);
  assert.deepEqual((await shown(page)).said, []);
  await page.evaluate(`document.querySelector("#place").focus()`);
  for (const [key, place] of [
    ["ArrowRight", 0.1],
    ["ArrowUp", 0.2],
    ["ArrowLeft", 0.1],
    ["End", Number(LENGTH_S.toFixed(1))],
    ["Home", 0],
  ] as const) {
    await page.press(key);
    assert.equal((await shown(page)).place, place, key);
  }
  assert.equal(await page.text("#play"), "Play", "it stays silent");
  await page.click("#play");
  await page.press("PageUp");
  await page.says("#play", /^Pause$/);
});

it("plays from a clicked word, and has one tab stop for all words", async (page) => {
  const startOf = (word: string) => STARTS[WORDS.indexOf(word)]!;
  const plays = async (word: string) => {
    await page.says("#play", /^Pause$/);
    const { lit, place } = await shown(page);
    assert.ok(place >= startOf(word) - 0.051, `${word} at ${place}`);
    if (place < startOf(word) + 0.4) assert.equal(lit, word);
  };
  for (const index of [3, 1]) {
    await page.click("#stop");
    await page.evaluate(`document.querySelectorAll("#words .word")[${index}].click()`);
    await plays(WORDS[index]!);
  }
  await page.click("#stop");
  const focused = () => page.evaluate("document.activeElement.firstChild.data");
  await page.evaluate(`document.querySelector("#words [tabindex='0']").focus()`);
  assert.equal(await page.count("#words [tabindex='0']"), 1);
  for (const [key, word] of [
    ["ArrowRight", "boiling"],
    ["End", "tonight"],
    ["ArrowRight", "tonight"],
    ["ArrowLeft", "quietly"],
    ["Home", "Kettle"],
    ["ArrowLeft", "Kettle"],
    ["ArrowRight", "boiling"],
  ] as const) {
    await page.press(key);
    assert.equal(await focused(), word, key);
  }
  await page.press("Enter");
  await plays("boiling");
  await page.click("#stop");
  await page.press("Tab");
  assert.equal(await page.evaluate("document.activeElement.id"), "place");
  await page.evaluate(`document.querySelector("#words [tabindex='0']").focus()`);
  assert.equal(await focused(), "boiling");
  await page.press(" ");
  await plays("boiling");
});

test("shows the whole text before it is played", NEEDS_CHROMIUM, async () => {
  let goOn = () => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const own = await startTestServer({ tone: { beforeFrame: (index) => (index < 8 ? undefined : held) } });
  try {
    await inPlayground(own, `#0=${encodeURIComponent(TEXT)}`, async (page) => {
      await connect(page, own);
      await page.click("#speak");
      await page.is(`document.querySelectorAll("#words .word").length === 2`);
      assert.equal(await page.text("#words"), TEXT);
      goOn();
      await page.says("#state", /^Speaker 0$/);
      assert.equal(await page.text("#words"), TEXT);
      const units = await page.evaluate(
        `[...document.querySelectorAll("#words .unit")].map(({ textContent }) => textContent).join("|")`,
      );
      assert.equal(units, "(Kettle)|boiling,|steaming|“quietly”|tonight.", "marks stay with their words");
    });
  } finally {
    goOn();
    await own.stop();
  }
});

test("shows phonemes under their words if the model returns them", NEEDS_CHROMIUM, async () => {
  const voiceTables = await tables();
  const load = () => createParametricModel({ voiceDir: VOICE_DIR, tables: voiceTables });
  const own = await startTestServer({ checkpoints: [{ name: "heart", memoryBytes: 1, load }] });
  try {
    await inPlayground(own, "#0=They+read%2C+then+paid+%245.&temperature=0", async (page) => {
      await connect(page, own);
      await speak(page);
      const small = `document.querySelector("#words small")`;
      assert.equal(await page.evaluate(`getComputedStyle(${small}).display`), "none");
      await page.click("#phonemes");
      assert.equal(await page.evaluate(`getComputedStyle(${small}).display`), "block");
      const sounds = await page.evaluate(
        `[...document.querySelectorAll("#words small")].map(({ textContent }) => textContent).join(" ")`,
      );
      assert.match(`${sounds}`, /^ðA ɹ(?:id|ɛd) ðɛn pAd fIvdɑləɹz$/);
      assert.equal(await page.get("#phonemes", "ariaPressed"), "true");
      await page.evaluate(`{ window.mouths = new Set(); new MutationObserver((changes) => {
        for (const { target } of changes) mouths.add(target.getAttribute("d"));
      }).observe(document.querySelector("#face .mouth"), { attributes: true }); }`);
      await page.click("#stop");
      await page.click("#play");
      await page.is("mouths.size > 3");
    });
  } finally {
    await own.stop();
  }
  await inReply(async (page) => {
    assert.equal(await page.get("#phonemes", "disabled"), true);
    assert.match(`${await page.get("#phonemes", "title")}`, /reports no phonemes/);
  });
});

it("respects reduced motion but still highlights words", async (page) => {
  const animations = `document.getAnimations().length`;
  assert.ok(Number(await page.evaluate(animations)) > 0, "a face blinks");
  await page.send("Emulation.setEmulatedMedia", {
    features: [{ name: "prefers-reduced-motion", value: "reduce" }],
  });
  await until("no animation", async () => (await page.evaluate(animations)) === 0);
  await page.evaluate(
    `seen.length = 0; document.querySelector("#stop").click(); document.querySelector("#play").click()`,
  );
  await page.is("seen.length > 2");
});

it("has controls of at least 24 pixels and fits in 360 pixels", async (page) => {
  await page.evaluate(`document.querySelectorAll("details").forEach((each) => { each.open = true; })`);
  await page.says("#program", /^curl/);
  for (const width of [360, 1200]) {
    await page.send("Emulation.setDeviceMetricsOverride", {
      width,
      height: 800,
      deviceScaleFactor: 1,
      mobile: false,
    });
    await page.is(`innerWidth === ${width}`);
    // A radio button is as large as its label; words in a sentence are as high as its lines.
    const small =
      await page.evaluate(`[...document.querySelectorAll("button, select, textarea, summary, input, label:has(input)")]
        .filter((each) => each.checkVisibility() && !each.closest(".aloud") && !(each.type === "radio"))
        .filter((each) => { const { width, height } = each.getBoundingClientRect(); return width < 24 || height < 24; })
        .map((each) => each.outerHTML.slice(0, 80))`);
    assert.deepEqual(small, [], `${width}`);
    const lineHeight = await page.evaluate(
      `parseFloat(getComputedStyle(document.querySelector(".word")).lineHeight)`,
    );
    assert.ok(Number(lineHeight) >= 24);
    assert.equal(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), true, `${width}`);
  }
});

test("reports a truncated reply and speaks the rest next", NEEDS_CHROMIUM, async () => {
  const said = ["First it is one. Then it is two. ", "Then it is three."];
  await inPlayground(server, `#1=${encodeURIComponent(said.join(""))}&max_new_tokens=16`, async (page) => {
    await connect(page, server);
    assert.equal(await page.get("#cut", "hidden"), true);
    await speak(page);
    await page.says("#cut span", /only 33 of 50 characters were spoken\.$/);
    await page.click("#cut button");
    const texts = `[...document.querySelectorAll(".turn textarea")].map(({ value }) => value)`;
    await page.is(`${texts}.length === 2`);
    assert.deepEqual(
      await page.evaluate(texts),
      said.map((each) => each.trim()),
    );
    await page.says("#heard", /three/);
    assert.equal(await page.get("#cut", "hidden"), true);
  });
});
