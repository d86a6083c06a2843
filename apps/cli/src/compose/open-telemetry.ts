import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { AgentError, type Json, type Observer } from "@loopwright/core";
import type { Logger, ModelProvider, SessionStore, UsageLedger } from "@loopwright/core/ports";
import { prices } from "@loopwright/prices";
import type { Authorize, HttpOptions } from "@loopwright/server";
import type { ReadableLedger } from "@loopwright/telemetry";
import type { AuditRecord } from "@loopwright/telemetry/audit";
import type { TelemetryFile } from "@loopwright/telemetry/sqlite";
import { oneLine } from "../terminal/neutralise.ts";
import { reachOf } from "./is-operator.ts";

/** Flags of `run` that turn telemetry on. */
export interface TelemetryFlags {
  /** A file, or `true` for the usual one. */
  readonly telemetry?: string | boolean;
  readonly metrics?: boolean;
  readonly devEndpoints?: boolean;
  readonly audit?: boolean;
  /** A file with limits. */
  readonly quotas?: string;
}

/** What telemetry adds to a process. */
export interface Telemetry {
  readonly observers: readonly Observer[];
  readonly http: Pick<HttpOptions, "routes" | "metrics">;
  /** The same rule, which records its verdicts in the audit log. Without a rule everything is permitted. */
  readonly audited?: (rule: Authorize | undefined) => Authorize;
  /** Adds an entry to the audit log. */
  readonly audit?: (scope: string, record: AuditRecord) => void;
  readonly ledger?: UsageLedger;
  /** The provider, watched. */
  watch(provider: ModelProvider): ModelProvider;
  /** Writes what is buffered. */
  close(): Promise<void>;
}

/** Where records are kept, if no file is named. */
export const telemetryPath = ".loopwright/telemetry.db";

type Limits = ReturnType<typeof import("@loopwright/telemetry").quotaLimits>;
type QuotaLedger = UsageLedger & ReadableLedger;
type LedgerStore = SessionStore & { ledger?(options: { readonly limits: Limits }): QuotaLedger };

const nothing: Telemetry = { observers: [], http: {}, watch: (provider) => provider, close: async () => {} };

/** What the flags ask for; its packages are loaded for that alone. @throws AgentError CONFIG_INVALID, STORE_UNAVAILABLE */
export async function openTelemetry(flags: TelemetryFlags, store: SessionStore, logger: Logger): Promise<Telemetry> {
  const { telemetry, metrics, devEndpoints, audit, quotas } = flags;
  if (!telemetry && !metrics && !devEndpoints && !audit && quotas === undefined) return nothing;
  const limits = quotas === undefined ? undefined : await limitsOf(quotas);
  const hasOwnLedger = "ledger" in store;
  const needsFile = (telemetry ?? false) !== false || devEndpoints === true || (limits !== undefined && !hasOwnLedger);
  const file = needsFile ? await openFile(typeof telemetry === "string" ? telemetry : telemetryPath) : undefined;
  const parts = [
    ...(file ? [await recorded(file, devEndpoints === true)] : []),
    ...(metrics ? [await counted()] : []),
    ...(audit ? [await recordedVerdicts(store, logger)] : []),
    ...(limits ? [await limited(limits, ledgerOf(limits, store, file))] : []),
  ];
  return {
    observers: parts.flatMap((part) => part.observers ?? []),
    http: Object.assign({}, ...parts.map(({ http }) => http), { routes: parts.flatMap(({ http }) => http?.routes ?? []) }),
    ...Object.assign({}, ...parts.map(({ ledger }) => (ledger ? { ledger } : {}))),
    ...Object.assign({}, ...parts.map(({ audited, audit: record }) => (audited && record ? { audited, audit: record } : {}))),
    watch: (provider) => parts.reduce((watched, part) => part.watch?.(watched) ?? watched, provider),
    async close() {
      for (const part of parts) await part.close?.();
      file?.close();
    },
  };
}

type Part = Partial<Telemetry>;

/** The records of a process, in this file. @throws AgentError STORE_UNAVAILABLE */
export async function openFile(path: string): Promise<TelemetryFile> {
  const { telemetryFile } = await import("@loopwright/telemetry/sqlite");
  return telemetryFile({ path: resolve(path) });
}

async function recorded({ events, usage }: TelemetryFile, hasDevEndpoints: boolean): Promise<Part> {
  const parts = await import("@loopwright/telemetry");
  const cache = parts.cacheWatch({ events, prices: prices() });
  const turns = parts.turnObserver({ onTurn: parts.latencyEvents(events), firstByteOf: cache.firstByteOf });
  const dev = hasDevEndpoints ? [parts.latencyRoute({ events, reachOf })] : [];
  return {
    observers: [turns, parts.usageObserver({ usage }), cache.observer],
    http: { routes: [parts.usageRoute({ usage, reachOf }), parts.cacheRoute({ events }), ...dev] },
    watch: cache.watch,
  };
}

async function counted(): Promise<Part> {
  const { prometheusMetrics } = await import("@loopwright/telemetry/prometheus");
  const { observers, text } = prometheusMetrics();
  return { observers, http: { metrics: text } };
}

async function recordedVerdicts({ log }: SessionStore, logger: Logger): Promise<Part> {
  const { auditedAuthorize, auditLog, auditObserver } = await import("@loopwright/telemetry/audit");
  const audit = auditLog({ log, logger });
  return {
    observers: [auditObserver(audit)],
    audited: (rule) => auditedAuthorize(audit, rule),
    // The audit log reports what it could not write.
    audit: (scope, record) => void audit.record(scope, record).catch(() => {}),
    close: () => audit.settled(),
  };
}

async function limited(limits: Limits, ledger: QuotaLedger): Promise<Part> {
  const { quotasRoute } = await import("@loopwright/telemetry");
  return { ledger, http: { routes: [quotasRoute({ ledger, limits })] } };
}

/** That of the store where it has one, so that all nodes share it. */
function ledgerOf(limits: Limits, store: LedgerStore, file: TelemetryFile | undefined): QuotaLedger {
  const ledger = store.ledger?.({ limits }) ?? file?.ledger({ limits });
  if (ledger) return ledger;
  throw new AgentError("CONFIG_INVALID", { message: "There is no place for the sums of the quotas.", fix: "Pass `--telemetry`." });
}

/** @throws AgentError CONFIG_INVALID */
async function limitsOf(path: string): Promise<Limits> {
  const { quotaLimits } = await import("@loopwright/telemetry");
  let config: Json;
  try {
    config = JSON.parse(await readFile(resolve(path), "utf8"));
  } catch (cause) {
    throw new AgentError("CONFIG_INVALID", {
      message: `The file of the quotas, \`${oneLine(path, 100)}\`, cannot be read as JSON.`,
      fix: 'Write one like `{ "user/*/*": { "tokens": 100000, "per": "day" } }`.',
      cause,
    });
  }
  return quotaLimits(config);
}
