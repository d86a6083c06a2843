import type { StoreKind } from "../durable/durable-scenes.ts";

/** Lists and searches in one scope with many sessions, in a store of its own. */
export interface ListScene {
  /** Begins with `lists-`. */
  readonly id: string;
  readonly store: StoreKind;
  readonly title: string;
  readonly sessions: number;
}

/** Beginning of the ids: a section of the page by itself, and only measured when it is asked for. */
export const listsStart = "lists";

const sessions = 100_000;

export const listScenes: readonly ListScene[] = [
  { id: "lists-memory", store: "memory", title: "in memory", sessions },
  { id: "lists-sqlite", store: "sqlite", title: "SQLite", sessions },
  { id: "lists-redis", store: "redis-everysec", title: "Redis", sessions },
  { id: "lists-files", store: "files", title: "files", sessions },
];

/** Sessions that one process writes: a process of the measurements may take two minutes, on a slow disk that others use too. */
export const filledAtOnce = 5_000;

/** Pages of a list, and searches, that are measured. */
export const asked = { pages: 300, pageSize: 50, searches: 300, hits: 20 } as const;
