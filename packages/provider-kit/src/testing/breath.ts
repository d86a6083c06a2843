/** The number of answers that are played in this process before one turn of the event loop. */
export const breathEvery = 50;

/** Waits for one turn of the event loop. Without it, answers that are played in this process never yield, and weak references are never cleared. */
export function breath(): Promise<void> {
  return new Promise((next) => {
    setImmediate(next);
  });
}
