import { readFile } from "node:fs/promises";
import { platform } from "node:os";
import type { Clock } from "@loopwright/core/ports";

interface WatchOptions {
  readonly bytesMax: number;
  readonly clock: Pick<Clock, "after">;
  readonly onTooMuch: () => void;
}

/** Milliseconds between two looks: a query fills some tens of MB in that time. */
const pauseMs = 50;

/** Looks at the memory of a process until it is too much or the returned function is called. SQLite in Node.js is built without a limit of its own. */
export function watchMemory(pid: number | undefined, { bytesMax, clock, onTooMuch }: WatchOptions): () => void {
  if (pid === undefined || platform() !== "linux") return () => {};
  let isOver = false;
  let cancel = (): unknown => undefined;
  const look = async (): Promise<void> => {
    // The process may have ended meanwhile.
    const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
    if (isOver) return;
    const kilobytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
    if (kilobytes * 1_024 > bytesMax) onTooMuch();
    else cancel = clock.after(pauseMs, look);
  };
  cancel = clock.after(pauseMs, look);
  return () => {
    isOver = true;
    cancel();
  };
}
