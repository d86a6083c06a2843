/** How many answers are played in this process before the event loop has its turn. */
export const breathEvery = 50;

/** One turn of the event loop. What plays in this process is ready at once, and what is held weakly is let go between two turns only. */
export function breath(): Promise<void> {
  return new Promise((next) => {
    setImmediate(next);
  });
}
