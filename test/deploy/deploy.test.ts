import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { Ajv } from "ajv";
import { parse } from "yaml";
import { loadSettings } from "../../src/settings/load.ts";
import { startTestServer, type TestServer } from "../api/http/start.ts";
import { TOP, temporaryFolder } from "../e2e/folders.ts";

const read = (path: string) => readFileSync(join(TOP, path), "utf8");
/** The example settings in docs/scaling.md. */
const documented = (): { drainDelayMs: number; shutdownGraceMs: number } =>
  JSON.parse(/```json\n([\s\S]*?)```/.exec(read("docs/scaling.md"))![1]!);
const yaml = (path: string) => parse(read(path), { merge: true });

interface Service {
  readonly volumes?: readonly string[];
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly stop_grace_period?: string;
}

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets: readonly { readonly datasource: { readonly uid: string } }[];
  readonly fieldConfig: { readonly defaults: { readonly unit: string } };
}

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.stop());

test("the dashboard and the alerts use existing metrics", async () => {
  await server.post("/v1/tts", { text: "Hello." });
  const exposed = new Set(
    [...(await (await server.get("/metrics")).text()).matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(
      ([, name = "", type]) =>
        type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
  for (const path of ["deploy/grafana/antiphon.json", "deploy/chart/antiphon/files/alerts.yml"]) {
    const asked = new Set(read(path).match(/\bantiphon_[a-z0-9_]+/g));
    assert.ok(asked.size >= 6, `${path} asks for something`);
    for (const name of asked) assert.ok(exposed.has(name), `${path}: ${name}`);
  }
  const autoscaling = read("deploy/chart/antiphon/templates/autoscaling.yaml");
  for (const name of autoscaling.match(/\bantiphon_[a-z_]+/g)!) assert.ok(exposed.has(name), name);
});

test("docs/monitoring.md names exactly the alerts", () => {
  const { groups } = yaml("deploy/chart/antiphon/files/alerts.yml") as {
    groups: { rules: { alert: string; annotations: { summary: string } }[] }[];
  };
  const alerts = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
  const named = read("docs/monitoring.md").match(/\bAntiphon[A-Z]\w+/g) ?? [];
  assert.deepEqual([...new Set(named)].sort(), alerts.sort());
});

test("dashboard panels have titles, units, a place and a source", () => {
  const dashboard = JSON.parse(read("deploy/grafana/antiphon.json"));
  const sources = yaml("deploy/grafana/provisioning/datasources/prometheus.yml").datasources;
  const taken = new Set<string>();
  for (const { title, type, gridPos, targets, fieldConfig } of dashboard.panels as Panel[]) {
    if (type === "row") continue;
    assert.ok(title && fieldConfig.defaults.unit, `${title} has a unit`);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        assert.ok(x < 24 && !taken.has(`${x},${y}`), `${title} overlaps another`);
        taken.add(`${x},${y}`);
      }
    }
    for (const { datasource } of targets) assert.equal(datasource.uid, sources[0].uid, title);
  }
});

test("the chart's settings are accepted by the program", () => {
  const values = yaml("deploy/chart/antiphon/values.yaml");
  const configFile = join(temporaryFolder(), "settings.json");
  writeFileSync(configFile, JSON.stringify(values.settings));
  const env = { ANTIPHON_STORE_URL: "postgres://db/antiphon", ANTIPHON_BUCKETS_URL: "redis://valkey" };
  assert.equal(loadSettings({ configFile, env }).drainDelayMs, 5_000);
});

test("the chart's values fit its schema, and all are described", () => {
  const values: object = yaml("deploy/chart/antiphon/values.yaml");
  const schema = JSON.parse(read("deploy/chart/antiphon/values.schema.json"));
  const validate = new Ajv({ strict: false }).compile(schema as object);
  assert.ok(validate(values), JSON.stringify(validate.errors));
  const described = Object.keys(schema.properties).filter((name) => name !== "global");
  assert.deepEqual(Object.keys(values).sort(), described.sort());
});

test("the chart has the package's version", () => {
  const { version } = JSON.parse(read("package.json"));
  const chart = yaml("deploy/chart/antiphon/Chart.yaml");
  assert.equal(chart.appVersion, version);
  assert.equal(chart.version, version);
});

test("compose uses existing settings and files, and waits long enough", () => {
  const { services, volumes } = yaml("deploy/compose/compose.yaml");
  for (const [name, service] of Object.entries(services as Record<string, Service>)) {
    const { volumes: mounts = [], environment = {} } = service;
    for (const mount of mounts) {
      const [from = ""] = mount.split(":");
      if (from.startsWith(".")) assert.ok(existsSync(join(TOP, "deploy/compose", from)), `${name}: ${from}`);
      else assert.ok(from in (volumes as object), `${name}: ${from}`);
    }
    if (!name.startsWith("antiphon")) continue;
    const env = Object.fromEntries(Object.entries(environment).map(([key, value]) => [key, `${value}`]));
    const { drainDelayMs, shutdownGraceMs } = loadSettings({ env });
    const graceS = Number.parseInt(service.stop_grace_period ?? "", 10);
    assert.ok(graceS * 1_000 > drainDelayMs + shutdownGraceMs);
  }
});

test("the image's build reads the files that it copies", () => {
  const dockerfile = read("Dockerfile");
  const given = read(".dockerignore")
    .split("\n")
    .flatMap((line) => (line.startsWith("!") ? [line.slice(1)] : []));
  assert.match(read(".dockerignore"), /^bench\/\.cache$/m);
  const { files, bin } = JSON.parse(read("package.json")) as { files: string[]; bin: { antiphon: string } };
  const sources = files.filter((file) => !file.startsWith("dist"));
  for (const file of [...sources, "src", "scripts", "package-lock.json", "tsconfig.json"])
    assert.ok(given.includes(file), `.dockerignore excludes ${file}`);
  for (const file of given) assert.ok(existsSync(join(TOP, file)), `${file} does not exist`);
  const entry = JSON.parse(/^ENTRYPOINT (.+)$/m.exec(dockerfile)![1]!) as string[];
  assert.equal(entry.at(-1), `/antiphon/${bin.antiphon}`);
  assert.match(dockerfile, /^USER [1-9]/m);
});

test("the image's health check follows readiness", async () => {
  const [, script] = /"-e", ("(?:[^"\\]|\\.)*")\]/.exec(read("Dockerfile"))!;
  const check = async (port: number) => {
    const env = { ...process.env, ANTIPHON_PORT: `${port}` };
    const outcome = promisify(execFile)(process.execPath, ["-e", JSON.parse(script!)], { env });
    return outcome.then(
      () => 0,
      ({ code }: { code: number }) => code,
    );
  };
  const port = Number(new URL(server.url).port);
  assert.equal(await check(port), 0);
  const mute = await startTestServer({ canSpeak: () => false });
  try {
    assert.equal(await check(Number(new URL(mute.url).port)), 1);
  } finally {
    await mute.stop();
  }
  assert.equal(await check(Number(new URL(mute.url).port)), 1);
});

test("systemd passes existing settings, and waits long enough", () => {
  for (const name of ["antiphon.service", "antiphon@.service"]) {
    const unit = read(`deploy/systemd/${name}`);
    const variables = [...unit.matchAll(/(ANTIPHON_[A-Z_]+)=(\S+)/g)];
    const env = Object.fromEntries(variables.map(([, key = "", value = ""]) => [key, value]));
    assert.ok(Object.keys(env).length > 1);
    loadSettings({ env });
    assert.doesNotMatch(unit, /^MemoryDenyWriteExecute=yes/m);
    const { drainDelayMs, shutdownGraceMs } = documented();
    assert.ok(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)![1]) * 1_000 > drainDelayMs + shutdownGraceMs);
  }
});

for (const file of ["deploy/haproxy/haproxy.cfg", "deploy/nginx/antiphon.conf"]) {
  test(`${dirname(file)} waits longer than a reply may take`, () => {
    const { requestTimeoutMs, heartbeatMs } = loadSettings();
    const timeouts = /(?:timeout (?:client|server)|proxy_(?:read|send)_timeout) +(\d+)s/g;
    const waits = [...read(file).matchAll(timeouts)];
    assert.equal(waits.length, 2);
    for (const [text, seconds] of waits)
      assert.ok(Number(seconds) * 1_000 > Math.max(requestTimeoutMs, 2 * heartbeatMs), text);
  });
}

test("nginx serves TLS on 443, and listens on no port of Antiphon's own", () => {
  const nginx = read("deploy/nginx/antiphon.conf");
  const listens = [...nginx.matchAll(/^ *listen (?:\[::\]:)?(\d+)( ssl)?;$/gm)];
  assert.deepEqual([...new Set(listens.map(([, port, ssl = ""]) => port + ssl))], ["80", "443 ssl"]);
  assert.match(nginx, /^ +ssl_certificate \S+;\n +ssl_certificate_key \S+;$/m);
});

test("nginx upgrades WebSockets, and keeps other connections alive", () => {
  for (const part of [
    /map \$http_upgrade \$antiphon_upgrade \{\s+"~\*\^websocket\$" websocket;\s+default +"";/,
    /map \$antiphon_upgrade \$antiphon_connection \{\s+websocket upgrade;\s+default +"";/,
    /proxy_set_header Upgrade \$antiphon_upgrade;\s+proxy_set_header Connection \$antiphon_connection;/,
  ])
    assert.match(read("deploy/nginx/antiphon.conf"), part);
});
