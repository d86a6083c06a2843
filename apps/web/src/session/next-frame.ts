/** Runs something soon, once. */
export type Schedule = (act: () => void) => void;

/** A hidden page gets no frames. */
const hiddenPauseMs = 250;

/** Before the next paint; where nothing is painted, a quarter of a second later. */
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
