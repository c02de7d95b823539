// Draws docs/performance.svg from the row "peers-first-audio" of docs/performance.json, after a build:
//   node scripts/performance-plot.mjs
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { barPlot } from "../dist/bench/peers/bar-plot.js";

const at = (name) => fileURLToPath(new URL(`../docs/${name}`, import.meta.url));

const { rows } = JSON.parse(readFileSync(at("performance.json"), "utf8"));
const { measured } = rows.find(({ id }) => id === "peers-first-audio");
const bars = [...measured.matchAll(/([^;]+?) ((\d+) ms)/g)].map(([, name, shown, ms]) => {
  return { name: name.trim(), value: Number(ms), shown };
});
writeFileSync(at("performance.svg"), barPlot("Time to first audio (shorter is better)", bars));
