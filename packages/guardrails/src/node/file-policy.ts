import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { AgentError } from "@loopwright/core";
import type { PolicySource } from "../source/policy-source.ts";

/** The policy in a file. @throws AgentError CONFIG_INVALID where it cannot be read; with `isOptional` a file that is not there means the default policy */
export function filePolicy(path: string, { isOptional = false }: { readonly isOptional?: boolean } = {}): PolicySource {
  return {
    name: `\`${path}\``,
    async read() {
      try {
        const text = await readFile(path, "utf8");
        return { text, revision: createHash("sha256").update(text).digest("hex") };
      } catch (cause) {
        const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error";
        if (isOptional && code === "ENOENT") return undefined;
        throw new AgentError("CONFIG_INVALID", {
          message: `The guardrails in \`${path}\` cannot be read: ${code}.`,
          fix: "Name a file that this user may read.",
          cause,
        });
      }
    },
  };
}
