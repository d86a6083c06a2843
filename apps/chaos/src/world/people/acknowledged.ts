import type { Job } from "../job.ts";

/** Something that a server acknowledged. */
export interface Acknowledged {
  readonly what: "input" | "answer" | "abort" | "decision";
  readonly key: string;
  readonly job?: Job;
  readonly seq?: number;
  readonly callKeys?: readonly string[];
  /** Of an abort. */
  readonly runId?: string;
  readonly decision?: "allow" | "deny";
}
