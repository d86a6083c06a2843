import { AgentError } from "@loopwright/core";
import { loadEnvironment } from "../config/environment.ts";
import type { SharedFlags } from "../flags.ts";
import { secretOf } from "../settings/secret-of.ts";

/** Flags that name a running server. */
export interface ServerFlags {
  readonly url?: string;
  readonly token?: string;
}

/** A running server and what opens it. */
export interface ServerAddress {
  /** With its base path, without a slash at the end. */
  readonly url: string;
  readonly token: string | undefined;
}

/** The server that `--url` names, with the token of `--token` or LOOPWRIGHT_TOKEN. @throws AgentError CONFIG_INVALID */
export async function serverOf(flags: ServerFlags & Pick<SharedFlags, "env">): Promise<ServerAddress> {
  const environment = await loadEnvironment(process.env, { file: flags.env, directory: process.cwd() });
  const token = secretOf(flags.token ?? environment["LOOPWRIGHT_TOKEN"], "--token or LOOPWRIGHT_TOKEN");
  return { url: addressOf(flags.url ?? ""), token };
}

function addressOf(text: string): string {
  const url = /^https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  if (!url || url.username || url.password || url.search) {
    throw new AgentError("CONFIG_INVALID", {
      message: "The address given with `--url` is no plain http or https address.",
      fix: "Pass the one that `loopwright run` prints, such as `http://127.0.0.1:8080`; a token goes into LOOPWRIGHT_TOKEN.",
    });
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}
