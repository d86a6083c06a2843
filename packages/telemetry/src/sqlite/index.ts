/** Records, sums of usage and quotas in one SQLite file. */
export type { SqliteLedger, SqliteLedgerOptions } from "./sqlite-ledger.ts";
export { type TelemetryFile, type TelemetryFileOptions, telemetryFile } from "./telemetry-file.ts";
