import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { contextEngine } from "@loopwright/context";
import type { Tool } from "@loopwright/core";
import type { ContextEngine } from "@loopwright/core/ports";
import type { Settings } from "../../settings/settings.ts";

/** What a long-term memory brings to an agent. */
export interface MemoryParts {
  readonly tools: readonly Tool[];
  /** Writes to the memory what a compaction replaces. */
  readonly context: ContextEngine;
}

/** Tools whose results are kept longer when a conversation is compacted. */
const researchTools = ["web_search", "web_fetch"];

/**
 * The long-term memory of the settings: the folder that they name (`true`: the usual one, `false`: none), else `.loopwright/memory` where it is there. `undefined`: there is
 * none. Nothing is made before the first entry.
 */
export async function openMemory({
  memory,
  filesDirectory,
}: Pick<Settings, "memory" | "filesDirectory">): Promise<MemoryParts | undefined> {
  const usual = join(dirname(filesDirectory), "memory");
  if (memory === false || (memory === undefined && !existsSync(usual))) return undefined;
  const folder = memory === undefined || memory === true ? usual : resolve(dirname(usual), "..", memory);
  const { markdownMemory, memoryFileTools, rememberBeforeCompaction } = await import("@loopwright/tools-memory/node");
  const files = markdownMemory({ folder });
  return { tools: memoryFileTools(files), context: rememberBeforeCompaction(contextEngine(), files, { researchTools }) };
}
