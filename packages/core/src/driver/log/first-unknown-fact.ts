import { type Fact, factVersion } from "../../loop/fact.ts";
import { isKnownType } from "../../loop/kinds/fact-kinds.ts";
import { upCasters } from "../../loop/up-cast-old-facts.ts";
import { missingFact } from "../setup/session-errors.ts";

/**
 * The first fact that this build does not know, because its version is newer or its type is unknown.
 * @throws AgentError SESSION_CORRUPT when a seq is missing: no fact may be skipped.
 */
export function firstUnknown(
  facts: readonly Fact[],
  { sessionId, after }: { readonly sessionId: string; readonly after: number },
): Fact | undefined {
  facts.forEach((fact, index) => {
    const seq = after + 1 + index;
    if (fact.seq !== seq) throw missingFact(sessionId, seq);
  });
  return facts.find(({ v, type }) => v > factVersion || !(isKnownType(type) || (v < factVersion && v in upCasters)));
}
