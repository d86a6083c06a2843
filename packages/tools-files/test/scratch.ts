import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "@loopwright/core";
import { runTool, type ToolTrial, type ToolTrialOptions } from "@loopwright/testing";
import { onTestFinished } from "vitest";
import { fileCreate } from "../src/file-create.ts";
import { fileList } from "../src/file-list.ts";
import { fileRead } from "../src/file-read.ts";
import { type FileSettings, type FileToolsOptions, fileSettings } from "../src/file-tool-options.ts";

export const secret = "the secret outside";

export interface Scratch {
  /** The files directory. */
  readonly root: string;
  /** A folder beside it, with `secret.txt` in it. */
  readonly outside: string;
  call(tool: "file_create" | "file_read" | "file_list", args: JsonObject, options?: ToolTrialOptions): Promise<ToolTrial>;
}

/** A files directory of this test alone, with a secret beside it; gone when the test ends. `descriptors: false` takes the way of platforms other than Linux. */
export async function makeScratch(limits: NonNullable<FileToolsOptions["limits"]> = {}, descriptors?: boolean): Promise<Scratch> {
  const base = await mkdtemp(join(tmpdir(), "loopwright-files-"));
  onTestFinished(() => rm(base, { recursive: true, force: true }));
  const [root, outside] = [join(base, "files"), join(base, "files-evil")];
  await mkdir(root);
  await mkdir(outside);
  await writeFile(join(outside, "secret.txt"), secret);
  const settings: FileSettings = { ...fileSettings({ directory: root, limits }), descriptors };
  const tools = [fileCreate(settings), fileRead(settings), fileList(settings)] as const;
  return {
    root,
    outside,
    call(name, args, options) {
      const tool = tools.find((candidate) => candidate.name === name);
      if (!tool) throw new Error(`There is no tool ${name}.`);
      return runTool(tool, args, options);
    },
  };
}
