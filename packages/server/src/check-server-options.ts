import { AgentError } from "@loopwright/core";
import { checkLimits } from "@loopwright/host";
import type { HttpOptions } from "./server-options.ts";

/** Passes if a server can work with the options. @throws AgentError CONFIG_INVALID */
export function checkOptions(options: HttpOptions): void {
  const { basePath = "", limits = {}, origins = [], dialects = [], streamVersions = {}, cookies = false, authenticate } = options;
  if (cookies !== false && !authenticate)
    throw new AgentError("CONFIG_INVALID", {
      message: "`cookies` needs `authenticate`: a cookie stands for the credentials that a caller has signed in with.",
      fix: "Give `authenticate`, or leave `cookies` out.",
    });
  if (!/^(?:\/[A-Za-z0-9._~-]+)*$/.test(basePath)) {
    const fix = "Use a path like `/agents`, without a slash at its end.";
    throw new AgentError("CONFIG_INVALID", { message: "`basePath` is not a path.", fix });
  }
  for (const origin of origins)
    if (!URL.canParse(origin) || new URL(origin).origin !== origin) {
      const fix = "Use origins like `https://app.example.com`, without a path.";
      throw new AgentError("CONFIG_INVALID", { message: "An entry of `origins` is not an origin.", fix });
    }
  const names = dialects.map(({ name }) => name);
  for (const name of names)
    if (!/^[a-z][a-z0-9_-]{0,63}$/.test(name) || names.indexOf(name) !== names.lastIndexOf(name)) {
      const fix = "Give each dialect another name: small letters, digits, _ and -, at most 64.";
      throw new AgentError("CONFIG_INVALID", {
        message: `\`dialects\` has a name that cannot be used: \`${String(name).slice(0, 80)}\`.`,
        fix,
      });
    }
  for (const [version, name] of Object.entries(streamVersions))
    if (!names.includes(name))
      throw new AgentError("CONFIG_INVALID", {
        message: `\`streamVersions\` names a dialect for version ${version} that \`dialects\` does not have: \`${String(name).slice(0, 80)}\`.`,
        fix: "Add the dialect to `dialects`, or leave the version out.",
      });
  checkLimits(limits);
}
