import { type FileHandle, open } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";

/** The last lines are looked for in no more than this. */
const bytesMax = 4 * 1024 * 1024;
const pollMs = 150;

/** The last lines of a file; none where it is not there. */
export async function tailLines(path: string, count: number): Promise<readonly string[]> {
  return (await tailOf(path, count)).lines;
}

interface Tail {
  readonly lines: readonly string[];
  /** Bytes that were read, up to the end of the last whole line. */
  readonly end: number;
}

async function tailOf(path: string, count: number): Promise<Tail> {
  const file = await opened(path);
  if (!file) return { lines: [], end: 0 };
  try {
    const { size } = await file.stat();
    const from = Math.max(0, size - bytesMax);
    const bytes = await readFrom(file, from, size - from);
    const lines = bytes.toString("utf8").split("\n");
    const last = lines.pop() ?? "";
    const whole = from > 0 ? lines.slice(1) : lines;
    return { lines: count === 0 ? [] : whole.slice(-count), end: size - Buffer.byteLength(last) };
  } finally {
    await file.close();
  }
}

/** The last lines, then each line that is added, until the signal is aborted. A file that another one takes the place of is read from its beginning. */
export async function* followLines(path: string, count: number, signal: AbortSignal): AsyncGenerator<string> {
  const tail = await tailOf(path, count);
  yield* tail.lines;
  let { end } = tail;
  while (!signal.aborted) {
    const file = await opened(path);
    if (file) {
      try {
        const { size } = await file.stat();
        if (size < end) end = 0;
        const bytes = await readFrom(file, end, Math.min(size - end, bytesMax));
        const whole = bytes.subarray(0, bytes.lastIndexOf(10) + 1);
        end += whole.length;
        if (whole.length > 0) yield* whole.toString("utf8").slice(0, -1).split("\n");
      } finally {
        await file.close();
      }
    }
    await wait(pollMs, undefined, { signal }).catch(() => undefined);
  }
}

async function opened(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, "r");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

async function readFrom(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}
