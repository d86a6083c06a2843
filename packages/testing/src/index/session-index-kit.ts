import type { StoreKit } from "../kit/store-case.ts";
import type { IndexUnderTest } from "./index-under-test.ts";
import { listAndSummaryCases } from "./list-cases.ts";
import { ruinedIndexCases } from "./ruin-cases.ts";
import { searchCases } from "./search-cases.ts";
import { indexWorkCases } from "./work-cases.ts";

/** The promises of `SessionIndex`. Capabilities: `reopen`, `ruin`, `work`. */
export const sessionIndexKit: StoreKit<IndexUnderTest> = [...listAndSummaryCases, ...searchCases, ...ruinedIndexCases, ...indexWorkCases];
