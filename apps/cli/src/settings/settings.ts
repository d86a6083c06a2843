import { resolve } from "node:path";
import { AgentError } from "@loopwright/core";
import type { WorkflowNudgesOptions } from "@loopwright/nudges";
import { levelOfEnvironment, levelOfFlags } from "../config/config-level.ts";
import { type Configuration, configure } from "../config/configure.ts";
import type { Environment } from "../config/environment.ts";
import { redisUrlOf, type StorePlace, storePlaceOf } from "../config/store-place.ts";
import { type Vendor, type VendorName, vendorNamed, vendors } from "../config/vendors.ts";
import { type AgentChoice, type AgentFlags, chosenAgent } from "./chosen-agent.ts";
import { type Fallback, fallbacksOf } from "./fallbacks.ts";
import { nudgesOf } from "./nudges-of.ts";
import { type OfferedTools, offeredTools } from "./offered-tools.ts";

/** Flags that choose a model and a store; all commands share them. */
export interface ModelFlags extends AgentFlags {
  readonly provider?: string;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly fallbacks?: readonly string[];
  readonly offline?: boolean;
  readonly executor?: string;
  readonly store?: string;
  /** A Redis for store, channel and queue, where they are not named. */
  readonly redis?: string;
  readonly channel?: string;
  readonly queue?: string;
  readonly tools?: string;
  readonly artifacts?: boolean;
  readonly images?: string;
  readonly programs?: string;
  readonly skills?: string;
  readonly mcp?: string;
  readonly knowledge?: string | boolean;
  readonly memory?: string | boolean;
  readonly nudges?: boolean;
}

/** What the flags and the environment come to. */
export interface Settings extends AgentChoice {
  readonly vendor: Vendor;
  /** Why this vendor, for people. */
  readonly because: string;
  readonly model: string | undefined;
  readonly baseUrl: string | undefined;
  /** Absolute path of the file of an executor. */
  readonly executorFile: string | undefined;
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
  /** The file of the knowledge base that was asked for; `true`: the usual one, `false`: none. */
  readonly knowledge: string | boolean | undefined;
  /** The folder of the long-term memory that was asked for; `true`: the usual one, `false`: none. */
  readonly memory: string | boolean | undefined;
  /** When a model is asked to continue; `undefined`: never. */
  readonly nudges: WorkflowNudgesOptions | undefined;
  readonly environment: Environment;
  /** The organisation of requests to OpenAI. */
  readonly organizationId: string | undefined;
  /** What is called where the model fails, in this order. */
  readonly fallbacks: readonly Fallback[];
  /** What all of this was made from. */
  readonly configuration: Configuration;
}

/** The settings of flags and variables alone. @throws AgentError CONFIG_INVALID */
export function resolveSettings(flags: ModelFlags, environment: Environment, directory: string): Settings {
  return settingsFrom(configure([levelOfFlags(flags), levelOfEnvironment(environment)], environment), directory);
}

/**
 * Chooses vendor, model and store: what the configuration names, then the vendors' own key variables in the order of `vendors`, then the offline model.
 * @throws AgentError CONFIG_INVALID when a named vendor does not exist or lacks what it needs.
 */
export function settingsFrom(configuration: Configuration, directory: string): Settings {
  const { values, environment } = configuration;
  const chosen = chooseVendor(configuration);
  const { model } = values;
  const baseUrl = checkedUrl(values.baseUrl);
  checkModel({ vendor: chosen.vendor, model });
  checkAddress({ vendor: chosen.vendor, model, baseUrl });
  return {
    ...chosen,
    model,
    baseUrl,
    executorFile: executorFileOf(configuration, { vendor: chosen.vendor, directory, baseUrl }),
    ...placesOf(configuration, directory),
    toolsFile: values.tools,
    offered: offeredTools(values, directory),
    knowledge: values.knowledge,
    memory: values.memory,
    nudges: nudgesOf(values),
    ...chosenAgent(values),
    filesDirectory: resolve(directory, ".loopwright/files"),
    environment,
    organizationId: values.organizationId,
    fallbacks: fallbacksOf(configuration, { vendor: chosen.vendor, model, baseUrl }),
    configuration,
  };
}

interface ExecutorQuery extends Pick<Address, "vendor" | "baseUrl"> {
  readonly directory: string;
}

/** The file of the executor that was chosen. @throws AgentError CONFIG_INVALID where it does not fit what stands beside it */
function executorFileOf({ values: { executor } }: Configuration, { vendor, baseUrl, directory }: ExecutorQuery): string | undefined {
  if (!vendor.isExecutor) {
    if (executor === undefined) return undefined;
    throw new AgentError("CONFIG_INVALID", {
      message: `An executor is named beside the provider \`${vendor.name}\`, and one of them answers.`,
      fix: "Leave one of the two out.",
    });
  }
  if (executor !== undefined && baseUrl === undefined) return resolve(directory, executor);
  throw new AgentError("CONFIG_INVALID", {
    message: executor === undefined ? "The provider `executor` needs its file." : "A base URL is set, and an executor has none.",
    fix: executor === undefined ? "Pass `--executor <file>`." : "Leave the base URL out.",
  });
}

interface Address {
  readonly vendor: Vendor;
  readonly model: string | undefined;
  readonly baseUrl: string | undefined;
}

/** The one model of the offline provider. */
const offlineModel = "offline-demo";

/** The offline model answers for no other: not for one that a typing error, or a missing key, left without a provider. @throws AgentError CONFIG_INVALID */
function checkModel({ vendor, model }: Pick<Address, "vendor" | "model">): void {
  if (vendor.name !== "offline" || model === undefined || model === offlineModel) return;
  throw new AgentError("CONFIG_INVALID", {
    message: `No provider is chosen for the model \`${model.slice(0, 100)}\`, so the offline demonstration model would answer in its place.`,
    fix: "Name the provider of the model, for example with `--provider ollama`, set its key, or leave the model out.",
  });
}

/** A vendor's default model is a name of its own server: at another address it must be named. @throws AgentError CONFIG_INVALID */
function checkAddress({ vendor, model, baseUrl }: Address): void {
  if (vendor.name === "offline") {
    if (baseUrl === undefined) return;
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

function placesOf({ values, sources }: Configuration, directory: string): Pick<Settings, "store" | "channelUrl" | "queueUrl"> {
  const { redis, store, channel, queue } = values;
  // Complained of by the name that was given: a store takes other texts too, for example as the path of a file.
  if (redis !== undefined) redisUrlOf(redis, named(sources.redis));
  return {
    store: storePlaceOf(store, directory),
    channelUrl: channel === undefined ? undefined : redisUrlOf(channel, "the channel"),
    queueUrl: queue === undefined ? undefined : redisUrlOf(queue, "the queue"),
  };
}

/** What names a provider comes before a key that is found: requests go to no vendor of a key where another one, or a server of one's own, is named. */
function chooseVendor({ values, sources, environment }: Configuration): Pick<Settings, "vendor" | "because"> {
  if (values.offline) return { vendor: vendorOf("offline", "--offline"), because: "--offline" };
  const { provider } = values;
  const source = sources.provider ?? "--provider";
  if (provider !== undefined) return { vendor: vendorOf(provider, source), because: source };
  for (const vendor of vendors) {
    const sign = [...vendor.keys, ...vendor.signs].find((name) => environment[name]);
    if (sign && vendor.name !== "custom") return { vendor, because: sign };
  }
  return {
    vendor: vendorOf("offline", "default"),
    because: `no key is set (${vendors
      .flatMap(({ keys }) => keys.slice(0, 1))
      .slice(0, 3)
      .join(", ")})`,
  };
}

/** The name of a flag as it stands in a sentence. */
const named = (source = "`--redis`"): string => (source.startsWith("--") ? `\`${source}\`` : source);

function vendorOf(name: VendorName | string, source: string): Vendor {
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
