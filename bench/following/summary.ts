/** A person's name and a figure. */
export type Named = readonly [name: string, value: number];

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function least(values: readonly Named[]): Named {
  return values.reduce((a, b) => (b[1] < a[1] ? b : a));
}

export function most(values: readonly Named[]): Named {
  return values.reduce((a, b) => (b[1] > a[1] ? b : a));
}

/** The one that is furthest from 0. */
export function furthest(values: readonly Named[]): Named {
  return values.reduce((a, b) => (Math.abs(b[1]) > Math.abs(a[1]) ? b : a));
}

/** With its sign, a minus as long as a plus. */
export function signed(value: number, digits: number): string {
  const size = Math.abs(value).toFixed(digits);
  return Number(size) === 0 ? size : `${value < 0 ? "−" : "+"}${size}`;
}
