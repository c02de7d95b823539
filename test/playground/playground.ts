import assert from "node:assert/strict";
import type { TestServer } from "../api/http/start.ts";
import { inChromium, type OpenPage } from "../client/browser.ts";
import { until } from "../waiting.ts";

/** The playground in a browser. Elements are named by CSS selectors. */
export interface Playground extends OpenPage {
  text(selector: string): Promise<string>;
  /** Returns a property of an element. */
  get(selector: string, property: string): Promise<unknown>;
  count(selector: string): Promise<unknown>;
  /** Waits for an element's text. */
  says(selector: string, what: RegExp): Promise<void>;
  /** Waits for an expression to be true; none is while the page loads. */
  is(expression: string): Promise<void>;
  click(selector: string): Promise<void>;
  /** Writes into a field and fires its events. */
  write(selector: string, value: string): Promise<void>;
}

export interface PlaygroundOptions {
  /** Keeps the view for talking, with which the page opens, instead of the one for writing. */
  readonly isTalk?: boolean;
  /** Flags of the browser. */
  readonly flags?: readonly string[];
}

/** Opens the playground with a fragment. Any error in the page fails the test. */
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
      get: (selector, property) => evaluate(`${element(selector)}.${property}`),
      count: (selector) => evaluate(`document.querySelectorAll(${JSON.stringify(selector)}).length`),
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

export async function connect(page: Playground, { key }: TestServer): Promise<void> {
  await page.evaluate(`document.querySelector("#key-state").textContent = ""`);
  await page.write("#key", key);
  await page.click("#key-form button");
  await page.says("#key-state", /^Connected/);
}

/** Speaks the last turn and waits until the page has received all of it. */
export async function speak(page: Playground): Promise<void> {
  await page.click("#speak");
  await page.says("#state", /^Speaker \d$/);
}
