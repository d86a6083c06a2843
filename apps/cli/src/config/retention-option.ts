import type { ConfigOption } from "./option.ts";

/** How long the sessions of scopes are kept. */
export const retentionOption = {
  name: "retention",
  kind: "list",
  flag: "--retention <scope=days>",
  variable: "LOOPWRIGHT_RETENTION",
  key: "server.retention",
  commands: "run",
  text: "sessions of the scope are erased so many days after their last change, unless they are under a legal hold; may be repeated",
} as const satisfies ConfigOption;
