import type { LogUnderTest } from "./log-under-test.ts";
import { appendCases } from "./session-log-append-cases.ts";
import { lifeCases } from "./session-log-life-cases.ts";
import { outcomeCases } from "./session-log-outcome-cases.ts";
import type { StoreKit } from "./store-case.ts";

/** The promises of `SessionLog`, leases apart. Capabilities: `reopen`, `subscribe`. */
export const sessionLogKit: StoreKit<LogUnderTest> = [...appendCases, ...outcomeCases, ...lifeCases];
