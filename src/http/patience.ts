/** Resolves after `ms`, or earlier when `first` settles; leaves no timer behind. */
export function patience(first: Promise<unknown>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const settle = () => {
      clearTimeout(timer);
      resolve();
    };
    first.then(settle, settle);
  });
}
