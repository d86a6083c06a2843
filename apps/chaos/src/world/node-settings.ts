import type { FactType } from "@loopwright/core";

/** Where a node keeps its sessions. */
export type StoreSettings =
  | { readonly type: "sqlite"; readonly file: string }
  | { readonly type: "files"; readonly folder: string }
  | { readonly type: "redis"; readonly url: string }
  | { readonly type: "s3"; readonly endpoint: string };

/** A place in the life of a session at which a node kills itself. */
export interface KillPoint {
  readonly when: "before" | "after";
  /** Type of a fact in the batch that is appended, or a step of a tool: its start and end as the witness sees them. */
  readonly at: FactType | "witness-start" | "witness-end";
  /** The how-manieth time. From 1. */
  readonly count: number;
}

/** Flaws that are put into a node on purpose, so that it is seen that an experiment finds them. */
export type NodeFlaw =
  | "follows redirects"
  | "drives a store that went back"
  | "one damaged session fails every sweep"
  | "keeps blobs"
  | "pays twice"
  | "fires twice"
  | "reports more usage";

/** How one node is started; travels as JSON in its arguments. */
export interface NodeSettings {
  readonly name: string;
  readonly role: "all" | "server" | "worker";
  readonly store: StoreSettings;
  /** Of the channel and the queue between nodes. Default: none. */
  readonly redisUrl?: string;
  readonly modelUrl: string;
  readonly apiKey: string;
  readonly witnessPort: number;
  readonly leaseMs: number;
  /** Default: the server's own. */
  readonly sweepMs?: number;
  readonly drainMs: number;
  readonly killAt?: KillPoint;
  readonly flaw?: NodeFlaw | undefined;
}
