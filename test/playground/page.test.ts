import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { unusedKnobs } from "../../src/engines/embedded/preset.ts";
import { startTestServer, type TestServer } from "../api/http/start.ts";
import { NEEDS_CHROMIUM } from "../client/browser.ts";
import { createToneModel } from "../core/tone-model.ts";
import { until } from "../waiting.ts";
import { ScriptedWriter } from "../writers/scripted-writer.ts";
import { connect, inPlayground, type Playground, speak } from "./playground.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer({ writer: new ScriptedWriter(["It was wonderful.", "And you?"]) });
});
after(() => server.stop());

const it = (title: string, fragment: string, use: (page: Playground) => Promise<void>) =>
  test(title, NEEDS_CHROMIUM, () => inPlayground(server, fragment, use));

it("connects, speaks, plays again and stops", "", async (page) => {
  await page.click("#speak");
  await page.says("#error", /Paste an API key first/);
  await page.write("#key", "ant_nobody");
  await page.click("#key-form button");
  await page.says("#error", /The server does not accept this key\..*Request id: req_/);
  await connect(page, server);
  await speak(page);
  assert.equal(await page.text("#words"), "Like a log, thank you. And you?");
  await page.says("#heard", /^Speaker 1: “Like a log, thank you\. And you\?”$/);
  await page.says("#play", /^Play$/);
  assert.match(await page.text("#figures"), /First audio\d+ ms.*Gaps\d+$/);
  assert.match(await page.text("#meta"), /output_audio_seconds.*stopfinished$/);
  await page.click("#play");
  await page.says("#play", /^Pause$/);
  await page.click("#stop");
  assert.equal(await page.text("#play"), "Play");
  assert.equal(await page.get("#stop", "disabled"), true);
});

it("hides what is hidden, and shows a reply's warnings", "", async (page) => {
  const seen = `[...document.querySelectorAll("[hidden]")]
        .filter((each) => getComputedStyle(each).display !== "none").map(({ id, className }) => id || className)`;
  assert.deepEqual(await page.evaluate(seen), []);
  await connect(page, server);
  assert.deepEqual(await page.evaluate(seen), []);
  await page.write("#turns li:last-child textarea", "Guten Morgen, wie geht es Ihnen heute?");
  await page.click("#speak");
  await page.says(
    "#state",
    /^Speaker 1 · the text looks like German, and the model .* reads it as if it were English$/,
  );
  assert.deepEqual(await page.evaluate(seen), []);
});

test("stops the generation when a reply is stopped", NEEDS_CHROMIUM, async () => {
  let goOn = () => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const own = await startTestServer({ tone: { beforeFrame: (index) => (index < 5 ? undefined : held) } });
  try {
    await inPlayground(own, "", async (page) => {
      await connect(page, own);
      await page.click("#speak");
      await page.says("#state", /^Speaking…$/);
      await page.press("Escape");
      await page.says("#state", /^Stopped\.$/);
      assert.equal(await page.get("#error", "hidden"), true);
      await until("the generation's end", async () => (await own.metric("active_streams")) === 0);
    });
  } finally {
    goOn();
    await own.stop();
  }
});

it("speaks each example at one click, and Back leaves it", "#0=My+own+words.", async (page) => {
  await connect(page, server);
  const said: string[] = [];
  const names = (await page.evaluate(
    `[...document.querySelectorAll("#examples button")].map((button) => button.textContent)`,
  )) as string[];
  assert.equal(new Set(names).size, 6);
  for (const index of names.keys()) {
    await page.evaluate(`document.querySelector("#state").textContent = ""`);
    await page.click(`#examples button:nth-of-type(${index + 1})`);
    await page.says("#state", /^Speaker \d$/);
    const given = `${await page.get(".turn.open textarea", "value")}`;
    said.push(await page.text("#words"));
    assert.equal(said[index], given || "It was wonderful. And you?", names[index]);
    assert.equal(await page.get("#error", "hidden"), true, names[index]);
  }
  assert.equal(new Set(said).size, 6);
  await page.evaluate("history.go(-6)");
  await page.is(`document.querySelector(".turn textarea").value === "My own words."`);
});

it("sends the audio of an example's earlier turn", "", async (page) => {
  await connect(page, server);
  await page.evaluate(
    `[...document.querySelectorAll("#examples button")].find(({ textContent }) => /recording/.test(textContent)).click()`,
  );
  await page.says("#state", /^Speaker 1$/);
  assert.match(await page.text(".turn .audio"), /^♪ turn-1\.wav, [1-9]\.\d s/);
  assert.match(await page.text("#meta"), /input_audio_seconds[1-9]/);
  await page.evaluate("history.back()");
  await page.is(`document.querySelector(".turn textarea").value === "Did you sleep well?"`);
  assert.equal(await page.evaluate("location.hash"), "");
});

test("hides knobs that do nothing with the chosen model", NEEDS_CHROMIUM, async () => {
  const heart = { name: "heart", memoryBytes: 1, load: () => createToneModel(), unusedKnobs };
  const own = await startTestServer({ checkpoints: [heart] });
  try {
    await inPlayground(own, "", async (page) => {
      await connect(page, own);
      const idle = async () =>
        await page.evaluate(`[...document.querySelectorAll(".knob")]
          .filter((knob) => knob.hidden)
          .map((knob) => knob.querySelector("label").textContent).join()`);
      assert.equal(await idle(), "Top k,Repetition penalty,Penalty window");
      await page.write("#model", "svc-atom-beta-v0.1");
      assert.equal(await idle(), "Acoustic temperature,Top k,Repetition penalty,Penalty window");
      await page.click("#reset");
      assert.equal(await idle(), "Acoustic temperature,Top k,Repetition penalty,Penalty window");
    });
  } finally {
    await own.stop();
  }
});

it("keeps the code in step with the page, copyable and without the key", "", async (page) => {
  await connect(page, server);
  await page.evaluate(`document.querySelector("#code").open = true`);
  await page.says("#program", /^curl .*Like a log/s);
  await page.write(".turn.open textarea", "The kettle is on.");
  await page.write("#knob-temperature", "0.25");
  const kinds = (await page.evaluate(
    `[...document.querySelectorAll("#kinds input")].map(({ value }) => value)`,
  )) as string[];
  assert.equal(kinds.length, 7);
  for (const kind of kinds) {
    await page.click(`#kinds input[value="${kind}"]`);
    const code = await page.text("#program");
    assert.ok(code.includes(new URL(server.url).hostname), kind);
    assert.ok(!code.includes(server.key), kind);
    if (/curl|Node|^Python$/.test(kind)) assert.match(code, /The kettle is on\..*0\.25/s, kind);
  }
  await page.send("Browser.grantPermissions", {
    permissions: ["clipboardReadWrite", "clipboardSanitizedWrite"],
  });
  await page.send("Page.bringToFront");
  await page.click("#copy");
  await page.says("#copy", /^Copied$/);
  assert.equal(await page.evaluate("navigator.clipboard.readText()"), await page.text("#program"));
});

test("restores a conversation from its address, which never has the key", NEEDS_CHROMIUM, async () => {
  let address = "";
  await inPlayground(server, "", async (page) => {
    await connect(page, server);
    assert.equal(await page.evaluate("location.hash"), "", "nothing was edited");
    await page.write(".turn textarea", "Where were we? 🎉 & <b>");
    await page.click("#add");
    await page.write(".turn.open textarea", "Here.");
    await page.write("#model", "svc-beta-v0.1");
    await page.write("#knob-temperature", "0.25");
    await page.is("location.hash.endsWith('temperature=0.25')");
    await page.click("#share");
    address = `${await page.evaluate("location.hash")}`;
    assert.ok(!address.includes(server.key.slice(4)));
  });
  await inPlayground(server, address, async (page) => {
    await connect(page, server);
    const shown = `JSON.stringify([
      [...document.querySelectorAll(".turn")].map((turn) => [turn.querySelector("select").value, turn.querySelector("textarea").value]),
      document.querySelector("#model").value, document.querySelector("#knob-temperature").value])`;
    assert.deepEqual(JSON.parse(`${await page.evaluate(shown)}`), [
      [
        ["0", "Where were we? 🎉 & <b>"],
        ["1", "Like a log, thank you. And you?"],
        ["0", "Here."],
      ],
      "svc-beta-v0.1",
      "0.25",
    ]);
    assert.equal(await page.evaluate("location.hash"), address);
    await speak(page);
    assert.equal(await page.text("#words"), "Here.");
  });
});

const ATTACK = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>`;

it(
  "shows markup in an address as text",
  `#${new URLSearchParams([
    ["0", ATTACK],
    ["1", ATTACK],
  ])}`,
  async (page) => {
    await connect(page, server);
    await page.evaluate(`document.querySelector("#code").open = true`);
    await page.says("#program", /onerror/);
    await speak(page);
    assert.equal(await page.text("#words"), ATTACK);
    assert.equal(await page.get(".turn textarea", "value"), ATTACK);
    assert.equal(await page.count("main img, main script"), 0);
    assert.equal(await page.evaluate("window.hacked"), undefined);
  },
);

test("reports an unreadable address and ignores it", NEEDS_CHROMIUM, async () => {
  const turns = `[...document.querySelectorAll(".turn textarea")].map(({ value }) => value).join("|")`;
  await inPlayground(server, `#${encodeURIComponent(ATTACK)}=Hello`, async (page) => {
    await page.says("#error", /^Part of the address was ignored\.Part of it is neither/);
    assert.equal(await page.evaluate(turns), "Did you sleep well?|Like a log, thank you. And you?");
    for (const [address, why] of [
      [`#0=${"a".repeat(20_000)}`, /longer than 16000 characters/],
      ["#0=%ff", /damaged/],
      ["#apikey=ant_0123456789", /It has no turn/],
      ["#key=ant_0123456789", /It has no turn/],
    ] as const) {
      await page.evaluate(`location.hash = ${JSON.stringify(address)}`);
      await page.says("#error", why);
      assert.equal(await page.evaluate(turns), "Did you sleep well?|Like a log, thank you. And you?");
      assert.equal(await page.get("#key", "value"), "");
    }
    await connect(page, server);
    await page.write("#knob-temperature", "0.25");
    await connect(page, server);
    await page.evaluate(`location.hash = "#0=%ff"`);
    await page.says("#error", /damaged/);
    assert.equal(await page.get("#knob-temperature", "value"), "0.25");
    await page.evaluate("window.isOld = true; location.reload()");
    await page.is(
      `window.isOld === undefined && document.querySelector("#key-state")?.textContent.startsWith("Connected")`,
    );
    await page.evaluate("window.faults = []");
    assert.match(await page.text("#error"), /damaged/, "connecting by itself does not hide it");
    await page.evaluate(`location.hash = "#0=Hello.&model=svc-none&temperature=9&top_k=3"`);
    await page.is(`document.querySelector(".turn.open textarea").value === "Hello."`);
    await page.says("#error", /This server does not accept its model svc-none, temperature\./);
    assert.equal(await page.get("#knob-top_k", "value"), "3");
    assert.equal(await page.get("#knob-temperature", "value"), "0.7");
  });
});
