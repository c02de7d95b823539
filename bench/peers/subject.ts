import { setTimeout as sleep } from "node:timers/promises";
import { TEN_WORDS } from "../load/service-speed.ts";
import { type AskOptions, ask, type Reply } from "./ask.ts";
import type { Contender } from "./contenders.ts";
import { treeCpuS } from "./process-tree.ts";
import type { Installed, RunningServer } from "./servers.ts";

/** A contender under measurement, whose server may be replaced by a fresh one. */
export class Subject {
  readonly contender: Contender;
  readonly #installed: Installed;
  #server: RunningServer;

  constructor(contender: Contender, installed: Installed, server: RunningServer) {
    this.contender = contender;
    this.#installed = installed;
    this.#server = server;
  }

  get server(): RunningServer {
    return this.#server;
  }

  say(text: unknown, options?: AskOptions): Promise<Reply> {
    return this.send(JSON.stringify(this.contender.body(text)), options);
  }

  send(body: string, options?: AskOptions): Promise<Reply> {
    const { url, headers } = this.#server;
    const { path, headerBytes } = this.contender;
    return ask({ url: `${url}${path}`, headers, headerBytes }, body, options);
  }

  cpuS(): number {
    return treeCpuS(this.#server.pid);
  }

  /** Stops the server and starts another, which is warm after three sentences. */
  async restart(): Promise<void> {
    await this.#server.stop();
    this.#server = await this.#installed.start();
    await this.warmUp();
  }

  async warmUp(): Promise<void> {
    for (const text of TEN_WORDS.slice(0, 3)) await this.say(text);
  }

  /** Waits until the server has used next to no processor time for half a second. @returns whether it came to rest */
  async rests(withinMs: number): Promise<boolean> {
    const endMs = performance.now() + withinMs;
    let [last, calm] = [this.cpuS(), 0];
    while (performance.now() < endMs && calm < 2) {
      await sleep(250);
      const now = this.cpuS();
      calm = now - last <= 0.01 ? calm + 1 : 0;
      last = now;
    }
    return calm >= 2;
  }
}
