import { AgentError } from "@loopwright/core";

/** The variables of a child process. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** Variables by which programs load or start others: no list may have them. */
const refused =
  /^(?:LD_.*|DYLD_.*|NODE_OPTIONS|NODE_PATH|BASH_ENV|ENV|BASHOPTS|SHELLOPTS|PROMPT_COMMAND|IFS|PATH|GIT_(?:SSH|SSH_COMMAND|PAGER|EDITOR|SEQUENCE_EDITOR|EXTERNAL_DIFF|EXEC_PATH|ASKPASS|PROXY_COMMAND|TEMPLATE_DIR|CONFIG.*)|SSH_ASKPASS|PAGER|EDITOR|VISUAL|BROWSER|LESSOPEN|LESSCLOSE|PERL5(?:OPT|LIB|DB)|PERLLIB|PYTHON(?:STARTUP|PATH|HOME|INSPECT)|RUBY(?:OPT|LIB)|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|CLASSPATH|GCONV_PATH|TAR_OPTIONS|RSYNC_RSH|MAKEFLAGS)$/i;

/** Where programs find others. No folder that an agent writes to is in it. */
const programPath = "/usr/local/bin:/usr/bin:/bin";

/** @throws AgentError CONFIG_INVALID for a name that is none, or by which programs start others. */
export function checkVariableName(name: string, program: string): void {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    throw new AgentError("CONFIG_INVALID", {
      message: `The program \`${program}\` lists a variable with a name that cannot be used.`,
      fix: "Use letters, digits and `_`.",
    });
  if (refused.test(name))
    throw new AgentError("CONFIG_INVALID", {
      message: `The program \`${program}\` lists the variable \`${name}\`, by which programs load or start others.`,
      fix: "Take it from `variables`.",
    });
}

/** The variables of the list out of `environment`, with a fixed `PATH` and `LANG`, and nothing else. */
export function childVariables(environment: Variables, names: readonly string[]): Readonly<Record<string, string>> {
  const listed = names.flatMap((name) => {
    const value = environment[name];
    return value === undefined || !Object.hasOwn(environment, name) ? [] : [[name, value] as const];
  });
  return { LANG: "C.UTF-8", ...Object.fromEntries(listed), PATH: programPath };
}
