import type { IndexUnderTest } from "./index-under-test.ts";
import { listAndSummaryCases } from "./session-index-list-cases.ts";
import { ruinedIndexCases } from "./session-index-ruin-cases.ts";
import { searchCases } from "./session-index-search-cases.ts";
import { indexWorkCases } from "./session-index-work-cases.ts";
import type { StoreKit } from "./store-case.ts";

/** The promises of `SessionIndex`. Capabilities: `reopen`, `ruin`, `work`. */
export const sessionIndexKit: StoreKit<IndexUnderTest> = [...listAndSummaryCases, ...searchCases, ...ruinedIndexCases, ...indexWorkCases];
