import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, describe, it } from "node:test";
import { Redis } from "iovalkey";
import type { Buckets } from "../../../src/accounts/buckets.ts";
import { openBuckets } from "../../../src/accounts/open.ts";
import { reconnectPauseMs } from "../../../src/accounts/valkey/valkey.ts";
import { freePort } from "../../free-port.ts";
import { until } from "../../waiting.ts";
import { needsValkey, startValkey, type ValkeyServerOptions } from "./valkey-server.ts";

const PASSWORD = "hunter2 is secret";
/** Refills nothing during a test. */
const TERMS = { rpm: 1, burst: 100 };

const closings: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).reverse()) await close();
});

async function serverOf(options: ValkeyServerOptions = {}) {
  const server = await startValkey(options);
  closings.push(() => server.stop());
  const admin = new Redis(server.url).on("error", () => {});
  closings.push(() => admin.disconnect());
  return Object.assign(server, { admin });
}

async function bucketsAt(url: string, timeoutMs = 10_000) {
  const messages: string[] = [];
  let alone = 0;
  const settings = { kind: "valkey", prefix: "antiphon", timeoutMs } as const;
  const buckets: Buckets = await openBuckets(settings, url, {
    onFailure: (message) => messages.push(message),
    onRecovery: () => messages.push("well"),
    onTakeAlone: () => {
      alone += 1;
    },
  });
  closings.push(() => buckets.close());
  const takesUntil = (what: string, isShared: boolean) =>
    until(what, async () => {
      const before = alone;
      await buckets.take("key_probe", TERMS);
      return (alone === before) === isShared;
    });
  return {
    buckets,
    messages,
    alone: () => alone,
    take: async () => (await buckets.take("key_a", TERMS)).remaining,
    untilShared: () => takesUntil("shared buckets", true),
    untilAlone: () => takesUntil("a bucket of its own", false),
  };
}

describe("buckets with a failing Valkey server", needsValkey(), () => {
  it("go on alone when it is killed, and are shared again afterwards", async () => {
    const server = await serverOf();
    const world = await bucketsAt(server.url);
    assert.equal(await world.take(), 99);
    assert.equal(await world.take(), 98);
    await server.signal("SIGKILL");
    assert.equal(await world.take(), 97, "it goes on from what it knows");
    await world.untilAlone();
    await until("its failure to be messages", async () => {
      await world.take();
      return world.messages.length === 1;
    });
    assert.match(`${world.messages[0]}`, new RegExp(`127\\.0\\.0\\.1:${server.port} cannot be reached`));
    await serverOf({ port: server.port });
    await world.untilShared();
    assert.equal(await world.take(), 99);
    assert.equal(world.messages.at(-1), "well");
  });

  it("answer alone while it hangs, and are shared again", async () => {
    const server = await serverOf();
    const world = await bucketsAt(server.url, 100);
    await world.take();
    const before = world.alone();
    await server.signal("SIGSTOP");
    for (let i = 0; i < 50; i++) await world.take();
    assert.equal(world.alone() - before, 50);
    assert.match(`${world.messages[0]}`, /no answer within 100 ms/);
    await server.signal("SIGCONT");
    await world.untilShared();
    // The server may have run the three takes that were sent while it hung.
    const left = await world.take();
    assert.ok(left >= 95 && left <= 99, `${left} left`);
  });

  it("replace a connection that is silent", async () => {
    const server = await serverOf();
    const way = await wayTo(server.port);
    const world = await bucketsAt(`redis://127.0.0.1:${way.port}`, 100);
    assert.equal(await world.take(), 99);
    way.swallow(true);
    await world.take();
    await until("another connection", async () => {
      await world.take();
      return way.connections() > 1;
    });
    way.swallow(false);
    await world.untilShared();
  });

  it("start without it, and find it later", async () => {
    const port = await freePort();
    const world = await bucketsAt(`redis://127.0.0.1:${port}`);
    assert.match(`${world.messages}`, /ECONNREFUSED/);
    assert.equal(await world.take(), 99);
    await serverOf({ port });
    await world.untilShared();
    assert.equal(world.messages.at(-1), "well");
  });

  it("report a wrong or missing password, without it", async () => {
    const server = await startValkey({ flags: ["--requirepass", PASSWORD] });
    closings.push(() => server.stop());
    const right = encodeURIComponent(PASSWORD);
    for (const user of [":wrong-hunter3@", "ann:wrong-hunter3@", ""]) {
      const world = await bucketsAt(`redis://${user}127.0.0.1:${server.port}`);
      assert.equal(await world.take(), 99);
      assert.match(
        `${world.messages}`,
        /refuse the user or the password.*correct them in ANTIPHON_BUCKETS_URL/,
      );
      assert.doesNotMatch(`${world.messages}`, /hunter/);
    }
    const world = await bucketsAt(`redis://:${right}@127.0.0.1:${server.port}`);
    await world.take();
    assert.deepEqual([world.messages, world.alone()], [[], 0]);
  });

  it("report the permissions that a user lacks", async () => {
    const server = await serverOf();
    const few = "on >pw ~antiphon:b:* +info +eval +evalsha";
    const rest = "+time +get +set";
    await server.admin.call("ACL", "SETUSER", "ann", ...few.split(" "));
    const world = await bucketsAt(`redis://ann:pw@127.0.0.1:${server.port}`);
    for (let i = 0; i < 3; i++) await world.take();
    assert.match(
      `${world.messages}`,
      /do not let their user in .*allow it EVAL, EVALSHA, TIME, GET, SET and INFO/,
    );
    await server.admin.call("ACL", "SETUSER", "ann", ...rest.split(" "));
    await world.untilShared();
  });

  it("never repeat a password that the server repeats", async () => {
    const port = await listening(
      createServer((socket) => {
        socket.on("error", () => {});
        socket.on("data", (bytes) =>
          socket.write(`-ERR what is '${bytes.toString().split("\r\n").join(" ")}'\r\n`),
        );
      }),
    );
    const world = await bucketsAt(`redis://:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}`);
    for (let i = 0; i < 5; i++) await world.take();
    assert.match(`${world.messages}`, /what is .*AUTH|auth/i);
    assert.doesNotMatch(`${world.messages}`, /hunter/);
  });

  it("may be evicted one by one", async () => {
    const server = await serverOf();
    const { admin } = server;
    const world = await bucketsAt(server.url);
    assert.equal(await world.take(), 99);
    const used = Number(/used_memory:(\d+)/.exec(await admin.info("memory"))?.[1]);
    await admin.config("SET", "maxmemory-policy", "allkeys-lru");
    await admin.config("SET", "maxmemory", `${used + 100_000}`);
    let others = 0;
    await until("the bucket to be forgotten", async () => {
      const names = Array.from({ length: 200 }, () => `key_${++others}`);
      await Promise.all(names.map((name) => world.buckets.take(name, TERMS)));
      return (await admin.exists("antiphon:b:{key_a}")) === 0;
    });
    assert.equal(await world.take(), 99, "so it is full again");
    assert.equal(world.alone(), 0, "and the server decided over every take");
  });

  it("go on alone while its memory is full and it may not evict", async () => {
    const server = await serverOf();
    const world = await bucketsAt(server.url);
    assert.equal(await world.take(), 99);
    await server.admin.config("SET", "maxmemory-policy", "noeviction");
    await server.admin.config("SET", "maxmemory", "1");
    for (let i = 0; i < 3; i++) assert.equal(await world.take(), 98 - i);
    assert.match(`${world.messages}`, /have no memory left .*allkeys-lru/);
    await server.admin.config("SET", "maxmemory", "0");
    await world.untilShared();
    assert.equal(await world.take(), 98, "what was taken alone is not made up for");
  });

  it("go on alone on a replica, and resolve the name again", async () => {
    const server = await serverOf();
    const world = await bucketsAt(server.url);
    await world.take();
    const [before = ""] = await clientIds(server.admin);
    await server.admin.replicaof("127.0.0.1", "1");
    await until("its failure to be messages", async () => {
      await world.take();
      return world.messages.length > 0;
    });
    assert.match(`${world.messages}`, /are a replica's .*name the primary/);
    await server.admin.replicaof("NO", "ONE");
    await world.untilShared();
    assert.ok(!(await clientIds(server.admin)).includes(before), "by another connection");
  });

  it("report a server that is not Valkey", async () => {
    const web = await bucketsAt(`redis://127.0.0.1:${await listening(createHttpServer())}`);
    assert.equal(await web.take(), 99);
    assert.match(`${web.messages}`, /no Valkey server's .*correct ANTIPHON_BUCKETS_URL/);
    const silent = createServer((socket) => socket.resume());
    const mute = await bucketsAt(`redis://127.0.0.1:${await listening(silent)}`, 100);
    assert.equal(await mute.take(), 99);
    assert.match(`${mute.messages}`, /cannot be reached/);
    const gone = await bucketsAt(
      `redis://127.0.0.1:${await listening(createServer((socket) => socket.destroy()))}`,
    );
    assert.equal(await gone.take(), 99);
    assert.match(`${gone.messages}`, /cannot be reached/);
  });

  it("reconnect at least four times a second", () => {
    const pauses = Array.from({ length: 1_000 }, (_, attempt) => reconnectPauseMs(attempt + 1));
    assert.ok(pauses.every((ms) => ms > 0 && ms <= 250));
  });
});

/** Returns the ids of all other connections. */
async function clientIds(admin: Redis): Promise<string[]> {
  const own = await admin.client("ID");
  const list = `${await admin.client("LIST")}`;
  return [...list.matchAll(/^id=(\d+)/gm)].map(([, id = ""]) => id).filter((id) => id !== `${own}`);
}

/** A proxy that can swallow all bytes. */
async function wayTo(port: number) {
  let isSwallowing = false;
  let connections = 0;
  const proxy = createServer((near) => {
    connections += 1;
    const far = connect(port, "127.0.0.1");
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on("data", (bytes) => {
        if (!isSwallowing) to.write(bytes);
      });
      from.on("error", () => {});
      from.on("close", () => to.destroy());
    }
  });
  return {
    port: await listening(proxy),
    swallow(isSo: boolean) {
      isSwallowing = isSo;
    },
    connections: () => connections,
  };
}

/** Listens until the test ends. */
async function listening(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closings.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
