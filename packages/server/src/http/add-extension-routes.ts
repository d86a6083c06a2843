import { AgentError } from "@loopwright/core";
import type { Route } from "../request/route.ts";
import { routeOfExtension } from "../routes/extension-route.ts";
import type { ExtensionRoute } from "../server-options.ts";

const pathPattern = /^(?:\/(?:(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+|:[A-Za-z][A-Za-z0-9]*))+$/;
const methods: ReadonlySet<string> = new Set<ExtensionRoute["method"]>(["GET", "POST", "PATCH", "DELETE"]);

/** The built-in routes and the extensions, in this order. @throws AgentError CONFIG_INVALID for an extension that cannot be reached or hides another route */
export function extendedRoutes(builtIn: readonly Route[], extensions: readonly ExtensionRoute[]): readonly Route[] {
  const all = [...builtIn];
  for (const extension of extensions) {
    const { method, path, id } = extension;
    const name = `The route \`${String(method)} ${String(path)}\` of \`routes\``;
    if (!methods.has(method)) throw invalid(`${name} has a method that a route may not have.`, "Use GET, POST, PATCH or DELETE.");
    if (!pathPattern.test(path))
      throw invalid(
        `${name} has a path that cannot be used.`,
        "Use a path like `/api/reports/:id`, without `basePath` and without wildcards.",
      );
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(id)) throw invalid(`${name} has no usable \`id\`.`, "Use 1 to 64 letters, digits, - and _.");
    if (all.some((other) => other.id === id))
      throw invalid(`${name} has the id \`${id}\` of another route.`, "Choose an id that no other route has.");
    // A built-in path is taken for all methods: a later version may answer them.
    const hidden = all.find((other) => overlap(other.path, path) && (builtIn.includes(other) || other.method === method));
    if (hidden) throw invalid(`${name} overlaps the route \`${hidden.method} ${hidden.path}\`.`, "Choose a path that no other route has.");
    all.push(routeOfExtension(extension) as Route);
  }
  return all;
}

/** True if some address matches both paths. */
function overlap(one: string, other: string): boolean {
  const [steps, others] = [one.split("/"), other.split("/")];
  const isVariable = (step: string | undefined): boolean => step?.startsWith(":") ?? false;
  return steps.length === others.length && steps.every((step, at) => step === others[at] || isVariable(step) || isVariable(others[at]));
}

const invalid = (message: string, fix: string): AgentError => new AgentError("CONFIG_INVALID", { message, fix });
