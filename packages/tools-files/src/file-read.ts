import type { FileHandle } from "node:fs/promises";
import { type AgentError, defineTool, type Tool, type ToolEvent } from "@loopwright/core";
import { z } from "zod";
import { fileError, translateError } from "./file-error.ts";
import { namesOf } from "./file-path.ts";
import type { FileSettings } from "./file-tool-options.ts";
import { descend, findEntry, openRegular, openRoot } from "./folder.ts";
import { readText } from "./read-text.ts";
import { withoutTemporaryName } from "./temporary-files.ts";

export interface FileReadArguments {
  readonly path: string;
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
}

const parameters: z.ZodType<FileReadArguments> = z.object({
  path: z.string().describe("Relative path with / between names, as `file_list` shows it."),
  offset: z.number().int().min(1).optional().describe("First line to read, from 1. Default 1."),
  limit: z.number().int().min(1).optional().describe("How many lines to read. Default: as many as fit."),
});

/** The tool `file_read`: text only, streamed in pieces of at most 8 KiB. */
export function fileRead(settings: FileSettings): Tool<FileReadArguments> {
  return defineTool({
    name: "file_read",
    label: "Read file",
    description: "Reads a text file of the shared files directory. Of a long file it gives a part and names the `offset` of the rest.",
    parameters,
    replay: "pure",
    async *execute({ path, offset = 1, limit }, context): AsyncGenerator<ToolEvent, void> {
      const { limits } = settings;
      try {
        const handle = await openFile({ directory: settings.directoryOf(context), descriptors: settings.descriptors }, path);
        try {
          const { size } = await handle.stat();
          if (size > limits.readableBytesMax)
            throw fileError("FILE_LIMIT", path, `has ${size} bytes; up to ${limits.readableBytesMax} can be read.`);
          const linesMax = Math.min(limit ?? limits.readLinesMax, limits.readLinesMax);
          const range = { firstLine: offset, linesMax, charactersMax: limits.readCharactersMax };
          const text = readText(handle, { path, range, signal: context.signal });
          let step = await text.next();
          for (; !step.done; step = await text.next()) yield { type: "delta", delta: step.value };
          const { note, ...read } = step.value;
          if (note !== "") yield { type: "delta", delta: note };
          yield { type: "complete", output: undefined, details: { path, sizeBytes: size, ...read } };
        } finally {
          await handle.close();
        }
      } catch (error) {
        throw translateError(error, path);
      }
    },
  });
}

interface RootPlace {
  readonly directory: string;
  readonly descriptors: boolean | undefined;
}

async function openFile(root: RootPlace, path: string): Promise<FileHandle> {
  const names = namesOf(path);
  const missing = (): AgentError => fileError("FILE_NOT_FOUND", path, "does not exist.");
  const top = await openRoot(root.directory, { create: false, descriptors: root.descriptors });
  if (!top) throw missing();
  const folder = await descend(top, names.slice(0, -1), { path });
  try {
    const entry = await findEntry(folder, names.at(-1) ?? "");
    if (!entry) throw missing();
    return await openRegular(folder, await withoutTemporaryName(folder, entry), path);
  } finally {
    await folder.close();
  }
}
