import { resolve } from "node:path";
import { AgentError } from "@loopwright/core";
import { type AgentChoice, type AgentFlags, chosenAgent } from "./chosen-agent.ts";
import type { Environment } from "./environment.ts";
import { type OfferedTools, offeredTools } from "./offered-tools.ts";
import { redisUrlOf, type StorePlace, storePlaceOf } from "./store-place.ts";
import { type Vendor, type VendorName, vendorNamed, vendors } from "./vendors.ts";

/** Flags that choose a model and a store; all commands share them. */
export interface ModelFlags extends AgentFlags {
  readonly provider?: string;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly offline?: boolean;
  readonly store?: string;
  /** A Redis for store, channel and queue, where they are not named. */
  readonly redis?: string;
  readonly channel?: string;
  readonly queue?: string;
  readonly tools?: string;
  readonly artifacts?: boolean;
  readonly images?: string;
}

/** What the flags and the environment come to. */
export interface Settings extends AgentChoice {
  readonly vendor: Vendor;
  /** Why this vendor, for people. */
  readonly because: string;
  readonly model: string | undefined;
  readonly baseUrl: string | undefined;
  readonly store: StorePlace;
  /** Addresses of what ties this process to others; they may hold passwords. */
  readonly channelUrl: string | undefined;
  readonly queueUrl: string | undefined;
  /** Absolute path of the directory that the file tools share. */
  readonly filesDirectory: string;
  /** Module with tools of the user's own. */
  readonly toolsFile: string | undefined;
  /** Tools that agents have only where they are asked for. */
  readonly offered: OfferedTools;
  readonly environment: Environment;
}

/**
 * Chooses vendor, model and store: flags, then LOOPWRIGHT_* variables, then the vendors' own key variables in the order of
 * `vendors`, then the offline model.
 * @throws AgentError CONFIG_INVALID when a named vendor does not exist or lacks what it needs.
 */
export function resolveSettings(flags: ModelFlags, environment: Environment, directory: string): Settings {
  const chosen = chooseVendor(flags, environment);
  const model = flags.model ?? environment["LOOPWRIGHT_MODEL"];
  const baseUrl = checkedUrl(flags.baseUrl ?? environment["LOOPWRIGHT_BASE_URL"]);
  checkModel({ vendor: chosen.vendor, isOffline: flags.offline === true, model, namedModel: flags.model });
  checkAddress({ vendor: chosen.vendor, isOffline: flags.offline === true, model, baseUrl, namedUrl: flags.baseUrl });
  return {
    ...chosen,
    model,
    baseUrl,
    ...placesOf(flags, environment, directory),
    toolsFile: flags.tools,
    offered: offeredTools(flags, environment),
    ...chosenAgent(flags, environment),
    filesDirectory: resolve(directory, ".loopwright/files"),
    environment,
  };
}

interface Address {
  readonly vendor: Vendor;
  /** By `--offline`. */
  readonly isOffline: boolean;
  readonly model: string | undefined;
  readonly baseUrl: string | undefined;
  /** By `--base-url`. */
  readonly namedUrl: string | undefined;
}

/** The one model of the offline provider. */
const offlineModel = "offline-demo";

/** The offline model answers for no other: not for one that a typing error, or a missing key, left without a provider. @throws AgentError CONFIG_INVALID */
function checkModel({
  vendor,
  isOffline,
  model,
  namedModel,
}: Pick<Address, "vendor" | "isOffline" | "model"> & { /** By `--model`. */ readonly namedModel: string | undefined }): void {
  if (vendor.name !== "offline" || model === undefined || model === offlineModel) return;
  // A variable is set for all commands: `--offline` sets it aside for one.
  if (isOffline && namedModel === undefined) return;
  throw new AgentError("CONFIG_INVALID", {
    message: `No provider is chosen for the model \`${model.slice(0, 100)}\`, so the offline demonstration model would answer in its place.`,
    fix: "Name the provider of the model, for example with `--provider ollama`, set its key, or leave the model out.",
  });
}

/** A vendor's default model is a name of its own server: at another address it must be named. @throws AgentError CONFIG_INVALID */
function checkAddress({ vendor, isOffline, model, baseUrl, namedUrl }: Address): void {
  if (vendor.name === "offline") {
    if (baseUrl === undefined || (isOffline && namedUrl === undefined)) return;
    throw new AgentError("CONFIG_INVALID", {
      message: "A base URL is set, and the offline demonstration model has none.",
      fix: "Name the provider at that address, for example with `--provider custom --model <name>`, or leave the base URL out.",
    });
  }
  const wantsUrl = vendor.name === "custom" && !baseUrl;
  const wantsModel = (vendor.name === "custom" || baseUrl !== undefined) && !model;
  if (!wantsUrl && !wantsModel) return;
  throw new AgentError("CONFIG_INVALID", {
    message:
      vendor.name === "custom"
        ? "The provider `custom` needs to know where its server is and which model to ask for."
        : `A base URL is set for ${vendor.title}, and no model: the server there may not know the vendor's default.`,
    fix: vendor.name === "custom" ? "Pass `--base-url <url>` and `--model <name>`." : "Pass `--model <name>`, or set LOOPWRIGHT_MODEL.",
  });
}

/** A flag comes before a variable, and what is named by itself before `redis`. */
function placesOf(flags: ModelFlags, environment: Environment, directory: string): Pick<Settings, "store" | "channelUrl" | "queueUrl"> {
  // Complained of by the name that was given: a store takes other texts too, for example as the path of a file.
  if (flags.redis !== undefined) redisUrlOf(flags.redis, "`--redis`");
  else if (environment["LOOPWRIGHT_REDIS"] !== undefined) redisUrlOf(environment["LOOPWRIGHT_REDIS"], "LOOPWRIGHT_REDIS");
  const chosen = (name: "store" | "channel" | "queue"): string | undefined =>
    flags[name] ?? flags.redis ?? environment[`LOOPWRIGHT_${name.toUpperCase()}`] ?? environment["LOOPWRIGHT_REDIS"];
  const [channel, queue] = [chosen("channel"), chosen("queue")];
  return {
    store: storePlaceOf(chosen("store"), directory),
    channelUrl: channel === undefined ? undefined : redisUrlOf(channel, "the channel"),
    queueUrl: queue === undefined ? undefined : redisUrlOf(queue, "the queue"),
  };
}

function chooseVendor(flags: ModelFlags, environment: Environment): Pick<Settings, "vendor" | "because"> {
  if (flags.offline) return { vendor: named("offline", "--offline"), because: "--offline" };
  if (flags.provider) return { vendor: named(flags.provider, "--provider"), because: "--provider" };
  const variable = "LOOPWRIGHT_MODEL_PROVIDER";
  const wanted = environment[variable];
  if (wanted) return { vendor: named(wanted, variable), because: variable };
  for (const vendor of vendors) {
    const sign = [...vendor.keys, ...vendor.signs].find((name) => environment[name]);
    if (sign && vendor.name !== "custom") return { vendor, because: sign };
  }
  return {
    vendor: named("offline", "default"),
    because: `no key is set (${vendors
      .flatMap(({ keys }) => keys.slice(0, 1))
      .slice(0, 3)
      .join(", ")})`,
  };
}

function named(name: VendorName | string, source: string): Vendor {
  const vendor = vendorNamed(name);
  if (vendor) return vendor;
  const names = vendors.map((one) => one.name);
  throw new AgentError("CONFIG_INVALID", {
    message: `There is no provider \`${name.slice(0, 60)}\` (${source}).`,
    fix: `Choose one of: ${names.join(", ")}.`,
  });
}

function checkedUrl(text: string | undefined): string | undefined {
  if (text === undefined || (/^https?:\/\//i.test(text) && URL.canParse(text))) return text;
  throw new AgentError("CONFIG_INVALID", {
    message: "The base URL is no http or https address.",
    fix: "Pass one such as `http://localhost:1234/v1`.",
  });
}
