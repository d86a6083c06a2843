// Writes docs/errors.md from core's table of codes: `node scripts/write-error-docs.mjs`. Its test compares.
import { writeFileSync } from "node:fs";
import { errorTable } from "../packages/core/src/error-table.ts";

/** Headings, by the code that each stands before. */
const HEADINGS = {
  MODEL_RATE_LIMITED: "The model's side",
  TOOL_UNKNOWN: "Tools and files",
  LIMIT_REACHED: "Runs and sessions",
  STORE_UNAVAILABLE: "Stores",
};

const OPENING = `# Errors

Every error of Loopwright is an \`AgentError\` with a code of this list. The message gives what happened and to what, \`fix\` what to do about
it; no message holds a key or a prompt. Recognise an error by its code, in code that may meet two copies of core too:

\`\`\`ts
if (isAgentError(error, "MODEL_RATE_LIMITED")) await wait(error.retryAfterMs ?? 1_000);
\`\`\`

What goes wrong inside a run ends the run, not the process: \`result()\` resolves with status \`error\` or \`aborted\` and the error. It
rejects only when the input could not be accepted or the store is lost. A retryable error of a model is tried again by itself, up to
\`limits.attemptsMax\`. \`problemOf\` of \`@loopwright/core/protocol\` makes a problem document of an error; its \`docs\` leads here.

This page is written by \`node scripts/write-error-docs.mjs\` from \`packages/core/src/error-table.ts\`.
`;

function section([code, { meaning, status, retryable, class: kind, fix }]) {
  const heading = HEADINGS[code] === undefined ? "" : `\n## ${HEADINGS[code]}\n`;
  return `${heading}\n### ${code}\n\n${meaning} ${fix}\n\nHTTP ${status}, class \`${kind}\`, ${retryable ? "retryable" : "not retryable"}.\n`;
}

/** The page as it should be. */
export const errorDocs = () => OPENING + Object.entries(errorTable).map(section).join("");

if (import.meta.main) writeFileSync(new URL("../docs/errors.md", import.meta.url), errorDocs());
