import type { StoreKit } from "../kit/store-case.ts";
import { anotherCases } from "./another-cases.ts";
import { appendCases } from "./append-cases.ts";
import { contentCases } from "./content-cases.ts";
import { dueCases } from "./due-cases.ts";
import { faultCases } from "./fault-cases.ts";
import { endCases, lifeCases } from "./life-cases.ts";
import { overTwo } from "./log-over-two.ts";
import type { LogUnderTest } from "./log-under-test.ts";
import { outcomeCases } from "./outcome-cases.ts";
import { rollbackCases } from "./rollback-cases.ts";
import { ruinCases } from "./ruin-cases.ts";
import { subscribeCases } from "./subscribe-cases.ts";
import { tamperCases } from "./tamper-cases.ts";
import { logWorkCases } from "./work-cases.ts";

/**
 * The promises of `SessionLog`, leases apart: 181 cases here and 58 in `leaseKit`. For an adapter of your own:
 *
 *     runKit(it, sessionLogKit, { make: async () => ({ log: myStore(freshPlace()).log }), lacks: [{ capability: "full", reason: "..." }] });
 *
 * `make` gives an empty log at every call. What a case needs beyond a log is a capability: `reopen`, `another`, `time`, `corrupt`, `tamper`,
 * `rollback`, `ruin`, `full`, `unknown` and `work` are members of `LogUnderTest`; `subscribe` is the log's own method; `exact` means that `due` names no session
 * too many; of a store that was restored to an older state, `gaps` that an append notices, and `marks` that every process does. Each that your
 * store cannot offer is named in `lacks` with the reason, which is shown with every case that is skipped for it.
 */
export const sessionLogKit: StoreKit<LogUnderTest> = [
  ...appendCases,
  ...contentCases,
  ...outcomeCases,
  ...lifeCases,
  ...subscribeCases,
  ...anotherCases,
  ...overTwo([...outcomeCases, ...endCases, ...subscribeCases]),
  ...dueCases,
  ...faultCases,
  ...ruinCases,
  ...tamperCases,
  ...rollbackCases,
  ...logWorkCases,
];
