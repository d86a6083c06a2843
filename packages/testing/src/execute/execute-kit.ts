import type { StoreKit } from "../kit/store-case.ts";
import { executeApprovalCases } from "./approval-cases.ts";
import { executeClientCases } from "./client-cases.ts";
import type { ExecuteUnderTest } from "./execute-under-test.ts";
import { executeHistoryCases } from "./history-cases.ts";
import { executeInputCases } from "./input-cases.ts";
import { executeRunCases } from "./run-cases.ts";

/** What an `ExecuteStream` promises, in process and over any wire. */
export const executeKit: StoreKit<ExecuteUnderTest> = [
  ...executeRunCases,
  ...executeClientCases,
  ...executeApprovalCases,
  ...executeInputCases,
  ...executeHistoryCases,
];
