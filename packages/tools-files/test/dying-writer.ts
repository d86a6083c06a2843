/** Runs `file_create` and kills this process at a step of it, as `kill -9` would: `node dying-writer.ts <directory> <step> <arguments as JSON> <key>`. */
import promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { runTool } from "@loopwright/testing";

const [directory = "", step = "", args = "{}", idempotencyKey = ""] = process.argv.slice(2);
const die = async (): Promise<never> => {
  process.kill(process.pid, "SIGKILL");
  return new Promise(() => {});
};
Object.assign(promises, { [step]: die });
syncBuiltinESMExports();
const { fileTools } = await import("../src/file-tools.ts");
const create = fileTools({ directory }).find(({ name }) => name === "file_create");
if (create) await runTool(create, JSON.parse(args), { context: { idempotencyKey } });
