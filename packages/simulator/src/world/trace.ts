/** The history of a world as a digest and, when kept, as lines for debugging. */
export interface Trace {
  add(atMs: number, line: string): void;
  /** Equal for equal histories: 16 hexadecimal digits. */
  readonly hash: string;
  /** Empty unless they are kept. */
  readonly lines: readonly string[];
}

/** `keeps`: true keeps every line. */
export function createTrace(keeps: boolean): Trace {
  let high = 0x811c_9dc5;
  let low = 0x1234_5678;
  const lines: string[] = [];
  const take = (code: number): void => {
    high = Math.imul(high ^ code, 0x0100_0193);
    low = Math.imul(low ^ code, 0x85eb_ca6b) ^ (high >>> 13);
  };
  return {
    add(atMs, line) {
      take(Math.round(atMs * 1_000) | 0);
      for (let at = 0; at < line.length; at++) take(line.charCodeAt(at));
      if (keeps) lines.push(`${atMs.toFixed(3).padStart(11)} ${line}`);
    },
    get hash() {
      return (high >>> 0).toString(16).padStart(8, "0") + (low >>> 0).toString(16).padStart(8, "0");
    },
    lines,
  };
}
