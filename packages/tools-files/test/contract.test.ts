import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "@loopwright/core";
import { runKit, type ToolSubject, toolKit } from "@loopwright/testing";
import { afterAll, describe, it } from "vitest";
import { fileTools } from "../src/index.ts";

const made: string[] = [];
afterAll(() => Promise.all(made.map((directory) => rm(directory, { recursive: true, force: true }))));

const streaming = { capability: "streaming", reason: "its answer is short" };

async function subject(name: string, args: JsonObject, failingArgs: JsonObject): Promise<ToolSubject> {
  const directory = await mkdtemp(join(tmpdir(), "loopwright-contract-"));
  made.push(directory);
  await writeFile(join(directory, "long.txt"), "a line of text\n".repeat(4_000));
  const tool = fileTools({ directory }).find((candidate) => candidate.name === name);
  if (!tool) throw new Error(`There is no tool ${name}.`);
  // The model need not know where on the machine its files are.
  return { tool, args, failingArgs, secrets: [directory] };
}

describe("file_create keeps the promises of a tool", () =>
  runKit(it, toolKit, {
    make: () => subject("file_create", { path: "new/a.txt", content: "text" }, { path: "../a.txt", content: "text" }),
    lacks: [streaming],
  }));

describe("file_read keeps the promises of a tool", () =>
  runKit(it, toolKit, { make: () => subject("file_read", { path: "long.txt" }, { path: "none.txt" }) }));

describe("file_list keeps the promises of a tool", () =>
  runKit(it, toolKit, { make: () => subject("file_list", {}, { folder: "none" }), lacks: [streaming] }));
