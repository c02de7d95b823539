import assert from "node:assert/strict";
import type { TestServer } from "../api/http/start.ts";
import { inChromium, type OpenPage } from "../client/browser.ts";
import { until } from "../waiting.ts";

/** The playground in a browser. Elements are named by CSS selectors. */
export interface Playground extends OpenPage {
  text(selector: string): Promise<string>;
  /** Waits for an element's text. */
  says(selector: string, what: RegExp): Promise<void>;
  /** Waits for an expression to be true; of a page that is just being loaded none is. */
  is(expression: string): Promise<void>;
  click(selector: string): Promise<void>;
  /** Writes into a field, as its user would. */
  write(selector: string, value: string): Promise<void>;
}

/** How the playground is opened. */
export interface PlaygroundOptions {
  /** Whether the conversation that is held by voice stays in sight, as the page opens; else the one in writing is shown. */
  readonly isTalk?: boolean;
  /** Of the browser. */
  readonly flags?: readonly string[];
}

/** Opens the playground, with a fragment behind its address. Whatever goes wrong in the page itself fails the test. */
export async function inPlayground(
  { url }: TestServer,
  fragment: string,
  use: (page: Playground) => Promise<void>,
  { isTalk = false, flags = [] }: PlaygroundOptions = {},
): Promise<void> {
  const inPage = async (page: OpenPage): Promise<void> => {
    const element = (selector: string) => `document.querySelector(${JSON.stringify(selector)})`;
    const evaluate = page.evaluate;
    await evaluate(`
      window.faults = [];
      for (const [name, key] of [["error", "message"], ["unhandledrejection", "reason"], ["securitypolicyviolation", "blockedURI"]])
        addEventListener(name, (event) => faults.push(name + ": " + event[key]));`);
    if (!isTalk) await evaluate(`${element("#view-compose")}.click()`);
    const text = async (selector: string) => `${await evaluate(`${element(selector)}.textContent`)}`;
    const playground: Playground = {
      ...page,
      text,
      says: (selector, what) =>
        until(`${selector} to say ${what}`, async () => what.test(await text(selector))),
      is: (expression) =>
        until(expression, async () => (await evaluate(expression).catch(() => false)) === true),
      async click(selector) {
        await evaluate(`${element(selector)}.click()`);
      },
      async write(selector, value) {
        await evaluate(`{
          const field = ${element(selector)};
          field.value = ${JSON.stringify(value)};
          for (const name of ["input", "change"]) field.dispatchEvent(new Event(name, { bubbles: true }));
        }`);
      },
    };
    try {
      await use(playground);
    } catch (error) {
      const shown = await evaluate("document.body.innerText").catch(() => "nothing");
      throw new Error(`${(error as Error).message}\nThe page says:\n${shown}`, { cause: error });
    }
    assert.deepEqual(await evaluate("faults"), []);
  };
  await inChromium(`${url}/${fragment}`, inPage, flags);
}

/** Connects with the server's key. */
export async function connect(page: Playground, { key }: TestServer): Promise<void> {
  await page.evaluate(`document.querySelector("#key-state").textContent = ""`);
  await page.write("#key", key);
  await page.click("#key-form button");
  await page.says("#key-state", /^Connected/);
}

/** Has the last turn spoken, and waits until the page has all of it; it may still be heard. */
export async function speak(page: Playground): Promise<void> {
  await page.click("#speak");
  await page.says("#state", /^Speaker \d$/);
}
