import type { SessionLogFile } from "@loopwright/replay";
import { openPolicy } from "../compose/open-guardrails.ts";

export interface LogTextOptions {
  readonly redact: boolean;
  /** The place of a policy. Default: `guardrails.json` where there is one. */
  readonly guardrails: string | undefined;
}

/** The log as lines of JSON. Redacted, what was replaced is reported on standard error. @throws AgentError CONFIG_INVALID for a policy that cannot be used, STORE_* */
export async function logText(recorded: SessionLogFile, { redact, guardrails }: LogTextOptions): Promise<string> {
  const { sessionLogText } = await import("@loopwright/replay");
  return sessionLogText(redact ? await redacted(recorded, guardrails) : recorded);
}

async function redacted(recorded: SessionLogFile, place: string | undefined): Promise<SessionLogFile> {
  const [{ redactSessionLog }, { createGuardrails, sensitiveTexts }] = await Promise.all([
    import("@loopwright/replay"),
    import("@loopwright/guardrails"),
  ]);
  const { source, close } = await openPolicy(place);
  try {
    // A policy chooses patterns of its own and kinds of personal data; whether it is enforced, and where, does not matter here.
    const { pii, rules } = await createGuardrails({ policy: source }).policy();
    const find = sensitiveTexts({ ...(pii ? { pii } : {}), ...(rules ? { rules } : {}) });
    const { log, replaced } = await redactSessionLog(recorded, { find });
    const places = replaced.reduce((sum, each) => sum + each.places, 0);
    for (const each of replaced)
      process.stderr.write(
        `${each.placeholder}: ${each.places} ${each.places === 1 ? "place" : "places"}, first in fact ${each.firstSeq}\n`,
      );
    process.stderr.write(
      `Replaced ${replaced.length} texts at ${places} places. Read the file before you share it: no rule finds names and stories.\n`,
    );
    return log;
  } finally {
    close();
  }
}
