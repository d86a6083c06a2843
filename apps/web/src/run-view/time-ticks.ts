const steps = [1, 2, 5];
const ticksMax = 4;

/** Round moments along a time, from 0, that leave room for their labels. Milliseconds. */
export function timeTicks(totalMs: number): readonly number[] {
  if (!(totalMs > 0)) return [0];
  for (let scale = 1; ; scale *= 10) {
    for (const step of steps) {
      const tickMs = step * scale;
      if (totalMs / tickMs <= ticksMax) return Array.from({ length: Math.floor(totalMs / tickMs) + 1 }, (_, i) => i * tickMs);
    }
  }
}
