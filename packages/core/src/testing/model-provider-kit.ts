import { answerCases } from "./model-provider-kit-answers.ts";
import { boundCases } from "./model-provider-kit-bounds.ts";
import { breakCases } from "./model-provider-kit-breaks.ts";
import { errorCases } from "./model-provider-kit-errors.ts";
import { historyCases } from "./model-provider-kit-history.ts";
import { requestCases } from "./model-provider-kit-requests.ts";
import type { ModelProviderCase } from "./model-provider-kit-samples.ts";
import { wishCases } from "./model-provider-kit-wishes.ts";

/**
 * The promises of `ModelProvider`. Capabilities that a vendor may lack: `thinking`, `opaque` (signed thinking), `refusal`,
 * `cache-usage`, `call-ids` (the wire names its calls), `raw-arguments` (arguments travel as text), `unstreamed`, `vision`,
 * `text-only` (there is a model without vision), `unthinking` (there is a model without reasoning), `cache-keys` (the vendor routes its cache by a
 * key), `body-waits` (an error may say in its body how long to wait), `trailers` (trailers behind the body may say that an answer failed).
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
