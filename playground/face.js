// A face whose mouth takes the shapes that the reply's visemes name.

/** Of each of Oculus's fifteen: half the width, and how far the lips are up and down from the corners. */
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

const SVG = "http://www.w3.org/2000/svg";

/** Draws a face into an element and gives what shows a viseme: at once, or on the way there where the mouth moves. */
export function drawFace(parent) {
  const draw = (tag, attributes) => {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };
  const mouth = draw("path", { class: "mouth" });
  const eye = (cx) => draw("ellipse", { class: "eye", cx, cy: 25, rx: 3, ry: 4 });
  const svg = draw("svg", { viewBox: "0 0 64 64", width: 56, height: 56 });
  parent.append(svg);
  svg.append(draw("circle", { class: "head", cx: 32, cy: 32, r: 30 }), eye(22), eye(42), mouth);
  let now = MOUTHS.sil;
  const show = (viseme = "sil", isMoving = false) => {
    const shape = MOUTHS[viseme];
    // Half of the way at each drawing: lips that speak do not jump.
    now = isMoving ? now.map((value, i) => (value + shape[i]) / 2) : shape;
    const [half, up, down] = now;
    // A quadratic curve comes half as far as its control point.
    mouth.setAttribute(
      "d",
      `M${32 - half} 43Q32 ${43 - 2 * up} ${32 + half} 43Q32 ${43 + 2 * down} ${32 - half} 43Z`,
    );
  };
  show();
  return show;
}
