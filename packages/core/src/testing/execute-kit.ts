import { executeApprovalCases } from "./execute-approval-cases.ts";
import { executeClientCases } from "./execute-client-cases.ts";
import { executeHistoryCases } from "./execute-history-cases.ts";
import { executeInputCases } from "./execute-input-cases.ts";
import { executeRunCases } from "./execute-run-cases.ts";
import type { ExecuteUnderTest } from "./execute-under-test.ts";
import type { StoreKit } from "./store-case.ts";

/** What an `ExecuteStream` promises, in process and over any wire. */
export const executeKit: StoreKit<ExecuteUnderTest> = [
  ...executeRunCases,
  ...executeClientCases,
  ...executeApprovalCases,
  ...executeInputCases,
  ...executeHistoryCases,
];
