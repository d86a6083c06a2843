import type { StoreKind } from "../durable/durable-scenes.ts";

/** One session with the context engine, whose model has a small window: a turn is a question, a call of a tool, and an answer. */
export interface ContextScene {
  /** Begins with `context-`. */
  readonly id: string;
  readonly title: string;
  readonly store: StoreKind;
}

/** Beginning of the ids: a section of the page by itself, and only measured when it is asked for. */
export const contextStart = "context";

export const contextScenes: readonly ContextScene[] = [
  { id: "context-memory", title: "memory", store: "memory" },
  { id: "context-sqlite", title: "SQLite", store: "sqlite" },
];

/**
 * The turns that are compared: `width` of them from each of the two on, so that each mean is over many compactions. The two sessions take turns after
 * every `atOnce` of them.
 */
export const compared = { young: 20, old: 2_000, width: 200, atOnce: 25 } as const;

/** The window of the model, in tokens: a few turns. */
export const windowTokens = 3_000;
