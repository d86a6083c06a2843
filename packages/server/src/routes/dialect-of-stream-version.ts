import { AgentError } from "@loopwright/core";
import type { ServerContext } from "../server-context.ts";
import type { StreamDialect } from "../stream-dialect.ts";

/** The dialect of the `streamVersion` of a request; `undefined`: it has none. @throws AgentError INPUT_INVALID for a version that the server does not have */
export function dialectOfVersion(version: number | undefined, { options }: Pick<ServerContext, "options">): StreamDialect | undefined {
  if (version === undefined) return undefined;
  const { streamVersions = {}, dialects = [] } = options;
  const found = dialects.find(({ name }) => name === streamVersions[version]);
  if (found) return found;
  const known = Object.keys(streamVersions);
  throw new AgentError("INPUT_INVALID", {
    message: `This server has no stream version ${version}.`,
    fix: known.length === 0 ? "Leave `streamVersion` out." : `Use ${known.join(" or ")}, or leave \`streamVersion\` out.`,
    details: { field: "streamVersion" },
  });
}
