import { describe, it } from "vitest";
import { clockKit } from "../src/clock/clock-kit.ts";
import { idSourceKit } from "../src/ids/id-source-kit.ts";
import { proveKit } from "../src/kit/saboteur.ts";
import { usageLedgerKit } from "../src/ledger/usage-ledger-kit.ts";
import { loggerKit } from "../src/logger/logger-kit.ts";
import { priceTableKit } from "../src/prices/price-table-kit.ts";
import { clockSaboteurs } from "./clock/clock-saboteurs.ts";
import { idSourceSaboteurs } from "./ids/id-source-saboteurs.ts";
import { usageLedgerSaboteurs } from "./ledger/usage-ledger-saboteurs.ts";
import { loggerSaboteurs } from "./logger/logger-saboteurs.ts";
import { priceTableSaboteurs } from "./prices/price-table-saboteurs.ts";

describe("price table kit", () => proveKit(it, priceTableKit, priceTableSaboteurs));
describe("usage ledger kit", () => proveKit(it, usageLedgerKit, usageLedgerSaboteurs));
describe("clock kit", () => proveKit(it, clockKit, clockSaboteurs));
describe("id source kit", () => proveKit(it, idSourceKit, idSourceSaboteurs));
describe("logger kit", () => proveKit(it, loggerKit, loggerSaboteurs));
