const tails = new Map<string, Promise<void>>();

/** Runs the work after all earlier work on the same directory in this process, so that two writers cannot both take the last room. */
export async function withRootLock<T>(directory: string, work: () => Promise<T>): Promise<T> {
  const before = tails.get(directory) ?? Promise.resolve();
  const result = before.then(work);
  const tail = result.then(
    () => {},
    () => {},
  );
  tails.set(directory, tail);
  try {
    return await result;
  } finally {
    if (tails.get(directory) === tail) tails.delete(directory);
  }
}
