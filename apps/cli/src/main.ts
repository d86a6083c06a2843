#!/usr/bin/env node
// Nothing is imported that an old Node.js might not load, before the version is known to be new enough; and nothing that costs
// time before it is known that more than the version is asked for.
import { readFileSync } from "node:fs";
import module from "node:module";
import { nodeFloorProblem } from "./node-floor.ts";

// A report of a crash lists the variables of the process, and keys are among them. Node.js 22.13 and later leave them out where they are asked to.
process.report.excludeEnv = true;
const problem = nodeFloorProblem(process.versions.node);
const words = process.argv.slice(2);
if (problem !== undefined) {
  console.error(problem);
  process.exitCode = 1;
} else {
  const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { readonly version: string };
  if (words.length === 1 && (words[0] === "--version" || words[0] === "-v")) process.stdout.write(`${manifest.version}\n`);
  else {
    module.enableCompileCache?.();
    const { runProgram } = await import("./program.ts");
    process.exitCode = await runProgram(words, manifest.version);
  }
}
