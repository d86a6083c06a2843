/** A hand-over of one process. */
export interface HandOver {
  readonly node: string;
  readonly beganAtMs: number;
  /** What ran could take so long to come to rest. */
  readonly withinMs: number;
  /** Sessions that were loaded there and did not rest when it began. */
  readonly open: ReadonlySet<string>;
  /** Nothing goes wrong in the world meanwhile. */
  readonly isCalm: boolean;
  /** Absent: the process died of something else first. */
  endedAtMs?: number;
  /** Requests of the process to the world by then. */
  askedAtEnd?: number;
}

/** What the processes did as hosts of sessions, apart from the log. */
export interface HostRecord {
  /** What no host may do, as text. */
  readonly flaws: { readonly session: string; readonly message: string }[];
  readonly handOvers: HandOver[];
  /** Sessions that were evicted by a process that stayed. */
  evictions: number;
}

export const createHostRecord = (): HostRecord => ({ flaws: [], handOvers: [], evictions: 0 });
