const lookMs = 50;

/** True as soon as it holds; false where it does not within the time. What cannot be asked does not hold. */
export async function until(holds: () => Promise<boolean>, withinMs: number): Promise<boolean> {
  const end = performance.now() + withinMs;
  while (!(await holds().catch(() => false))) {
    if (performance.now() > end) return false;
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
  return true;
}
