// A second voice that is mixed into the first, by a slider.
import { h } from "./dom.js";

const HALF = 50;

/** Returns the word for a mix with `percent` of the second voice; a voice alone if the other has no share. */
export function mixWord(first, second, percent) {
  if (second === "" || second === first || percent <= 0) return first;
  return percent >= 100 ? second : `${first}(${100 - percent})+${second}(${percent})`;
}

/**
 * Draws the controls. `onChange` is called after another voice or share was chosen, not while the slider moves.
 *
 * @param id prefix of the controls' ids
 */
export function openMix(id, onChange) {
  let first = "";
  const second = h("select", { id: `${id}-second` });
  const share = h("input", { id: `${id}-share`, type: "range", min: 0, max: 100, step: 5, value: HALF });
  const shown = h("output", { for: share.id });
  const asked = h("code");
  const told = h("p", { className: "hint" }, "Voice name: ", asked);
  const word = () => mixWord(first, second.value, share.valueAsNumber);
  const draw = () => {
    const isAlone = second.value === "";
    share.disabled = told.hidden = isAlone;
    shown.textContent = isAlone ? "" : `${share.value} % ${second.selectedOptions[0].textContent}`;
    share.setAttribute("aria-valuetext", shown.textContent);
    asked.textContent = word();
  };
  share.oninput = draw;
  second.onchange = share.onchange = () => {
    draw();
    onChange();
  };
  const slider = h("span", { className: "row" }, share, shown);
  const controls = [h("label", { htmlFor: second.id }, "With"), second];
  controls.push(h("label", { htmlFor: share.id }, "Share"), slider);
  const summary = h("summary", {}, "Mix with another voice");
  const element = h(
    "details",
    { className: "mix" },
    summary,
    h("div", { className: "options" }, ...controls),
    told,
  );
  return {
    element,
    word,
    /** Returns the id of the second voice; empty if there is none. */
    second: () => (word() === first ? "" : second.value),
    /** Offers the voices that mix with the first one, and keeps the second one if it is among them. */
    offer(voices, chosen) {
      first = chosen;
      const { value } = second;
      const mixed = voices.filter(({ isMixed }) => isMixed);
      const others = mixed.some(({ id }) => id === chosen) ? mixed.filter(({ id }) => id !== chosen) : [];
      const options = others.map((voice) => h("option", { value: voice.id }, voice.name));
      second.replaceChildren(h("option", { value: "" }, "None"), ...options);
      second.value = others.some((voice) => voice.id === value) ? value : "";
      element.hidden = others.length === 0;
      draw();
    },
  };
}
