import { answerCases } from "./answer-cases.ts";
import { boundCases } from "./bound-cases.ts";
import { breakCases } from "./break-cases.ts";
import { errorCases } from "./error-cases.ts";
import { historyCases } from "./history-cases.ts";
import type { ModelProviderCase } from "./provider-samples.ts";
import { requestCases } from "./request-cases.ts";
import { wishCases } from "./wish-cases.ts";

/**
 * The promises of `ModelProvider`. Capabilities that a vendor may lack: `thinking`, `opaque` (signed thinking), `refusal`,
 * `cache-usage`, `call-ids` (the wire names its calls), `raw-arguments` (arguments travel as text), `unstreamed`, `vision`,
 * `text-only` (there is a model without vision), `unthinking` (there is a model without reasoning), `cache-keys` (the vendor routes its cache by a
 * key), `body-waits` (an error may hold in its body how long to wait), `trailers` (trailers behind the body may report that an answer failed).
 */
export const modelProviderKit: readonly ModelProviderCase[] = [
  ...answerCases,
  ...breakCases,
  ...boundCases,
  ...errorCases,
  ...requestCases,
  ...historyCases,
  ...wishCases,
];
