import { defineTool, type Tool } from "@loopwright/core";
import { z } from "zod";
import { translateError } from "./file-error.ts";
import { namesOf } from "./file-path.ts";
import type { FileSettings } from "./file-tool-options.ts";
import { withRootLock } from "./root-lock.ts";
import { writeFileIn } from "./write-file.ts";

export interface FileCreateArguments {
  readonly path: string;
  readonly content: string;
  readonly overwrite?: boolean | undefined;
}

const parameters: z.ZodType<FileCreateArguments> = z.object({
  path: z.string().describe("Relative path with / between names, for example notes/plan.md. Missing folders are made."),
  content: z.string().describe("The whole text of the file."),
  overwrite: z.boolean().optional().describe("Replace the file if it exists. Default false."),
});

/** The tool `file_create`. Doing the same again changes nothing, so it is `idempotent`. */
export function fileCreate(settings: FileSettings): Tool<FileCreateArguments> {
  return defineTool({
    name: "file_create",
    label: "Create file",
    description:
      "Creates a text file in the shared files directory, whole or not at all. Fails if the file exists, unless `overwrite` is true.",
    parameters,
    replay: "idempotent",
    async execute({ path, content, overwrite = false }, context) {
      const names = namesOf(path);
      const directory = settings.directoryOf(context);
      const bytes = new TextEncoder().encode(content);
      try {
        const outcome = await withRootLock(directory, () => {
          context.signal.throwIfAborted();
          const { limits, descriptors } = settings;
          const { idempotencyKey } = context;
          return writeFileIn({ directory, path, names, bytes, overwrite, idempotencyKey, limits, descriptors });
        });
        const written = outcome === "unchanged" ? "had exactly this content already" : outcome;
        const shown = names.join("/");
        return {
          type: "complete",
          output: `${shown}: ${written}, ${bytes.length} bytes.`,
          details: { path: shown, outcome, sizeBytes: bytes.length },
        };
      } catch (error) {
        throw translateError(error, path);
      }
    },
  });
}
