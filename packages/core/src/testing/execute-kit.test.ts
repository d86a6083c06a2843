import { describe, it } from "vitest";
import { executeHistorySaboteurs } from "./execute-history-saboteurs.ts";
import { executeKit } from "./execute-kit.ts";
import { executeSaboteurs } from "./execute-saboteurs.ts";
import { runKit } from "./kit.ts";
import { localExecution } from "./local-execution.ts";
import { proveKit } from "./saboteur.ts";

describe("executions in process", () => runKit(it, executeKit, { make: async () => localExecution }));
describe("execute kit", () => proveKit(it, executeKit, [...executeSaboteurs, ...executeHistorySaboteurs]));
