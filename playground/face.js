// A portrait for each voice, made of shapes and colour. Its mouth takes the shapes that visemes name.

/** Each of Oculus's fifteen visemes: half the width, and how far the lips are above and below the corners. */
const MOUTHS = {
  sil: [10, -3.5, 5],
  PP: [8, -0.5, 1],
  FF: [8, 0, 2],
  TH: [8, 2, 3],
  DD: [9, 2, 4],
  kk: [9, 3, 4],
  CH: [6, 4, 4],
  SS: [10, 1, 2],
  nn: [9, 1, 3],
  RR: [6, 3, 4],
  aa: [9, 5, 11],
  E: [11, 3, 6],
  I: [11, 2, 4],
  O: [6, 6, 8],
  U: [4, 4, 5],
};

const INK = "#221a16";
const SKIN = ["#f6d3b8", "#e8b48c", "#c98a5e", "#9c6644", "#70452e"];
/** People with dark skin get one of the first two. */
const HAIR = ["#2a211d", "#50352a", "#a4592a", "#d8a24a", "#8c2f2b"];
const GREY = ["#80868e", "#b9bec4"];
const GREY_AGE = 50;

/** Hair behind the head and over it, as paths. */
const STYLES = {
  long: ["M16 58V27a16 16 0 0 1 32 0V58Z", "M17 33Q17 12 33 12Q47 13 47 33Q46 26 32 17Q20 24 17 33Z"],
  bob: [
    "M15 42V27a17 16 0 0 1 34 0V42Q43 46 41 38H23Q21 46 15 42Z",
    "M19 29V20Q32 8 45 20V29Q44 22 32 22T19 29Z",
  ],
  bun: ["M24 9a8 8 0 1 1 16 0a8 8 0 1 1-16 0", "M18 29Q18 12 32 12T46 29Q43 20 32 18Q21 20 18 29Z"],
  afro: [
    "M32 4a19 18 0 0 1 19 20a10 10 0 0 1-8 15H21a10 10 0 0 1-8-15A19 18 0 0 1 32 4",
    "M20 25Q24 15 32 15T44 25Q38 20 32 20T20 25Z",
  ],
  tail: ["M42 14Q60 16 54 46Q50 52 46 48Q50 34 42 24Z", "M18 29Q16 11 33 11T46 28Q42 17 28 19Q21 22 18 29Z"],
  pixie: ["M18 32V24a14 14 0 0 1 28 0V32Z", "M18 27Q18 11 34 10Q47 12 46 27Q43 21 38 17Q30 25 18 27Z"],
  short: ["M18 30V24a14 13 0 0 1 28 0V30Z", "M19 25Q19 12 32 12T45 25Q42 19 32 19T19 25Z"],
  parted: ["M18 30V24a14 13 0 0 1 28 0V30Z", "M18 27Q15 12 30 10Q48 9 46 27Q44 18 26 17Q21 20 18 27Z"],
  flat: ["M18 29V15H46V29Z", "M18 24V10Q32 6 46 10V24Q43 18 32 18T18 24Z"],
  curls: [
    "M18 29V22H46V29Z",
    "M17 24a6 6 0 0 1 4-10a7 7 0 0 1 11-5a7 7 0 0 1 11 5a6 6 0 0 1 4 10a5 5 0 0 1-7-4a6 6 0 0 1-8 0a6 6 0 0 1-8 0a5 5 0 0 1-7 4",
  ],
  bald: ["", ""],
  cap: ["M18 31V24H46V31Z", "M17 24Q17 9 32 9T47 24Q32 20 17 24Z"],
};
const WOMENS = ["long", "afro", "bob", "bun", "pixie", "tail"];
const MENS = ["short", "curls", "parted", "bald", "flat", "cap"];

/** Returns the same number for the same voice: the place of a model's own voices, a hash (FNV-1a) of other ids. */
function seedOf(id) {
  if (/^\d{1,4}$/.test(id)) return Number(id);
  let hash = 0x811c9dc5;
  for (const character of id) hash = Math.imul(hash ^ character.codePointAt(0), 0x01000193) >>> 0;
  return hash;
}

/** Draws the portrait of a voice, grey-haired if its description gives such an age. `show` has its mouth take a shape at once, or gradually while it moves. */
export function drawFace({ id, sex = null, description = "" }) {
  const seed = seedOf(id);
  const pick = (list, every = 1) => list[Math.floor(seed / every) % list.length];
  // Multiples of the golden angle are far apart.
  const hue = Math.round(seed * 137.508) % 360;
  const styles = { female: WOMENS, male: MENS }[sex] ?? [...WOMENS, ...MENS];
  const style = pick(styles, sex === null ? 1 : 2);
  const skin = pick(SKIN);
  const isGrey = Number(/\babout (\d\d)\b/.exec(description)?.[1]) >= GREY_AGE;
  const colours = isGrey ? GREY : SKIN.indexOf(skin) > 2 ? HAIR.slice(0, 2) : HAIR;
  const hair = style === "cap" ? `hsl(${(hue + 150) % 360} 45% 40%)` : pick(colours, 3);
  const shirt = `hsl(${(hue + 190) % 360} 48% 42%)`;
  const svg = element("svg", { viewBox: "0 0 64 64", class: "face", "aria-hidden": true });
  const add = (tag, attributes) => svg.appendChild(element(tag, attributes));
  const [behind, over] = STYLES[style];
  add("rect", { width: 64, height: 64, fill: `hsl(${hue} 58% 80%)` });
  add("path", { d: behind, fill: hair });
  add("path", { d: "M6 66Q7 49 32 49T58 66Z", fill: shirt });
  add("path", { d: "M26 38H38V48Q32 55 26 48Z", fill: skin });
  add("path", { d: "M26 42Q32 47 38 42V44Q32 49 26 44Z", fill: "#0002" });
  for (const cx of [18.5, 45.5]) add("circle", { cx, cy: 31, r: 3, fill: skin });
  add("path", { d: "M19 27Q19 15 32 15T45 27V31Q44 44 32 45T19 31Z", fill: skin });
  const hasBeard = sex === "male" && (style === "bald" || seed % 3 === 0);
  if (hasBeard)
    add("path", { d: "M19 31Q22 36 26 34Q32 31 38 34Q42 36 45 31Q45 46 32 47T19 31Z", fill: hair });
  add("path", { d: over, fill: hair });
  const stroke = { fill: "none", stroke: INK, "stroke-width": 1.2, "stroke-linecap": "round" };
  for (const cx of [26, 38]) {
    add("ellipse", { class: "eye", cx, cy: 29.5, rx: 1.6, ry: 2, fill: INK });
    add("path", { d: `M${cx - 3} 25.6Q${cx} ${24 + (seed % 2)} ${cx + 3} 25.6`, ...stroke });
    if (seed % 4 === 2) add("circle", { cx, cy: 29.5, r: 4.6, ...stroke });
    if (sex === "female" && seed % 4 === 0)
      add("circle", { cx: cx < 32 ? 18 : 46, cy: 35, r: 1.5, fill: "#f4c34e" });
  }
  if (seed % 4 === 2) add("path", { d: "M30.6 29Q32 28 33.4 29", ...stroke });
  const lips = hasBeard ? "#d98a86" : "#7c2430";
  const mouth = add("path", { class: "mouth", fill: lips, stroke: lips, "stroke-linejoin": "round" });
  let now = MOUTHS.sil;
  const show = (viseme = "sil", isMoving = false) => {
    const shape = MOUTHS[viseme] ?? MOUTHS.sil;
    // Each drawing covers half the way, so that the lips do not jump.
    now = isMoving ? now.map((value, i) => (value + shape[i]) / 2) : shape;
    const [half, up, down] = now.map((value) => value / 2);
    // A quadratic curve reaches half as far as its control point.
    const [left, right] = [32 - half, 32 + half];
    mouth.setAttribute(
      "d",
      `M${left} 38.5Q32 ${38.5 - 2 * up} ${right} 38.5Q32 ${38.5 + 2 * down} ${left} 38.5Z`,
    );
  };
  show();
  return { svg, show };
}

function element(tag, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}
