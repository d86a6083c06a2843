import { AgentError } from "@loopwright/core";

/**
 * A package that is installed on demand.
 * @throws AgentError CONFIG_INVALID with the line that installs it
 */
export async function companion<Module>(name: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    const isMissing = cause instanceof Error && "code" in cause && cause.code === "ERR_MODULE_NOT_FOUND" && cause.message.includes(name);
    if (!isMissing) throw cause;
    throw new AgentError("CONFIG_INVALID", {
      message: `The package \`${name}\` is needed for this and is not installed.`,
      fix: `Run \`npm install ${name}\` beside loopwright.`,
      cause,
    });
  }
}
