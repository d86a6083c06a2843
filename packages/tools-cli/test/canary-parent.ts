// Runs one program as a tool in a process whose environment has a secret: `canary-parent.ts <program> <directory>`.
import { runTool } from "@loopwright/testing";
import { cliExecute } from "../src/index.ts";

const [, , path = "", directory = ""] = process.argv;
const tool = cliExecute({ programs: [{ name: "look", path }], directory, environment: process.env });
const { text } = await runTool(tool, { program: "look" });
process.stdout.write(text);
