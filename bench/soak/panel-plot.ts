import { median } from "../load/percentile.ts";

/** Lines over one scale, by name. The area below each is filled, and later ones are drawn over earlier ones. */
export type Panel = Readonly<Record<string, readonly number[]>>;

const [WIDTH, HEIGHT, LEFT, TOP, STEP] = [720, 96, 60, 70, 144];
/** Visible on light and dark pages. */
const COLOURS = ["#1f9268", "#388bfd", "#c69026", "#8c959f"];
/** Medians replace neighbouring points if there are more. */
const MAX_POINTS = 120;

/** Draws panels, by title, over one axis of time as an SVG that follows the reader's light or dark scheme. */
export function panelPlot(title: string, endS: number, panels: Readonly<Record<string, Panel>>): string {
  const height = TOP + Object.keys(panels).length * STEP - 8;
  const [unitS, unit] = endS > 3 * 3_600 ? [3_600, "h"] : [60, "min"];
  const ticks = [0.25, 0.5, 0.75, 1].map((share) => {
    const label = `${Number(((share * endS) / unitS).toFixed(1))} ${unit}`;
    return text("note", LEFT + share * (WIDTH - LEFT - 16), height - 24, label, "end");
  });
  const drawn = Object.entries(panels).map(([name, panel], at) => drawPanel(name, panel, TOP + at * STEP));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img"
  font-family="ui-sans-serif, system-ui, sans-serif" font-size="12">
  <title>${title}</title>
  <style>
    .title { fill: #1f2328; } .note { fill: #59636e; }
    @media (prefers-color-scheme: dark) { .title { fill: #f0f6fc; } .note { fill: #9198a1; } }
  </style>
${[text("title", 16, 26, title), ...drawn, ...ticks].join("\n")}
</svg>
`;
}

function drawPanel(title: string, panel: Panel, top: number): string {
  const values = Object.values(panel).map(thinned);
  const [max, bottom] = [Math.max(1, ...values.flat()), top + HEIGHT];
  const paths = values.map((own, index) => {
    const x = (at: number) => (LEFT + ((at + 1) / own.length) * (WIDTH - LEFT - 16)).toFixed(1);
    const points = own
      .map((value, at) => `${x(at)} ${(bottom - (HEIGHT * value) / max).toFixed(1)}`)
      .join("L");
    return `  <path fill="${COLOURS[index]}" d="M${points}V${bottom}H${x(0)}Z"/>`;
  });
  const legend = Object.keys(panel).map(
    (name, index) => `<tspan fill="${COLOURS[index]}" dx="12">■</tspan> ${name}`,
  );
  const scale = Number(max.toPrecision(3)).toLocaleString("en");
  const labels = [text("note", LEFT - 8, top + 9, scale, "end"), text("note", LEFT - 8, bottom, "0", "end")];
  return [text("title", LEFT, top - 8, `${title} ${legend.join("")}`), ...paths, ...labels].join("\n");
}

function text(style: string, x: number, y: number, content: string, anchor = "start"): string {
  return `  <text class="${style}" x="${x}" y="${y}" text-anchor="${anchor}">${content}</text>`;
}

function thinned(values: readonly number[]): readonly number[] {
  const size = Math.ceil(values.length / MAX_POINTS);
  const count = Math.ceil(values.length / size);
  return Array.from({ length: count }, (_, at) => median(values.slice(at * size, (at + 1) * size)));
}
