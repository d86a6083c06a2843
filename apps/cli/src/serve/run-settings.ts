import { randomBytes } from "node:crypto";
import { AgentError } from "@loopwright/core";
import type { AssistantMode } from "@loopwright/embed";
import type { RetentionRule } from "@loopwright/host";
import type { GuardrailFlags } from "../compose/open-guardrails.ts";
import type { TelemetryFlags } from "../compose/open-telemetry.ts";
import { isShared } from "../config/store-place.ts";
import type { SharedFlags } from "../flags.ts";
import { secretOf } from "../settings/secret-of.ts";
import type { Settings } from "../settings/settings.ts";
import { oneLine } from "../terminal/neutralise.ts";
import { type AuthFlags, type AuthSettings, authSettings } from "./auth-settings.ts";
import { type ChannelFlags, type ChannelSettings, channelSettings } from "./channel-settings.ts";
import { isLoopback } from "./host-names.ts";
import type { WebhookWishes } from "./open-webhooks.ts";
import { type ProtocolName, protocolNames } from "./protocols.ts";
import { retentionRules } from "./retention-rules.ts";

/** What `run` is asked for: values of options. */
export interface RunFlags extends SharedFlags, TelemetryFlags, AuthFlags, GuardrailFlags, ChannelFlags {
  readonly port?: string;
  readonly host?: string;
  readonly allowHost?: readonly string[];
  readonly token?: string;
  readonly models?: string;
  readonly protocols?: string;
  readonly insecure?: boolean;
  readonly json?: boolean;
  readonly webhooks?: string;
  readonly webhooksPort?: string;
  readonly shutdownTimeout?: string;
  readonly role?: string;
  readonly ownKeys?: boolean;
  readonly assistantMode?: string;
  readonly retention?: readonly string[];
}

/** What a process does: everything, serve only, or run sessions only. */
export type Role = "all" | "server" | "worker";

/** What the flags of `run` come to. */
export interface RunSettings {
  readonly role: Role;
  /** False: a worker that was given no port. */
  readonly listens: boolean;
  readonly host: string;
  readonly port: number;
  /** The port was asked for: another one will not do. */
  readonly isPortFixed: boolean;
  /** Further names that requests may give the server. */
  readonly allowedHosts: readonly string[];
  /** How long the sessions of scopes are kept; empty: as long as their own retention lets them be. */
  readonly retention: readonly RetentionRule[];
  /** Further models that the page offers. */
  readonly models: readonly string[];
  /** Protocols of other people's clients that the server answers too. */
  readonly protocols: readonly ProtocolName[];
  /** Chats of people that are sessions. */
  readonly channels: ChannelSettings;
  /** Webhooks in and out; absent: there are none. */
  readonly webhooks: WebhookWishes | undefined;
  /** What callers have to show; absent: nothing. */
  readonly token: string | undefined;
  /** Callers with credentials of their own; absent: there are none. */
  readonly auth: AuthSettings | undefined;
  /** Users may bring models with keys of their own. */
  readonly takesOwnKeys: boolean;
  /** Which surfaces of an assistant there are. Absent: all, and inputs may name any. */
  readonly assistantMode: AssistantMode | undefined;
  /** No credentials are required, from any machine. */
  readonly isOpenToAll: boolean;
  /** How long open runs are waited for after SIGINT, and after SIGTERM. */
  readonly patienceMs: { readonly SIGINT: number; readonly SIGTERM: number };
}

const defaultPort = 8080;
const webhooksPort = 8444;
const tokenMin = 16;
/** Supervisors send SIGTERM and wait about as long; a person at the keyboard wants to leave now. */
const defaultPatienceMs = { SIGINT: 0, SIGTERM: 30_000 };
const patienceMaxSeconds = 86_400;

/**
 * Where to listen, how callers authenticate and how to end.
 * @throws AgentError CONFIG_INVALID for a port, a time or a role that is none, for a role that the store does not allow, and for a host that other machines reach where no token is required
 */
export function runSettings(
  flags: RunFlags,
  { store, environment = {} }: Pick<Settings, "store"> & Partial<Pick<Settings, "environment">>,
): RunSettings {
  const role = roleOf(flags.role);
  if (role !== "all" && !isShared(store)) throw notShared(role);
  const host = flags.host ?? "127.0.0.1";
  const token = secretOf(flags.token, "--token or LOOPWRIGHT_TOKEN");
  const channels = channelSettings(flags, { environment, scope: flags.authScope });
  const webhooks = flags.webhooks === undefined ? undefined : { file: flags.webhooks, port: Number(flags.webhooksPort ?? webhooksPort) };
  const isActing = Object.keys(channels).length > 0 || webhooks !== undefined;
  const auth = withTokenOf(isActing, authSettings(flags));
  const isOpen = !isLoopback(host) && token === undefined && !auth;
  if (isOpen && !flags.insecure) {
    throw new AgentError("CONFIG_INVALID", {
      message: `\`--host ${oneLine(host, 80)}\` accepts connections from other machines without authentication.`,
      fix: "Set LOOPWRIGHT_TOKEN to a long random text that callers have to send, have them checked with `--auth-url` or `--jwt-issuer`, or pass `--insecure` where everybody may use it.",
    });
  }
  if (token !== undefined && token.length < tokenMin) {
    throw new AgentError("CONFIG_INVALID", {
      message: `The token has fewer than ${tokenMin} characters and could be guessed.`,
      fix: "Take a longer one, such as `openssl rand -hex 24` prints.",
    });
  }
  const patience = secondsOf(flags.shutdownTimeout);
  return {
    role,
    listens: role !== "worker" || flags.port !== undefined,
    host,
    port: portOf(flags.port),
    isPortFixed: flags.port !== undefined,
    allowedHosts: flags.allowHost ?? [],
    retention: retentionRules(flags.retention ?? []),
    models: namesIn(flags.models),
    protocols: protocolsOf(flags.protocols),
    channels,
    webhooks,
    token,
    auth,
    takesOwnKeys: flags.ownKeys ?? false,
    assistantMode: assistantModeOf(flags.assistantMode),
    isOpenToAll: isOpen,
    patienceMs: patience === undefined ? defaultPatienceMs : { SIGINT: patience * 1_000, SIGTERM: patience * 1_000 },
  };
}

/** Channels and webhooks act for their users by an internal token; where none was given, by one of this process alone. */
const withTokenOf = (isActing: boolean, auth: AuthSettings | undefined): AuthSettings | undefined =>
  isActing && auth ? { internalToken: randomBytes(24).toString("hex"), ...auth } : auth;

const namesIn = (text = ""): readonly string[] => text.split(",").flatMap((name) => name.trim() || []);

function protocolsOf(text: string | undefined): readonly ProtocolName[] {
  return [...new Set(namesIn(text))].map((name) => {
    const found = protocolNames.find((each) => each === name);
    if (found !== undefined) return found;
    throw new AgentError("CONFIG_INVALID", {
      message: `There is no protocol \`${oneLine(name, 40)}\`.`,
      fix: `Pass ${protocolNames.map((each) => `\`${each}\``).join(", ")} with \`--protocols\`, LOOPWRIGHT_PROTOCOLS or \`server.protocols\`.`,
    });
  });
}

function roleOf(text: string | undefined): Role {
  if (text === undefined) return "all";
  if (text === "all" || text === "server" || text === "worker") return text;
  throw new AgentError("CONFIG_INVALID", {
    message: `There is no role \`${oneLine(text, 40)}\`.`,
    fix: "Pass `server`, `worker` or `all` with `--role` or LOOPWRIGHT_ROLE.",
  });
}

function assistantModeOf(text: string | undefined): AssistantMode | undefined {
  if (text === undefined || text === "none" || text === "side-panel" || text === "full-page") return text;
  throw new AgentError("CONFIG_INVALID", {
    message: `There is no assistant mode \`${oneLine(text, 40)}\`.`,
    fix: "Pass `none`, `side-panel` or `full-page` with `--assistant-mode` or LOOPWRIGHT_ASSISTANT_MODE.",
  });
}

const notShared = (role: Role): AgentError =>
  new AgentError("CONFIG_INVALID", {
    message: `The role \`${role}\` needs other processes on the same store, and a folder of files has one process for itself.`,
    fix: "Keep sessions in a SQLite file, in Redis or in a bucket, or take the role `all`.",
  });

function portOf(text: string | undefined): number {
  if (text === undefined) return defaultPort;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new AgentError("CONFIG_INVALID", {
    message: `\`${oneLine(text, 40)}\` is no port.`,
    fix: "Pass a number from 1 to 65535 with `--port`, or 0 for any free one.",
  });
}

function secondsOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (seconds <= patienceMaxSeconds) return seconds;
  throw new AgentError("CONFIG_INVALID", {
    message: `\`${oneLine(text, 40)}\` is no time to wait.`,
    fix: `Pass seconds from 0 to ${patienceMaxSeconds} with \`--shutdown-timeout\`.`,
  });
}
