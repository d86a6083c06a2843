import { describe, it } from "vitest";
import { executeKit } from "./execute-kit.ts";
import { runKit } from "./kit.ts";
import { localExecution } from "./local-execution.ts";

describe("executions in process", () => runKit(it, executeKit, { make: async () => localExecution }));
