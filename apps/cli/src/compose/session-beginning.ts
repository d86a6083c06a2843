import { AgentError, isAgentError } from "@loopwright/core";
import { commandName } from "../command-name.ts";
import { oneLine } from "../terminal/neutralise.ts";

/** Sessions that are looked through for the beginning of an id. */
const lookedThroughMax = 10_000;
/** Matches that an error lists. */
const listedMax = 8;

/** Pages of sessions, the latest change first. */
export type SessionPages = () => AsyncIterable<readonly { readonly id: string }[]>;

/**
 * What `use` gives for the session of the id that was typed, else for the only one whose id begins so. `use` rejects with SESSION_NOT_FOUND for
 * an id that is no session's.
 * @throws AgentError SESSION_NOT_FOUND, or INPUT_INVALID with the matches where there are several
 */
export async function withTypedId<Used>(typed: string, use: (id: string) => Promise<Used>, pages: SessionPages): Promise<Used> {
  if (typed === "")
    throw new AgentError("INPUT_INVALID", { message: "The id of the session is empty.", fix: "Type the id, or its beginning." });
  try {
    return await use(typed);
  } catch (error) {
    if (!isAgentError(error, "SESSION_NOT_FOUND")) throw error;
    const [match, ...others] = await idsThatBegin(typed, pages);
    if (match === undefined) throw error;
    if (others.length > 0) throw ambiguous(typed, [match, ...others]);
    return use(match);
  }
}

async function idsThatBegin(typed: string, pages: SessionPages): Promise<readonly string[]> {
  const found: string[] = [];
  let count = 0;
  for await (const page of pages()) {
    found.push(...page.map(({ id }) => id).filter((id) => id.startsWith(typed)));
    count += page.length;
    if (page.length === 0 || count >= lookedThroughMax) break;
  }
  return found;
}

function ambiguous(typed: string, matches: readonly string[]): AgentError {
  const listed = matches.slice(0, listedMax).map((id) => `\`${id}\``);
  const more = matches.length > listedMax ? ` and ${matches.length - listedMax} more` : "";
  return new AgentError("INPUT_INVALID", {
    message: `\`${oneLine(typed, 64)}\` begins the ids of ${matches.length} sessions: ${listed.join(", ")}${more}.`,
    fix: `Type more of the id; \`${commandName()} sessions list\` shows the titles.`,
  });
}
