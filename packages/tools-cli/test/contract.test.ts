import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runKit, toolKit } from "@loopwright/testing";
import { afterAll, describe, it } from "vitest";
import { cliExecute } from "../src/index.ts";

const made: string[] = [];
afterAll(() => Promise.all(made.map((directory) => rm(directory, { recursive: true, force: true }))));

describe("cli_execute keeps the promises of a tool", () =>
  runKit(it, toolKit, {
    async make() {
      const directory = await mkdtemp(join(tmpdir(), "loopwright-cli-contract-"));
      made.push(directory);
      const tool = cliExecute({ programs: [{ name: "seq", path: "/usr/bin/seq", operands: { pattern: "\\d{1,6}" } }], directory });
      return { tool, args: { program: "seq", args: ["20000"] }, failingArgs: { program: "seq", args: ["-f", "x"] }, secrets: [directory] };
    },
  }));
