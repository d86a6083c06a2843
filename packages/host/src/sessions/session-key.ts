import type { SessionRef } from "@loopwright/core/ports";

/** The session as a key of maps. No scope has a slash. */
export const keyOf = ({ scope, session }: SessionRef): string => `${scope}/${session}`;
