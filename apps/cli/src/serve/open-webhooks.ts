import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { LoopwrightClient } from "@loopwright/client";
import { AgentError, failureOf } from "@loopwright/core";
import { type Listening, listen } from "@loopwright/server/node";
import { companion } from "../compose/companion.ts";
import type { Environment } from "../config/environment.ts";
import type { RunLogger } from "./run-logger.ts";
import { type WebhookSettings, webhookSettings } from "./webhook-settings.ts";

/** The webhooks that a process was asked for. */
export interface WebhookWishes {
  readonly file: string;
  readonly port: number;
}

/** Where it is kept how far the sessions were delivered. */
const memoryPath = (): string => resolve(".loopwright/webhooks.db");

/** The webhooks of a process, and where they are delivered to. */
interface ReadWebhooks extends WebhookSettings {
  readonly port: number;
}

interface WebhookParts {
  /** Absent: there are none. */
  readonly settings: ReadWebhooks | undefined;
  readonly clientFor: (principal: { readonly user: string; readonly scope: string }) => LoopwrightClient;
  readonly logger: RunLogger;
}

/** Reads the file of webhooks, where there is one. @throws AgentError CONFIG_INVALID */
export async function readWebhooks(wishes: WebhookWishes | undefined, environment: Environment): Promise<ReadWebhooks | undefined> {
  if (!wishes) return undefined;
  const { file, port } = wishes;
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new AgentError("CONFIG_INVALID", {
      message: `The webhooks in \`${file}\` cannot be read.`,
      fix: "Name a file that this user may read.",
      cause,
    });
  });
  return { ...webhookSettings(text, { file, environment }), port };
}

/** Starts the webhooks of a process; resolves with what ends them. @throws AgentError CONFIG_INVALID for a missing package, a port that is taken, a secret that could be guessed */
export async function openWebhooks({ settings, clientFor, logger }: WebhookParts): Promise<() => Promise<void>> {
  if (!settings) return async () => {};
  const { port } = settings;
  const { openWebhookMemory, receiveWebhooks, sendWebhooks } = await companion(
    "@loopwright/webhooks",
    () => import("@loopwright/webhooks"),
  );
  const report = (message: string, cause: unknown): void => logger.log("warn", message, cause === undefined ? {} : { ...failureOf(cause) });
  const receive = receiveWebhooks({ webhooks: settings.in, clientFor, report });
  const memory = openWebhookMemory(memoryPath());
  let listening: Listening | undefined;
  try {
    const { privateOrigins } = settings;
    const sender = sendWebhooks({ webhooks: settings.out, policy: { privateOrigins }, clientFor, memory, report });
    // The operator has started the process again: what was disabled is tried anew.
    for (const name of Object.keys(settings.out)) if (sender.status(name).state === "disabled") sender.enable(name);
    try {
      if (Object.keys(settings.in).length > 0)
        listening = await listen(
          { fetch: (request) => receive(request), hasAuthentication: true, basePath: "" },
          { host: "127.0.0.1", port },
        );
      logger.notify("webhooks", [`Webhooks: ${Object.keys(settings.in).length} in, ${Object.keys(settings.out).length} out.`], {
        url: listening?.url,
      });
    } catch (error) {
      await sender.close();
      throw error;
    }
    return async () => {
      await sender.close();
      await listening?.close();
      memory.close();
    };
  } catch (error) {
    memory.close();
    throw error;
  }
}
