/** Runs a function once, soon. */
export type Schedule = (act: () => void) => void;

/** A hidden page gets no frames. */
const hiddenPauseMs = 250;

/** Runs before the next paint; on a hidden page, a quarter of a second later. */
export const nextFrame: Schedule = (act) => {
  let isDone = false;
  const once = (): void => {
    if (isDone) return;
    isDone = true;
    act();
  };
  requestAnimationFrame(once);
  setTimeout(once, hiddenPauseMs);
};
