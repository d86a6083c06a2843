/*
 * Owns: the artifacts of a conversation, read from the results of the tool. There is no other store: the log has them, large ones as blobs.
 * Does not own: how they are made (craft-tool).
 */
import type { Message } from "@loopwright/core";

/** One version of an artifact. */
export interface Artifact {
  readonly id: string;
  /** From 1. */
  readonly version: number;
  readonly title: string;
  readonly kind: "code" | "text";
  /** Of code, for example `typescript`. */
  readonly language?: string;
  readonly content: string;
}

/** An artifact with all its versions, the first one first. */
export interface KeptArtifact {
  readonly id: string;
  readonly versions: readonly Artifact[];
}

/** Name of the tool that makes them. */
export const craftName = "craft_tool";

/** The artifacts of a conversation, in the order in which they were begun. */
export function artifactsOf(messages: readonly Message[]): readonly KeptArtifact[] {
  const all = new Map<string, Artifact[]>();
  for (const message of messages) {
    if (message.role !== "tool_result" || message.toolName !== craftName || (message.outcome ?? "ok") !== "ok") continue;
    const artifact = artifactIn(message.details);
    if (artifact) all.set(artifact.id, [...(all.get(artifact.id) ?? []), artifact]);
  }
  return [...all].map(([id, versions]) => ({ id, versions }));
}

/** One version of an artifact, the last by default; `undefined`: there is none. */
export function artifactOf(messages: readonly Message[], id: string, version?: number): Artifact | undefined {
  const versions = artifactsOf(messages).find((artifact) => artifact.id === id)?.versions;
  return version === undefined ? versions?.at(-1) : versions?.find((one) => one.version === version);
}

function artifactIn(details: unknown): Artifact | undefined {
  const { artifact } = (details ?? {}) as { readonly artifact?: Partial<Artifact> };
  const isWhole = typeof artifact?.id === "string" && typeof artifact.version === "number" && typeof artifact.content === "string";
  return isWhole ? (artifact as Artifact) : undefined;
}
