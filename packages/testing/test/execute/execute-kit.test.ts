import { describe, it } from "vitest";
import { executeKit } from "../../src/execute/execute-kit.ts";
import { runKit } from "../../src/kit/kit.ts";
import { proveKit } from "../../src/kit/saboteur.ts";
import { executeSaboteurs } from "./execute-saboteurs.ts";
import { executeHistorySaboteurs } from "./history-saboteurs.ts";
import { localExecution } from "./local-execution.ts";

describe("executions in process", () => runKit(it, executeKit, { make: async () => localExecution }));
describe("execute kit", () => proveKit(it, executeKit, [...executeSaboteurs, ...executeHistorySaboteurs]));
