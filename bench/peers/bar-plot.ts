const BAR = 24;
const GAP = 10;
const LEFT = 130;
const TOP = 52;
const WIDTH = 720;

/** Draws horizontal bars as an SVG, whose colours follow the reader's light or dark scheme. Antiphon's bar stands out. */
export function barPlot(
  title: string,
  bars: readonly { readonly name: string; readonly value: number; readonly shown: string }[],
): string {
  const scale = (WIDTH - LEFT - 90) / Math.max(...bars.map(({ value }) => value));
  const height = TOP + bars.length * (BAR + GAP) + 6;
  const drawn = bars.map(({ name, value, shown }, index) => {
    const y = TOP + index * (BAR + GAP);
    const length = Math.max(2, Math.round(value * scale));
    return `  <text class="name" x="${LEFT - 10}" y="${y + 17}" text-anchor="end">${name}</text>
  <rect class="${name === "Antiphon" ? "ours" : "peer"}" x="${LEFT}" y="${y}" width="${length}" height="${BAR}" rx="3"/>
  <text class="value" x="${LEFT + length + 8}" y="${y + 17}">${shown}</text>
`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img"
  font-family="ui-sans-serif, system-ui, sans-serif" font-size="14">
  <title>${title}</title>
  <style>
    .name, .title { fill: #1f2328; } .value { fill: #59636e; } .ours { fill: #1a7f5a; } .peer { fill: #afb8c1; }
    @media (prefers-color-scheme: dark) {
      .name, .title { fill: #f0f6fc; } .value { fill: #9198a1; } .ours { fill: #3fb68b; } .peer { fill: #4c545d; }
    }
  </style>
  <text class="title" x="16" y="26" font-weight="600">${title}</text>
${drawn.join("")}</svg>
`;
}
